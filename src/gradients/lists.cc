// Gradients of tensor lists and optionals, which are lists and optionals too.
#include "headrace/gradients.h"

namespace headrace {
namespace {

using G = GradientContext;

AttrMap ElementType(G& g) {
  return {{"element_dtype", g.Attr<DataType>("element_dtype")}};
}
// The shape of a row of `t`.
Expr RowShape(G& g, const Expr& t) {
  return g.Op("StridedSlice",
              {g.Shape(t), g.Ints({1}), g.Ints({0}), g.Ints({1})},
              {{"end_mask", 1}});
}
Expr Length(G& g, const Expr& list) { return g.Op("TensorListLength", {list}); }
Expr ElementShape(G& g, const Expr& list) {
  return g.Op("TensorListElementShape", {list}, {{"shape_type", DT_INT32}});
}

REGISTER_GRADIENT("TensorListPushBack", [](G& g) {
  const Expr d =
      g.Op("TensorListPopBack", {g.dy(), g.Shape(g.x(1))}, ElementType(g));
  g.SetDx(0, d);
  g.SetDx(1, d.out(1));
});
REGISTER_GRADIENT("TensorListPopBack", [](G& g) {
  const Expr element = g.HasDy(1) ? g.dy(1) : g.ZerosLike(g.y(1));
  g.SetDx(0, g.Op("TensorListPushBack", {g.dy(0), element}, ElementType(g)));
});
REGISTER_GRADIENT("TensorListStack", [](G& g) {
  const Expr dy = g.dy();
  g.SetDx(0,
          g.Op("TensorListFromTensor", {dy, RowShape(g, dy)}, ElementType(g)));
});
REGISTER_GRADIENT("TensorListFromTensor", [](G& g) {
  g.SetDx(0, g.Op("TensorListStack", {g.dy(), RowShape(g, g.x(0))},
                  ElementType(g)));
});
REGISTER_GRADIENT("TensorListGetItem", [](G& g) {
  const Expr list = g.x(0);
  const Expr zeros =
      g.Op("TensorListReserve", {ElementShape(g, list), Length(g, list)},
           ElementType(g));
  g.SetDx(0,
          g.Op("TensorListSetItem", {zeros, g.x(1), g.dy()}, ElementType(g)));
});
REGISTER_GRADIENT("TensorListSetItem", [](G& g) {
  const Expr item = g.x(2), d = g.dy();
  if (g.Needs(0)) {
    g.SetDx(0, g.Op("TensorListSetItem", {d, g.x(1), g.ZerosLike(item)},
                    ElementType(g)));
  }
  g.SetDx(
      2, g.Op("TensorListGetItem", {d, g.x(1), g.Shape(item)}, ElementType(g)));
});
REGISTER_GRADIENT("TensorListResize", [](G& g) {
  g.SetDx(0, g.Op("TensorListResize", {g.dy(), Length(g, g.x(0))}));
});
REGISTER_GRADIENT("TensorListGather", [](G& g) {
  const Expr dy = g.dy();
  g.SetDx(0, g.Op("TensorListScatterV2",
                  {dy, g.x(1), RowShape(g, dy), Length(g, g.x(0))},
                  ElementType(g)));
});
constexpr auto kScatterListGrad = [](G& g) {
  g.SetDx(0, g.Op("TensorListGather", {g.dy(), g.x(1), RowShape(g, g.x(0))},
                  ElementType(g)));
};
REGISTER_GRADIENTS(kScatterListGrad, "TensorListScatter",
                   "TensorListScatterV2");
REGISTER_GRADIENT("TensorListScatterIntoExistingList", [](G& g) {
  const Expr rows = g.x(1), d = g.dy();
  if (g.Needs(0)) {
    g.SetDx(0, g.Op("TensorListScatterIntoExistingList",
                    {d, g.ZerosLike(rows), g.x(2)}, ElementType(g)));
  }
  g.SetDx(1, g.Op("TensorListGather", {d, g.x(2), RowShape(g, rows)},
                  ElementType(g)));
});
// Outputs: the elements, one after the other, and their lengths.
constexpr auto kConcatListGrad = [](G& g) {
  g.SetDx(0, g.Op("TensorListSplit", {g.dy(0), ElementShape(g, g.x(0)), g.y(1)},
                  ElementType(g)));
};
REGISTER_GRADIENTS(kConcatListGrad, "TensorListConcat", "TensorListConcatV2");
REGISTER_GRADIENT("TensorListSplit", [](G& g) {
  const Expr shape = g.Concat({g.Ints({-1}), RowShape(g, g.x(0))});
  g.SetDx(0,
          g.Op("TensorListConcatV2", {g.dy(), shape, g.x(2)}, ElementType(g)));
});

REGISTER_GRADIENT("OptionalFromValue", [](G& g) {
  std::vector<DataType> types;
  std::vector<PartialTensorShape> shapes;
  for (const Expr& x : g.Inputs(0, g.num_inputs())) {
    types.push_back(x.dtype());
    shapes.push_back(x.shape());
  }
  const Expr d = g.Op("OptionalGetValue", {g.dy()},
                      {{"output_types", types}, {"output_shapes", shapes}});
  for (int i = 0; i < g.num_inputs(); ++i) g.SetDx(i, d.out(i));
});
REGISTER_GRADIENT("OptionalGetValue", [](G& g) {
  std::vector<Expr> parts;
  for (int i = 0; i < g.num_outputs(); ++i) {
    parts.push_back(g.HasDy(i) ? g.dy(i) : g.ZerosLike(g.y(i)));
  }
  g.SetDx(0, g.Op("OptionalFromValue", parts));
});

}  // namespace
}  // namespace headrace
