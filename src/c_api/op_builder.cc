// TF_OpDefinitionBuilder and TF_ShapeInferenceContext: ops of clients. An op's
// shape function gets no argument of its own, so all of them are one function,
// which looks the client's up by the op's name.
#include <map>
#include <set>

#include "absl/strings/ascii.h"
#include "c_api/internal.h"
#include "framework/op/library.h"
#include "headrace/op.h"
#include "headrace/shape_inference.h"
#include "tensorflow/c/ops.h"

using headrace::InferenceContext;
using headrace::Mutex;
using headrace::MutexLock;
using headrace::OkStatus;
using headrace::OpDef;
using headrace::PartialTensorShape;
using headrace::Status;
using namespace headrace::c_api;  // NOLINT: our own few helpers
namespace errors = headrace::errors;

struct TF_ShapeHandle {
  PartialTensorShape shape = PartialTensorShape::UnknownRank();
};

struct TF_DimensionHandle {
  int64_t size = -1;
};

namespace {

using ClientShapeFn = void (*)(TF_ShapeInferenceContext*, TF_Status*);

struct ClientShapeFns {
  Mutex mu;
  std::map<std::string, ClientShapeFn, std::less<>> by_op GUARDED_BY(mu);
  static ClientShapeFns* Get() {
    static auto* const fns = new ClientShapeFns;
    return fns;
  }
};

Status CallClientShapeFn(InferenceContext* c) {
  ClientShapeFns* const fns = ClientShapeFns::Get();
  ClientShapeFn fn = nullptr;
  {
    MutexLock lock(&fns->mu);
    fn = fns->by_op[c->op_def().name];
  }
  if (fn == nullptr) {
    for (int i = 0; i < c->num_outputs(); ++i) {
      c->set_output(i, InferenceContext::UnknownShape());
    }
    return OkStatus();
  }
  TF_Status status;
  fn(reinterpret_cast<TF_ShapeInferenceContext*>(c), &status);
  return status.status;
}

// An upper-case letter, then letters, digits and _ > . ; or a leading _.
bool IsValidOpName(absl::string_view name) {
  if (name.empty() || !(absl::ascii_isupper(name[0]) || name[0] == '_')) {
    return false;
  }
  for (char c : name) {
    if (!absl::ascii_isalnum(c) && c != '_' && c != '>' && c != '.') {
      return false;
    }
  }
  return true;
}

}  // namespace

struct TF_OpDefinitionBuilder {
  OpDef def;
  std::vector<std::string> attrs, inputs, outputs;  // as the client spelt them
  ClientShapeFn shape_fn = nullptr;
};

namespace {

// Names the spec that is wrong.
Status WrongSpec(const std::string& op, const char* kind,
                 const std::string& spec, absl::string_view why) {
  return errors::InvalidArgument("op '", op, "': ", kind, " \"", spec,
                                 "\": ", why);
}

Status ParseSpecs(TF_OpDefinitionBuilder* b) {
  OpDef& def = b->def;
  if (!IsValidOpName(def.name)) {
    return errors::InvalidArgument("Invalid name: ", def.name,
                                   " (Did you use CamelCase?); op names begin "
                                   "with an upper-case letter");
  }
  std::set<std::string> names;
  for (const std::string& spec : b->attrs) {
    OpDef::Attr attr;
    if (Status s = headrace::ParseAttrSpec(spec, &attr); !s.ok()) {
      return WrongSpec(def.name, "attr", spec, s.message());
    }
    if (!names.insert(attr.name).second) {
      return WrongSpec(def.name, "attr", spec, "its name is there twice");
    }
    def.attrs.push_back(std::move(attr));
  }
  for (const bool is_input : {true, false}) {
    const char* const kind = is_input ? "input" : "output";
    for (const std::string& spec : is_input ? b->inputs : b->outputs) {
      OpDef::Arg arg;
      if (Status s = headrace::ParseArgSpec(spec, &def, &arg); !s.ok()) {
        return WrongSpec(def.name, kind, spec, s.message());
      }
      if (!names.insert(arg.name).second) {
        return WrongSpec(def.name, kind, spec, "its name is there twice");
      }
      (is_input ? def.inputs : def.outputs).push_back(std::move(arg));
    }
  }
  return OkStatus();
}

Status RegisterClientOp(TF_OpDefinitionBuilder* b) {
  if (b == nullptr) {
    return errors::InvalidArgument("TF_RegisterOpDefinition: no builder");
  }
  HR_RETURN_IF_ERROR(ParseSpecs(b));
  const std::string name = b->def.name;
  b->def.shape_fn = &CallClientShapeFn;
  ClientShapeFns* const fns = ClientShapeFns::Get();
  // Before the op can be looked up. An op that is there keeps its function.
  bool added;
  {
    MutexLock lock(&fns->mu);
    added = fns->by_op.try_emplace(name, b->shape_fn).second;
  }
  const Status s = headrace::OpRegistry::Global()->Register(std::move(b->def));
  if (!s.ok() && added) {
    MutexLock lock(&fns->mu);
    fns->by_op.erase(name);
  }
  return s;
}

Status NoHandle(const char* function) {
  return errors::InvalidArgument(function, ": the context or a handle is NULL");
}

InferenceContext* ToInference(TF_ShapeInferenceContext* ctx) {
  return reinterpret_cast<InferenceContext*>(ctx);
}

// Of an index that the op does not have.
Status NoSuchArg(InferenceContext* c, const char* kind, int i, int n) {
  return errors::InvalidArgument("shape function of op '", c->op_def().name,
                                 "': ", kind, " ", i, " of ", n);
}

using RankFn = Status (InferenceContext::*)(const PartialTensorShape&, int,
                                            PartialTensorShape*) const;
void CheckRank(const char* function, RankFn fn, TF_ShapeInferenceContext* ctx,
               TF_ShapeHandle* handle, int64_t rank, TF_ShapeHandle* result,
               TF_Status* status) {
  if (ctx == nullptr || handle == nullptr || result == nullptr) {
    return Set(status, NoHandle(function));
  }
  if (rank < 0 || rank > INT32_MAX) {
    return Set(status, errors::InvalidArgument(function, ": rank ", rank));
  }
  PartialTensorShape out;
  const Status s =
      (ToInference(ctx)->*fn)(handle->shape, static_cast<int>(rank), &out);
  if (s.ok()) result->shape = std::move(out);
  Set(status, s);
}

}  // namespace

TF_OpDefinitionBuilder* TF_NewOpDefinitionBuilder(const char* op_name) {
  auto* const b = new TF_OpDefinitionBuilder;
  b->def.name = std::string(Text(op_name));
  return b;
}

void TF_RegisterOpDefinition(TF_OpDefinitionBuilder* builder,
                             TF_Status* status) {
  const Status s = RegisterClientOp(builder);
  delete builder;
  if (!s.ok()) headrace::NoteRegistrationFailure(s);
  Set(status, s);
}

void TF_DeleteOpDefinitionBuilder(TF_OpDefinitionBuilder* builder) {
  delete builder;
}

void TF_OpDefinitionBuilderAddAttr(TF_OpDefinitionBuilder* builder,
                                   const char* attr_spec) {
  if (builder != nullptr) builder->attrs.emplace_back(Text(attr_spec));
}

void TF_OpDefinitionBuilderAddInput(TF_OpDefinitionBuilder* builder,
                                    const char* input_spec) {
  if (builder != nullptr) builder->inputs.emplace_back(Text(input_spec));
}

void TF_OpDefinitionBuilderAddOutput(TF_OpDefinitionBuilder* builder,
                                     const char* output_spec) {
  if (builder != nullptr) builder->outputs.emplace_back(Text(output_spec));
}

void TF_OpDefinitionBuilderSetIsCommutative(TF_OpDefinitionBuilder* builder,
                                            bool is_commutative) {
  if (builder != nullptr) builder->def.is_commutative = is_commutative;
}

void TF_OpDefinitionBuilderSetIsAggregate(TF_OpDefinitionBuilder* builder,
                                          bool is_aggregate) {
  if (builder != nullptr) builder->def.is_aggregate = is_aggregate;
}

void TF_OpDefinitionBuilderSetIsStateful(TF_OpDefinitionBuilder* builder,
                                         bool is_stateful) {
  if (builder != nullptr) builder->def.is_stateful = is_stateful;
}

void TF_OpDefinitionBuilderSetAllowsUninitializedInput(
    TF_OpDefinitionBuilder* builder, bool allows_uninitialized_input) {
  if (builder == nullptr) return;
  builder->def.allows_uninitialized_input = allows_uninitialized_input;
}

void TF_OpDefinitionBuilderDeprecated(TF_OpDefinitionBuilder* builder,
                                      int version, const char* explanation) {
  if (builder == nullptr) return;
  builder->def.deprecated_at = version;
  builder->def.deprecation = std::string(Text(explanation));
}

void TF_OpDefinitionBuilderSetShapeInferenceFunction(
    TF_OpDefinitionBuilder* builder,
    void (*shape_inference_func)(TF_ShapeInferenceContext* ctx,
                                 TF_Status* status)) {
  if (builder != nullptr) builder->shape_fn = shape_inference_func;
}

int64_t TF_ShapeInferenceContextNumInputs(TF_ShapeInferenceContext* ctx) {
  return ctx == nullptr ? 0 : ToInference(ctx)->num_inputs();
}

TF_ShapeHandle* TF_NewShapeHandle() { return new TF_ShapeHandle; }

TF_DimensionHandle* TF_NewDimensionHandle() { return new TF_DimensionHandle; }

void TF_DeleteShapeHandle(TF_ShapeHandle* handle) { delete handle; }

void TF_DeleteDimensionHandle(TF_DimensionHandle* handle) { delete handle; }

void TF_ShapeInferenceContextGetInput(TF_ShapeInferenceContext* ctx, int i,
                                      TF_ShapeHandle* handle,
                                      TF_Status* status) {
  if (ctx == nullptr || handle == nullptr) {
    return Set(status, NoHandle("TF_ShapeInferenceContextGetInput"));
  }
  InferenceContext* const c = ToInference(ctx);
  if (i < 0 || i >= c->num_inputs()) {
    return Set(status, NoSuchArg(c, "input", i, c->num_inputs()));
  }
  handle->shape = c->input(i);
  SetOk(status);
}

void TF_ShapeInferenceContextSetOutput(TF_ShapeInferenceContext* ctx, int i,
                                       TF_ShapeHandle* handle,
                                       TF_Status* status) {
  if (ctx == nullptr || handle == nullptr) {
    return Set(status, NoHandle("TF_ShapeInferenceContextSetOutput"));
  }
  InferenceContext* const c = ToInference(ctx);
  if (i < 0 || i >= c->num_outputs()) {
    return Set(status, NoSuchArg(c, "output", i, c->num_outputs()));
  }
  c->set_output(i, handle->shape);
  SetOk(status);
}

void TF_ShapeInferenceContextSetUnknownShape(TF_ShapeInferenceContext* ctx,
                                             TF_Status* status) {
  if (ctx == nullptr) {
    return Set(status, NoHandle("TF_ShapeInferenceContextSetUnknownShape"));
  }
  InferenceContext* const c = ToInference(ctx);
  for (int i = 0; i < c->num_outputs(); ++i) {
    c->set_output(i, InferenceContext::UnknownShape());
  }
  SetOk(status);
}

TF_ShapeHandle* TF_ShapeInferenceContextScalar(TF_ShapeInferenceContext*) {
  return new TF_ShapeHandle{PartialTensorShape::Scalar()};
}

TF_ShapeHandle* TF_ShapeInferenceContextVectorFromSize(
    TF_ShapeInferenceContext*, size_t size) {
  PartialTensorShape shape;
  const int64_t dims[] = {static_cast<int64_t>(size)};
  if (!MakeShape(dims, 1, &shape).ok()) return new TF_ShapeHandle;
  return new TF_ShapeHandle{std::move(shape)};
}

void TF_ShapeInferenceContext_GetAttrType(TF_ShapeInferenceContext* ctx,
                                          const char* attr_name,
                                          TF_DataType* val, TF_Status* status) {
  if (ctx == nullptr || val == nullptr) {
    return Set(status, NoHandle("TF_ShapeInferenceContext_GetAttrType"));
  }
  headrace::DataType type;
  const Status s = ToInference(ctx)->GetAttr(Text(attr_name), &type);
  if (s.ok()) *val = FromDataType(type);
  Set(status, s.ok() ? s : errors::InvalidArgument(s.message()));
}

int64_t TF_ShapeInferenceContextRank(TF_ShapeInferenceContext*,
                                     TF_ShapeHandle* handle) {
  return handle == nullptr ? -1 : handle->shape.dims();
}

int TF_ShapeInferenceContextRankKnown(TF_ShapeInferenceContext*,
                                      TF_ShapeHandle* handle) {
  return handle != nullptr && !handle->shape.unknown_rank();
}

void TF_ShapeInferenceContextWithRank(TF_ShapeInferenceContext* ctx,
                                      TF_ShapeHandle* handle, int64_t rank,
                                      TF_ShapeHandle* result,
                                      TF_Status* status) {
  CheckRank("TF_ShapeInferenceContextWithRank", &InferenceContext::WithRank,
            ctx, handle, rank, result, status);
}

void TF_ShapeInferenceContextWithRankAtLeast(TF_ShapeInferenceContext* ctx,
                                             TF_ShapeHandle* handle,
                                             int64_t rank,
                                             TF_ShapeHandle* result,
                                             TF_Status* status) {
  CheckRank("TF_ShapeInferenceContextWithRankAtLeast",
            &InferenceContext::WithRankAtLeast, ctx, handle, rank, result,
            status);
}

void TF_ShapeInferenceContextWithRankAtMost(TF_ShapeInferenceContext* ctx,
                                            TF_ShapeHandle* handle,
                                            int64_t rank,
                                            TF_ShapeHandle* result,
                                            TF_Status* status) {
  CheckRank("TF_ShapeInferenceContextWithRankAtMost",
            &InferenceContext::WithRankAtMost, ctx, handle, rank, result,
            status);
}

void TF_ShapeInferenceContextDim(TF_ShapeInferenceContext*,
                                 TF_ShapeHandle* shape_handle, int64_t i,
                                 TF_DimensionHandle* result) {
  if (result == nullptr) return;
  const bool sane = shape_handle != nullptr && i >= INT32_MIN && i <= INT32_MAX;
  result->size =
      sane ? InferenceContext::Dim(shape_handle->shape, static_cast<int>(i))
           : -1;
}

void TF_ShapeInferenceContextSubshape(TF_ShapeInferenceContext* ctx,
                                      TF_ShapeHandle* shape_handle,
                                      int64_t start, int64_t end,
                                      TF_ShapeHandle* result,
                                      TF_Status* status) {
  if (ctx == nullptr || shape_handle == nullptr || result == nullptr) {
    return Set(status, NoHandle("TF_ShapeInferenceContextSubshape"));
  }
  PartialTensorShape out;
  const Status s =
      ToInference(ctx)->Subshape(shape_handle->shape, start, end, &out);
  if (s.ok()) result->shape = std::move(out);
  Set(status, s);
}

void TF_ShapeInferenceContextConcatenateShapes(TF_ShapeInferenceContext* ctx,
                                               TF_ShapeHandle* first,
                                               TF_ShapeHandle* second,
                                               TF_ShapeHandle* result,
                                               TF_Status* status) {
  if (ctx == nullptr || first == nullptr || second == nullptr ||
      result == nullptr) {
    return Set(status, NoHandle("TF_ShapeInferenceContextConcatenateShapes"));
  }
  PartialTensorShape out;
  const Status s =
      ToInference(ctx)->Concatenate(first->shape, second->shape, &out);
  if (s.ok()) result->shape = std::move(out);
  Set(status, s);
}

int TF_DimensionHandleValueKnown(TF_DimensionHandle* dim_handle) {
  return dim_handle != nullptr && dim_handle->size >= 0;
}

int64_t TF_DimensionHandleValue(TF_DimensionHandle* dim_handle) {
  return dim_handle == nullptr ? -1 : dim_handle->size;
}
