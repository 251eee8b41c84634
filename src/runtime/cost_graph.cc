#include "runtime/cost_graph.h"

#include <vector>

#include "absl/container/flat_hash_map.h"

namespace headrace {
namespace {

using NodeStats = std::vector<const pb::NodeExecStats*>;

// Of the last run, which tells the sizes.
const pb::TensorDescription* OutputStats(const NodeStats& runs, int slot) {
  if (runs.empty()) return nullptr;
  for (const pb::NodeOutput& o : runs.back()->output()) {
    if (o.slot() == slot) return &o.tensor_description();
  }
  return nullptr;
}

void SetOutput(const Node& n, int slot, const NodeStats& runs,
               pb::CostGraphDef::Node::OutputInfo* out) {
  out->set_alias_input_port(-1);
  out->set_dtype(static_cast<pb::DataType>(BaseType(n.output_type(slot))));
  if (const pb::TensorDescription* t = OutputStats(runs, slot)) {
    out->set_size(t->allocation_description().requested_bytes());
    *out->mutable_shape() = t->shape();
    return;
  }
  out->set_size(-1);
  const PartialTensorShape& shape = n.output_shape(slot);
  if (shape.unknown_rank()) {
    out->mutable_shape()->set_unknown_rank(true);
    return;
  }
  out->mutable_shape();
  for (int64_t d : shape.dim_sizes()) {
    out->mutable_shape()->add_dim()->set_size(d);
  }
}

}  // namespace

void AddCosts(const Graph& partition, const std::string& device,
              const pb::StepStats& stats, pb::CostGraphDef* out) {
  absl::flat_hash_map<absl::string_view, NodeStats> runs;
  for (const pb::DeviceStepStats& d : stats.dev_stats()) {
    if (d.device() != device) continue;
    for (const pb::NodeExecStats& n : d.node_stats()) {
      runs[n.node_name()].push_back(&n);
    }
  }
  int first_id = 0;
  for (const pb::CostGraphDef::Node& n : out->node()) {
    first_id = std::max(first_id, n.id() + 1);
  }
  partition.ForEachNode([&](const Node* n) {
    pb::CostGraphDef::Node* cost = out->add_node();
    const NodeStats& r = runs[n->name()];
    cost->set_name(n->name());
    cost->set_device(device);
    cost->set_id(first_id + n->id());
    for (const Edge* e : n->data_inputs()) {
      if (e == nullptr) continue;
      auto* input = cost->add_input_info();
      input->set_preceding_node(first_id + e->src()->id());
      input->set_preceding_port(e->src_output());
    }
    for (const Edge* e : n->control_inputs()) {
      cost->add_control_input(first_id + e->src()->id());
    }
    for (int i = 0; i < n->num_outputs(); ++i) {
      SetOutput(*n, i, r, cost->add_output_info());
    }
    int64_t micros = 0;
    for (const pb::NodeExecStats* s : r) micros += s->op_end_rel_micros();
    cost->set_compute_cost(micros);
    cost->set_compute_time(micros);
    cost->set_is_final(n->out_edges().empty());
    cost->set_inaccurate(r.empty());
  });
}

}  // namespace headrace
