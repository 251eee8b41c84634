// Gradients of reductions, scans and segment ops.
#include <algorithm>

#include "headrace/gradients.h"

namespace headrace {
namespace {

using G = GradientContext;

// The axes of input 1, not negative, if they and the rank of input 0 are known.
bool KnownAxes(G& g, std::vector<bool>* reduced) {
  Tensor axes;
  const int rank = g.x(0).rank();
  if (rank < 0 || !g.ConstantInput(1, &axes)) return false;
  reduced->assign(rank, false);
  for (int64_t i = 0; i < axes.NumElements(); ++i) {
    int64_t axis = axes.dtype() == DT_INT64 ? axes.data<int64_t>()[i]
                                            : axes.data<int32_t>()[i];
    if (axis < 0) axis += rank;
    if (axis < 0 || axis >= rank) return false;
    (*reduced)[axis] = true;
  }
  return true;
}

// The shape of input 0 with 1 for the dimensions that input 1 names.
Expr KeptShape(G& g) {
  const Expr x = g.x(0);
  std::vector<bool> reduced;
  if (KnownAxes(g, &reduced)) {
    std::vector<int32_t> dims;
    for (size_t i = 0; i < reduced.size(); ++i) {
      const int64_t d = reduced[i] ? 1 : x.shape().dim_size(i);
      if (d < 0 || d > std::numeric_limits<int32_t>::max()) break;
      dims.push_back(static_cast<int32_t>(d));
    }
    if (dims.size() == reduced.size()) return g.Ints(dims);
  }
  const Expr rank = g.Rank(x);
  const Expr axes = g.Reshape(g.Cast(g.x(1), DT_INT32), g.Ints({-1}));
  const Expr positive = g.Op("FloorMod", {axes + rank, rank});
  const Expr all = g.Op("Range", {g.Int(0), rank, g.Int(1)});
  const Expr ones = g.Op("Fill", {g.Shape(positive), g.Int(1)});
  return g.Op("DynamicStitch", {all, positive, g.Shape(x), ones}, {{"N", 2}});
}

// `t`, of the shape of the output, with the reduced dimensions as 1.
Expr Keep(G& g, const Expr& t, const Expr& kept) {
  return g.Attr<bool>("keep_dims") ? t : g.Reshape(t, kept);
}

Expr SumGradient(G& g) {
  const Expr x = g.x(0);
  Expr dy = g.dy();
  if (!g.Attr<bool>("keep_dims")) dy = g.Reshape(dy, KeptShape(g));
  return g.Op("BroadcastTo", {dy, g.Shape(x)});
}

REGISTER_GRADIENT("Sum", [](G& g) { g.SetDx(0, SumGradient(g)); });
REGISTER_GRADIENT("Mean", [](G& g) {
  const Expr x = g.x(0), y = g.y(), sum = SumGradient(g);
  Expr factor;
  if (x.shape().IsFullyDefined() && y.shape().IsFullyDefined()) {
    factor = g.Scalar(
        x.dtype(),
        static_cast<double>(x.shape().num_elements() /
                            std::max<int64_t>(1, y.shape().num_elements())));
  } else {
    const Expr size = g.Op("Maximum", {g.Size(y), g.Int(1)});
    factor = g.Cast(g.Op("FloorDiv", {g.Size(x), size}), x.dtype());
  }
  g.SetDx(0, sum / factor);
});
constexpr auto kMaxGrad = [](G& g) {
  // Elements that are equal to the result share its gradient.
  const Expr x = g.x(0), kept = KeptShape(g);
  const Expr y = Keep(g, g.y(), kept), dy = Keep(g, g.dy(), kept);
  const Expr chosen = g.Cast(g.Op("Equal", {y, x}), x.dtype());
  const Expr count = g.Sum(chosen, g.x(1), /*keep_dims=*/true);
  g.SetDx(0, chosen / count * dy);
};
REGISTER_GRADIENTS(kMaxGrad, "Max", "Min");
REGISTER_GRADIENT("Prod", [](G& g) {
  // The product of all other elements of the row, from the left and from the
  // right: elements may be 0. The reduced dimensions go first, as one.
  const Expr x = g.x(0), rank = g.Rank(x), kept = KeptShape(g);
  const Expr dy = g.Op("BroadcastTo", {Keep(g, g.dy(), kept), g.Shape(x)});
  const Expr axes =
      g.Op("FloorMod",
           {g.Reshape(g.Cast(g.x(1), DT_INT32), g.Ints({-1})) + rank, rank});
  const Expr all = g.Op("Range", {g.Int(0), rank, g.Int(1)});
  const Expr others = g.Op("ListDiff", {all, axes});
  const Expr order = g.Concat({axes, others});
  const Expr shape = g.Shape(x);
  const auto count = [&](const Expr& of) {
    return g.Reshape(
        g.Op("Prod", {g.Op("GatherV2", {shape, of, g.Int(0)}), g.Int(0)}),
        g.Ints({1}));
  };
  const Expr permuted = g.Transpose(x, order);
  const Expr rows = g.Reshape(permuted, g.Concat({count(axes), count(others)}));
  const auto product = [&](bool reverse) {
    return g.Op("Cumprod", {rows, g.Int(0)},
                {{"exclusive", true}, {"reverse", reverse}});
  };
  const Expr rest = g.Reshape(g.Conj(product(false)) * g.Conj(product(true)),
                              g.Shape(permuted));
  g.SetDx(0,
          g.Reshape(dy * g.Transpose(rest, g.Op("InvertPermutation", {order})),
                    shape));
});
REGISTER_GRADIENT("L2Loss", [](G& g) { g.SetDx(0, g.x() * g.dy()); });

Expr Scan(G& g, const char* op, const Expr& t, bool reverse) {
  return g.Op(op, {t, g.x(1)},
              {{"exclusive", g.Attr<bool>("exclusive")}, {"reverse", reverse}});
}
REGISTER_GRADIENT("Cumsum", [](G& g) {
  g.SetDx(0, Scan(g, "Cumsum", g.dy(), !g.Attr<bool>("reverse")));
});
REGISTER_GRADIENT("Cumprod", [](G& g) {
  const bool reverse = g.Attr<bool>("reverse");
  const Expr products = Scan(g, "Cumprod", g.x(0), reverse);
  g.SetDx(0, Scan(g, "Cumsum", products * g.dy(), !reverse) / g.x(0));
});
REGISTER_GRADIENT("CumulativeLogsumexp", [](G& g) {
  // The sum of dy * exp(x - y) behind each element, in logarithms: positive
  // and negative dy each for itself.
  const bool reverse = g.Attr<bool>("reverse");
  const Expr x = g.x(0), y = g.y(), dy = g.dy();
  const Expr zero = g.Scalar(dy.dtype(), 0);
  const Expr lowest = g.Op(
      "BroadcastTo",
      {g.Scalar(dy.dtype(), dy.dtype() == DT_DOUBLE ? -1.797e308 : -3.4e38),
       g.Shape(dy)});
  const Expr log_dy = g.Op("Log", {g.Op("Abs", {dy})});
  const auto part = [&](const char* compare) {
    const Expr logs =
        g.Op("Select", {g.Op(compare, {dy, zero}), log_dy, lowest});
    return g.Op("Exp",
                {Scan(g, "CumulativeLogsumexp", logs - y, !reverse) + x});
  };
  g.SetDx(0, part("Greater") - part("Less"));
});

// Segments.
Expr Gather(const Expr& t, const Expr& ids) {
  G& g = *t.context();
  return g.Op("GatherV2", {t, ids, g.Int(0)});
}
REGISTER_GRADIENT("SegmentSum",
                  [](G& g) { g.SetDx(0, Gather(g.dy(), g.x(1))); });
// A tensor of `value`: [size of ids, 1, 1, ...], which broadcasts with x.
Expr Column(G& g, const Expr& x, const Expr& ids, double value) {
  const Expr rank = g.Reshape(g.Rank(x) - 1, g.Ints({1}));
  const Expr ones = g.Op("Fill", {rank, g.Int(1)});
  return g.Op("Fill",
              {g.Concat({g.Shape(ids), ones}), g.Scalar(x.dtype(), value)});
}
REGISTER_GRADIENT("SegmentMean", [](G& g) {
  const Expr counts =
      g.Op("SegmentSum", {Column(g, g.x(0), g.x(1), 1), g.x(1)});
  g.SetDx(0, Gather(g.dy() / counts, g.x(1)));
});
constexpr auto kSegmentMaxGrad = [](G& g) {
  const Expr x = g.x(0), ids = g.x(1);
  const Expr chosen = g.Op("Equal", {x, Gather(g.y(), ids)});
  const Expr count = g.Op("SegmentSum", {g.Cast(chosen, x.dtype()), ids});
  g.SetDx(
      0, g.Op("Select", {chosen, Gather(g.dy() / count, ids), g.ZerosLike(x)}));
};
REGISTER_GRADIENTS(kSegmentMaxGrad, "SegmentMax", "SegmentMin");

// Rows of `t` by ids. Where the id is negative: zeros, and the mask is false.
struct Rows {
  Expr rows, mask, ids;
};
Rows GatherRows(G& g, const Expr& t, const Expr& ids) {
  const Expr zero = g.Op("ZerosLike", {ids});
  Rows r;
  r.ids = g.Op("Maximum", {ids, zero});
  const Expr rows = Gather(t, r.ids);
  // A mask of the shape of the rows.
  const Expr valid = g.Op("GreaterEqual", {ids, zero});
  const Expr extra = g.Reshape(g.Rank(rows) - g.Rank(ids), g.Ints({1}));
  const Expr wide = g.Reshape(
      valid, g.Concat({g.Shape(ids), g.Op("Fill", {extra, g.Int(1)})}));
  r.mask = g.Op(
      "LogicalAnd",
      {wide, g.Op("Fill", {g.Shape(rows), g.Const(Tensor::Scalar(true))})});
  r.rows = g.Op("Select", {r.mask, rows, g.ZerosLike(rows)});
  return r;
}
REGISTER_GRADIENT("UnsortedSegmentSum",
                  [](G& g) { g.SetDx(0, GatherRows(g, g.dy(), g.x(1)).rows); });
constexpr auto kUnsortedSegmentMaxGrad = [](G& g) {
  const Expr x = g.x(0), ids = g.x(1);
  const Rows y = GatherRows(g, g.y(), ids);
  const Expr chosen = g.Op("LogicalAnd", {g.Op("Equal", {x, y.rows}), y.mask});
  const Expr count =
      g.Op("UnsortedSegmentSum", {g.Cast(chosen, x.dtype()), ids, g.x(2)});
  const Rows share = GatherRows(g, g.dy() / count, ids);
  g.SetDx(0, g.Op("Select", {chosen, share.rows, g.ZerosLike(x)}));
};
REGISTER_GRADIENTS(kUnsortedSegmentMaxGrad, "UnsortedSegmentMax",
                   "UnsortedSegmentMin");
REGISTER_GRADIENT("UnsortedSegmentProd", [](G& g) {
  // dy * y / x. Where x is 0: the product of the other elements of its
  // segment, if none of them is 0.
  const Expr x = g.x(0), ids = g.x(1), n = g.x(2), dy = g.dy();
  const Expr is_zero = g.Op("Equal", {x, g.Scalar(x.dtype(), 0)});
  const Expr zeros =
      g.Op("UnsortedSegmentSum", {g.Cast(is_zero, DT_INT32), ids, n});
  const Expr d =
      g.Op("Select", {g.Op("Greater", {zeros, g.Int(1)}), g.ZerosLike(dy), dy});
  const Expr others =
      g.Op("UnsortedSegmentProd",
           {g.Op("Select", {is_zero, g.Op("OnesLike", {x}), x}), ids, n});
  const Expr safe_ids = g.Op("Maximum", {ids, g.ZerosLike(ids)});
  const Expr gathered_others = Gather(others, safe_ids);
  const Expr quotient = Gather(g.y(), safe_ids) / x;
  const Expr partial = g.Op("Select", {is_zero, gathered_others, quotient});
  g.SetDx(0, GatherRows(g, d, ids).rows * partial);
});

// Sparse segments: rows of x at `indices`, in segments.
Expr NumRows(G& g, const Expr& x) {
  return g.Op("StridedSlice",
              {g.Shape(x), g.Ints({0}), g.Ints({1}), g.Ints({1})},
              {{"shrink_axis_mask", 1}});
}
constexpr auto kSparseSegmentSumGrad = [](G& g) {
  g.SetDx(0, g.Op("UnsortedSegmentSum",
                  {Gather(g.dy(), g.x(2)), g.x(1), NumRows(g, g.x(0))}));
};
REGISTER_GRADIENTS(kSparseSegmentSumGrad, "SparseSegmentSum",
                   "SparseSegmentSumWithNumSegments");
void SparseSegmentGradient(G& g, const char* op) {
  g.SetDx(0, g.Op(op, {g.dy(), g.x(1), g.x(2), NumRows(g, g.x(0))}));
}
constexpr auto kSparseSegmentMeanGrad = [](G& g) {
  SparseSegmentGradient(g, "SparseSegmentMeanGrad");
};
REGISTER_GRADIENTS(kSparseSegmentMeanGrad, "SparseSegmentMean",
                   "SparseSegmentMeanWithNumSegments");
constexpr auto kSparseSegmentSqrtNGrad = [](G& g) {
  SparseSegmentGradient(g, "SparseSegmentSqrtNGrad");
};
REGISTER_GRADIENTS(kSparseSegmentSqrtNGrad, "SparseSegmentSqrtN",
                   "SparseSegmentSqrtNWithNumSegments");

}  // namespace
}  // namespace headrace
