// Gradients of decompositions, solvers and Fourier transforms.
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
