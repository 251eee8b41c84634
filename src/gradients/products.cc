// Gradients of matrix products and convolutions.
#include <algorithm>
#include <iterator>

#include "headrace/gradients.h"

namespace headrace {
namespace {

using G = GradientContext;

// Products. The four cases of transposed arguments. For complex numbers a
// "transpose" of MatMul is none of the conjugate: arguments are conjugated.
REGISTER_GRADIENT("MatMul", [](G& g) {
  const bool ta = g.Attr<bool>("transpose_a"), tb = g.Attr<bool>("transpose_b");
  const Expr a = g.Conj(g.x(0)), b = g.Conj(g.x(1)), dy = g.dy();
  const auto product = [&](const Expr& l, const Expr& r, bool tl, bool tr) {
    return g.Op("MatMul", {l, r}, {{"transpose_a", tl}, {"transpose_b", tr}});
  };
  if (g.Needs(0)) {
    g.SetDx(0, ta ? product(b, dy, tb, true) : product(dy, b, false, !tb));
  }
  if (g.Needs(1)) {
    g.SetDx(1, tb ? product(dy, a, true, ta) : product(a, dy, !ta, false));
  }
});
REGISTER_GRADIENT("SparseMatMul", [](G& g) {
  const bool ta = g.Attr<bool>("transpose_a"), tb = g.Attr<bool>("transpose_b");
  const Expr a = g.x(0), b = g.x(1), dy = g.dy();
  const auto product = [&](const Expr& l, const Expr& r, bool tl, bool tr,
                           DataType type) {
    return g.Cast(g.Op("MatMul", {g.Cast(l, DT_FLOAT), g.Cast(r, DT_FLOAT)},
                       {{"transpose_a", tl}, {"transpose_b", tr}}),
                  type);
  };
  if (g.Needs(0)) {
    g.SetDx(0, ta ? product(b, dy, tb, true, a.dtype())
                  : product(dy, b, false, !tb, a.dtype()));
  }
  if (g.Needs(1)) {
    g.SetDx(1, tb ? product(dy, a, true, ta, b.dtype())
                  : product(a, dy, !ta, false, b.dtype()));
  }
});
// dx of rank r: sums the batch dimensions that were broadcast.
Expr Unbroadcast(G& g, const Expr& d, const Expr& x) {
  if (x.shape().IsFullyDefined() && x.shape() == d.shape()) return d;
  const auto batch = [&](const Expr& t) {
    return g.Op("StridedSlice",
                {g.Shape(t), g.Ints({0}), g.Ints({-2}), g.Ints({1})},
                {{"begin_mask", 1}});
  };
  const Expr axes = g.Op("BroadcastGradientArgs", {batch(x), batch(g.y())});
  return g.Reshape(g.Sum(d, axes), g.Shape(x));
}
constexpr auto kBatchMatMulGrad = [](G& g) {
  const bool ta = g.Attr<bool>("adj_x"), tb = g.Attr<bool>("adj_y");
  const bool broadcasts = g.node().type_string() != "BatchMatMul";
  const Expr a = g.x(0), b = g.x(1), dy = g.dy();
  const auto product = [&](const Expr& l, const Expr& r, bool tl, bool tr) {
    return g.Op(broadcasts ? "BatchMatMulV2" : "BatchMatMul", {l, r},
                {{"adj_x", tl}, {"adj_y", tr}}, "MatMul");
  };
  const auto set = [&](int i, const Expr& d) {
    g.SetDx(i, broadcasts ? Unbroadcast(g, d, g.x(i)) : d);
  };
  if (g.Needs(0)) {
    set(0, ta ? product(b, dy, tb, true) : product(dy, b, false, !tb));
  }
  if (g.Needs(1)) {
    set(1, tb ? product(dy, a, true, ta) : product(a, dy, !ta, false));
  }
};
REGISTER_GRADIENTS(kBatchMatMulGrad, "BatchMatMul", "BatchMatMulV2");

// Einsum. With labels a, b and o of the inputs and the output, the gradient of
// the first input is Einsum(o, b -> a): labels of `a` that are in neither were
// summed, and are broadcast. What an ellipsis stands for may have been
// broadcast, and is summed.
struct Subscripts {
  std::string before, after;  // the ellipsis; `after` alone if there is none
  bool ellipsis = false;

  std::string Text() const {
    return StrCat(before, ellipsis ? "..." : "", after);
  }
};
Subscripts ParseSubscripts(const std::string& text) {
  const size_t dots = text.find("...");
  if (dots == std::string::npos) return {"", text, false};
  return {text.substr(0, dots), text.substr(dots + 3), true};
}
Status ParseEquation(const std::string& equation, int num_inputs,
                     std::vector<Subscripts>* inputs, Subscripts* output) {
  const size_t arrow = equation.find("->");
  if (arrow == std::string::npos) {
    return errors::InvalidArgument("Einsum: equation '", equation,
                                   "' has no '->'");
  }
  *output = ParseSubscripts(equation.substr(arrow + 2));
  size_t from = 0;
  for (int i = 0; i < num_inputs; ++i) {
    const size_t to = std::min(equation.find(',', from), arrow);
    inputs->push_back(ParseSubscripts(equation.substr(from, to - from)));
    from = to + 1;
    const std::string labels = inputs->back().before + inputs->back().after;
    for (const char c : labels) {
      if (std::count(labels.begin(), labels.end(), c) > 1) {
        return errors::Unimplemented("gradient of Einsum '", equation,
                                     "': an input has label '",
                                     std::string(1, c), "' twice");
      }
    }
    if (inputs->back().ellipsis && !output->ellipsis) {
      return errors::Unimplemented("gradient of Einsum '", equation,
                                   "': the output has no ellipsis");
    }
  }
  return OkStatus();
}
void EinsumGradient(G& g, int i, const std::vector<Subscripts>& inputs,
                    const Subscripts& output) {
  const Expr x = g.x(i);
  const Subscripts& mine = inputs[i];
  std::string known = output.Text(), equation = output.Text();
  std::vector<Expr> factors = {g.dy()};
  for (int k = 0; k < g.num_inputs(); ++k) {
    if (k == i) continue;
    StrAppend(&equation, ",", inputs[k].Text());
    known += inputs[k].Text();
    factors.push_back(g.Conj(g.x(k)));
  }
  const auto is_known = [&](char c) {
    return known.find(c) != std::string::npos;
  };
  Subscripts found{.ellipsis = output.ellipsis};
  std::copy_if(mine.before.begin(), mine.before.end(),
               std::back_inserter(found.before), is_known);
  std::copy_if(mine.after.begin(), mine.after.end(),
               std::back_inserter(found.after), is_known);
  Expr d = g.Op("Einsum", factors,
                {{"equation", StrCat(equation, "->", found.Text())}});
  // The dimensions that are missing, those behind the ellipsis from the end.
  bool expanded = false;
  const int n = static_cast<int>(mine.after.size());
  for (int k = n - 1; k >= 0; --k) {
    if (is_known(mine.after[k])) continue;
    d = g.Op("ExpandDims", {d, g.Int(k - n)});
    expanded = true;
  }
  for (size_t k = 0; k < mine.before.size(); ++k) {
    if (is_known(mine.before[k])) continue;
    d = g.Op("ExpandDims", {d, g.Int(static_cast<int32_t>(k))});
    expanded = true;
  }
  if (output.ellipsis &&
      !(x.shape().IsFullyDefined() && x.shape() == d.shape())) {
    if (!mine.before.empty() && (x.rank() < 0 || x.rank() != d.rank())) {
      return g.Fail(errors::Unimplemented(
          "gradient of Einsum '", g.Attr<std::string>("equation"),
          "': an ellipsis behind labels stands for unlike ranks"));
    }
    const Expr axes = g.Op("BroadcastGradientArgs", {g.Shape(x), g.Shape(d)});
    d = g.Sum(d, axes, /*keep_dims=*/x.rank() >= 0 && x.rank() == d.rank());
    if (!expanded) d = g.Reshape(d, g.Shape(x));
  }
  g.SetDx(i, expanded ? g.Op("BroadcastTo", {d, g.Shape(x)}) : d);
}
REGISTER_GRADIENT("Einsum", [](G& g) {
  std::vector<Subscripts> inputs;
  Subscripts output;
  const Status s = ParseEquation(g.Attr<std::string>("equation"),
                                 g.num_inputs(), &inputs, &output);
  if (!s.ok()) return g.Fail(s);
  for (int i = 0; i < g.num_inputs(); ++i) {
    if (g.Needs(i)) EinsumGradient(g, i, inputs, output);
  }
});

// Convolutions: each of forward, by input and by filter is linear in both its
// tensors, and the gradients of one are the other two. Each has them at other
// inputs; the attrs are the same.
struct ConvOps {
  const char *forward, *by_input, *by_filter;
};
constexpr ConvOps kConv2D = {"Conv2D", "Conv2DBackpropInput",
                             "Conv2DBackpropFilter"};
constexpr ConvOps kConv3D = {"Conv3D", "Conv3DBackpropInputV2",
                             "Conv3DBackpropFilterV2"};
constexpr ConvOps kDepthwise = {"DepthwiseConv2dNative",
                                "DepthwiseConv2dNativeBackpropInput",
                                "DepthwiseConv2dNativeBackpropFilter"};

template <const ConvOps& kOps>
void ForwardGradient(G& g) {  // inputs: x, filter
  if (g.Needs(0)) {
    g.SetDx(0, g.Like(kOps.by_input, {g.Shape(g.x(0)), g.x(1), g.dy()}));
  }
  if (g.Needs(1)) {
    g.SetDx(1, g.Like(kOps.by_filter, {g.x(0), g.Shape(g.x(1)), g.dy()}));
  }
}
template <const ConvOps& kOps>
void ByInputGradient(G& g) {  // inputs: sizes of x, filter, dy
  if (g.Needs(1)) {
    g.SetDx(1, g.Like(kOps.by_filter, {g.dy(), g.Shape(g.x(1)), g.x(2)}));
  }
  if (g.Needs(2)) g.SetDx(2, g.Like(kOps.forward, {g.dy(), g.x(1)}));
}
template <const ConvOps& kOps>
void ByFilterGradient(G& g) {  // inputs: x, sizes of filter, dy
  if (g.Needs(0)) {
    g.SetDx(0, g.Like(kOps.by_input, {g.Shape(g.x(0)), g.dy(), g.x(2)}));
  }
  if (g.Needs(2)) g.SetDx(2, g.Like(kOps.forward, {g.x(0), g.dy()}));
}
REGISTER_GRADIENT("Conv2D", ForwardGradient<kConv2D>);
REGISTER_GRADIENT("Conv2DBackpropInput", ByInputGradient<kConv2D>);
REGISTER_GRADIENT("Conv2DBackpropFilter", ByFilterGradient<kConv2D>);
REGISTER_GRADIENT("Conv3D", ForwardGradient<kConv3D>);
REGISTER_GRADIENT("Conv3DBackpropInputV2", ByInputGradient<kConv3D>);
REGISTER_GRADIENT("Conv3DBackpropFilterV2", ByFilterGradient<kConv3D>);
REGISTER_GRADIENT("DepthwiseConv2dNative", ForwardGradient<kDepthwise>);
REGISTER_GRADIENT("DepthwiseConv2dNativeBackpropInput",
                  ByInputGradient<kDepthwise>);
REGISTER_GRADIENT("DepthwiseConv2dNativeBackpropFilter",
                  ByFilterGradient<kDepthwise>);
REGISTER_GRADIENT("Dilation2D", [](G& g) {
  if (g.Needs(0)) {
    g.SetDx(0, g.Like("Dilation2DBackpropInput", {g.x(0), g.x(1), g.dy()}));
  }
  if (g.Needs(1)) {
    g.SetDx(1, g.Like("Dilation2DBackpropFilter", {g.x(0), g.x(1), g.dy()}));
  }
});

}  // namespace
}  // namespace headrace
