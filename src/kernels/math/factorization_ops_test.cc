// Expected values are TensorFlow's.
#include "framework/kernel/op_tester.h"

namespace headrace {
namespace {

constexpr auto kInvalid = absl::StatusCode::kInvalidArgument;

Tensor Vec(const std::vector<float>& v) {
  return MakeTensor<float>({static_cast<int64_t>(v.size())}, v);
}
Tensor Pairs(const std::vector<int64_t>& v) {
  return MakeTensor<int64_t>({static_cast<int64_t>(v.size()) / 2, 2}, v);
}
Tensor Factors() {
  return MakeTensor<float>({5, 3},
                           {0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14});
}

struct Wals {
  Tensor factors = Factors();
  Tensor factor_weights = Vec({1, 2, 3, 4, 5});
  Tensor unobserved = MakeScalar(.5f);
  Tensor input_weights = Vec({1, 2});
  Tensor indices = Pairs({0, 1, 1, 2, 0, 3});
  Tensor values = Vec({1, 2, 3});
  Tensor entry_weights = Vec({});
  Tensor rows = MakeScalar<int64_t>(2);
  bool transpose = false;

  Status Run(OpTester* t) const {
    t->Input(factors).Input(factor_weights).Input(unobserved);
    t->Input(input_weights).Input(indices).Input(values).Input(entry_weights);
    return t->Input(rows).Input(MakeScalar(transpose)).Run();
  }
};

TEST(WalsTest, Sums) {
  std::vector<Wals> cases(3);
  cases[1].indices = Pairs({1, 0, 2, 1, 3, 0});
  cases[1].transpose = true;
  // The weight of each entry itself: 1 * 2, 2 * 3, 1 * 4.
  cases[2].factor_weights = cases[2].input_weights = Vec({});
  cases[2].entry_weights = Vec({2, 6, 4});
  for (const Wals& c : cases) {
    OpTester t("WALSComputePartialLhsAndRhs");
    ASSERT_EQ(c.Run(&t), OkStatus());
    ExpectClose(t.Output(0),
                MakeTensor<float>(
                    {2, 3, 3}, {342, 384, 426, 384, 432, 480, 426, 480, 534,
                                216, 252, 288, 252, 294, 336, 288, 336, 384}));
    ExpectClose(t.Output(1),
                MakeTensor<float>({2, 3}, {129, 145, 161, 78, 91, 104}));
  }
  Wals none;
  none.indices = Pairs({});
  none.values = Vec({});
  OpTester t("WALSComputePartialLhsAndRhs");
  ASSERT_EQ(none.Run(&t), OkStatus());
  ExpectEqual(t.Output(1), MakeTensor<float>({2, 3}, {0, 0, 0, 0, 0, 0}));
}

TEST(WalsTest, Refusals) {
  const struct {
    void (*change)(Wals*);
    const char* message;
  } cases[] = {
      {[](Wals* w) { w->factors = Vec({1}); }, "factors should be a matrix"},
      {[](Wals* w) { w->values = Vec({1}); }, "input_values' length"},
      {[](Wals* w) { w->input_weights = Vec({1}); }, "but not both"},
      {[](Wals* w) {
         w->entry_weights = Vec({1, 2, 3});
       },
       "but not both"},
      {[](Wals* w) { w->rows = MakeScalar<int64_t>(-1); }, "got -1"},
      {[](Wals* w) {
         w->indices = Pairs({0, 1, 2, 2, 0, 3});
       },
       "entry 1: row 2 is not in [0, 2)"},
      {[](Wals* w) {
         w->indices = Pairs({0, 1, 1, -2, 0, 3});
       },
       "row of factors -2 is not in [0, 5)"},
      {[](Wals* w) {
         w->indices = MakeTensor<int64_t>({3, 1}, {0, 0, 0});
       },
       "should have shape [n, 2]"},
  };
  for (const auto& c : cases) {
    Wals wals;
    c.change(&wals);
    OpTester t("WALSComputePartialLhsAndRhs");
    ExpectError(wals.Run(&t), kInvalid, c.message);
  }
}

Status Masked(const Tensor& a, const Tensor& b, const Tensor& at, bool ta,
              bool tb, OpTester* t) {
  t->Input(a).Input(b).Input(at);
  return t->Input(MakeScalar(ta)).Input(MakeScalar(tb)).Run();
}

TEST(MaskedMatmulTest, Results) {
  const Tensor a = MakeTensor<float>({2, 3}, {1, 2, 3, 4, 5, 6});
  const Tensor at = MakeTensor<float>({3, 2}, {1, 4, 2, 5, 3, 6});
  const Tensor b = MakeTensor<float>({3, 2}, {1, 0, 2, 1, 0, 3});
  const Tensor bt = MakeTensor<float>({2, 3}, {1, 2, 0, 0, 1, 3});
  for (const bool ta : {false, true}) {
    for (const bool tb : {false, true}) {
      OpTester t("MaskedMatmul");
      ASSERT_EQ(Masked(ta ? at : a, tb ? bt : b, Pairs({0, 1, 1, 0, 1, 1}), ta,
                       tb, &t),
                OkStatus());
      ExpectEqual(t.Output(0), Vec({11, 14, 23}));
    }
  }
  OpTester t("MaskedMatmul");
  ASSERT_EQ(Masked(a, b, Pairs({}), false, false, &t), OkStatus());
  ExpectEqual(t.Output(0), Vec({}));
}

TEST(MaskedMatmulTest, Refusals) {
  const Tensor a = MakeTensor<float>({1, 2}, {1, 2});
  const struct {
    Tensor a, b, at;
    bool tb;
    const char* message;
  } cases[] = {
      {a, a, Pairs({0, 0}), false, "a has 2 columns"},
      {a, Vec({1}), Pairs({0, 0}), true, "b should be a matrix"},
      {a, a, Pairs({1, 0}), true, "row of a 1 is not in [0, 1)"},
      {a, a, Pairs({0, -1}), true, "column of b -1 is not in [0, 1)"},
      {a, a, MakeTensor<int64_t>({1, 1}, {0}), true, "shape [n, 2]"},
  };
  for (const auto& c : cases) {
    OpTester t("MaskedMatmul");
    ExpectError(Masked(c.a, c.b, c.at, false, c.tb, &t), kInvalid, c.message);
  }
}

}  // namespace
}  // namespace headrace
