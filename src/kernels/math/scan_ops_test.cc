// Scans, ArgMax and ArgMin, sequences, broadcasting ops, ClipByValue, Cross and
// CheckNumerics.
#include <limits>

#include "framework/kernel/op_tester.h"

namespace headrace {
namespace {

constexpr float kNan = std::numeric_limits<float>::quiet_NaN();
constexpr float kInf = std::numeric_limits<float>::infinity();

template <typename T>
Tensor Vec(const std::vector<T>& v) {
  return MakeTensor<T>({static_cast<int64_t>(v.size())}, v);
}

TEST(ScanTest, ExclusiveAndReverse) {
  const struct {
    bool exclusive, reverse;
    std::vector<float> sum, prod;
  } cases[] = {{false, false, {1, 3, 7}, {1, 2, 8}},
               {true, false, {0, 1, 3}, {1, 1, 2}},
               {false, true, {7, 6, 4}, {8, 8, 4}},
               {true, true, {6, 4, 0}, {8, 4, 1}}};
  for (const auto& c : cases) {
    for (const char* op : {"Cumsum", "Cumprod"}) {
      OpTester t(op);
      t.Attr("exclusive", c.exclusive).Attr("reverse", c.reverse);
      t.Input(Vec<float>({1, 2, 4})).Input(MakeScalar(-1));
      ASSERT_EQ(t.Run(), OkStatus());
      ExpectEqual(t.Output(0), Vec(op[3] == 's' ? c.sum : c.prod));
    }
  }
  OpTester two("Cumsum");
  two.Input(MakeTensor<int32_t>({2, 2}, {1, 2, 3, 4})).Input(MakeScalar(0));
  ASSERT_EQ(two.Run(), OkStatus());
  ExpectEqual(two.Output(0), MakeTensor<int32_t>({2, 2}, {1, 2, 4, 6}));
  OpTester l("CumulativeLogsumexp");
  l.Attr("exclusive", true);
  l.Input(Vec<float>({1, 2, 3})).Input(MakeScalar(0));
  ASSERT_EQ(l.Run(), OkStatus());
  ExpectClose(l.Output(0), Vec<float>({-kInf, 1, 2.3132617f}));
  OpTester bad("Cumsum");
  bad.Input(Vec<float>({1})).Input(MakeScalar(1));
  ExpectError(bad.Run(), absl::StatusCode::kInvalidArgument, "range [-1, 1)");
}

TEST(ArgExtremeTest, TiesNanAndAxes) {
  const struct {
    std::vector<float> x;
    int64_t max, min;
  } cases[] = {{{1, 3, 3, 1}, 1, 0},   {{1, kNan, 3}, 2, 0},
               {{kNan, 2, 1}, 1, 2},   {{kNan, kNan}, 0, 0},
               {{-kInf, -kInf}, 0, 0}, {{-kInf, 5, kInf}, 2, 0}};
  for (const auto& c : cases) {
    for (const char* op : {"ArgMax", "ArgMin"}) {
      OpTester t(op);
      t.Input(Vec(c.x)).Input(MakeScalar(0));
      ASSERT_EQ(t.Run(), OkStatus());
      ExpectEqual(t.Output(0), MakeScalar(op[4] == 'a' ? c.max : c.min));
    }
  }
  OpTester t("ArgMax");
  t.Attr("output_type", DT_INT32);
  t.Input(MakeTensor<half>({2, 2, 1}, {half(1), half(2), half(3), half(0)}));
  t.Input(MakeScalar<int64_t>(-3));
  ASSERT_EQ(t.Run(), OkStatus());
  ExpectEqual(t.Output(0), MakeTensor<int32_t>({2, 1}, {1, 0}));
  // In the second of two blocks, twice there, behind NaN.
  Tensor row(DT_FLOAT, TensorShape({1, 1500}));
  std::fill_n(row.data<float>(), 1500, std::nanf(""));
  row.data<float>()[7] = 1;
  row.data<float>()[1201] = row.data<float>()[1203] = 2;
  row.data<float>()[1400] = -3;
  for (const auto& [op, want] : {std::pair("ArgMax", 1201), {"ArgMin", 1400}}) {
    OpTester blocks(op);
    blocks.Input(row).Input(MakeScalar<int32_t>(1));
    ASSERT_EQ(blocks.Run(), OkStatus());
    ExpectEqual(blocks.Output(0), MakeTensor<int64_t>({1}, {want}));
  }
  OpTester empty("ArgMax");
  empty.Input(MakeTensor<float>({0, 2}, {})).Input(MakeScalar(0));
  ExpectError(empty.Run(), absl::StatusCode::kInvalidArgument,
              "Reduction axis 0 is empty in shape [0,2]");
  OpTester scalar("ArgMax");
  scalar.Input(MakeScalar<float>(1)).Input(MakeScalar(0));
  ExpectError(scalar.Run(), absl::StatusCode::kInvalidArgument, "dimension");
}

// Rows long enough for lanes and blocks, with the extreme in each part of them.
TEST(ArgExtremeTest, LongRows) {
  for (int64_t at : {0, 15, 17, 255, 256, 700, 767, 768, 783, 790}) {
    for (const char* op : {"ArgMax", "ArgMin"}) {
      const float extreme = op[4] == 'a' ? 9 : -9;
      std::vector<float> x(791);
      for (size_t i = 0; i < x.size(); ++i) x[i] = static_cast<float>(i % 7);
      x[790] = extreme;  // the first of equal ones counts
      x[at] = extreme;
      if (at != 3) x[3] = kNan;
      OpTester t(op);
      t.Input(Vec(x)).Input(MakeScalar(0));
      ASSERT_EQ(t.Run(), OkStatus());
      ExpectEqual(t.Output(0), MakeScalar(at));
      OpTester none(op);
      none.Input(Vec(std::vector<float>(791, op[4] == 'a' ? -kInf : kInf)));
      none.Input(MakeScalar(0));
      ASSERT_EQ(none.Run(), OkStatus());
      ExpectEqual(none.Output(0), MakeScalar<int64_t>(0));
    }
  }
}

TEST(SequenceTest, RangeAndLinSpace) {
  const auto range = [](Tensor a, Tensor b, Tensor c) {
    OpTester t("Range");
    t.Input(std::move(a)).Input(std::move(b)).Input(std::move(c));
    const Status s = t.Run();
    EXPECT_EQ(s, OkStatus());
    return s.ok() ? t.Output(0) : Tensor();
  };
  ExpectEqual(range(MakeScalar(3), MakeScalar(18), MakeScalar(6)),
              Vec<int32_t>({3, 9, 15}));
  ExpectEqual(range(MakeScalar(3), MakeScalar(-2), MakeScalar(-2)),
              Vec<int32_t>({3, 1, -1}));
  ExpectEqual(range(MakeScalar(3), MakeScalar(3), MakeScalar(1)),
              Vec<int32_t>({}));
  ExpectEqual(
      range(MakeScalar<int64_t>(INT64_MIN), MakeScalar<int64_t>(INT64_MAX),
            MakeScalar<int64_t>(INT64_MAX)),
      Vec<int64_t>({INT64_MIN, -1, INT64_MAX - 1}));
  const Tensor f = range(MakeScalar<float>(0), MakeScalar<float>(1),
                         MakeScalar<float>(0.1f));
  ASSERT_EQ(f.NumElements(), 10);
  EXPECT_EQ(f.data<float>()[8], 8 * 0.1f);
  EXPECT_EQ(range(MakeScalar(half(0.0f)), MakeScalar(half(1.0f)),
                  MakeScalar(half(0.1f)))
                .NumElements(),
            10);
  for (const auto& [a, b, c] : std::vector<std::tuple<int, int, int>>{
           {1, 2, 0}, {2, 1, 1}, {1, 2, -1}}) {
    OpTester t("Range");
    t.Input(MakeScalar(a)).Input(MakeScalar(b)).Input(MakeScalar(c));
    ExpectError(t.Run(), absl::StatusCode::kInvalidArgument, "Requires");
  }
  OpTester nan("Range");
  nan.Input(MakeScalar(0.0f)).Input(MakeScalar(kNan)).Input(MakeScalar(1.0f));
  ExpectError(nan.Run(), absl::StatusCode::kInvalidArgument, "Requires");
  OpTester inf("Range");
  inf.Input(MakeScalar(0.0f)).Input(MakeScalar(kInf)).Input(MakeScalar(1.0f));
  ExpectError(inf.Run(), absl::StatusCode::kInvalidArgument, "Requires");

  OpTester l("LinSpace");
  l.Input(MakeScalar(10.0f)).Input(MakeScalar(12.0f)).Input(MakeScalar(3));
  ASSERT_EQ(l.Run(), OkStatus());
  ExpectEqual(l.Output(0), Vec<float>({10, 11, 12}));
  OpTester one("LinSpace");
  one.Input(MakeScalar(10.0)).Input(MakeScalar(12.0)).Input(MakeScalar(1));
  ASSERT_EQ(one.Run(), OkStatus());
  ExpectEqual(one.Output(0), Vec<double>({10}));
  OpTester none("LinSpace");
  none.Input(MakeScalar(1.0f)).Input(MakeScalar(2.0f)).Input(MakeScalar(0));
  ExpectError(none.Run(), absl::StatusCode::kInvalidArgument,
              "Requires num > 0");
}

TEST(BroadcastTest, GradientArgs) {
  const struct {
    std::vector<int32_t> a, b, ra, rb, out;
  } cases[] = {{{1, 3}, {3}, {0}, {0}, {1, 3}},
               {{1}, {1}, {}, {}, {1}},
               {{2, 1, 3}, {1, 3}, {1}, {0, 1}, {2, 1, 3}},
               {{}, {2, 3}, {0, 1}, {}, {2, 3}},
               {{0, 1}, {1, 5}, {1}, {0}, {0, 5}},
               {{1, 3}, {1, 1}, {0}, {0, 1}, {1, 3}}};
  for (const auto& c : cases) {
    OpTester t("BroadcastGradientArgs");
    t.Input(Vec(c.a)).Input(Vec(c.b));
    ASSERT_EQ(t.Run(), OkStatus());
    ExpectEqual(t.Output(0), Vec(c.ra));
    ExpectEqual(t.Output(1), Vec(c.rb));
    OpTester a("BroadcastArgs");
    a.Input(Vec(c.a)).Input(Vec(c.b));
    ASSERT_EQ(a.Run(), OkStatus());
    ExpectEqual(a.Output(0), Vec(c.out));
  }
  OpTester bad("BroadcastArgs");
  bad.Input(Vec<int32_t>({2})).Input(Vec<int32_t>({3}));
  ExpectError(bad.Run(), absl::StatusCode::kInvalidArgument, "Incompatible");
}

TEST(BroadcastTest, To) {
  OpTester t("BroadcastTo");
  t.Input(MakeTensor<int16_t>({2, 1}, {1, 2})).Input(Vec<int32_t>({2, 2, 3}));
  ASSERT_EQ(t.Run(), OkStatus());
  ExpectEqual(t.Output(0), MakeTensor<int16_t>({2, 2, 3}, {1, 1, 1, 2, 2, 2, 1,
                                                           1, 1, 2, 2, 2}));
  OpTester s("BroadcastTo");
  s.Input(MakeScalar<tstring>("x")).Input(Vec<int64_t>({2}));
  ASSERT_EQ(s.Run(), OkStatus());
  ExpectEqual(s.Output(0), Vec<tstring>({"x", "x"}));
  OpTester bad("BroadcastTo");
  bad.Input(Vec<float>({1, 2})).Input(Vec<int32_t>({2, 1}));
  ExpectError(bad.Run(), absl::StatusCode::kInvalidArgument, "Incompatible");
}

TEST(ClipTest, BoundsAndNan) {
  OpTester t("ClipByValue");
  t.Input(Vec<float>({-2, 0.5f, 3, kNan})).Input(MakeScalar(0.0f));
  t.Input(MakeScalar(1.0f));
  ASSERT_EQ(t.Run(), OkStatus());
  ExpectClose(t.Output(0), Vec<float>({0, 0.5f, 1, kNan}));
  OpTester crossed("ClipByValue");
  crossed.Input(Vec<int32_t>({-2, 9})).Input(Vec<int32_t>({5, 5}));
  crossed.Input(MakeScalar(1));
  ASSERT_EQ(crossed.Run(), OkStatus());
  ExpectEqual(crossed.Output(0), Vec<int32_t>({5, 5}));
  OpTester parts("ClipByValue");
  parts.Input(Vec<complex64>({{5, -3}, {0.5f, 9}}));
  parts.Input(MakeScalar(complex64{0, 1})).Input(MakeScalar(complex64{2, 3}));
  ASSERT_EQ(parts.Run(), OkStatus());
  ExpectEqual(parts.Output(0), Vec<complex64>({{2, 1}, {0.5f, 3}}));
  OpTester bad("ClipByValue");
  bad.Input(Vec<float>({1, 2, 3})).Input(Vec<float>({1, 2}));
  bad.Input(MakeScalar(1.0f));
  ExpectError(bad.Run(), absl::StatusCode::kInvalidArgument, "clip_value_min");
}

TEST(CrossTest, Products) {
  OpTester t("Cross");
  t.Input(MakeTensor<int32_t>({2, 3}, {1, 0, 0, 1, 2, 3}));
  t.Input(MakeTensor<int32_t>({2, 3}, {0, 1, 0, 4, 5, 6}));
  ASSERT_EQ(t.Run(), OkStatus());
  ExpectEqual(t.Output(0), MakeTensor<int32_t>({2, 3}, {0, 0, 1, -3, 6, -3}));
  OpTester bad("Cross");
  bad.Input(Vec<float>({1, 2})).Input(Vec<float>({1, 2}));
  ExpectError(bad.Run(), absl::StatusCode::kFailedPrecondition, "3-element");
}

TEST(CheckNumericsTest, Names) {
  const struct {
    std::vector<float> x;
    const char *v1, *v2;
  } cases[] = {{{1, kInf}, "m : Tensor had Inf values", "+Inf values"},
               {{kNan}, "m : Tensor had NaN values", "NaN values"},
               {{-kInf, kNan},
                "m : Tensor had Inf and NaN values",
                "-Inf and NaN values"}};
  for (const auto& c : cases) {
    for (const char* op : {"CheckNumerics", "CheckNumericsV2"}) {
      OpTester t(op);
      t.Attr("message", std::string("m")).Input(Vec(c.x));
      ExpectError(t.Run(), absl::StatusCode::kInvalidArgument,
                  op[13] == 0 ? c.v1 : c.v2);
    }
  }
  OpTester t("CheckNumerics");
  t.Attr("message", std::string("m")).Input(Vec<half>({half(1), half(65504)}));
  ASSERT_EQ(t.Run(), OkStatus());
  ExpectEqual(t.Output(0), Vec<half>({half(1), half(65504)}));
}

}  // namespace
}  // namespace headrace
