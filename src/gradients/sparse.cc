// Gradients of ops on sparse tensors: indices [n, rank], values [n], shape
// [rank]. Values have gradients, indices and shapes have none.
#include "headrace/gradients.h"

namespace headrace {
namespace {

using G = GradientContext;

Expr GatherNd(const Expr& t, const Expr& indices) {
  return t.context()->Op("GatherNd", {t, indices});
}
Expr Rows(const Expr& t, const Expr& indices) {
  G& g = *t.context();
  return g.Op("GatherV2", {t, indices, g.Int(0)});
}

// Inputs: a_indices, a_values, a_shape, b.
REGISTER_GRADIENT("SparseTensorDenseMatMul", [](G& g) {
  const bool ta = g.Attr<bool>("adjoint_a"), tb = g.Attr<bool>("adjoint_b");
  const Expr indices = g.x(0), b = g.x(3), dy = g.dy();
  if (g.Needs(1)) {
    const Expr columns = g.Op("Unpack", {indices}, {{"num", 2}, {"axis", 1}});
    const Expr row = columns.out(ta ? 1 : 0), column = columns.out(ta ? 0 : 1);
    const Expr right = tb ? g.Adjoint(b) : b;
    const Expr d = g.Sum(Rows(dy, row) * g.Conj(Rows(right, column)), g.Int(1));
    g.SetDx(1, ta ? g.Conj(d) : d);
  }
  if (g.Needs(3)) {
    const Expr d =
        g.Op("SparseTensorDenseMatMul", {indices, g.x(1), g.x(2), dy},
             {{"adjoint_a", !ta}, {"adjoint_b", false}});
    g.SetDx(3, tb ? g.Adjoint(d) : d);
  }
});
// Inputs: indices, output_shape, values (or one for all), default.
REGISTER_GRADIENT("SparseToDense", [](G& g) {
  const Expr indices = g.x(0), dy = g.dy();
  const int rank = indices.rank();
  if (rank < 0) {
    return g.Fail(errors::Unimplemented(
        "gradient of SparseToDense: the rank of sparse_indices must be known"));
  }
  const Expr at =
      rank == 2
          ? indices
          : g.Reshape(indices, g.Ints(rank == 1 ? std::vector<int32_t>{-1, 1}
                                                : std::vector<int32_t>{1, 1}));
  const Expr values = GatherNd(dy, at);
  if (g.Needs(2)) {
    g.SetDx(2, g.x(2).rank() == 0 ? g.Sum(values, g.Int(0))
                                  : g.Reshape(values, g.Shape(g.x(2))));
  }
  if (g.Needs(3)) {
    const Expr all = g.Op("Range", {g.Int(0), g.Rank(dy), g.Int(1)});
    g.SetDx(3, g.Sum(dy, all) - g.Sum(values, g.Int(0)));
  }
});
REGISTER_GRADIENT("SparseTensorDenseAdd", [](G& g) {
  g.SetDx(1, GatherNd(g.dy(), g.x(0)));
  g.SetDx(3, g.dy());
});
// Inputs: a's indices, values and shape, b's, and a threshold.
REGISTER_GRADIENT("SparseAdd", [](G& g) {
  const Expr d = g.Op("SparseAddGrad", {g.dy(1), g.x(0), g.x(3), g.y(0)});
  g.SetDx(1, d);
  g.SetDx(4, d.out(1));
});
REGISTER_GRADIENT("SparseReorder", [](G& g) {
  // The elements' numbers, ordered in the same way, say where each came from.
  const Expr indices = g.x(0);
  const Expr n = g.Op("StridedSlice",
                      {g.Shape(indices), g.Ints({0}), g.Ints({1}), g.Ints({1})},
                      {{"shrink_axis_mask", 1}});
  const Expr numbers = g.Op("Range", {g.Int(0), n, g.Int(1)});
  const Expr moved = g.Op("SparseReorder", {indices, numbers, g.x(2)}).out(1);
  g.SetDx(1, Rows(g.dy(1), g.Op("InvertPermutation", {moved})));
});
REGISTER_GRADIENT("SparseFillEmptyRows", [](G& g) {
  const Expr d = g.Op("SparseFillEmptyRowsGrad", {g.y(3), g.dy(1)});
  g.SetDx(1, d);
  g.SetDx(3, d.out(1));
});
REGISTER_GRADIENT("SparseSlice", [](G& g) {
  g.SetDx(1, g.Op("SparseSliceGrad", {g.dy(1), g.x(0), g.x(3), g.y(0)}));
});
REGISTER_GRADIENT("SparseReduceSum", [](G& g) {
  // Inputs: indices, values, shape, axes.
  const Expr shape = g.Cast(g.x(2), DT_INT32), dy = g.dy();
  const Expr rank = g.Size(shape);
  const Expr axes =
      g.Op("FloorMod", {g.Reshape(g.x(3), g.Ints({-1})) + rank, rank});
  const Expr all = g.Op("Range", {g.Int(0), rank, g.Int(1)});
  const Expr kept = g.Op(
      "DynamicStitch",
      {all, axes, shape, g.Op("Fill", {g.Shape(axes), g.Int(1)})}, {{"N", 2}});
  const Expr scale = g.Cast(g.Op("FloorDiv", {shape, kept}), DT_INT64);
  g.SetDx(1, GatherNd(g.Reshape(dy, kept), g.Op("FloorDiv", {g.x(0), scale})));
});
// Inputs: indices, values, shape, a dense tensor that broadcasts to it.
void SparseDenseGradient(G& g, bool divides) {
  const Expr indices = g.x(0), shape = g.x(2), dense = g.x(3), dy = g.dy();
  // The elements of the dense tensor that belong to the values.
  const Expr dense_shape = g.Shape(dense, DT_INT64);
  const Expr missing =
      g.Reshape(g.Size(shape) - g.Size(dense_shape), g.Ints({1}));
  const Expr wide =
      g.Concat({g.Op("Fill", {missing, g.Const(Tensor::Scalar<int64_t>(1))}),
                dense_shape});
  const Expr scale = g.Op("FloorDiv", {shape, wide});
  const Expr at = g.Op("FloorDiv", {indices, scale});
  const Expr factors = GatherNd(g.Reshape(dense, wide), at);
  g.SetDx(1, divides ? dy / factors : dy * factors);
  if (!g.Needs(3)) return;
  const Expr d = divides ? -(dy * g.y()) / factors : dy * g.x(1);
  g.SetDx(3, g.Reshape(g.Op("ScatterNd", {at, d, wide}), g.Shape(dense)));
}
REGISTER_GRADIENT("SparseDenseCwiseMul",
                  [](G& g) { SparseDenseGradient(g, false); });
REGISTER_GRADIENT("SparseDenseCwiseDiv",
                  [](G& g) { SparseDenseGradient(g, true); });
constexpr auto kSparseNone = [](G& g) {
  g.Fail(errors::Unimplemented("Gradient for ", g.node().type_string(),
                               " is currently not implemented, as in "
                               "TensorFlow"));
};
REGISTER_GRADIENTS(kSparseNone, "SparseDenseCwiseAdd", "SparseSparseMaximum",
                   "SparseSparseMinimum");
// Inputs and outputs: row splits, the outermost first, and values.
REGISTER_GRADIENT("RaggedTensorToSparse", [](G& g) {
  const int values = g.num_inputs() - 1;
  g.SetDx(values, g.Reshape(g.dy(1), g.Shape(g.x(values))));
});
REGISTER_GRADIENT("RaggedGather", [](G& g) {
  const int values = g.num_inputs() - 2;
  // Where the values of each row begin: splits of splits.
  Expr splits = g.x(0);
  for (int i = 1; i < values; ++i) splits = Rows(g.x(i), splits);
  const Expr ids = g.Reshape(g.x(values + 1), g.Ints({-1}));
  const Expr begin = Rows(splits, ids);
  const Expr end = Rows(splits, ids + g.Cast(g.Int(1), ids.dtype()));
  const Expr rows =
      g.Op("RaggedRange", {begin, end, g.Cast(g.Int(1), begin.dtype())},
           {{"T", begin.dtype()}, {"Tsplits", begin.dtype()}})
          .out(1);
  g.SetSlices(values, g.dy(g.num_outputs() - 1), rows,
              g.Shape(g.x(values), begin.dtype()));
});
REGISTER_GRADIENT("SparseSoftmax", [](G& g) {
  // (dy - sum of dy * y of the row) * y; rows are all indices but the last.
  const Expr indices = g.x(0), y = g.y(), shape = g.x(2), dy = g.dy();
  const Expr axes = g.Reshape(g.Size(shape) - 1, g.Ints({1}));
  const Expr sums = g.Op("SparseReduceSum", {indices, dy * y, shape, axes},
                         {{"keep_dims", false}});
  const Expr rows =
      g.Op("StridedSlice",
           {indices, g.Ints({0, 0}), g.Ints({0, -1}), g.Ints({1, 1})},
           {{"begin_mask", 3}, {"end_mask", 1}});
  g.SetDx(1, (dy - GatherNd(sums, rows)) * y);
});

}  // namespace
}  // namespace headrace
