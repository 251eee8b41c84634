// _Gelu and the other activations, _FusedLayerNorm and _FusedAttention against
// what their definitions give in double; and what they refuse.
#include <algorithm>
#include <cmath>
#include <limits>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_join.h"
#include "framework/kernel/op_tester.h"

namespace headrace {
namespace {

constexpr float kInf = std::numeric_limits<float>::infinity();

Tensor Floats(const TensorShape& shape, double first, double size = 1) {
  Tensor t(DT_FLOAT, shape);
  for (int64_t i = 0; i < t.NumElements(); ++i) {
    t.data<float>()[i] = static_cast<float>(
        size * std::sin(first + 1.37 * static_cast<double>(i)));
  }
  return t;
}

double Sigmoid(double x) { return 1 / (1 + std::exp(-x)); }

template <typename T>
void CheckActivation(const char* op, double (*want)(double), double tolerance) {
  Tensor x(DataTypeToEnum<T>::value, TensorShape({4001}));
  for (int i = 0; i < 4001; ++i) {
    x.data<T>()[i] = static_cast<T>((i - 2000) * 0.0055);
  }
  OpTester t(op);
  t.Input(x);
  ASSERT_EQ(t.Run(), OkStatus());
  for (int i = 0; i < 4001; ++i) {
    const double in = x.data<T>()[i], w = want(in);
    EXPECT_NEAR(t.Output(0).data<T>()[i], w, tolerance * (std::abs(w) + 1e-9))
        << op << " of " << in;
  }
}

TEST(SpelledActivations, AreWhatTheirNamesSay) {
  const struct {
    const char* op;
    double (*want)(double);
  } cases[] = {
      {"_Gelu", [](double x) { return x / 2 * std::erfc(-x * M_SQRT1_2); }},
      {"_ApproximateGelu",
       [](double x) {
         const double u = 0.79788456080286535588 * (x + 0.044715 * x * x * x);
         return x * Sigmoid(2 * u);
       }},
      {"_Swish", [](double x) { return x * Sigmoid(x); }},
      {"_HardSwish",
       [](double x) { return x * std::min(std::max(x + 3, 0.), 6.) / 6; }},
      {"_Mish",
       [](double x) { return x * std::tanh(std::log1p(std::exp(x))); }},
  };
  for (const auto& c : cases) {
    CheckActivation<float>(c.op, c.want, 1e-5);
    CheckActivation<double>(c.op, c.want, 2e-14);
    OpTester t(c.op);
    t.Input(Tensor::Vector<float>({-kInf, kInf, NAN, 0}));
    ASSERT_EQ(t.Run(), OkStatus());
    const float* const y = t.Output(0).data<float>();
    EXPECT_TRUE(std::isnan(y[0])) << c.op;
    EXPECT_EQ(y[1], kInf) << c.op;
    EXPECT_TRUE(std::isnan(y[2])) << c.op;
    EXPECT_EQ(y[3], 0) << c.op;
  }
}

struct NormCase {
  TensorShape shape;
  int64_t axes;
  std::vector<TensorShape> args;
  bool has_scale;
};

OpTester& Norm(const NormCase& c, const Tensor& x, OpTester* t) {
  t->Attr("axes", c.axes)
      .Attr("epsilon", 0.01f)
      .Attr("has_scale", c.has_scale)
      .Attr("has_offset", c.args.size() > (c.has_scale ? 1u : 0u))
      .Attr("num_args", static_cast<int64_t>(c.args.size()))
      .Input(x);
  for (size_t i = 0; i < c.args.size(); ++i) {
    t->Input(Floats(c.args[i], static_cast<double>(i + 1)));
  }
  return *t;
}

TEST(FusedLayerNorm, AgreesWithItsDefinition) {
  const NormCase cases[] = {
      {TensorShape({3, 1}), 1, {}, false},
      {TensorShape({3, 7}), 1, {TensorShape({7}), TensorShape({7})}, true},
      {TensorShape({2, 5, 64}), 1, {TensorShape({1, 1, 64})}, false},
      {TensorShape({300, 200}), 1, {TensorShape({200})}, true},
      {TensorShape({2, 3, 4, 5}),
       3,
       {TensorShape({5}), TensorShape({4, 5})},
       true},
      {TensorShape({0, 7}), 1, {}, false},
      {TensorShape({7, 0}), 1, {}, false}};
  for (const NormCase& c : cases) {
    SCOPED_TRACE(c.shape.DebugString());
    Tensor x = Floats(c.shape, 0, 3);
    for (int64_t i = 0; i < x.NumElements(); ++i) x.data<float>()[i] += 100;
    OpTester t("_FusedLayerNorm");
    ASSERT_EQ(Norm(c, x, &t).Run(), OkStatus());
    ASSERT_EQ(t.Output(0).shape(), c.shape);
    if (x.NumElements() == 0) continue;
    int64_t n = 1;
    for (int i = 1; i <= c.axes; ++i) n *= c.shape.dim_size(c.shape.dims() - i);
    for (int64_t r = 0; r < x.NumElements() / n; ++r) {
      const float* const row = x.data<float>() + r * n;
      double mean = 0, variance = 0;
      for (int64_t i = 0; i < n; ++i) mean += row[i] / static_cast<double>(n);
      for (int64_t i = 0; i < n; ++i) {
        variance += (row[i] - mean) * (row[i] - mean) / static_cast<double>(n);
      }
      for (int64_t i = 0; i < n; ++i) {
        double want = (row[i] - mean) / std::sqrt(variance + 0.01);
        size_t at = 0;
        const auto arg = [&] {
          const Tensor a = Floats(c.args[at], static_cast<double>(at + 1));
          ++at;
          return double{a.data<float>()[i % a.NumElements()]};
        };
        if (c.has_scale) want *= arg();
        if (at < c.args.size()) want += arg();
        ASSERT_NEAR(t.Output(0).data<float>()[r * n + i], want, 1e-4);
      }
    }
  }
}

TEST(FusedLayerNorm, RefusesWhatDoesNotFit) {
  const struct {
    NormCase c;
    const char* message;
  } cases[] = {
      {{TensorShape({4}), 2, {}, false}, "x must have 2 dims or more"},
      {{TensorShape({4, 3}), 1, {TensorShape({2})}, true}, "args[0] must have"},
      {{TensorShape({4, 3}), 1, {TensorShape({4, 3})}, true},
       "args[0] must have"},
      {{TensorShape({4, 3}),
        1,
        {TensorShape({3}), TensorShape({1, 1, 3})},
        true},
       "args[1] must have"}};
  for (const auto& c : cases) {
    OpTester t("_FusedLayerNorm");
    const Status s = Norm(c.c, Floats(c.c.shape, 0), &t).Run();
    EXPECT_TRUE(errors::IsInvalidArgument(s)) << s;
    EXPECT_NE(s.message().find(c.message), absl::string_view::npos) << s;
  }
  OpTester t("_FusedLayerNorm");
  NormCase c = {TensorShape({4, 3}), 1, {TensorShape({3})}, true};
  const Status s = Norm(c, Floats(c.shape, 0), &t)
                       .Input(Floats(TensorShape({3}), 0))
                       .Attr("num_args", int64_t{2})
                       .Run();
  EXPECT_TRUE(errors::IsInvalidArgument(s)) << s;
}

// query, key, value and mask, [batch, t, h], [batch, s, h], [batch, s, d] and
// [t, s]. More queries than a block has, and more keys.
TEST(FusedAttention, AgreesWithItsDefinition) {
  for (const auto& [t_size, s_size] :
       {std::pair<int64_t, int64_t>{1, 1}, {3, 20}, {65, 30}, {70, 1100}}) {
    const int64_t batch = 2, h = 6, d = 5;
    const Tensor q = Floats(TensorShape({batch, t_size, h}), 1, 3),
                 k = Floats(TensorShape({batch, s_size, h}), 2, 3),
                 v = Floats(TensorShape({batch, s_size, d}), 3),
                 m = Floats(TensorShape({t_size, s_size}), 4, 5);
    OpTester t("_FusedAttention");
    t.Attr("labels", "ath,ash,asd->atd")
        .Attr("scores", "ats")
        .Attr("scale", 0.5f)
        .Attr("steps", std::vector<std::string>{"add"})
        .Attr("TArgs", std::vector<DataType>{DT_FLOAT});
    for (const Tensor& in : {q, k, v, m}) t.Input(in);
    ASSERT_EQ(t.Run(), OkStatus());
    ASSERT_EQ(t.Output(0).shape(), TensorShape({batch, t_size, d}));
    for (int64_t b = 0; b < batch; ++b) {
      for (int64_t i = 0; i < t_size; ++i) {
        std::vector<double> p(s_size), want(d);
        double sum = 0;
        for (int64_t j = 0; j < s_size; ++j) {
          double score = 0;
          for (int64_t l = 0; l < h; ++l) {
            score += double{q.data<float>()[(b * t_size + i) * h + l]} *
                     k.data<float>()[(b * s_size + j) * h + l];
          }
          p[j] = std::exp(score * 0.5 + m.data<float>()[i * s_size + j]);
          sum += p[j];
        }
        for (int64_t c = 0; c < d; ++c) {
          for (int64_t j = 0; j < s_size; ++j) {
            want[c] += p[j] / sum * v.data<float>()[(b * s_size + j) * d + c];
          }
          ASSERT_NEAR(t.Output(0).data<float>()[(b * t_size + i) * d + c],
                      want[c], 2e-5);
        }
      }
    }
  }
}

// Attention of [t, h], [s, h] and [s, d], masked by `steps` with `args`.
void SetMasked(const std::vector<std::string>& steps, const Tensor& query,
               const Tensor& key, const Tensor& value,
               const std::vector<Tensor>& args, OpTester* t) {
  std::vector<DataType> types;
  for (const Tensor& arg : args) types.push_back(arg.dtype());
  t->Attr("labels", "th,sh,sd->td")
      .Attr("scores", "ts")
      .Attr("steps", steps)
      .Attr("TArgs", types);
  t->Input(query).Input(key).Input(value);
  for (const Tensor& arg : args) t->Input(arg);
}

// Scores of a query with keys that are 0, so that the steps alone count, and
// values that say which score is the largest.
TEST(FusedAttention, MasksByStepsInTheirOrder) {
  const int64_t n = 300;
  Tensor values(DT_FLOAT, TensorShape({n, 1}));
  Tensor add(DT_FLOAT, TensorShape({n})), odd(DT_BOOL, TensorShape({1, n}));
  for (int64_t i = 0; i < n; ++i) {
    values.data<float>()[i] = static_cast<float>(i);
    add.data<float>()[i] = static_cast<float>(i);
    odd.data<bool>()[i] = i % 2 == 1;
  }
  const Tensor minus = Tensor::Scalar<float>(-1e9f),
               two = Tensor::Scalar<float>(2),
               half = Tensor::Scalar<float>(0.5f),
               no = Tensor::Scalar<bool>(false);
  Tensor all(DT_FLOAT, TensorShape({1, n}));
  std::fill_n(all.data<float>(), n, -1e9f);
  const struct {
    std::vector<std::string> steps;
    std::vector<Tensor> args;
    float want;
  } cases[] = {
      {{"add", "mul"}, {add, two}, 299},
      {{"sub", "mul"}, {add, two}, 0},
      {{"add", "mul"}, {add, minus}, 0},
      {{"add", "div"}, {add, half}, 299},
      {{"add", "div", "where_not"}, {add, half, odd, minus}, 298},
      {{"add", "mul", "where"}, {add, two, odd, minus}, 299},
      {{"add", "mul", "select_not"}, {add, two, odd, all}, 298},
      {{"add", "mul", "select"}, {add, two, odd, minus}, 299},
      {{"add", "mul", "where_not", "where"},
       {add, two, odd, minus, odd, all},
       149.5f},
      {{"add", "mul", "where_not"}, {add, two, no, minus}, 299},
      {{"add", "mul", "where"}, {add, two, no, minus}, 149.5f},
  };
  for (const auto& c : cases) {
    OpTester t("_FusedAttention");
    SetMasked(c.steps, Floats(TensorShape({1, 4}), 0),
              Floats(TensorShape({n, 4}), 0, 0), values, c.args, &t);
    ASSERT_EQ(t.Run(), OkStatus());
    // Scores are 2 apart, but those of the other sort of steps.
    EXPECT_NEAR(t.Output(0).data<float>()[0], c.want, 0.5)
        << absl::StrJoin(c.steps, " ");
  }
}

TEST(FusedAttention, RefusesStepsThatDoNotFit) {
  const Tensor scalar = Tensor::Scalar<float>(1),
               yes = Tensor::Scalar<bool>(true),
               row(DT_FLOAT, TensorShape({4})),
               column(DT_BOOL, TensorShape({2, 1}));
  const struct {
    std::vector<std::string> steps;
    std::vector<Tensor> args;
    const char* message;
  } cases[] = {
      {{"plus"}, {scalar}, "steps: got plus, wanted add, "},
      {{"add"}, {}, "args: steps want [float], got []"},
      {{"where"},
       {scalar, scalar},
       "steps want [bool, float], got [float, float]"},
      {{}, {scalar}, "steps want [], got [float]"},
      {{"select"}, {yes, row}, "mask must have 0 or 2 dims, got [4]"},
      {{"select"}, {column, scalar}, "mask: dim 1 must have size 4"},
  };
  for (const auto& c : cases) {
    OpTester t("_FusedAttention");
    SetMasked(c.steps, Floats(TensorShape({2, 3}), 0),
              Floats(TensorShape({4, 3}), 0), Floats(TensorShape({4, 5}), 0),
              c.args, &t);
    const Status s = t.Run();
    EXPECT_TRUE(errors::IsInvalidArgument(s)) << s;
    EXPECT_NE(s.message().find(c.message), absl::string_view::npos)
        << c.message << ": " << s;
  }
}

TEST(ProductShape, IsThatOfTheProduct) {
  const struct {
    const char* labels;
    bool repeats;
    TensorShape x, y;
    const char* want;  // the sizes, or a part of the message
  } cases[] = {
      {"abth,absh->abts", false, {2, 3, 4, 5}, {2, 3, 6, 5}, "2 3 4 6"},
      {"abth,bsah->bast", true, {1, 3, 4, 5}, {3, 6, 2, 5}, "3 2 6 4"},
      {"th,sh->st", true, {0, 5}, {1, 5}, "1 0"},
      {"abth,absh->abts", false, {1, 3, 4, 5}, {2, 3, 6, 5}, "y: dim 0"},
      {"abth,absh->abts", true, {2, 3, 4, 5}, {3, 3, 6, 5}, "y: dim 0"},
      {"ath,ash->ats", true, {2, 4, 1}, {2, 6, 5}, "y: dim 2 must have size 1"},
      {"ath,ash->ats", true, {4, 1}, {2, 6, 5}, "x must have 3 dims"},
      {"ath,ash->atz", true, {4, 1, 1}, {2, 6, 5}, "labels: got ath,ash->atz"},
      {"tt,sh->ts", true, {4, 1}, {6, 5}, "labels: got tt,"},
      {"th->ts", true, {4, 1}, {6, 5}, "labels: got th->ts"},
  };
  for (const auto& c : cases) {
    for (const DataType type : {DT_INT32, DT_INT64}) {
      OpTester t("_ProductShape");
      t.Attr("labels", c.labels).Attr("repeats", c.repeats);
      t.Attr("out_type", type);
      t.Input(Floats(c.x, 0)).Input(Floats(c.y, 0));
      const Status s = t.Run();
      if (!s.ok()) {
        EXPECT_TRUE(errors::IsInvalidArgument(s)) << s;
        EXPECT_NE(s.message().find(c.want), absl::string_view::npos) << s;
        continue;
      }
      std::vector<int64_t> sizes;
      const Tensor& out = t.Output(0);
      for (int64_t i = 0; i < out.NumElements(); ++i) {
        sizes.push_back(type == DT_INT32 ? out.data<int32_t>()[i]
                                         : out.data<int64_t>()[i]);
      }
      EXPECT_EQ(absl::StrJoin(sizes, " "), c.want) << c.labels;
    }
  }
}

TEST(FusedAttention, RefusesWhatDoesNotFit) {
  const struct {
    const char* labels;
    const char* scores;
    std::vector<TensorShape> shapes;
    const char* message;
  } cases[] = {{"th,sh->td", "ts", {}, "labels and scores: got"},
               {"th,sh,sd->td", "st", {}, "labels and scores: got"},
               {"th,sh,sd->dt", "ts", {}, "labels and scores: got"},
               {"tt,sh,sd->td", "ts", {}, "labels and scores: got"},
               // No operand has this batch dim: it is 1.
               {"th,sh,sd->atd", "ats", {}, ""},
               {"th,sh,sd->td", "ts", {TensorShape({2})}, ""},
               {"th,sh,sd->td",
                "ts",
                {TensorShape({2, 3}), TensorShape({4, 5}), TensorShape({4, 2})},
                "must have size 1 or 3"},
               {"th,sh,sd->td",
                "ts",
                {TensorShape({2, 1}), TensorShape({4, 5}), TensorShape({4, 2})},
                "as many elements each, got 1 and 5"},
               {"th,sh,sd->td",
                "ts",
                {TensorShape({2, 3}), TensorShape({4, 3}), TensorShape({1, 2})},
                "4 rows, one for each key, got 1"},
               {"th,sh,sd->td",
                "ts",
                {TensorShape({2, 3}), TensorShape({4, 3}), TensorShape({4, 2}),
                 TensorShape({1, 2, 4})},
                "mask must have at most 2 dims"},
               {"th,sh,sd->td",
                "ts",
                {TensorShape({2, 3}), TensorShape({4, 3}), TensorShape({4, 2}),
                 TensorShape({3, 4})},
                "mask: dim 0 must have size 1 or 2"}};
  for (const auto& c : cases) {
    SCOPED_TRACE(StrCat(c.labels, " ", c.message));
    std::vector<TensorShape> shapes = c.shapes;
    while (shapes.size() < 3) shapes.push_back(TensorShape({2, 2}));
    OpTester t("_FusedAttention");
    t.Attr("labels", c.labels)
        .Attr("scores", c.scores)
        .Attr("repeats", true)
        .Attr("steps", std::vector<std::string>(shapes.size() - 3, "add"))
        .Attr("TArgs", std::vector<DataType>(shapes.size() - 3, DT_FLOAT));
    for (const TensorShape& s : shapes) t.Input(Floats(s, 0));
    const Status s = t.Run();
    if (c.message[0] == '\0' && c.shapes.empty()) {
      EXPECT_EQ(s, OkStatus());
      continue;
    }
    EXPECT_TRUE(errors::IsInvalidArgument(s)) << s;
    EXPECT_NE(s.message().find(c.message), absl::string_view::npos) << s;
  }
}

}  // namespace
}  // namespace headrace
