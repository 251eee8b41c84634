// Changes of nodes that exist, and what is known of their outputs beside
// shapes.
#include "c_api/internal.h"
#include "framework/op/tensor_proto.h"
#include "graph/constant_eval.h"
#include "headrace/cpp_shape_inference.pb.h"

using headrace::AttrValue;
using headrace::DataType;
using headrace::DataTypeVector;
using headrace::DtypeAndShape;
using headrace::Endpoint;
using headrace::Graph;
using headrace::MutexLock;
using headrace::Node;
using headrace::OkStatus;
using headrace::OpDef;
using headrace::Status;
using headrace::Tensor;
using namespace headrace::c_api;  // NOLINT: our own few helpers
namespace errors = headrace::errors;
namespace pb = headrace::pb;

namespace {

// Runs fn(graph, node), with the graph's lock, if the node is one of the graph.
template <typename F>
Status Edit(const char* function, TF_Graph* graph, TF_Operation* op,
            const F& fn) {
  if (graph == nullptr || op == nullptr) {
    return errors::InvalidArgument(function, ": the ",
                                   graph == nullptr ? "graph" : "operation",
                                   " is NULL");
  }
  Node* const n = ToNode(op);
  MutexLock lock(&graph->graph->mu());
  HR_RETURN_IF_ERROR(CheckOwned(*graph->graph, n));
  return fn(graph->graph.get(), n);
}

// The same for an output of a node.
template <typename F>
Status EditOutput(const char* function, TF_Graph* graph, TF_Output output,
                  const F& fn) {
  if (!IsOutput(output)) {
    return errors::InvalidArgument(BadOutput(function, output).message());
  }
  return Edit(function, graph, output.oper, fn);
}

// An attr of the op's signature must fit it, and the types of inputs and
// outputs must stay: edges depend on them.
Status CheckNewAttr(const Node& n, absl::string_view name,
                    const AttrValue& value) {
  const OpDef& def = n.op_def();
  const int i = def.FindAttr(name);
  if (i < 0) return OkStatus();
  HR_RETURN_IF_ERROR(headrace::ValidateAttrValue(def.attrs[i], value));
  headrace::AttrMap attrs = n.attrs();
  attrs.Set(name, value);
  DataTypeVector inputs, outputs;
  HR_RETURN_IF_ERROR(headrace::InOutTypes(def, attrs, &inputs, &outputs));
  if (inputs == n.input_types() && outputs == n.output_types()) {
    return OkStatus();
  }
  return errors::InvalidArgument(
      "attr '", name, "' of node '", n.name(), "' cannot become ",
      value.DebugString(), ": the types of its inputs or outputs would change");
}

Status SetAttrOf(Graph* g, Node* n, const char* attr, const TF_Buffer* proto) {
  if (proto == nullptr || Text(attr).empty()) {
    return errors::InvalidArgument(
        "TF_SetAttr: the ", proto == nullptr ? "value" : "name", " is NULL");
  }
  pb::AttrValue parsed;
  AttrValue value;
  HR_RETURN_IF_ERROR(
      ParseProto("TF_SetAttr", proto->data, proto->length, &parsed));
  HR_RETURN_IF_ERROR(headrace::AttrValueFromProto(parsed, &value));
  HR_RETURN_IF_ERROR(CheckNewAttr(*n, attr, value));
  g->SetNodeAttr(n, attr, std::move(value));
  return OkStatus();
}

Status ReadHandleData(const void* proto, size_t length,
                      std::vector<DtypeAndShape>* out) {
  pb::CppShapeInferenceResult::HandleData data;
  HR_RETURN_IF_ERROR(
      ParseProto("TF_SetHandleShapeAndType", proto, length, &data));
  for (const auto& one : data.shape_and_type()) {
    DtypeAndShape handle;
    handle.dtype = static_cast<DataType>(one.dtype());
    if (one.dtype() != 0 && !headrace::IsValidDataType(one.dtype())) {
      return errors::InvalidArgument("TF_SetHandleShapeAndType: data type ",
                                     static_cast<int>(one.dtype()));
    }
    HR_RETURN_IF_ERROR(headrace::ShapeFromProto(one.shape(), &handle.shape));
    out->push_back(std::move(handle));
  }
  return OkStatus();
}

}  // namespace

void TF_AddOperationControlInput(TF_Graph* graph, TF_Operation* op,
                                 TF_Operation* input) {
  Edit("TF_AddOperationControlInput", graph, op, [&](Graph* g, Node* n) {
    if (input == nullptr) return OkStatus();
    HR_RETURN_IF_ERROR(CheckOwned(*g, ToNode(input)));
    g->AddControlEdge(ToNode(input), n);
    return OkStatus();
  }).IgnoreError();
}

void TF_RemoveAllControlInputs(TF_Graph* graph, TF_Operation* op) {
  Edit("TF_RemoveAllControlInputs", graph, op, [](Graph* g, Node* n) {
    while (!n->control_inputs().empty()) {
      g->RemoveEdge(n->control_inputs().back());
    }
    return OkStatus();
  }).IgnoreError();
}

void TF_SetRequestedDevice(TF_Graph* graph, TF_Operation* op,
                           const char* device) {
  Edit("TF_SetRequestedDevice", graph, op, [&](Graph* g, Node* n) {
    g->SetRequestedDevice(n, std::string(Text(device)));
    return OkStatus();
  }).IgnoreError();
}

void TF_SetAttr(TF_Graph* graph, TF_Operation* op, const char* attr_name,
                TF_Buffer* attr_value_proto, TF_Status* status) {
  Set(status, Edit("TF_SetAttr", graph, op, [&](Graph* g, Node* n) {
        return SetAttrOf(g, n, attr_name, attr_value_proto);
      }));
}

void TF_ClearAttr(TF_Graph* graph, TF_Operation* op, const char* attr_name,
                  TF_Status* status) {
  Set(status, Edit("TF_ClearAttr", graph, op, [&](Graph* g, Node* n) -> Status {
        if (n->op_def().FindAttr(Text(attr_name)) >= 0) {
          return errors::InvalidArgument(
              "TF_ClearAttr: op ", n->type_string(), " of node '", n->name(),
              "' needs attr '", Text(attr_name), "'");
        }
        g->ClearNodeAttr(n, Text(attr_name));
        return OkStatus();
      }));
}

void TF_SetFullType(TF_Graph*, TF_Operation*, const TF_Buffer*) {}

void TF_AddWhileInputHack(TF_Graph* graph, TF_Output new_src, TF_Operation* dst,
                          TF_Status* status) {
  const char* const function = "TF_AddWhileInputHack";
  if (!IsOutput(new_src)) {
    return Set(status,
               errors::InvalidArgument(BadOutput(function, new_src).message()));
  }
  Set(status, Edit(function, graph, dst, [&](Graph* g, Node* n) -> Status {
        HR_RETURN_IF_ERROR(CheckOwned(*g, ToNode(new_src.oper)));
        if (n->type_string() != "While" &&
            n->type_string() != "StatelessWhile") {
          return errors::Internal(
              "dst argument to AddWhileEdgeHack should be a While op, got: ",
              n->type_string(), " of node '", n->name(), "'");
        }
        int i = 0;
        while (i < n->num_inputs() && n->input_edge(i) != nullptr) ++i;
        if (i == n->num_inputs()) {
          return errors::OutOfRange("Node '", n->name(), "' (type: '",
                                    n->type_string(), "', num of inputs: ", i,
                                    ") does not have input ", i);
        }
        return g->AddEdge({ToNode(new_src.oper), new_src.index}, n, i);
      }));
}

void TF_SetRequireShapeInferenceFns(TF_Graph*, bool) {}

void TF_ExtendSession(TF_Session* session, TF_Status* status) {
  Set(status, session == nullptr
                  ? errors::InvalidArgument("the session is NULL")
                  : OkStatus());
}

TF_Buffer* TF_GetHandleShapeAndType(TF_Graph* graph, TF_Output output) {
  pb::CppShapeInferenceResult::HandleData data;
  const Status s = EditOutput(
      "TF_GetHandleShapeAndType", graph, output, [&](Graph*, Node* n) {
        for (const DtypeAndShape& one : n->output_handle(output.index)) {
          data.set_is_set(true);
          auto* const added = data.add_shape_and_type();
          added->set_dtype(static_cast<pb::DataType>(one.dtype));
          headrace::ShapeToProto(one.shape, added->mutable_shape());
        }
        return OkStatus();
      });
  return s.ok() && data.is_set() ? NewBuffer(data) : nullptr;
}

void TF_SetHandleShapeAndType(TF_Graph* graph, TF_Output output,
                              const void* proto, size_t proto_len,
                              TF_Status* status) {
  std::vector<DtypeAndShape> handle;
  Status s = ReadHandleData(proto, proto_len, &handle);
  if (s.ok()) {
    s = EditOutput("TF_SetHandleShapeAndType", graph, output,
                   [&](Graph* g, Node* n) {
                     g->SetOutputHandle(n, output.index, std::move(handle));
                     return OkStatus();
                   });
  }
  Set(status, s);
}

unsigned char TF_TryEvaluateConstant(TF_Graph* graph, TF_Output output,
                                     TF_Tensor** result, TF_Status* status) {
  if (result == nullptr) {
    Set(status,
        errors::InvalidArgument(
            "TF_TryEvaluateConstant: the place for the result is NULL"));
    return 0;
  }
  *result = nullptr;
  Tensor value;
  bool known = false;
  Status s =
      EditOutput("TF_TryEvaluateConstant", graph, output, [&](Graph*, Node* n) {
        known = headrace::EvaluateConstant({n, output.index}, &value);
        return OkStatus();
      });
  if (s.ok() && known) s = WrapTensor(std::move(value), result);
  Set(status, s);
  return *result != nullptr;
}

TF_ImportGraphDefResults* TF_GraphImportGraphDefWithResultsNoSerialization(
    TF_Graph*, const TF_Buffer*, const TF_ImportGraphDefOptions*,
    TF_Status* status) {
  Set(status,
      errors::Unimplemented(
          "TF_GraphImportGraphDefWithResultsNoSerialization takes an object of "
          "TensorFlow's class GraphDef, which this library does not have; "
          "serialize it and call TF_GraphImportGraphDefWithResults"));
  return nullptr;
}
