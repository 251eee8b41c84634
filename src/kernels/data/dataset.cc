#include "kernels/data/dataset.h"

#include <algorithm>
#include <utility>

#include "absl/container/flat_hash_set.h"
#include "framework/tensor/variant.h"
#include "kernels/data/captured_function.h"
#include "kernels/data/seeds.h"

namespace headrace {
namespace {

// The maximum number of iterators on one stack.
constexpr int kMaxDepth = 1000;

constexpr char kTypeName[] = "tensorflow::DatasetVariant";

Status WrongTypes(absl::string_view who, const DataTypeVector& want,
                  const DataTypeVector& got) {
  return errors::InvalidArgument(who,
                                 ": number or types of components differ: "
                                 "wanted ",
                                 DataTypeSliceString(want), ", got ",
                                 DataTypeSliceString(got));
}

}  // namespace

Status ElementSpec::CheckAccepts(const ElementSpec& got,
                                 absl::string_view who) const {
  if (dtypes != got.dtypes) return WrongTypes(who, dtypes, got.dtypes);
  for (size_t i = 0; i < shapes.size() && i < got.shapes.size(); ++i) {
    if (!shapes[i].IsCompatibleWith(got.shapes[i])) {
      return errors::InvalidArgument(who, ": incompatible shapes at component ",
                                     i, ": wanted ", shapes[i].DebugString(),
                                     ", got ", got.shapes[i].DebugString());
    }
  }
  return OkStatus();
}

Status ElementSpec::CheckElement(const TensorTuple& e,
                                 absl::string_view who) const {
  DataTypeVector types;
  for (const Tensor& t : e) types.push_back(t.dtype());
  if (dtypes != types) return WrongTypes(who, dtypes, types);
  for (size_t i = 0; i < shapes.size(); ++i) {
    if (!shapes[i].IsCompatibleWith(e[i].shape())) {
      return errors::InvalidArgument(who, ": incompatible shapes at component ",
                                     i, ": wanted ", shapes[i].DebugString(),
                                     ", got ", e[i].shape().DebugString());
    }
  }
  return OkStatus();
}

Dataset::Dataset(ElementSpec spec, std::vector<RefPtr<const Dataset>> inputs)
    : spec_(std::move(spec)), inputs_(std::move(inputs)) {
  for (const auto& i : inputs_) {
    depth_ = std::max(depth_, i->depth() + 1);
    may_wait_ |= i->may_wait();
  }
}

void Dataset::CountHeld(const TensorTuple& held) {
  for (const Tensor& t : held) {
    if (t.dtype() != DT_VARIANT) continue;
    for (const Variant& v : t.span<Variant>()) {
      const auto* d = v.Get<RefPtr<const Dataset>>();
      if (d != nullptr) depth_ = std::max(depth_, (*d)->depth() + 1);
    }
  }
}

void Dataset::Calls(const std::shared_ptr<const CapturedFunction>& f) {
  set_may_wait();
  CountHeld(f->captured());
  functions_.push_back(f);
}

Status Dataset::CheckSavable() const {
  for (const auto& f : functions_) HR_RETURN_IF_ERROR(f->CheckSavable());
  for (const auto& i : inputs_) HR_RETURN_IF_ERROR(i->CheckSavable());
  return OkStatus();
}

Status Dataset::SaveOrRestoreSeeds(IteratorState* state) const {
  std::vector<const Dataset*> left = {this};
  absl::flat_hash_set<const Dataset*> seen = {this};
  for (size_t number = 0; !left.empty(); ++number) {
    const Dataset& d = *left.back();
    left.pop_back();
    if (SeedGenerator* const generator = d.seed_generator()) {
      HR_RETURN_IF_ERROR(
          generator->SaveOrRestore(StrCat("Seeds[", number, "]"), state));
    }
    for (const auto& i : d.inputs_) {
      if (seen.insert(i.get()).second) left.push_back(i.get());
    }
  }
  return OkStatus();
}

Status Dataset::NewIterator(const IteratorContext& ctx,
                            std::unique_ptr<DatasetIterator>* out) const {
  if (ctx.depth + depth_ > kMaxDepth) {
    return errors::ResourceExhausted(
        "iterating a chain of ", ctx.depth + depth_,
        " datasets inside each other, the limit is ", kMaxDepth);
  }
  return MakeIterator(ctx, out);
}

Tensor DatasetTensor(RefPtr<const Dataset> dataset) {
  Tensor t(DT_VARIANT, TensorShape());
  t.scalar<Variant>() =
      Variant::Of<RefPtr<const Dataset>>(std::move(dataset), kTypeName);
  return t;
}

Status DatasetFromTensor(const Tensor& t, absl::string_view name,
                         RefPtr<const Dataset>* out) {
  if (t.dtype() != DT_VARIANT || t.dims() != 0) {
    return errors::InvalidArgument(
        name, " must be a scalar of type variant, got a ",
        DataTypeString(t.dtype()), " tensor of shape ",
        t.shape().DebugString());
  }
  const Variant& v = t.scalar<Variant>();
  const auto* dataset = v.Get<RefPtr<const Dataset>>();
  if (dataset == nullptr || *dataset == nullptr) {
    return errors::InvalidArgument(
        name, " must hold a dataset, got ",
        v.is_empty() ? "an empty variant" : v.TypeName());
  }
  *out = *dataset;
  return OkStatus();
}

Status DatasetInput(const OpKernelContext& ctx, absl::string_view name,
                    RefPtr<const Dataset>* out) {
  const Tensor* t = nullptr;
  HR_RETURN_IF_ERROR(ctx.input(name, &t));
  return DatasetFromTensor(*t, name, out);
}

Status ReadElementSpec(OpKernelConstruction* ctx, ElementSpec* spec) {
  const char* const types =
      ctx->HasAttr("output_types") ? "output_types" : "Toutput_types";
  std::vector<DataType> dtypes;
  HR_RETURN_IF_ERROR(ctx->GetAttr(types, &dtypes));
  HR_RETURN_IF_ERROR(ctx->GetAttr("output_shapes", &spec->shapes));
  spec->dtypes.assign(dtypes.begin(), dtypes.end());
  if (spec->dtypes.size() != spec->shapes.size()) {
    return errors::InvalidArgument(
        types, " and output_shapes must have the same length, got ",
        spec->dtypes.size(), " and ", spec->shapes.size());
  }
  return OkStatus();
}

DatasetOp::DatasetOp(OpKernelConstruction* ctx) : OpKernel(ctx) {
  if (ctx->HasAttr("output_shapes")) {
    OP_REQUIRES_OK(ctx, ReadElementSpec(ctx, &spec_));
  }
}

void DatasetOp::Compute(OpKernelContext* ctx) {
  RefPtr<const Dataset> dataset;
  OP_REQUIRES_OK(ctx, Make(ctx, &dataset));
  // The chain is released on one stack too.
  OP_REQUIRES(ctx, dataset->depth() <= kMaxDepth,
              errors::ResourceExhausted("a chain of ", dataset->depth(),
                                        " datasets, the limit is ", kMaxDepth));
  ctx->set_output(0, DatasetTensor(std::move(dataset)));
}

Status UnaryDatasetOp::Make(OpKernelContext* ctx, RefPtr<const Dataset>* out) {
  RefPtr<const Dataset> input;
  HR_RETURN_IF_ERROR(DatasetInput(*ctx, "input_dataset", &input));
  return Make(ctx, std::move(input), out);
}

}  // namespace headrace
