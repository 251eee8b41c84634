// Gradients of ops that move elements: shapes, slices, concatenation, gather
// and scatter, padding, diagonals.
#include <algorithm>

#include "headrace/gradients.h"

namespace headrace {
namespace {

using G = GradientContext;

constexpr auto kPassOn = [](G& g) { g.SetDx(0, g.raw_dy()); };
REGISTER_GRADIENTS(kPassOn, "Identity", "RefIdentity", "PlaceholderWithDefault",
                   "Print", "EnsureShape", "QuantizeAndDequantize",
                   "DebugGradientIdentity", "DebugGradientRefIdentity",
                   "QuantizeAndDequantizeV2", "QuantizeAndDequantizeV3",
                   "ReadVariableOp", "GuaranteeConst");
REGISTER_GRADIENT("IdentityN", [](G& g) {
  for (int i = 0; i < g.num_inputs(); ++i) g.SetDx(i, g.raw_dy(i));
});
REGISTER_GRADIENT("PreventGradient", [](G& g) {
  g.Fail(errors::NotFound("Gradient explicitly disabled. Reason: ",
                          g.Attr<std::string>("message")));
});
REGISTER_GRADIENT("CheckNumerics", [](G& g) {
  g.SetDx(
      0, g.Op("CheckNumerics", {g.dy()},
              {{"message", StrCat("Not a number (NaN) or infinity (Inf) values "
                                  "detected in gradient. ",
                                  g.Attr<std::string>("message"))}}));
});

constexpr auto kReshapeBack = [](G& g) {
  g.SetDx(0, g.Reshape(g.dy(), g.Shape(g.x(0))));
};
REGISTER_GRADIENTS(kReshapeBack, "Reshape", "ExpandDims", "Squeeze");

REGISTER_GRADIENT("Transpose", [](G& g) {
  g.SetDx(0, g.Transpose(g.dy(), g.Op("InvertPermutation", {g.x(1)})));
});
REGISTER_GRADIENT("ConjugateTranspose", [](G& g) {
  g.SetDx(0, g.Op("ConjugateTranspose",
                  {g.dy(), g.Op("InvertPermutation", {g.x(1)})}));
});

// Concatenation. `axis` is an input of the node, the parts are [first, last).
void ConcatGradient(G& g, int axis_input, int first, int last) {
  const Expr dy = g.dy(), axis = g.x(axis_input);
  const int n = last - first;
  if (n == 1) return g.SetDx(first, dy);
  Tensor value;
  std::vector<int32_t> sizes;
  int64_t at = -1;
  if (g.ConstantInput(axis_input, &value) && value.NumElements() == 1) {
    at = value.dtype() == DT_INT64 ? value.data<int64_t>()[0]
                                   : value.data<int32_t>()[0];
  }
  for (int i = first; i < last; ++i) {
    const PartialTensorShape& shape = g.x(i).shape();
    if (shape.unknown_rank()) break;
    const int64_t k = at < 0 ? at + shape.dims() : at;
    if (k < 0 || k >= shape.dims()) break;
    const int64_t d = shape.dim_size(static_cast<int>(k));
    if (d < 0 || d > std::numeric_limits<int32_t>::max()) break;
    sizes.push_back(static_cast<int32_t>(d));
  }
  if (value.IsInitialized() && sizes.size() == static_cast<size_t>(n)) {
    const Expr parts =
        g.Op("SplitV", {dy, g.Ints(sizes), g.Int(static_cast<int32_t>(at))},
             {{"num_split", n}}, "split");
    for (int i = 0; i < n; ++i) g.SetDx(first + i, parts.out(i));
    return;
  }
  std::vector<Expr> offsets_of = {
      g.Op("FloorMod", {g.Cast(axis, DT_INT32), g.Rank(g.x(first))})};
  std::vector<Expr> shapes;
  for (int i = first; i < last; ++i) shapes.push_back(g.Shape(g.x(i)));
  offsets_of.insert(offsets_of.end(), shapes.begin(), shapes.end());
  const Expr offsets = g.Op("ConcatOffset", offsets_of, {{"N", n}});
  for (int i = 0; i < n; ++i) {
    if (g.Needs(first + i)) {
      g.SetDx(first + i, g.Slice(dy, offsets.out(i), shapes[i]));
    }
  }
}
REGISTER_GRADIENT("Concat",
                  [](G& g) { ConcatGradient(g, 0, 1, g.num_inputs()); });
REGISTER_GRADIENT("ConcatV2", [](G& g) {
  ConcatGradient(g, g.num_inputs() - 1, 0, g.num_inputs() - 1);
});
std::vector<Expr> AllDys(G& g) {
  std::vector<Expr> dys;
  for (int i = 0; i < g.num_outputs(); ++i) dys.push_back(g.dy(i));
  return dys;
}
Expr Join(G& g, const Expr& axis) {
  if (g.num_outputs() == 1) return g.dy();  // ConcatV2 takes two or more
  std::vector<Expr> inputs = AllDys(g);
  inputs.push_back(axis);
  return g.Op("ConcatV2", inputs, {{"N", g.num_outputs()}}, "concat");
}
REGISTER_GRADIENT("Split", [](G& g) { g.SetDx(1, Join(g, g.x(0))); });
REGISTER_GRADIENT("SplitV", [](G& g) { g.SetDx(0, Join(g, g.x(2))); });
REGISTER_GRADIENT("Pack", [](G& g) {
  const Expr parts = g.Op(
      "Unpack", {g.dy()},
      {{"num", g.num_inputs()}, {"axis", g.Attr<int64_t>("axis")}}, "unstack");
  for (int i = 0; i < g.num_inputs(); ++i) g.SetDx(i, parts.out(i));
});
REGISTER_GRADIENT("Unpack", [](G& g) {
  g.SetDx(
      0, g.Op("Pack", AllDys(g), {{"axis", g.Attr<int64_t>("axis")}}, "stack"));
});

// Slices and padding.
REGISTER_GRADIENT("Slice", [](G& g) {
  const DataType index = g.x(1).dtype();
  const Expr before = g.x(1);
  const Expr after = g.Shape(g.x(0), index) - before - g.Shape(g.y(), index);
  g.SetDx(0,
          g.Op("Pad", {g.dy(), g.Op("Pack", {before, after}, {{"axis", 1}})}));
});
REGISTER_GRADIENT("StridedSlice", [](G& g) {
  g.SetDx(0, g.Like("StridedSliceGrad", {g.Shape(g.x(0), g.x(1).dtype()),
                                         g.x(1), g.x(2), g.x(3), g.dy()}));
});
REGISTER_GRADIENT("StridedSliceGrad", [](G& g) {
  g.SetDx(4, g.Like("StridedSlice", {g.dy(), g.x(1), g.x(2), g.x(3)}));
});
constexpr auto kPadGrad = [](G& g) {
  const DataType index = g.x(1).dtype();
  const Expr before = g.Op(
      "StridedSlice", {g.x(1), g.Ints({0, 0}), g.Ints({0, 1}), g.Ints({1, 1})},
      {{"begin_mask", 1}, {"end_mask", 1}, {"shrink_axis_mask", 2}});
  g.SetDx(0, g.Slice(g.dy(), before, g.Shape(g.x(0), index)));
};
REGISTER_GRADIENTS(kPadGrad, "Pad", "PadV2");
REGISTER_GRADIENT("MirrorPad", [](G& g) {
  g.SetDx(0, g.Like("MirrorPadGrad", {g.dy(), g.x(1)}));
});
REGISTER_GRADIENT("MirrorPadGrad", [](G& g) {
  g.SetDx(0, g.Like("MirrorPad", {g.dy(), g.x(1)}));
});
REGISTER_GRADIENT("Tile", [](G& g) {
  // [m0, d0, m1, d1, ...]: sums over the multiples.
  const Expr shape = g.Shape(g.x(0), g.x(1).dtype());
  const Expr pairs =
      g.Reshape(g.Op("Pack", {g.x(1), shape}, {{"axis", 1}}), g.Ints({-1}));
  const Expr axes = g.Op("Range", {g.Int(0), g.Size(pairs), g.Int(2)});
  g.SetDx(0, g.Reshape(g.Sum(g.Reshape(g.dy(), pairs), axes), shape));
});
REGISTER_GRADIENT("BroadcastTo", [](G& g) {
  const DataType index = g.x(1).dtype();
  const Expr shape = g.Shape(g.x(0), index);
  const Expr axes =
      g.Op("BroadcastGradientArgs", {shape, g.Shape(g.y(), index)});
  g.SetDx(0, g.Reshape(g.Sum(g.dy(), axes), shape));
});
REGISTER_GRADIENT("Fill", [](G& g) {
  const Expr dy = g.dy();
  g.SetDx(1, g.Sum(dy, g.Op("Range", {g.Int(0), g.Rank(dy), g.Int(1)})));
});

// Gather and scatter. The gradient of a gather along the first axis stays
// slices.
void GatherRows(G& g, DataType index) {
  const Expr x = g.x(0), shape = g.Shape(x, index);
  const Expr size = g.Reshape(g.Size(g.x(1)), g.Ints({1}));
  const Expr row =
      g.Op("StridedSlice", {shape, g.Ints({1}), g.Ints({0}), g.Ints({1})},
           {{"end_mask", 1}});
  const Expr values = g.Reshape(g.dy(), g.Concat({g.Cast(size, index), row}));
  g.SetSlices(0, values, g.Reshape(g.x(1), size), shape);
}
constexpr auto kGather = [](G& g) { GatherRows(g, DT_INT32); };
REGISTER_GRADIENTS(kGather, "Gather", "ResourceGather");

// Along any axis, with batch dimensions: the sum of the rows of dy by their
// index, with one segment for each batch and index.
void GatherAxis(G& g, int64_t axis, int64_t batch_dims) {
  const Expr x = g.x(0), indices = g.x(1);
  if (x.rank() < 0 || indices.rank() < 0) {
    return g.Fail(errors::Unimplemented(
        "gradient of GatherV2 along axis ", axis, " with batch_dims ",
        batch_dims, ": the ranks of params ", x.shape().DebugString(),
        " and indices ", indices.shape().DebugString(), " must be known"));
  }
  const int rank = x.rank(), index_rank = indices.rank();
  if (axis < 0) axis += rank;
  if (batch_dims < 0) batch_dims += index_rank;
  const int a = static_cast<int>(axis), b = static_cast<int>(batch_dims);
  const int k = index_rank - b;  // the dimensions of dy that come from indices
  // dy is [batch, x before axis, indices, x after axis]: the indices go behind
  // the batch.
  std::vector<int32_t> to_front, back;
  for (int i = 0; i < b; ++i) to_front.push_back(i);
  for (int i = 0; i < k; ++i) to_front.push_back(a + i);
  for (int i = b; i < a; ++i) to_front.push_back(i);
  for (int i = a + k; i < rank - 1 + k; ++i) to_front.push_back(i);
  // x with the axis behind the batch, and back.
  for (int i = 0; i < b; ++i) back.push_back(i);
  for (int i = b; i < a; ++i) back.push_back(i + 1);
  back.push_back(b);
  for (int i = a + 1; i < rank; ++i) back.push_back(i);

  const Expr shape = g.Shape(x), index_shape = g.Shape(indices);
  const auto part = [&](const Expr& of, int from, int to) {
    return g.Slice(of, g.Ints({from}), g.Ints({to - from}));
  };
  const auto count = [&](const Expr& dims) {
    return g.Op("Prod", {dims, g.Int(0)});
  };
  const Expr batch = part(shape, 0, b), depth = part(shape, a, a + 1);
  const Expr inner = g.Concat({part(shape, b, a), part(shape, a + 1, rank)});
  const Expr batches = count(batch), rows = count(depth);
  // The segment of element [i, j] of the indices as [batches, others].
  const Expr offsets =
      g.Op("ExpandDims",
           {g.Op("Range", {g.Int(0), batches, g.Int(1)}) * rows, g.Int(1)});
  const Expr ids =
      g.Reshape(g.Cast(indices, DT_INT32),
                g.Op("Pack", {batches, count(part(index_shape, b, index_rank))},
                     {{"axis", 0}})) +
      offsets;
  const Expr flat_ids = g.Reshape(ids, g.Ints({-1}));
  const Expr moved = g.Transpose(g.dy(), g.Ints(to_front));
  const Expr values = g.Reshape(
      moved, g.Concat({g.Reshape(g.Size(indices), g.Ints({1})), inner}));
  const Expr sum =
      g.Op("UnsortedSegmentSum", {values, flat_ids, batches * rows});
  g.SetDx(0, g.Transpose(g.Reshape(sum, g.Concat({batch, depth, inner})),
                         g.Ints(back)));
}
REGISTER_GRADIENT("GatherV2", [](G& g) {
  int64_t batch_dims = 0;
  if (const AttrValue* v = g.node().attrs().Find("batch_dims");
      v != nullptr && v->Get<int64_t>() != nullptr) {
    batch_dims = *v->Get<int64_t>();
  }
  Tensor axis;
  if (!g.ConstantInput(2, &axis) || axis.NumElements() != 1) {
    return g.Fail(errors::Unimplemented(
        "gradient of GatherV2: axis must be a constant, is output of node '",
        g.x(2).endpoint().node->name(), "'"));
  }
  const int64_t a = axis.dtype() == DT_INT64 ? axis.data<int64_t>()[0]
                                             : axis.data<int32_t>()[0];
  if (a == 0 && batch_dims == 0) return GatherRows(g, DT_INT32);
  GatherAxis(g, a, batch_dims);
});
REGISTER_GRADIENT("GatherNd", [](G& g) {
  const Expr x = g.x(0), indices = g.x(1);
  const Expr shape = g.Shape(x, indices.dtype());
  if (indices.rank() == 2 && indices.shape().dim_size(1) == 1) {
    return g.SetSlices(0, g.dy(),
                       g.Op("Squeeze", {indices},
                            {{"squeeze_dims", std::vector<int64_t>{-1}}}),
                       shape);
  }
  g.SetDx(0, g.Op("ScatterNd", {indices, g.dy(), shape}));
});
REGISTER_GRADIENT("ResourceGatherNd", [](G& g) {
  const Expr indices = g.x(1);
  g.SetDx(0, g.Op("ScatterNd",
                  {indices, g.dy(), g.Shape(g.x(0), indices.dtype())}));
});
REGISTER_GRADIENT("ScatterNd", [](G& g) {
  g.SetDx(1, g.Op("GatherNd", {g.dy(), g.x(0)}));
});
void ScatterGradient(G& g, const Expr& dx, bool negative) {
  const Expr updates = g.Op("GatherNd", {g.dy(), g.x(1)});
  g.SetDx(0, dx);
  g.SetDx(2, negative ? -updates : updates);
}
constexpr auto kScatterAdd = [](G& g) { ScatterGradient(g, g.dy(), false); };
REGISTER_GRADIENTS(kScatterAdd, "ScatterNdNonAliasingAdd", "TensorScatterAdd");
REGISTER_GRADIENT("TensorScatterSub",
                  [](G& g) { ScatterGradient(g, g.dy(), true); });
REGISTER_GRADIENT("TensorScatterUpdate", [](G& g) {
  ScatterGradient(
      g, g.Op("TensorScatterUpdate", {g.dy(), g.x(1), g.ZerosLike(g.x(2))}),
      false);
});

// Orders and blocks.
REGISTER_GRADIENT("Reverse", [](G& g) {
  g.SetDx(0, g.Op("Reverse", {g.dy(), g.x(1)}));
});
REGISTER_GRADIENT("ReverseV2", [](G& g) {
  g.SetDx(0, g.Op("ReverseV2", {g.dy(), g.x(1)}));
});
REGISTER_GRADIENT("ReverseSequence", [](G& g) {
  g.SetDx(0, g.Like("ReverseSequence", {g.dy(), g.x(1)}));
});
REGISTER_GRADIENT("Roll", [](G& g) {
  g.SetDx(0, g.Op("Roll", {g.dy(), -g.x(1), g.x(2)}));
});
REGISTER_GRADIENT("SpaceToBatch", [](G& g) {
  g.SetDx(0, g.Like("BatchToSpace", {g.dy(), g.x(1)}));
});
REGISTER_GRADIENT("BatchToSpace", [](G& g) {
  g.SetDx(0, g.Like("SpaceToBatch", {g.dy(), g.x(1)}));
});
REGISTER_GRADIENT("SpaceToBatchND", [](G& g) {
  g.SetDx(0, g.Op("BatchToSpaceND", {g.dy(), g.x(1), g.x(2)}));
});
REGISTER_GRADIENT("BatchToSpaceND", [](G& g) {
  g.SetDx(0, g.Op("SpaceToBatchND", {g.dy(), g.x(1), g.x(2)}));
});
REGISTER_GRADIENT("SpaceToDepth",
                  [](G& g) { g.SetDx(0, g.Like("DepthToSpace", {g.dy()})); });
REGISTER_GRADIENT("DepthToSpace",
                  [](G& g) { g.SetDx(0, g.Like("SpaceToDepth", {g.dy()})); });

// Diagonals.
REGISTER_GRADIENT("Diag", [](G& g) { g.SetDx(0, g.Op("DiagPart", {g.dy()})); });
REGISTER_GRADIENT("DiagPart", [](G& g) { g.SetDx(0, g.Op("Diag", {g.dy()})); });
REGISTER_GRADIENT("MatrixDiag",
                  [](G& g) { g.SetDx(0, g.Op("MatrixDiagPart", {g.dy()})); });
REGISTER_GRADIENT("MatrixDiagPart", [](G& g) {
  g.SetDx(0, g.Op("MatrixSetDiag", {g.ZerosLike(g.x(0)), g.dy()}));
});
REGISTER_GRADIENT("MatrixDiagV2", [](G& g) {
  // Inputs: diagonal, k, num_rows, num_cols, padding_value.
  g.SetDx(0, g.Op("MatrixDiagPartV2",
                  {g.dy(), g.x(1), g.Scalar(g.dy().dtype(), 0)}));
});
REGISTER_GRADIENT("MatrixDiagPartV2", [](G& g) {
  g.SetDx(0, g.Op("MatrixSetDiagV2", {g.ZerosLike(g.x(0)), g.dy(), g.x(1)}));
});
REGISTER_GRADIENT("MatrixSetDiag", [](G& g) {
  g.SetDx(0, g.Op("MatrixSetDiag", {g.dy(), g.ZerosLike(g.x(1))}));
  g.SetDx(1, g.Op("MatrixDiagPart", {g.dy()}));
});
REGISTER_GRADIENT("MatrixSetDiagV2", [](G& g) {
  g.SetDx(0, g.Op("MatrixSetDiagV2", {g.dy(), g.ZerosLike(g.x(1)), g.x(2)}));
  g.SetDx(1, g.Op("MatrixDiagPartV2",
                  {g.dy(), g.x(2), g.Scalar(g.dy().dtype(), 0)}));
});
REGISTER_GRADIENT("MatrixBandPart", [](G& g) {
  g.SetDx(0, g.Op("MatrixBandPart", {g.dy(), g.x(1), g.x(2)}));
});

// Partitions.
REGISTER_GRADIENT("DynamicPartition", [](G& g) {
  // The elements' numbers, partitioned in the same way, say where each dy goes.
  const Expr x = g.x(0), partitions = g.x(1);
  const Expr numbers =
      g.Reshape(g.Op("Range", {g.Int(0), g.Size(partitions), g.Int(1)}),
                g.Shape(partitions));
  const Expr places =
      g.Op("DynamicPartition", {numbers, partitions},
           {{"num_partitions", g.Attr<int64_t>("num_partitions")}});
  std::vector<Expr> inputs;
  for (int i = 0; i < g.num_outputs(); ++i) inputs.push_back(places.out(i));
  for (int i = 0; i < g.num_outputs(); ++i) inputs.push_back(g.dy(i));
  const Expr stitched = g.Op("DynamicStitch", inputs, {{"N", g.num_outputs()}});
  g.SetDx(0, g.Reshape(stitched, g.Shape(x)));
});
constexpr auto kDynamicStitchGrad = [](G& g) {
  const int n = g.num_inputs() / 2;
  for (int i = 0; i < n; ++i) {
    if (!g.Needs(n + i)) continue;
    g.SetDx(n + i, g.Op("GatherV2", {g.dy(), g.x(i), g.Int(0)}));
  }
};
REGISTER_GRADIENTS(kDynamicStitchGrad, "DynamicStitch",
                   "ParallelDynamicStitch");

// The largest elements: dy goes to where they came from.
constexpr auto kTopKGrad = [](G& g) {
  const Expr x = g.x(0), indices = g.y(1);
  const Expr shape = g.Shape(x), index_shape = g.Shape(indices);
  const auto last = [&](const Expr& s) {
    return g.Op("StridedSlice", {s, g.Ints({-1}), g.Ints({0}), g.Ints({1})},
                {{"end_mask", 1}, {"shrink_axis_mask", 1}});
  };
  const Expr width = last(shape);
  const Expr rows =
      g.Reshape(indices, g.Op("Pack", {g.Int(-1), last(index_shape)}));
  const Expr count = g.Op(
      "StridedSlice", {g.Shape(rows), g.Ints({0}), g.Ints({1}), g.Ints({1})},
      {{"shrink_axis_mask", 1}});
  const Expr starts =
      g.Op("ExpandDims",
           {g.Op("Range", {g.Int(0), count, g.Int(1)}) * width, g.Int(1)});
  const Expr flat = g.Reshape(rows + starts, g.Ints({-1, 1}));
  const Expr size = g.Reshape(g.Size(x), g.Ints({1}));
  g.SetDx(0, g.Reshape(g.Op("ScatterNd",
                            {flat, g.Reshape(g.dy(), g.Ints({-1})), size}),
                       shape));
};
REGISTER_GRADIENTS(kTopKGrad, "TopK", "TopKV2");
REGISTER_GRADIENT("NthElement", [](G& g) {
  // Equal elements share the gradient.
  const Expr x = g.x(0);
  const Expr y = g.Op("ExpandDims", {g.y(), g.Int(-1)});
  const Expr chosen = g.Cast(g.Op("Equal", {y, x}), x.dtype());
  const Expr count = g.Sum(chosen, g.Int(-1), /*keep_dims=*/true);
  g.SetDx(0, chosen / count * g.Op("ExpandDims", {g.dy(), g.Int(-1)}));
});

}  // namespace
}  // namespace headrace
