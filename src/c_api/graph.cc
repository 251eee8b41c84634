// TF_Graph: its life, shapes, nodes and definitions.
#include "c_api/internal.h"
#include "c_api/live_objects.h"
#include "framework/op/tensor_proto.h"
#include "headrace/op.h"

using headrace::Endpoint;
using headrace::Graph;
using headrace::MutexLock;
using headrace::Node;
using headrace::OkStatus;
using headrace::OpDef;
using headrace::PartialTensorShape;
using headrace::Status;
using namespace headrace::c_api;  // NOLINT: our own few helpers
namespace errors = headrace::errors;
namespace pb = headrace::pb;

static_assert(sizeof(TF_Output) == 16 && sizeof(TF_Input) == 16);

namespace headrace::c_api {

Status BadOutput(absl::string_view what, const TF_Output& o) {
  if (o.oper == nullptr) {
    return errors::InvalidArgument(what, ": the operation is NULL");
  }
  const Node* n = ToNode(o.oper);
  const std::string why =
      absl::StrCat("Node '", n->name(), "' (type: '", n->type_string(),
                   "', num of outputs: ", n->num_outputs(),
                   ") does not have output ", o.index, " (", what, ")");
  return o.index < 0 ? errors::InvalidArgument(why) : errors::OutOfRange(why);
}

Status CheckOwned(const Graph& graph, const Node* n) {
  if (n->id() < graph.num_node_ids() && graph.node(n->id()) == n) {
    return OkStatus();
  }
  return errors::InvalidArgument("Node ", n->name(),
                                 " was not found in the graph: it is of "
                                 "another graph");
}

Status MakeShape(const int64_t* dims, int num_dims, PartialTensorShape* out) {
  if (num_dims < 0) {
    *out = PartialTensorShape::UnknownRank();
    return OkStatus();
  }
  if (dims == nullptr && num_dims > 0) {
    return errors::InvalidArgument("a shape of ", num_dims, " dims at NULL");
  }
  return PartialTensorShape::Build(absl::MakeConstSpan(dims, num_dims), out);
}

}  // namespace headrace::c_api

namespace {

// InvalidArgument, as these functions say of whatever is no output.
Status NoOutput(const char* what, const TF_Output& o) {
  if (IsOutput(o)) {
    return errors::InvalidArgument(what, ": the graph or a node is NULL");
  }
  return errors::InvalidArgument(BadOutput(what, o).message());
}

}  // namespace

TF_Graph* TF_NewGraph() {
  return LiveObjects<TF_Graph>::Release(std::make_unique<TF_Graph>());
}

void TF_DeleteGraph(TF_Graph* g) {
  if (LiveObjects<TF_Graph>::Remove(g)) delete g;
}

void TF_GraphSetTensorShape(TF_Graph* graph, TF_Output output,
                            const int64_t* dims, int num_dims,
                            TF_Status* status) {
  if (graph == nullptr || !IsOutput(output)) {
    return Set(status, NoOutput("TF_GraphSetTensorShape", output));
  }
  PartialTensorShape wanted, merged;
  Node* n = ToNode(output.oper);
  MutexLock lock(&graph->graph->mu());
  Status s = CheckOwned(*graph->graph, n);
  if (s.ok()) s = MakeShape(dims, num_dims, &wanted);
  if (s.ok()) s = n->output_shape(output.index).MergeWith(wanted, &merged);
  if (s.ok()) graph->graph->SetOutputShape(n, output.index, std::move(merged));
  Set(status, std::move(s));
}

int TF_GraphGetTensorNumDims(TF_Graph* graph, TF_Output output,
                             TF_Status* status) {
  if (graph == nullptr || !IsOutput(output)) {
    Set(status, NoOutput("TF_GraphGetTensorNumDims", output));
    return -1;
  }
  MutexLock lock(&graph->graph->mu());
  const Status s = CheckOwned(*graph->graph, ToNode(output.oper));
  Set(status, s);
  return s.ok() ? ToNode(output.oper)->output_shape(output.index).dims() : -1;
}

void TF_GraphGetTensorShape(TF_Graph* graph, TF_Output output, int64_t* dims,
                            int num_dims, TF_Status* status) {
  if (graph == nullptr || !IsOutput(output)) {
    return Set(status, NoOutput("TF_GraphGetTensorShape", output));
  }
  MutexLock lock(&graph->graph->mu());
  const Status s = CheckOwned(*graph->graph, ToNode(output.oper));
  if (!s.ok()) return Set(status, s);
  const PartialTensorShape& shape =
      ToNode(output.oper)->output_shape(output.index);
  if (num_dims != shape.dims() || (dims == nullptr && num_dims > 0)) {
    return Set(status, errors::InvalidArgument(
                           "TF_GraphGetTensorShape: expected rank is ",
                           num_dims, " but actual rank is ", shape.dims()));
  }
  for (int i = 0; i < num_dims; ++i) dims[i] = shape.dim_size(i);
  SetOk(status);
}

void TF_UpdateEdge(TF_Graph* graph, TF_Output new_src, TF_Input dst,
                   TF_Status* status) {
  if (graph == nullptr || dst.oper == nullptr || !IsOutput(new_src)) {
    return Set(status, NoOutput("TF_UpdateEdge", new_src));
  }
  Node* n = ToNode(dst.oper);
  if (dst.index < 0 || dst.index >= n->num_inputs()) {
    return Set(status, errors::InvalidArgument(
                           "TF_UpdateEdge: node '", n->name(), "' has ",
                           n->num_inputs(), " inputs; got ", dst.index));
  }
  MutexLock lock(&graph->graph->mu());
  Status s = CheckOwned(*graph->graph, n);
  if (s.ok()) s = CheckOwned(*graph->graph, ToNode(new_src.oper));
  if (s.ok()) {
    s = graph->graph->ReplaceInput(n, dst.index,
                                   {ToNode(new_src.oper), new_src.index});
  }
  Set(status, std::move(s));
}

TF_Operation* TF_GraphOperationByName(TF_Graph* graph, const char* oper_name) {
  if (graph == nullptr) return nullptr;
  MutexLock lock(&graph->graph->mu());
  return ToOperation(graph->graph->FindNode(Text(oper_name)));
}

TF_Operation* TF_GraphNextOperation(TF_Graph* graph, size_t* pos) {
  if (graph == nullptr || pos == nullptr) return nullptr;
  MutexLock lock(&graph->graph->mu());
  const size_t end = graph->graph->num_node_ids();
  while (*pos < end) {
    Node* n = graph->graph->node(static_cast<int>((*pos)++));
    if (n != nullptr) return ToOperation(n);
  }
  return nullptr;
}

void TF_GraphToGraphDef(TF_Graph* graph, TF_Buffer* output_graph_def,
                        TF_Status* status) {
  if (graph == nullptr) {
    return Set(status, errors::InvalidArgument("TF_GraphToGraphDef: NULL"));
  }
  pb::GraphDef def;
  {
    MutexLock lock(&graph->graph->mu());
    headrace::GraphToGraphDef(*graph->graph, &def);
  }
  Set(status, ToBuffer(def, output_graph_def));
}

void TF_GraphGetOpDef(TF_Graph* graph, const char* op_name,
                      TF_Buffer* output_op_def, TF_Status* status) {
  const OpDef* def = nullptr;
  std::shared_ptr<headrace::FunctionLibrary> functions;
  if (graph != nullptr) {
    MutexLock lock(&graph->graph->mu());
    functions = graph->graph->shared_functions();
  }
  if (functions != nullptr) def = functions->FindOpDef(Text(op_name));
  if (def == nullptr) {
    const Status s =
        headrace::OpRegistry::Global()->LookUp(Text(op_name), &def);
    if (!s.ok()) return Set(status, s);
  }
  pb::OpDef proto;
  headrace::OpDefToProto(*def, &proto);
  Set(status, ToBuffer(proto, output_op_def));
}

void TF_GraphVersions(TF_Graph* graph, TF_Buffer* output_version_def,
                      TF_Status* status) {
  if (graph == nullptr) {
    return Set(status, errors::InvalidArgument("TF_GraphVersions: NULL"));
  }
  pb::VersionDef proto;
  {
    MutexLock lock(&graph->graph->mu());
    const headrace::GraphVersions& v = graph->graph->versions();
    proto.set_producer(v.producer);
    proto.set_min_consumer(v.min_consumer);
    for (int bad : v.bad_consumers) proto.add_bad_consumers(bad);
  }
  Set(status, ToBuffer(proto, output_version_def));
}
