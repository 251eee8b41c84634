// Gradients of conditionals of Switch and Merge, and of tensor arrays.
#include "absl/strings/match.h"
#include "gradients/conditional.h"
#include "graph/control_flow.h"
#include "headrace/gradients.h"

namespace headrace {
namespace {

using G = GradientContext;

constexpr auto kMergeGrad = [](G& g) {
  const Edge* const first = g.node().input_edge(0);
  const Endpoint pred = BranchOf({first->src(), first->src_output()}).pred;
  if (g.num_inputs() != 2 || pred.node == nullptr) {
    return g.Fail(errors::Unimplemented(
        "gradient of ", g.node().type_string(), " '", g.node().name(),
        "', which does not end a conditional of two branches"));
  }
  const Expr parts = g.Op("Switch", {g.dy(0), Expr(&g, pred)}, {}, "cond_grad");
  g.SetDx(0, parts);
  g.SetDx(1, parts.out(1));
};
REGISTER_GRADIENTS(kMergeGrad, "Merge", "RefMerge");

// The gradient of the branch that was taken. Where the value was not used in a
// branch it is 0, computed from the value as it enters that branch, so that it
// is dead if the other branch is taken.
constexpr auto kSwitchGrad = [](G& g) {
  const auto branch = [&](int i) -> Expr {
    if (g.HasDy(i) || g.x(0).dtype() != DT_RESOURCE) return g.dy(i);
    const std::vector<DtypeAndShape>& handle =
        g.x(0).endpoint().node->output_handle(g.x(0).endpoint().index);
    if (handle.empty()) return {};
    return g.Op("Fill", {g.Op("VariableShape", {g.y(i)}),
                         g.Scalar(handle[0].dtype, 0)});
  };
  const Expr no = branch(0), yes = branch(1);
  if (!no || !yes) {
    return g.Fail(errors::Unimplemented(
        "gradient of Switch '", g.node().name(), "': its value has type ",
        DataTypeString(g.x(0).dtype()), " and is not known to be a variable"));
  }
  g.SetDx(0, g.Op("Merge", {no, yes}, {}, "cond_grad"));
};
REGISTER_GRADIENTS(kSwitchGrad, "Switch", "RefSwitch");

constexpr auto kNotYet = [](G& g) {
  g.Fail(errors::Unimplemented("gradients through ", g.node().type_string(),
                               " (node '", g.node().name(),
                               "') are not supported yet"));
};
REGISTER_GRADIENTS(kNotYet, "Exit", "RefExit", "NextIteration",
                   "RefNextIteration");

// Between a value in a loop's body and one outside the loop: both are of one
// iteration.
constexpr auto kEnterGrad = [](G& g) {
  if (!IsConstantEnter(g.node())) return kNotYet(g);
  g.SetDx(0, g.raw_dy());
};
REGISTER_GRADIENTS(kEnterGrad, "Enter", "RefEnter");

// Tensor arrays. The gradient of an array is another array of the same size,
// in which writes add up; `flow` orders what is done to it.
struct Array {
  Expr handle, flow;
};
// Adds an op of the version of the node's own op.
Expr ArrayOp(G& g, absl::string_view op, std::initializer_list<Expr> inputs,
             AttrMap attrs = {}) {
  const std::string& own = g.node().type_string();
  const char* const version = absl::EndsWith(own, "V2")   ? "V2"
                              : absl::EndsWith(own, "V3") ? "V3"
                                                          : "";
  return g.Op(StrCat(op, version).c_str(), inputs, std::move(attrs));
}
Array GradientArray(G& g, const Expr& handle, const Expr& flow) {
  const Expr array = ArrayOp(g, "TensorArrayGrad", {handle, flow},
                             {{"source", g.scope_name()}});
  return {array, g.After(flow, array, "gradient_flow")};
}
void ReadGradient(G& g) {  // handle, index, flow
  const Array a = GradientArray(g, g.x(0), g.x(2));
  g.SetDx(2,
          ArrayOp(g, "TensorArrayWrite", {a.handle, g.x(1), g.dy(), a.flow}));
}
void WriteGradient(G& g) {  // handle, index, value, flow
  const Array a = GradientArray(g, g.x(0), g.dy());
  g.SetDx(2, ArrayOp(g, "TensorArrayRead", {a.handle, g.x(1), a.flow},
                     {{"dtype", g.x(2).dtype()}}));
  g.SetDx(3, g.dy());
}
void GatherGradient(G& g) {  // handle, indices, flow
  const Array a = GradientArray(g, g.x(0), g.x(2));
  g.SetDx(2,
          ArrayOp(g, "TensorArrayScatter", {a.handle, g.x(1), g.dy(), a.flow}));
}
void ScatterGradient(G& g) {  // handle, indices, value, flow
  const Array a = GradientArray(g, g.x(0), g.dy());
  g.SetDx(2, ArrayOp(g, "TensorArrayGather", {a.handle, g.x(1), a.flow},
                     {{"dtype", g.x(2).dtype()}}));
  g.SetDx(3, g.dy());
}
void ConcatGradient(G& g) {  // handle, flow; outputs: value, lengths
  const Array a = GradientArray(g, g.x(0), g.x(1));
  g.SetDx(1,
          ArrayOp(g, "TensorArraySplit", {a.handle, g.dy(0), g.y(1), a.flow}));
}
void SplitGradient(G& g) {  // handle, value, lengths, flow
  const Array a = GradientArray(g, g.x(0), g.dy());
  g.SetDx(1, ArrayOp(g, "TensorArrayConcat", {a.handle, a.flow},
                     {{"dtype", g.x(1).dtype()}}));
  g.SetDx(3, g.dy());
}
#define HR_ARRAY_GRADIENT(op, fn)                                      \
  REGISTER_GRADIENTS(fn, "TensorArray" op "V3", "TensorArray" op "V2", \
                     "TensorArray" op)
HR_ARRAY_GRADIENT("Read", ReadGradient);
HR_ARRAY_GRADIENT("Write", WriteGradient);
HR_ARRAY_GRADIENT("Gather", GatherGradient);
HR_ARRAY_GRADIENT("Scatter", ScatterGradient);
HR_ARRAY_GRADIENT("Concat", ConcatGradient);
HR_ARRAY_GRADIENT("Split", SplitGradient);
#undef HR_ARRAY_GRADIENT

}  // namespace
}  // namespace headrace
