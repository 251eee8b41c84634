// Gradients of decompositions, solvers and Fourier transforms.
#include <algorithm>
#include <cstdlib>

#include "headrace/gradients.h"

namespace headrace {
namespace {

using G = GradientContext;

Expr BandPart(const Expr& t, int lower, int upper) {
  G& g = *t.context();
  const auto bound = [&](int n) { return g.Const(Tensor::Scalar<int64_t>(n)); };
  return g.Op("MatrixBandPart", {t, bound(lower), bound(upper)});
}
// [...] as [..., 1, 1].
Expr AsMatrices(const Expr& t) {
  G& g = *t.context();
  return g.Op("ExpandDims", {g.Op("ExpandDims", {t, g.Int(-1)}), g.Int(-1)});
}
Expr TriangularSolve(const Expr& l, const Expr& b, bool lower, bool adjoint) {
  return l.context()->Op("MatrixTriangularSolve", {l, b},
                         {{"lower", lower}, {"adjoint", adjoint}});
}
Expr CholeskySolve(const Expr& l, const Expr& b) {
  return TriangularSolve(l, TriangularSolve(l, b, true, false), true, true);
}
Expr HalveDiagonal(const Expr& t) {
  G& g = *t.context();
  return g.Op("MatrixSetDiag", {t, g.Op("MatrixDiagPart", {t}) * 0.5});
}

REGISTER_GRADIENT("MatrixInverse", [](G& g) {
  const Expr y = g.y();
  const bool adjoint = g.Attr<bool>("adjoint");
  const Expr d = -g.MatMul(y, g.MatMul(g.dy(), y, false, true), true);
  g.SetDx(0, adjoint ? g.Adjoint(d) : d);
});
REGISTER_GRADIENT("MatrixDeterminant", [](G& g) {
  const Expr inverse = g.Op("MatrixInverse", {g.x()}, {{"adjoint", true}});
  g.SetDx(0, AsMatrices(g.dy() * g.Conj(g.y())) * inverse);
});
REGISTER_GRADIENT("LogMatrixDeterminant", [](G& g) {
  const Expr inverse = g.Op("MatrixInverse", {g.x()}, {{"adjoint", true}});
  g.SetDx(0, AsMatrices(g.dy(1)) * inverse);
});
REGISTER_GRADIENT("Cholesky", [](G& g) {
  const Expr l = g.y();
  const Expr middle = BandPart(HalveDiagonal(g.MatMul(l, g.dy(), true)), -1, 0);
  const Expr left = TriangularSolve(l, middle, true, true);
  const Expr d = g.Adjoint(TriangularSolve(l, g.Adjoint(left), true, true));
  g.SetDx(0, (d + g.Adjoint(d)) * 0.5);
});
REGISTER_GRADIENT("MatrixSolve", [](G& g) {
  const bool adjoint = g.Attr<bool>("adjoint");
  const Expr x = g.y();
  const Expr db =
      g.Op("MatrixSolve", {g.x(0), g.dy()}, {{"adjoint", !adjoint}});
  g.SetDx(0, adjoint ? -g.MatMul(x, db, false, true)
                     : -g.MatMul(db, x, false, true));
  g.SetDx(1, db);
});
REGISTER_GRADIENT("MatrixTriangularSolve", [](G& g) {
  const bool adjoint = g.Attr<bool>("adjoint"), lower = g.Attr<bool>("lower");
  const Expr x = g.y();
  const Expr db = TriangularSolve(g.x(0), g.dy(), lower, !adjoint);
  const Expr da =
      adjoint ? -g.MatMul(x, db, false, true) : -g.MatMul(db, x, false, true);
  g.SetDx(0, lower ? BandPart(da, -1, 0) : BandPart(da, 0, -1));
  g.SetDx(1, db);
});
// Inputs: a, b, the regulariser. With more rows than columns the solution comes
// from the Gramian of the columns, else from that of the rows.
REGISTER_GRADIENT("MatrixSolveLs", [](G& g) {
  const Expr a = g.x(0), b = g.x(1), x = g.y(), dy = g.dy();
  const PartialTensorShape& shape = a.shape();
  const int rank = shape.dims();
  if (rank < 2 || shape.dim_size(rank - 1) < 0 ||
      shape.dim_size(rank - 2) < 0) {
    return g.Fail(errors::Unimplemented(
        "gradient of MatrixSolveLs: the rows and columns of the matrix must be "
        "known, its shape is ",
        shape.DebugString()));
  }
  if (!g.Attr<bool>("fast")) {
    return g.Fail(errors::Unimplemented(
        "gradient of MatrixSolveLs: only with fast=true"));
  }
  const bool tall = shape.dim_size(rank - 2) >= shape.dim_size(rank - 1);
  const Expr gramian =
      tall ? g.MatMul(a, a, true) : g.MatMul(a, a, false, true);
  const Expr l2 = g.Cast(g.x(2), a.dtype());
  const Expr diagonal = g.Op("MatrixDiagPart", {gramian});
  const Expr l =
      g.Op("Cholesky", {g.Op("MatrixSetDiag", {gramian, diagonal + l2})});
  if (tall) {
    const Expr z = CholeskySolve(l, dy);
    const Expr xz = g.MatMul(x, z, false, true);
    g.SetDx(0, g.MatMul(b, z, false, true) - g.MatMul(a, xz + g.Adjoint(xz)));
    g.SetDx(1, g.MatMul(a, z));
    return;
  }
  const Expr db = CholeskySolve(l, g.MatMul(a, dy));
  const Expr t = CholeskySolve(l, b);
  const Expr first = -g.MatMul(db, g.MatMul(t, a, true));
  const Expr rest = dy - g.MatMul(a, db, true);
  g.SetDx(0, first + g.MatMul(t, rest, false, true));
  g.SetDx(1, db);
});
REGISTER_GRADIENT("SelfAdjointEigV2", [](G& g) {
  Expr v = g.y(1);
  Expr d = g.Op("MatrixDiag", {g.dy(0)});
  if (g.Attr<bool>("compute_v")) {
    // 1 / (e_j - e_i), and 0 on the diagonal.
    const Expr e = g.y(0);
    const Expr differences =
        g.Op("ExpandDims", {e, g.Int(-2)}) - g.Op("ExpandDims", {e, g.Int(-1)});
    const Expr f =
        g.Op("DivNoNan", {g.Op("OnesLike", {differences}), differences});
    if (g.HasDy(1)) d = d + f * g.MatMul(v, g.dy(1), true);
  } else {
    v = g.Op("SelfAdjointEigV2", {g.x()}, {{"compute_v", true}}).out(1);
  }
  const Expr da = g.MatMul(v, g.MatMul(d, v, false, true));
  g.SetDx(0, HalveDiagonal(BandPart(da + g.Adjoint(da), -1, 0)));
});
// Columns [begin, end) of matrices.
Expr Columns(const Expr& t, int begin, int end) {
  G& g = *t.context();
  return g.Op(
      "StridedSlice",
      {t, g.Ints({0, 0, begin}), g.Ints({0, 0, end}), g.Ints({1, 1, 1})},
      {{"ellipsis_mask", 1}, {"begin_mask", 2}, {"end_mask", 2}});
}
// Outputs: s, u, v. With more rows than columns the gradient is that of the
// transpose, transposed.
REGISTER_GRADIENT("Svd", [](G& g) {
  const Expr x = g.x(0);
  if (DataTypeIsComplex(x.dtype())) {
    return g.Fail(errors::Unimplemented(
        "gradient of Svd: complex matrices are not supported, got ",
        DataTypeString(x.dtype())));
  }
  const Expr ds = g.Op("MatrixDiag", {g.dy(0)});
  if (!g.Attr<bool>("compute_uv")) {
    const Expr again = g.Op("Svd", {x}, {{"compute_uv", true}});
    return g.SetDx(
        0, g.MatMul(again.out(1), g.MatMul(ds, again.out(2), false, true)));
  }
  const int rank = x.rank();
  const int64_t rows = rank < 2 ? -1 : x.shape().dim_size(rank - 2);
  const int64_t columns = rank < 2 ? -1 : x.shape().dim_size(rank - 1);
  if (rows < 0 || columns < 0) {
    return g.Fail(errors::Unimplemented(
        "gradient of Svd: the rows and columns of the matrix must be known, "
        "its shape is ",
        x.shape().DebugString()));
  }
  const bool full = g.Attr<bool>("full_matrices");
  if (full && std::abs(rows - columns) > 1) {
    return g.Fail(errors::Unimplemented(
        "svd gradient is not implemented for abs(m - n) > 1 when full_matrices "
        "is True; the shape of the matrix is ",
        x.shape().DebugString()));
  }
  const bool tall = rows > columns;
  const int m = static_cast<int>(std::min(rows, columns));
  const int n = static_cast<int>(std::max(rows, columns));
  const Expr s = g.y(0);
  const Expr u = g.y(tall ? 2 : 1), v = g.y(tall ? 1 : 2);
  const Expr du = g.dy(tall ? 2 : 1), dv = g.dy(tall ? 1 : 2);
  const Expr s_matrix = g.Op("MatrixDiag", {s});
  const Expr squares = g.Op("Square", {s});
  const Expr differences = g.Op("ExpandDims", {squares, g.Int(-2)}) -
                           g.Op("ExpandDims", {squares, g.Int(-1)});
  const Expr one = g.Scalar(s.dtype(), 1);
  const Expr f = g.Op("DivNoNan", {one, differences});
  const Expr v1 = full && m < n ? Columns(v, 0, m) : v;
  const Expr dv1 = full && m < n ? Columns(dv, 0, m) : dv;
  const auto twice = [&](const Expr& t) { return t + g.Adjoint(t); };
  const Expr of_u = twice(f * g.MatMul(u, du, true));
  const Expr of_v = twice(f * g.MatMul(v1, dv1, true));
  const Expr inner = ds + g.MatMul(of_u, s_matrix) + g.MatMul(s_matrix, of_v);
  Expr dx = g.MatMul(u, g.MatMul(inner, v1, false, true));
  if (m < n) {
    Expr rest =
        g.Adjoint(dv1) - g.MatMul(g.MatMul(dv1, v1, true), v1, false, true);
    if (full) {
      const Expr v2 = Columns(v, m, n), dv2 = Columns(dv, m, n);
      rest = rest - g.MatMul(g.MatMul(v1, dv2, true), v2, false, true);
    }
    const Expr inverse = g.Op("MatrixDiag", {g.Op("DivNoNan", {one, s})});
    dx = dx + g.MatMul(g.MatMul(u, inverse), rest);
  }
  g.SetDx(0, tall ? g.Adjoint(dx) : dx);
});
// With y * y = x: y^H * dx + dx * y^H = dy, as one system of n^2 equations.
REGISTER_GRADIENT("MatrixSquareRoot", [](G& g) {
  const Expr y = g.y(), dy = g.dy(), adjoint = g.Adjoint(y);
  const Expr one =
      g.Op("MatrixDiag", {g.Op("OnesLike", {g.Op("MatrixDiagPart", {y})})});
  const auto expand = [&](const Expr& t, int a, int b) {
    return g.Op("ExpandDims", {g.Op("ExpandDims", {t, g.Int(a)}), g.Int(b)});
  };
  // a [..., i, j] and b [..., k, l] as [..., i, k, j, l].
  const auto product = [&](const Expr& a, const Expr& b) {
    return expand(a, -1, -3) * expand(b, -3, -2);
  };
  const Expr transposed = DataTypeIsComplex(y.dtype()) ? g.Conj(y) : y;
  const Expr all = product(adjoint, one) + product(one, transposed);
  const Expr shape = g.Shape(y);
  const Expr batch =
      g.Op("StridedSlice", {shape, g.Ints({0}), g.Ints({-2}), g.Ints({1})},
           {{"begin_mask", 1}});
  const Expr n =
      g.Op("StridedSlice", {shape, g.Ints({-1}), g.Ints({0}), g.Ints({1})},
           {{"end_mask", 1}});
  const Expr system = g.Reshape(all, g.Concat({batch, n * n, n * n}));
  const Expr right = g.Reshape(dy, g.Concat({batch, n * n, g.Ints({1})}));
  g.SetDx(0, g.Reshape(g.Op("MatrixSolve", {system, right}), shape));
});

// Matrices of three diagonals, each [..., 1, m]: element i is that of row i;
// the last one above and the first one below the main diagonal do not count.
Expr Shift(const Expr& t, int by, int axis) {
  G& g = *t.context();
  return g.Op("Roll", {t, g.Int(by), g.Int(axis)});
}
// Rows of `t` [..., m, n], one further (by = 1) or back (by = -1); zeros come
// in.
Expr ShiftRows(const Expr& t, int by) {
  G& g = *t.context();
  const auto rows = [&](int begin, int end, int begin_mask, int end_mask) {
    return g.Op(
        "StridedSlice",
        {t, g.Ints({0, begin, 0}), g.Ints({0, end, 0}), g.Ints({1, 1, 1})},
        {{"ellipsis_mask", 1},
         {"begin_mask", 4 | begin_mask},
         {"end_mask", 4 | end_mask}});
  };
  const Expr zeros = g.ZerosLike(rows(0, 1, 2, 0));
  return by < 0 ? g.Concat({rows(1, 0, 0, 2), zeros}, -2)
                : g.Concat({zeros, rows(0, -1, 2, 0)}, -2);
}
// The sums over n of a * b, [..., m, n], as [..., 1, m].
Expr RowSums(G& g, const Expr& a, const Expr& b) {
  return g.Op("ExpandDims", {g.Sum(a * g.Conj(b), g.Int(-1)), g.Int(-2)});
}
// Inputs: above, main and below the diagonal, the right-hand side.
REGISTER_GRADIENT("TridiagonalMatMul", [](G& g) {
  const Expr right = g.x(3), dy = g.dy();
  g.SetDx(0, RowSums(g, dy, ShiftRows(right, -1)));
  g.SetDx(1, RowSums(g, dy, right));
  g.SetDx(2, RowSums(g, dy, ShiftRows(right, 1)));
  g.SetDx(3, g.Op("TridiagonalMatMul",
                  {g.Conj(Shift(g.x(2), -1, -1)), g.Conj(g.x(1)),
                   g.Conj(Shift(g.x(0), 1, -1)), dy}));
});
// Inputs: the diagonals [..., 3, m], the right-hand side.
REGISTER_GRADIENT("TridiagonalSolve", [](G& g) {
  const Expr solved = g.y();
  const auto diagonal = [&](int i) {
    return g.Op(
        "StridedSlice",
        {g.x(0), g.Ints({0, i, 0}), g.Ints({0, i + 1, 0}), g.Ints({1, 1, 1})},
        {{"ellipsis_mask", 1}, {"begin_mask", 4}, {"end_mask", 4}});
  };
  const Expr transposed = g.Concat(
      {Shift(diagonal(2), -1, -1), diagonal(1), Shift(diagonal(0), 1, -1)}, -2);
  const Expr right = g.Like("TridiagonalSolve", {g.Conj(transposed), g.dy()});
  g.SetDx(0, -g.Concat({RowSums(g, right, ShiftRows(solved, -1)),
                        RowSums(g, right, solved),
                        RowSums(g, right, ShiftRows(solved, 1))},
                       -2));
  g.SetDx(1, right);
});
REGISTER_GRADIENT("Qr", [](G& g) {
  const Expr q = g.y(0), r = g.y(1), dq = g.dy(0), dr = g.dy(1);
  const int rank = r.rank();
  if (rank < 2 || r.shape().dim_size(rank - 2) < 0 ||
      r.shape().dim_size(rank - 2) != r.shape().dim_size(rank - 1)) {
    return g.Fail(
        errors::Unimplemented("gradient of Qr: r must be square, has shape ",
                              r.shape().DebugString()));
  }
  const Expr qdq = g.MatMul(q, dq, true), rdr = g.MatMul(r, dr, false, true);
  const Expr lower =
      BandPart(qdq - g.Adjoint(qdq) + (rdr - g.Adjoint(rdr)), -1, 0);
  const auto over_r = [&](const Expr& t) {  // t * r^-H
    return g.Adjoint(TriangularSolve(r, g.Adjoint(t), false, false));
  };
  g.SetDx(0, g.MatMul(q, dr + over_r(lower)) + over_r(dq - g.MatMul(q, qdq)));
});
REGISTER_GRADIENT("Cross", [](G& g) {
  g.SetDx(0, g.Op("Cross", {g.x(1), g.dy()}));
  g.SetDx(1, g.Op("Cross", {g.dy(), g.x(0)}));
});

// Fourier transforms of the last `rank` dimensions.
Expr TransformSize(const Expr& t, int rank) {
  G& g = *t.context();
  const Expr last = g.Op(
      "StridedSlice", {g.Shape(t), g.Ints({-rank}), g.Ints({0}), g.Ints({1})},
      {{"end_mask", 1}});
  return g.Op("Prod", {last, g.Int(0)});
}
template <int kRank>
constexpr const char* kFft = kRank == 1   ? "FFT"
                             : kRank == 2 ? "FFT2D"
                                          : "FFT3D";
template <int kRank>
constexpr const char* kIfft = kRank == 1   ? "IFFT"
                              : kRank == 2 ? "IFFT2D"
                                           : "IFFT3D";
template <int kRank>
void FftGradient(G& g) {
  const Expr dy = g.dy();
  g.SetDx(0, g.Op(kIfft<kRank>, {dy}) *
                 g.Cast(TransformSize(dy, kRank), dy.dtype()));
}
template <int kRank>
void IfftGradient(G& g) {
  const Expr dy = g.dy();
  g.SetDx(0, g.Op(kFft<kRank>, {dy}) /
                 g.Cast(TransformSize(dy, kRank), dy.dtype()));
}
REGISTER_GRADIENT("FFT", FftGradient<1>);
REGISTER_GRADIENT("FFT2D", FftGradient<2>);
REGISTER_GRADIENT("FFT3D", FftGradient<3>);
REGISTER_GRADIENT("IFFT", IfftGradient<1>);
REGISTER_GRADIENT("IFFT2D", IfftGradient<2>);
REGISTER_GRADIENT("IFFT3D", IfftGradient<3>);

// Element `index` of a vector.
Expr Element(const Expr& t, int index) {
  G& g = *t.context();
  return g.Op("StridedSlice",
              {t, g.Ints({index}), g.Ints({index + 1}), g.Ints({1})},
              {{"shrink_axis_mask", 1}, {"end_mask", index == -1 ? 1 : 0}});
}
// RFFT is the first half of the FFT of a real tensor: its gradient is the
// gradient of that FFT, where the other half of dy is 0.
template <int kRank>
void RfftGradient(G& g) {
  const Expr x = g.x(0), dy = g.dy();
  const Expr missing = Element(g.Shape(x), -1) - Element(g.Shape(dy), -1);
  const Expr before =
      g.Op("Fill", {g.Reshape(g.Rank(dy), g.Ints({1})), g.Int(0)});
  const Expr zeros =
      g.Op("Fill", {g.Reshape(g.Rank(dy) - 1, g.Ints({1})), g.Int(0)});
  const Expr after = g.Concat({zeros, g.Reshape(missing, g.Ints({1}))});
  const Expr padded =
      g.Op("Pad", {dy, g.Op("Pack", {before, after}, {{"axis", 1}})});
  const Expr dx = g.Op(kIfft<kRank>, {padded}) *
                  g.Cast(TransformSize(x, kRank), dy.dtype());
  g.SetDx(0, g.Op("Real", {dx}, {{"Tout", x.dtype()}}));
}
// IRFFT counts all but the first and, of an even length, the last element
// twice: the other half is their conjugate.
template <int kRank>
void IrfftGradient(G& g) {
  const Expr x = g.x(0), dy = g.dy();
  const Expr odd = g.Op("FloorMod", {Element(g.x(1), -1), g.Int(2)});
  const Expr width = Element(g.Shape(x), -1);
  const auto fill = [&](const Expr& n, double value) {
    return g.Op("Fill",
                {g.Reshape(n, g.Ints({1})), g.Scalar(dy.dtype(), value)});
  };
  const Expr factors =
      g.Concat({fill(g.Int(1), 1), fill(width - 2 + odd, 2), fill(1 - odd, 1)});
  const Expr scale = factors / g.Cast(TransformSize(dy, kRank), dy.dtype());
  const char* rfft = kRank == 1 ? "RFFT" : kRank == 2 ? "RFFT2D" : "RFFT3D";
  g.SetDx(0, g.Op(rfft, {dy, g.x(1)}) * g.Cast(scale, x.dtype()));
}
REGISTER_GRADIENT("RFFT", RfftGradient<1>);
REGISTER_GRADIENT("RFFT2D", RfftGradient<2>);
REGISTER_GRADIENT("IRFFT", IrfftGradient<1>);
REGISTER_GRADIENT("IRFFT2D", IrfftGradient<2>);

}  // namespace
}  // namespace headrace
