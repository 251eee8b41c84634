// For tests of what passes make of graphs: a case builds one, runs passes and
// compares the rest, written as text, with what is wanted.
#ifndef HEADRACE_RUNTIME_PASSES_PASS_TEST_UTIL_H_
#define HEADRACE_RUNTIME_PASSES_PASS_TEST_UTIL_H_

#include <gtest/gtest.h>

#include <string>
#include <utility>
#include <vector>

#include "absl/container/flat_hash_set.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_split.h"
#include "graph/algorithm.h"
#include "graph/graph_test_util.h"
#include "runtime/passes/graph_pass.h"

namespace headrace {

class PassTest : public ::testing::Test {
 protected:
  Endpoint In(const std::string& name, const PartialTensorShape& shape = {},
              DataType t = DT_FLOAT) {
    return Placeholder(&g_, name, t, shape);
  }
  // 0.5, 1, 1.5, ...
  Endpoint Weights(const std::string& name, const TensorShape& shape) {
    Tensor t(DT_FLOAT, shape);
    for (int64_t i = 0; i < t.NumElements(); ++i) {
      t.data<float>()[i] = 0.5f * static_cast<float>(i + 1);
    }
    return Const(&g_, name, t);
  }
  Endpoint Floats(const std::string& name, const std::vector<float>& v) {
    return Const(&g_, name, Tensor::Vector<float>(v));
  }
  Endpoint Scalar(const std::string& name, float v) {
    return Const(&g_, name, Tensor::Scalar<float>(v));
  }
  Endpoint Ints(const std::string& name, const std::vector<int32_t>& v) {
    return Const(&g_, name, Tensor::Vector<int32_t>(v));
  }
  Endpoint Op(const std::string& name, const std::string& op,
              std::vector<Endpoint> inputs, AttrMap attrs = {},
              std::vector<Node*> control = {}) {
    return {AddOp(&g_, name, op, std::move(inputs), std::move(attrs),
                  std::move(control)),
            0};
  }
  Endpoint Conv(const std::string& name, Endpoint x, Endpoint filter,
                const std::string& padding = "SAME",
                const std::string& format = "NHWC") {
    return Op(name, "Conv2D", {x, filter},
              {{"strides", std::vector<int64_t>{1, 1, 1, 1}},
               {"padding", padding},
               {"data_format", format}});
  }
  Endpoint Norm(const std::string& name, Endpoint x, int64_t channels,
                bool training = false, const std::string& format = "NHWC") {
    const TensorShape shape({channels});
    return Op(
        name, "FusedBatchNorm",
        {x, Weights(name + "/scale", shape), Weights(name + "/offset", shape),
         Weights(name + "/mean", shape), Weights(name + "/variance", shape)},
        {{"is_training", training}, {"data_format", format}});
  }
  void Fetch(Endpoint e) {
    AddOp(&g_, StrCat("fetch_", e.node->name(), "_", e.index), "_Retval", {e},
          {{"index", fetches_++}});
  }

  // What the last Run's pass said of itself; -1 if it was off.
  int Changes(absl::string_view pass) const {
    for (const GraphPassReport& r : report_) {
      if (r.name == pass) return r.off ? -1 : r.changes;
    }
    ADD_FAILURE() << "no pass " << pass;
    return -1;
  }

  // Runs these passes and "prune"; constants and inputs are left out of the
  // result, which has a line a node in order.
  std::string Run(const std::string& passes) {
    const std::vector<std::string> names = absl::StrSplit(passes, ' ');
    absl::flat_hash_set<std::string> off;
    for (const GraphPass& p : GraphPasses()) off.insert(p.name);
    for (const std::string& n : names) EXPECT_EQ(off.erase(n), 1u) << n;
    off.erase("prune");
    report_.clear();
    EXPECT_EQ(RunGraphPasses(context_, off, &g_, &report_), OkStatus());
    std::vector<Node*> order;
    EXPECT_EQ(TopologicalOrder(g_, &order), OkStatus());
    std::string text;
    for (const Node* n : order) {
      if (n->IsConstant() || n->IsPlaceholder()) continue;
      std::vector<std::string> in;
      for (const Edge* e : n->data_inputs()) {
        in.push_back(e->src_output() == 0
                         ? e->src()->name()
                         : EndpointName({e->src(), e->src_output()}));
      }
      for (const Edge* e : n->control_inputs()) {
        in.push_back("^" + e->src()->name());
      }
      StrAppend(&text, n->name(), " = ", n->type_string(), "(",
                absl::StrJoin(in, ", "), ")\n");
    }
    return text;
  }

  std::string FusedOps(const std::string& node) {
    std::vector<std::string> ops;
    const Node* n = g_.FindNode(node);
    EXPECT_NE(n, nullptr);
    if (n == nullptr) return "no node";
    EXPECT_EQ(n->attrs().Get("fused_ops", &ops), OkStatus());
    return absl::StrJoin(ops, " ");
  }
  Tensor Value(const std::string& constant) {
    const Node* n = g_.FindNode(constant);
    EXPECT_NE(n, nullptr) << constant;
    return n == nullptr ? Tensor() : *n->attrs().Find("value")->Get<Tensor>();
  }

  Graph g_;
  GraphPassContext context_;
  std::vector<GraphPassReport> report_;
  int fetches_ = 0;
};

}  // namespace headrace

#endif  // HEADRACE_RUNTIME_PASSES_PASS_TEST_UTIL_H_
