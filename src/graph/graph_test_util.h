// For tests: creates a node in one line.
#ifndef HEADRACE_GRAPH_GRAPH_TEST_UTIL_H_
#define HEADRACE_GRAPH_GRAPH_TEST_UTIL_H_

#include <gtest/gtest.h>

#include <string>
#include <utility>
#include <vector>

#include "framework/kernel/op_tester.h"
#include "headrace/graph.h"

namespace headrace {

// Adds a node of `op`. On failure the test fails and the result is null.
inline Node* AddOp(Graph* g, const std::string& name, const std::string& op,
                   std::vector<Endpoint> inputs = {}, AttrMap attrs = {},
                   std::vector<Node*> control = {}) {
  NodeDef def;
  def.name = name;
  def.op = op;
  def.attrs = std::move(attrs);
  StatusOr<Node*> n = g->AddNode(std::move(def), inputs, control);
  EXPECT_TRUE(n.ok()) << n.status();
  return n.ok() ? *n : nullptr;
}

inline Endpoint Const(Graph* g, const std::string& name, const Tensor& value) {
  return {
      AddOp(g, name, "Const", {}, {{"dtype", value.dtype()}, {"value", value}}),
      0};
}

inline Endpoint Placeholder(Graph* g, const std::string& name, DataType dtype,
                            const PartialTensorShape& shape = {}) {
  return {
      AddOp(g, name, "Placeholder", {}, {{"dtype", dtype}, {"shape", shape}}),
      0};
}

}  // namespace headrace

#endif  // HEADRACE_GRAPH_GRAPH_TEST_UTIL_H_
