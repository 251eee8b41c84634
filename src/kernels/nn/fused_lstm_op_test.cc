// _FusedLSTM against the cell's formulas in double, and what it refuses.
#include <cmath>

#include "base/thread_pool.h"
#include "framework/kernel/op_tester.h"

namespace headrace {
namespace {

Tensor Values(const TensorShape& shape, double first, double scale = 0.5) {
  Tensor t(DT_FLOAT, shape);
  for (int64_t i = 0; i < t.NumElements(); ++i) {
    t.data<float>()[i] = static_cast<float>(
        scale * std::sin(first + 0.7 * static_cast<double>(i)));
  }
  return t;
}

struct LstmCase {
  int64_t steps = 1, rows = 1, inputs = 5, h_size = 3, cells = 3;
  int64_t cs_rows = 1;
  std::vector<int64_t> order = {0, 1, 2, 3};
  // If they are not empty, the rows of each x, which may differ from those of
  // h_prev.
  std::vector<int64_t> x_rows = {};
};

// w, which has panels if it is constant.
void AddInputs(const LstmCase& c, bool constant, OpTester* t) {
  for (int64_t i = 0; i < c.steps; ++i) {
    const int64_t rows = c.x_rows.empty() ? c.rows : c.x_rows[i];
    t->Input(Values(TensorShape({rows, c.inputs}), static_cast<double>(i)));
  }
  t->Input(Values(TensorShape({c.rows, c.h_size}), 0.3))
      .Input(Values(TensorShape({c.cs_rows, c.cells}), 1.9, 2));
  const Tensor w =
      Values(TensorShape({c.inputs + c.h_size, 4 * c.cells}), 2.1,
             4.0 / std::sqrt(static_cast<double>(c.inputs + c.h_size)));
  (constant ? t->Constant(w) : t->Input(w))
      .Input(Values(TensorShape({4 * c.cells}), 0.8))
      .Attr("gate_order", c.order)
      .Attr("rows_broadcast", !c.x_rows.empty())
      .Attr("forget_bias", 0.25f);
}

double Sigmoid(double x) { return 1 / (1 + std::exp(-x)); }

// A matrix whose one row stands for any number.
struct Rows {
  std::vector<double> values;
  int64_t rows, columns;

  static Rows Of(const Tensor& t) {
    const float* const data = t.data<float>();
    return {std::vector<double>(data, data + t.NumElements()), t.dim_size(0),
            t.dim_size(1)};
  }
  double& at(int64_t row, int64_t column) {
    return values[(rows == 1 ? 0 : row) * columns + column];
  }
};

void ExpectFormulas(const LstmCase& c, bool constant) {
  OpTester t("_FusedLSTM");
  AddInputs(c, constant, &t);
  ASSERT_EQ(t.Run(), OkStatus());
  const int n = static_cast<int>(c.steps);
  const float* const w = t.InputTensor(n + 2).data<float>();
  const float* const b = t.InputTensor(n + 3).data<float>();
  Rows h = Rows::Of(t.InputTensor(n)), cs = Rows::Of(t.InputTensor(n + 1));
  for (int s = 0; s < n; ++s) {
    Rows x = Rows::Of(t.InputTensor(s));
    const int64_t rows = x.rows == 1 ? h.rows : x.rows;
    const int64_t state_rows = rows == 1 ? cs.rows : rows;
    Rows new_cs = {std::vector<double>(state_rows * c.cells), state_rows,
                   c.cells};
    Rows new_h = new_cs;
    ASSERT_EQ(t.Output(s).shape(), TensorShape({state_rows, c.cells}));
    ASSERT_EQ(t.Output(n + s).shape(), TensorShape({state_rows, c.cells}));
    for (int64_t r = 0; r < state_rows; ++r) {
      std::vector<double> gates(b, b + 4 * c.cells);
      for (int64_t j = 0; j < 4 * c.cells; ++j) {
        for (int64_t p = 0; p < c.inputs + h.columns; ++p) {
          gates[j] += (p < c.inputs ? x.at(r, p) : h.at(r, p - c.inputs)) *
                      w[p * 4 * c.cells + j];
        }
      }
      const auto gate = [&](int g, int64_t k) {
        return gates[c.order[g] * c.cells + k];
      };
      for (int64_t k = 0; k < c.cells; ++k) {
        const int64_t at = r * c.cells + k;
        const double state = cs.at(r, k) * Sigmoid(gate(2, k) + 0.25) +
                             Sigmoid(gate(0, k)) * std::tanh(gate(1, k));
        new_cs.values[at] = state;
        new_h.values[at] = std::tanh(state) * Sigmoid(gate(3, k));
        ASSERT_NEAR(t.Output(s).data<float>()[at], state, 2e-5)
            << "cs of step " << s << ", row " << r << ", cell " << k;
        ASSERT_NEAR(t.Output(n + s).data<float>()[at], new_h.values[at], 2e-5)
            << "h of step " << s << ", row " << r << ", cell " << k;
      }
    }
    h = std::move(new_h);
    cs = std::move(new_cs);
  }
}

TEST(FusedLstmTest, FollowsTheFormulas) {
  const LstmCase cases[] = {
      {},
      {.steps = 3},
      {.rows = 4, .cs_rows = 4, .order = {0, 2, 1, 3}},
      {.steps = 5, .rows = 4, .cs_rows = 4, .order = {3, 1, 0, 2}},
      // Several products of many steps, the last of one.
      {.steps = 7, .rows = 50, .cs_rows = 50},
      {.steps = 2, .rows = 150, .inputs = 20, .cs_rows = 150},
      {.steps = 4, .rows = 2, .inputs = 70, .h_size = 130, .cells = 130},
      // A projected h, and states that are repeated.
      {.rows = 3, .h_size = 2, .cells = 5, .cs_rows = 3},
      {.steps = 3, .rows = 3, .cs_rows = 1},
      {.rows = 1, .cs_rows = 4},
      {.rows = 0, .cs_rows = 0},
      {.rows = 1, .cs_rows = 0},
      {.steps = 2, .rows = 2, .inputs = 0, .cs_rows = 2},
      // Products that are added: x or h of one row where the other has many.
      {.steps = 2, .rows = 3, .cs_rows = 3, .x_rows = {3, 3}},
      {.rows = 4, .cs_rows = 4, .x_rows = {1}},
      {.rows = 1, .cs_rows = 1, .x_rows = {4}},
      {.rows = 1, .h_size = 2, .cells = 5, .cs_rows = 4, .x_rows = {4}},
      {.steps = 4, .rows = 1, .cs_rows = 1, .x_rows = {1, 1, 3, 1}},
      {.steps = 3, .rows = 1, .cs_rows = 3, .x_rows = {1, 1, 3}},
      {.steps = 2, .rows = 1, .cs_rows = 1, .x_rows = {1, 0}}};
  int i = 0;
  for (const LstmCase& c : cases) {
    SCOPED_TRACE(StrCat("case ", i++));
    ExpectFormulas(c, false);
    ExpectFormulas(c, true);
  }
}

TEST(FusedLstmTest, SameResultsForAnyNumberOfThreads) {
  const LstmCase c = {.steps = 6,
                      .rows = 30,
                      .inputs = 200,
                      .h_size = 300,
                      .cells = 300,
                      .cs_rows = 30};
  ThreadPool one(1, "one"), four(4, "four");
  for (const bool constant : {false, true}) {
    OpTester a("_FusedLSTM", &one), b("_FusedLSTM", &four);
    AddInputs(c, constant, &a);
    AddInputs(c, constant, &b);
    ASSERT_EQ(a.Run(), OkStatus());
    ASSERT_EQ(b.Run(), OkStatus());
    for (int i = 0; i < 12; ++i) {
      EXPECT_EQ(a.Output(i).tensor_data(), b.Output(i).tensor_data()) << i;
    }
  }
}

TEST(FusedLstmTest, Refuses) {
  struct {
    std::vector<TensorShape> shapes;
    const char* message;
    std::vector<int64_t> order = {0, 1, 2, 3};
    bool rows_broadcast = false;
  } cases[] = {
      {{{2}, {2, 3}, {2, 3}, {8, 12}, {12}}, "x[0] must be a matrix, got"},
      {{{2, 5}, {2, 3}, {3}, {8, 12}, {12}}, "cs_prev must be a matrix, got"},
      {{{1, 5}, {2, 3}, {2, 3}, {8, 12}, {12}}, "x[0] must have the rows of"},
      {{{2, 5}, {2, 4}, {2, 3}, {8, 12}, {12}}, "w must have a row for each"},
      {{{2, 5}, {2, 3}, {2, 3}, {8, 13}, {12}}, "w must have a row for each"},
      {{{2, 5}, {2, 3}, {2, 3}, {8, 12}, {11}}, "b must have shape [12], got"},
      {{{2, 5}, {2, 3}, {3, 3}, {8, 12}, {12}}, "cs_prev must have one row"},
      {{{2, 5}, {2, 6}, {2, 3}, {2, 3}, {8, 12}, {12}}, "x[1] must have"},
      {{{2, 5}, {2, 5}, {2, 2}, {2, 3}, {7, 12}, {12}}, "the next step wants"},
      {{{1, 5}, {1, 5}, {1, 3}, {2, 3}, {8, 12}, {12}}, "the next step wants"},
      {{{2, 5}, {2, 3}, {2, 3}, {8, 12}, {12}}, "gate_order", {0, 1, 2, 2}},
      {{{2, 5}, {2, 3}, {2, 3}, {8, 12}, {12}}, "gate_order", {0, 1, 2}},
      {.shapes = {{2, 5}, {3, 3}, {1, 3}, {8, 12}, {12}},
       .message = "x[0] and h_prev must have equal rows or one of them one",
       .rows_broadcast = true},
      {.shapes = {{1, 5}, {3, 5}, {1, 3}, {2, 3}, {8, 12}, {12}},
       .message = "x[1] and h_prev must have equal rows or one of them one",
       .rows_broadcast = true},
      {.shapes = {{1, 5}, {3, 3}, {2, 3}, {8, 12}, {12}},
       .message = "cs_prev must have one row or as many as x and h_prev, got 2",
       .rows_broadcast = true},
      {.shapes = {{1, 5}, {1, 4}, {2, 3}, {2, 3}, {8, 12}, {12}},
       .message = "x[1] must have",
       .rows_broadcast = true},
      {.shapes = {{2, 5}, {2, 5}, {2, 2}, {2, 3}, {7, 12}, {12}},
       .message = "the next step wants",
       .rows_broadcast = true}};
  for (const auto& c : cases) {
    OpTester t("_FusedLSTM");
    for (const TensorShape& s : c.shapes) t.Input(Values(s, 0));
    t.Attr("gate_order", c.order).Attr("rows_broadcast", c.rows_broadcast);
    const Status s = t.Run();
    EXPECT_TRUE(errors::IsInvalidArgument(s)) << s;
    EXPECT_NE(s.message().find(c.message), absl::string_view::npos)
        << s << ", wanted: " << c.message;
  }
}

}  // namespace
}  // namespace headrace
