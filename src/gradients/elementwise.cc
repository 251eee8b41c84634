// Gradients of element-wise ops. The gradient of a complex function is the
// conjugate of its derivative, times dy.
#include <cmath>
#include <numbers>

#include "headrace/gradients.h"

namespace headrace {
namespace {

using G = GradientContext;

// HR_UNARY("Op", dx): an expression of g, x and y (conjugates), and dy.
#define HR_UNARY(op, ...)                                             \
  REGISTER_GRADIENT(op, [](G& g) {                                    \
    [[maybe_unused]] const Expr x = g.Conj(g.x()), y = g.Conj(g.y()), \
                                dy = g.dy();                          \
    g.SetDx(0, __VA_ARGS__);                                          \
  })

Expr Square(const Expr& x) { return x.context()->Op("Square", {x}); }
Expr Unary(const char* op, const Expr& x) { return x.context()->Op(op, {x}); }
Expr Where(const Expr& mask, const Expr& a, const Expr& b) {
  return mask.context()->Op("Select", {mask, a, b});
}
Expr Greater(const Expr& a, double b) {
  G& g = *a.context();
  return g.Op("Greater", {a, g.Scalar(a.dtype(), b)});
}
Expr Less(const Expr& a, double b) {
  G& g = *a.context();
  return g.Op("Less", {a, g.Scalar(a.dtype(), b)});
}

HR_UNARY("Neg", -dy);
HR_UNARY("Inv", g.Op("ReciprocalGrad", {g.y(), dy}));
HR_UNARY("Reciprocal", g.Op("ReciprocalGrad", {g.y(), dy}));
HR_UNARY("Square", dy*(x * 2));
HR_UNARY("Sqrt", g.Op("SqrtGrad", {g.y(), dy}));
HR_UNARY("Rsqrt", g.Op("RsqrtGrad", {g.y(), dy}));
HR_UNARY("Exp", dy* y);
HR_UNARY("Expm1", dy* Unary("Exp", x));
HR_UNARY("Log", dy* Unary("Reciprocal", x));
HR_UNARY("Log1p", dy* Unary("Reciprocal", x + 1));
HR_UNARY("Sin", dy* Unary("Cos", x));
HR_UNARY("Cos", -(dy* Unary("Sin", x)));
HR_UNARY("Tan", dy* Square(Unary("Reciprocal", Unary("Cos", x))));
HR_UNARY("Asin", dy* Unary("Reciprocal", Unary("Sqrt", 1 - Square(x))));
HR_UNARY("Acos", -(dy* Unary("Reciprocal", Unary("Sqrt", 1 - Square(x)))));
HR_UNARY("Atan", dy* Unary("Reciprocal", Square(x) + 1));
HR_UNARY("Sinh", dy* Unary("Cosh", x));
HR_UNARY("Cosh", dy* Unary("Sinh", x));
HR_UNARY("Tanh", g.Op("TanhGrad", {y, dy}));
HR_UNARY("Asinh", dy / Unary("Cosh", y));
HR_UNARY("Acosh", dy / Unary("Sinh", y));
HR_UNARY("Atanh", dy* Unary("Reciprocal", 1 - Square(x)));
HR_UNARY("Lgamma", dy* Unary("Digamma", x));
HR_UNARY("Digamma", dy* g.Op("Polygamma", {g.Scalar(x.dtype(), 1), x}));
HR_UNARY("Erf", dy*(Unary("Exp", -Square(x)) * (2 * std::numbers::inv_sqrtpi)));
HR_UNARY("Erfc",
         dy*(Unary("Exp", -Square(x)) * (-2 * std::numbers::inv_sqrtpi)));
HR_UNARY("BesselI0e", dy*(Unary("BesselI1e", x) - Unary("Sign", x) * g.y()));
REGISTER_GRADIENT("BesselI1e", [](G& g) {
  // At 0, where 1/x is not defined, the derivative is 1/2.
  const Expr x = g.x(), y = g.y();
  const Expr near =
      Less(Unary("Abs", x), x.dtype() == DT_DOUBLE ? 2.3e-16 : 1.2e-7);
  const Expr ones = g.Op("OnesLike", {x});
  const Expr safe = Where(near, ones, x);
  const Expr d = Unary("BesselI0e", safe) -
                 y * (Unary("Sign", safe) + Unary("Reciprocal", safe));
  g.SetDx(0, g.dy() * Where(near, ones * 0.5, d));
});
HR_UNARY("Sigmoid", g.Op("SigmoidGrad", {y, dy}));
HR_UNARY("Abs", dy* Unary("Sign", g.x()));
HR_UNARY("Sign", g.ZerosLike(g.x()));
HR_UNARY("Softplus", g.Op("SoftplusGrad", {dy, g.x()}));
HR_UNARY("Softsign", g.Op("SoftsignGrad", {dy, g.x()}));
HR_UNARY("Relu", g.Op("ReluGrad", {dy, g.y()}));
HR_UNARY("Relu6", g.Op("Relu6Grad", {dy, g.y()}));
HR_UNARY("LeakyRelu", g.Like("LeakyReluGrad", {dy, g.x()}));
HR_UNARY("Elu", g.Op("EluGrad", {dy, g.y()}));
HR_UNARY("Selu", g.Op("SeluGrad", {dy, g.y()}));
HR_UNARY("Conj", g.Conj(dy));
HR_UNARY("Real",
         g.Op("Complex", {dy, g.ZerosLike(dy)}, {{"Tout", g.x().dtype()}}));
HR_UNARY("Imag",
         g.Op("Complex", {g.ZerosLike(dy), dy}, {{"Tout", g.x().dtype()}}));
HR_UNARY("ComplexAbs",
         g.Op("Complex", {dy, g.ZerosLike(dy)}, {{"Tout", g.x().dtype()}}) *
             Unary("Sign", g.x()));
REGISTER_GRADIENT("Angle", [](G& g) {
  const Expr x = g.x(), dy = g.dy();
  const DataType real = dy.dtype();
  const Expr re = g.Op("Real", {x}, {{"Tout", real}});
  const Expr im = g.Op("Imag", {x}, {{"Tout", real}});
  const auto complex = [&](const Expr& a, const Expr& b) {
    return g.Op("Complex", {a, b}, {{"Tout", x.dtype()}});
  };
  g.SetDx(0, -(complex(dy, g.ZerosLike(dy)) *
               Unary("Reciprocal", complex(im, re))));
});
REGISTER_GRADIENT("Cast", [](G& g) {
  const DataType from = g.x().dtype();
  const DataType to = g.y().dtype();
  if (IsTrainable(from) && IsTrainable(to)) g.SetDx(0, g.Cast(g.dy(), from));
});

// Of gradients.
REGISTER_GRADIENT("SqrtGrad", [](G& g) {
  const Expr ga = g.dy() / g.x(0);
  g.SetDx(0, -(g.Conj(ga) * g.y()));
  g.SetDx(1, ga * 0.5);
});
REGISTER_GRADIENT("RsqrtGrad", [](G& g) {
  const Expr a = g.Conj(g.x(0)), b = g.x(1), dy = g.Conj(g.dy());
  g.SetDx(0, dy * -1.5 * b * Square(a));
  g.SetDx(1, g.Op("RsqrtGrad", {a, g.dy()}));
});
constexpr auto kReciprocalGradGrad = [](G& g) {
  const Expr a = g.Conj(g.x(0)), dy = g.Conj(g.dy());
  g.SetDx(0, dy * -2 * g.x(1) * a);
  g.SetDx(1, g.Op("ReciprocalGrad", {a, g.dy()}));
};
REGISTER_GRADIENTS(kReciprocalGradGrad, "InvGrad", "ReciprocalGrad");
REGISTER_GRADIENT("TanhGrad", [](G& g) {
  const Expr a = g.Conj(g.x(0)), b = g.Conj(g.x(1));
  g.SetDx(0, g.dy() * -2 * b * a);
  g.SetDx(1, g.Op("TanhGrad", {a, g.dy()}));
});
REGISTER_GRADIENT("SigmoidGrad", [](G& g) {
  const Expr a = g.Conj(g.x(0)), gb = g.dy() * g.Conj(g.x(1));
  g.SetDx(0, gb - gb * a * 2);
  g.SetDx(1, g.Op("SigmoidGrad", {a, g.dy()}));
});
// op(dy, y) of which y < 0 matters: dy * (y + constant) there.
constexpr auto kEluGradGrad = [](G& g) {
  const Expr y = g.x(1);
  g.SetDx(0, g.Op(g.node().type_string().c_str(), {g.dy(), y}));
  g.SetDx(1, Where(Less(y, 0), g.dy() * g.x(0), g.ZerosLike(y)));
};
REGISTER_GRADIENTS(kEluGradGrad, "EluGrad", "SeluGrad");
constexpr auto kReluGradGrad = [](G& g) {
  g.SetDx(0, g.Like(g.node().type_string().c_str(), {g.dy(), g.x(1)}));
  g.SetDx(1, g.ZerosLike(g.x(1)));
};
REGISTER_GRADIENTS(kReluGradGrad, "ReluGrad", "Relu6Grad", "LeakyReluGrad");
REGISTER_GRADIENT("SoftplusGrad", [](G& g) {
  const Expr dy = g.x(0), x = g.x(1), ddy = g.dy();
  g.SetDx(0, g.Op("SoftplusGrad", {ddy, x}));
  g.SetDx(1, ddy * dy / (Unary("Exp", -x) + 2 + Unary("Exp", x)));
});

// HR_BINARY("Op", da, db): of g, a and b (conjugates), and dy.
#define HR_BINARY(op, da, db)                                           \
  REGISTER_GRADIENT(op, [](G& g) {                                      \
    [[maybe_unused]] const Expr a = g.Conj(g.x(0)), b = g.Conj(g.x(1)), \
                                dy = g.dy();                            \
    g.SetBroadcast(0, g.Needs(0) ? (da) : Expr(), 1,                    \
                   g.Needs(1) ? (db) : Expr());                         \
  })

Expr Two(const char* op, const Expr& a, const Expr& b) {
  if (!a || !b) return {};
  return a.context()->Op(op, {a, b});
}
// 1 where x is not 0.
Expr NotZero(const Expr& x) {
  G& g = *x.context();
  return g.Cast(g.Op("NotEqual", {x, g.Scalar(x.dtype(), 0)}), x.dtype());
}

HR_BINARY("Add", dy, dy);
HR_BINARY("AddV2", dy, dy);
HR_BINARY("Sub", dy, -dy);
HR_BINARY("Mul", dy* b, a* dy);
HR_BINARY("MulNoNan", Two("MulNoNan", dy, b), Two("MulNoNan", a, dy));
HR_BINARY("Div", dy / b, dy*((-a / b) / b));
HR_BINARY("RealDiv", dy / b, dy*((-a / b) / b));
HR_BINARY("DivNoNan", Two("DivNoNan", dy, b),
          dy* Two("DivNoNan", Two("DivNoNan", -a, b), b));
HR_BINARY("FloorMod", dy, -(dy* Two("FloorDiv", a, b)));
// Of complex numbers it is the square of the absolute value.
HR_BINARY("SquaredDifference", dy * 2 * (g.x(0) - g.x(1)),
          dy * -2 * (g.x(0) - g.x(1)));
HR_BINARY("Xdivy", dy* Two("Xdivy", NotZero(a), b),
          dy* Two("Xdivy", -a, Square(b)));
HR_BINARY("Xlogy", dy* Two("Xlogy", NotZero(a), b), dy* Two("Xdivy", a, b));
HR_BINARY("Atan2", b*(dy / (Square(a) + Square(b))),
          -a*(dy / (Square(a) + Square(b))));
HR_BINARY("NextAfter", dy, g.ZerosLike(dy));
HR_BINARY("Complex", g.Op("Real", {dy}, {{"Tout", a.dtype()}}),
          g.Op("Imag", {dy}, {{"Tout", a.dtype()}}));

Expr IgammaByX(const Expr& a, const Expr& x) {
  return Unary("Exp", -x + (a - 1) * Unary("Log", x) - Unary("Lgamma", a));
}
HR_BINARY("Igamma", dy* Two("IgammaGradA", a, b), dy* IgammaByX(a, b));
HR_BINARY("Igammac", -(dy* Two("IgammaGradA", a, b)), -(dy* IgammaByX(a, b)));
// By their first arguments these have no known derivative.
HR_BINARY("Zeta", Expr(), dy*(-a* Two("Zeta", a + 1, b)));
HR_BINARY("Polygamma", Expr(), dy* Two("Polygamma", a + 1, b));

REGISTER_GRADIENT("Pow", [](G& g) {
  const Expr a = g.Conj(g.x(0)), b = g.Conj(g.x(1)), y = g.Conj(g.y());
  const Expr dy = g.dy();
  Expr da, db;
  if (g.Needs(0)) da = dy * b * Two("Pow", a, b - 1);
  if (g.Needs(1)) {
    // The logarithm where it exists, else 0.
    const Expr mask = DataTypeIsComplex(a.dtype())
                          ? g.Op("NotEqual", {a, g.Scalar(a.dtype(), 0)})
                          : Greater(a, 0);
    const Expr safe = Where(mask, a, g.Op("OnesLike", {a}));
    db = dy * y * Where(mask, Unary("Log", safe), g.ZerosLike(a));
  }
  g.SetBroadcast(0, da, 1, db);
});

// The gradient goes to the argument that was chosen, of equals to the first.
void SelectGradient(G& g, const char* compare) {
  const Expr dy = g.dy(), zeros = g.ZerosLike(dy);
  const Expr mask = g.Op(compare, {g.x(0), g.x(1)});
  g.SetBroadcast(0, g.Needs(0) ? Where(mask, dy, zeros) : Expr(), 1,
                 g.Needs(1) ? Where(mask, zeros, dy) : Expr());
}
REGISTER_GRADIENT("Maximum", [](G& g) { SelectGradient(g, "GreaterEqual"); });
REGISTER_GRADIENT("Minimum", [](G& g) { SelectGradient(g, "LessEqual"); });

REGISTER_GRADIENT("Betainc", [](G& g) {
  // By x alone; all arguments have one shape, or are scalars.
  const Expr a = g.x(0), b = g.x(1), x = g.x(2);
  const Expr log_beta =
      Unary("Lgamma", a) + Unary("Lgamma", b) - Unary("Lgamma", a + b);
  const Expr d = Unary("Exp", (b - 1) * Unary("Log1p", -x) +
                                  (a - 1) * Unary("Log", x) - log_beta);
  g.SetBroadcast(2, g.dy() * d, 0, Expr());
});

REGISTER_GRADIENT("RandomGamma", [](G& g) {
  // Samples [shape..., alpha's shape]: sums over the first dimensions.
  if (!g.Needs(1)) return;
  const Expr alpha = g.x(1);
  const Expr d = g.Op("RandomGammaGrad", {alpha, g.y()});
  const Expr axes = g.Op("Range", {g.Int(0), g.Size(g.x(0)), g.Int(1)});
  g.SetDx(1, g.Sum(g.dy() * d, axes));
});

constexpr auto kAddNGrad = [](G& g) {
  for (int i = 0; i < g.num_inputs(); ++i) g.SetDx(i, g.raw_dy());
};
REGISTER_GRADIENTS(kAddNGrad, "AddN", "AccumulateNV2");

// Of conditions. Select's is a vector or has the shape of its arguments.
REGISTER_GRADIENT("Select", [](G& g) {
  const Expr dy = g.dy(), zeros = g.ZerosLike(g.x(1));
  if (g.Needs(1)) g.SetDx(1, Where(g.x(0), dy, zeros));
  if (g.Needs(2)) g.SetDx(2, Where(g.x(0), zeros, dy));
});
REGISTER_GRADIENT("SelectV2", [](G& g) {
  const Expr dy = g.dy(), zeros = g.ZerosLike(dy);
  const auto where = [&](const Expr& a, const Expr& b) {
    return g.Op("SelectV2", {g.x(0), a, b});
  };
  // All three arguments broadcast: each against the result.
  for (int i = 1; i < 3; ++i) {
    if (!g.Needs(i)) continue;
    const Expr d = i == 1 ? where(dy, zeros) : where(zeros, dy);
    if (g.x(i).shape().IsFullyDefined() && g.x(i).shape() == g.y().shape()) {
      g.SetDx(i, d);
      continue;
    }
    const Expr axes =
        g.Op("BroadcastGradientArgs", {g.Shape(g.x(i)), g.Shape(g.y())});
    g.SetDx(i, g.Reshape(g.Sum(d, axes), g.Shape(g.x(i))));
  }
});

#undef HR_UNARY
#undef HR_BINARY

}  // namespace
}  // namespace headrace
