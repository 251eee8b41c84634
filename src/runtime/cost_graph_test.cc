#include "runtime/cost_graph.h"

#include <map>

#include "runtime/step_test_util.h"

namespace headrace {
namespace {

constexpr char kDevice[] = "/job:a/replica:0/task:0/device:CPU:0";

// A run of a node: its time and, if >= 0, the size of output 0 as a vector.
void AddRun(const std::string& node, int64_t micros, int64_t size,
            const std::string& device, pb::StepStats* stats) {
  pb::DeviceStepStats* d = nullptr;
  for (auto& known : *stats->mutable_dev_stats()) {
    if (known.device() == device) d = &known;
  }
  if (d == nullptr) {
    d = stats->add_dev_stats();
    d->set_device(device);
  }
  pb::NodeExecStats* const n = d->add_node_stats();
  n->set_node_name(node);
  n->set_op_end_rel_micros(micros);
  if (size < 0) return;
  pb::TensorDescription* const t =
      n->add_output()->mutable_tensor_description();
  t->mutable_shape()->add_dim()->set_size(size);
  t->mutable_allocation_description()->set_requested_bytes(4 * size);
}

std::map<std::string, pb::CostGraphDef::Node> Nodes(
    const pb::CostGraphDef& costs) {
  std::map<std::string, pb::CostGraphDef::Node> nodes;
  for (const auto& n : costs.node()) nodes[n.name()] = n;
  return nodes;
}

TEST(CostGraphTest, NodesWithTheirEdgesAndTimes) {
  Graph g;
  LoadNodes(R"(
    a: Placeholder shape=[?,2]
    b: StepSlow a
    c: StepAdd b a ^e
    e: StepEffect
    u: Placeholder dtype=float
  )",
            &g);
  pb::StepStats stats;
  AddRun("b", 30, 5, kDevice, &stats);
  AddRun("b", 12, 7, kDevice, &stats);  // in a loop, say
  AddRun("c", 4, -1, kDevice, &stats);
  AddRun("c", 1000, 9, "/another", &stats);
  pb::CostGraphDef costs;
  AddCosts(g, kDevice, stats, &costs);
  ASSERT_EQ(costs.node_size(), 5);
  auto nodes = Nodes(costs);
  const auto& b = nodes["b"];
  EXPECT_EQ(b.device(), kDevice);
  EXPECT_EQ(b.compute_cost(), 42);
  EXPECT_EQ(b.compute_time(), 42);
  EXPECT_FALSE(b.inaccurate());
  EXPECT_FALSE(b.is_final());
  ASSERT_EQ(b.output_info_size(), 1);
  EXPECT_EQ(b.output_info(0).size(), 28);  // of the last run
  EXPECT_EQ(b.output_info(0).shape().dim(0).size(), 7);
  EXPECT_EQ(b.output_info(0).dtype(), pb::DT_INT32);
  EXPECT_EQ(b.output_info(0).alias_input_port(), -1);

  const auto& c = nodes["c"];
  EXPECT_EQ(c.compute_cost(), 4);  // what another device did is not its
  EXPECT_TRUE(c.is_final());
  ASSERT_EQ(c.input_info_size(), 2);
  EXPECT_EQ(c.input_info(0).preceding_node(), b.id());
  EXPECT_EQ(c.input_info(1).preceding_node(), nodes["a"].id());
  ASSERT_EQ(c.control_input_size(), 1);
  EXPECT_EQ(c.control_input(0), nodes["e"].id());
  EXPECT_EQ(c.output_info(0).size(), -1);  // it ran, and told nothing

  const auto& a = nodes["a"];
  EXPECT_TRUE(a.inaccurate());
  EXPECT_EQ(a.compute_cost(), 0);
  EXPECT_EQ(a.output_info(0).size(), -1);
  ASSERT_EQ(a.output_info(0).shape().dim_size(), 2);
  EXPECT_EQ(a.output_info(0).shape().dim(0).size(), -1);
  EXPECT_TRUE(nodes["u"].output_info(0).shape().unknown_rank());
}

TEST(CostGraphTest, IdsOfAllPartitionsAreDistinct) {
  Graph g;
  LoadNodes("a: Const 1\nb: StepSlow a", &g);
  pb::CostGraphDef costs;
  AddCosts(g, kDevice, {}, &costs);
  AddCosts(g, "/another", {}, &costs);
  std::set<int> ids;
  for (const auto& n : costs.node()) ids.insert(n.id());
  EXPECT_EQ(ids.size(), 4u);
  const pb::CostGraphDef::Node& second = costs.node(3);
  EXPECT_EQ(second.name(), "b");
  EXPECT_EQ(second.device(), "/another");
  EXPECT_EQ(second.input_info(0).preceding_node(), costs.node(2).id());
}

TEST(CostGraphTest, AnEmptyGraphCostsNothing) {
  pb::CostGraphDef costs;
  AddCosts(Graph(), kDevice, {}, &costs);
  EXPECT_EQ(costs.node_size(), 0);
}

}  // namespace
}  // namespace headrace
