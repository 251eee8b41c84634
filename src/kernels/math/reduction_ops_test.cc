#include <cmath>
#include <limits>
#include <random>

#include "base/thread_pool.h"
#include "framework/kernel/op_tester.h"

namespace headrace {
namespace {

constexpr float kNan = std::numeric_limits<float>::quiet_NaN();
constexpr float kInf = std::numeric_limits<float>::infinity();

Tensor Axes(const std::vector<int32_t>& v) {
  return MakeTensor<int32_t>({static_cast<int64_t>(v.size())}, v);
}
template <typename T>
Tensor Vec(const std::vector<T>& v) {
  return MakeTensor<T>({static_cast<int64_t>(v.size())}, v);
}
Tensor Reduced(const std::string& op, Tensor x, Tensor axes, bool keep = false,
               ThreadPool* pool = ThreadPool::Global()) {
  OpTester t(op, pool);
  t.Attr("keep_dims", keep).Input(std::move(x)).Input(std::move(axes));
  const Status s = t.Run();
  EXPECT_EQ(s, OkStatus()) << op;
  return s.ok() ? t.Output(0) : Tensor();
}

// Sums and maxima over every set of axes, against plain loops in double.
TEST(ReductionTest, AgreesWithPlainLoops) {
  const std::vector<int64_t> shapes[] = {{},           {5},
                                         {3, 4},       {2, 3, 4},
                                         {2, 1, 3, 2}, {0, 3},
                                         {10000},      {3, 9000},
                                         {9000, 3},    {5, 70, 33},
                                         {70, 600},    {4, 5, 6, 7},
                                         {1, 300, 20}, {130, 2, 130},
                                         {40, 63},     {40, 127},
                                         {40, 128},    {40, 193},
                                         {200000},     {3, 2, 2, 2, 5000},
                                         {40000, 4},   {2, 2000, 2, 40}};
  std::mt19937 rng(1);
  for (const auto& dims : shapes) {
    const TensorShape shape(dims);
    const int rank = shape.dims();
    Tensor x(DT_FLOAT, shape), h(DT_HALF, shape), n(DT_INT32, shape);
    for (int64_t i = 0; i < x.NumElements(); ++i) {
      const int v = static_cast<int>(rng() % 9) - 4;
      x.data<float>()[i] = v * 0.125f;
      h.data<half>()[i] = half(v * 0.125f);
      n.data<int32_t>()[i] = v;
    }
    for (int set = 0; set < 1 << rank; ++set) {
      std::vector<int32_t> axes;
      TensorShape kept;
      for (int i = 0; i < rank; ++i) {
        if (set >> i & 1) {
          axes.push_back(i % 2 ? i : i - rank);
          kept.AddDim(1);
        } else {
          kept.AddDim(shape.dim_size(i));
        }
      }
      SCOPED_TRACE(StrCat(shape.DebugString(), " axes ", set));
      Tensor sum(DT_FLOAT, kept), max(DT_FLOAT, kept), isum(DT_INT32, kept);
      for (int64_t i = 0; i < kept.num_elements(); ++i) {
        sum.data<float>()[i] = 0;
        max.data<float>()[i] = -kInf;
        isum.data<int32_t>()[i] = 0;
      }
      std::vector<double> exact(kept.num_elements());
      for (int64_t i = 0; i < x.NumElements(); ++i) {
        int64_t rest = i, at = 0, step = 1;
        for (int d = rank - 1; d >= 0; --d) {
          const int64_t k = rest % shape.dim_size(d);
          rest /= shape.dim_size(d);
          if (!(set >> d & 1)) {
            at += k * step;
            step *= shape.dim_size(d);
          }
        }
        exact[at] += x.data<float>()[i];
        isum.data<int32_t>()[at] += n.data<int32_t>()[i];
        max.data<float>()[at] =
            std::max(max.data<float>()[at], x.data<float>()[i]);
      }
      for (size_t i = 0; i < exact.size(); ++i) sum.data<float>()[i] = exact[i];
      ExpectClose(Reduced("Sum", x, Axes(axes), true), sum, 1e-6, 1e-6);
      ExpectEqual(Reduced("Sum", n, Axes(axes), true), isum);
      ExpectEqual(Reduced("Max", x, Axes(axes), true), max);
      Tensor half_sum(DT_HALF, kept);
      for (int64_t i = 0; i < kept.num_elements(); ++i) {
        half_sum.data<half>()[i] = half(sum.data<float>()[i]);
      }
      ExpectClose(Reduced("Sum", h, Axes(axes), true), half_sum, 1e-3, 1e-6);
    }
  }
}

TEST(ReductionTest, ThreadsDoNotMatter) {
  std::mt19937 rng(2);
  for (const auto& dims : std::vector<std::vector<int64_t>>{
           {1000000}, {1000, 999}, {100000, 7}, {7, 100000}}) {
    Tensor x(DT_FLOAT, TensorShape(dims));
    for (int64_t i = 0; i < x.NumElements(); ++i) {
      x.data<float>()[i] = static_cast<float>(rng() % 1000) / 7;
    }
    for (int axis = 0; axis < static_cast<int>(dims.size()); ++axis) {
      ThreadPool one(1), four(4);
      ExpectEqual(Reduced("Sum", x, Axes({axis}), false, &one),
                  Reduced("Sum", x, Axes({axis}), false, &four));
    }
  }
}

TEST(ReductionTest, FloatSumsStayExactEnough) {
  Tensor x(DT_FLOAT, TensorShape({1 << 24}));
  std::fill_n(x.data<float>(), x.NumElements(), 0.1f);
  ExpectClose(Reduced("Sum", x, Axes({0})), MakeScalar<float>(0.1f * (1 << 24)),
              1e-6);
  Tensor h(DT_HALF, TensorShape({3000}));
  std::fill_n(h.data<half>(), 3000, half(1));
  ExpectEqual(Reduced("Sum", h, Axes({0})), MakeScalar(half(3000)));
}

TEST(ReductionTest, Rules) {
  ExpectEqual(Reduced("Mean", Vec<int32_t>({INT32_MAX, INT32_MAX}), Axes({0})),
              MakeScalar<int32_t>(INT32_MAX));
  ExpectEqual(Reduced("Mean", Vec<int32_t>({-1, -2}), Axes({0})),
              MakeScalar<int32_t>(-1));
  ExpectEqual(Reduced("Mean", Vec<uint8_t>({200, 100}), Axes({0})),
              MakeScalar<uint8_t>(150));
  ExpectEqual(Reduced("Sum", Vec<uint8_t>({200, 100}), Axes({0})),
              MakeScalar<uint8_t>(44));
  ExpectClose(Reduced("Mean", Vec<float>({1, 2, 6}), Axes({0})),
              MakeScalar<float>(3));
  ExpectClose(Reduced("Prod", Vec<complex64>({{0, 1}, {0, 1}}), Axes({0})),
              MakeScalar<complex64>({-1, 0}));
  ExpectClose(
      Reduced("EuclideanNorm", Vec<complex64>({{3, 0}, {0, 4}}), Axes({0})),
      MakeScalar<complex64>({5, 0}));
  ExpectClose(Reduced("EuclideanNorm", Vec<float>({-3, 4}), Axes({})),
              Vec<float>({3, 4}));
  ExpectClose(Reduced("Max", Vec<float>({1, kNan, 3}), Axes({0})),
              MakeScalar<float>(kNan));
  // Wherever in a long row.
  Tensor diagonal(DT_FLOAT, TensorShape({300, 300}));
  for (int64_t i = 0; i < 300 * 300; ++i) {
    diagonal.data<float>()[i] = i % 301 == 0 ? kNan : static_cast<float>(i);
  }
  for (const char* op : {"Max", "Min"}) {
    ExpectClose(Reduced(op, diagonal, Axes({1})),
                Vec(std::vector<float>(300, kNan)));
  }
  ExpectEqual(Reduced("All", Vec<bool>({true, false}), MakeScalar<int32_t>(0)),
              MakeScalar(false));
  ExpectEqual(Reduced("Any", Vec<bool>({true, false}), Axes({-1}), true),
              Vec<bool>({true}));
  // Nothing to reduce: neutral elements.
  const Tensor none = MakeTensor<float>({0}, {});
  ExpectClose(Reduced("Sum", none, Axes({0})), MakeScalar<float>(0));
  ExpectClose(Reduced("Prod", none, Axes({0})), MakeScalar<float>(1));
  ExpectClose(Reduced("Max", none, Axes({0})), MakeScalar<float>(-kInf));
  ExpectClose(Reduced("Min", none, Axes({0})), MakeScalar<float>(kInf));
  ExpectClose(Reduced("Mean", none, Axes({0})), MakeScalar<float>(kNan));
  ExpectEqual(Reduced("Mean", MakeTensor<int32_t>({0}, {}), Axes({0})),
              MakeScalar<int32_t>(0));
  ExpectEqual(Reduced("Max", MakeTensor<int32_t>({0}, {}), Axes({0})),
              MakeScalar<int32_t>(INT32_MIN));
  ExpectEqual(Reduced("All", MakeTensor<bool>({0}, {}), Axes({0})),
              MakeScalar(true));
}

TEST(ReductionTest, RefusesBadAxes) {
  for (const auto& axes : {Axes({2}), Axes({-3})}) {
    OpTester t("Sum");
    t.Input(MakeTensor<float>({1, 2}, {1, 2})).Input(axes);
    ExpectError(t.Run(), absl::StatusCode::kInvalidArgument,
                "Invalid reduction dimension");
  }
}

TEST(ReductionTest, AnAxisNamedTwiceIsReducedOnce) {
  const Tensor x = MakeTensor<float>({2, 3}, {1, 2, 3, 4, 5, 6});
  for (const auto& axes : {Axes({1, -1}), Axes({1, 1, 1})}) {
    OpTester t("Sum");
    t.Input(x).Input(axes);
    ASSERT_EQ(t.Run(), OkStatus());
    ExpectEqual(t.Output(0), MakeTensor<float>({2}, {6, 15}));
  }
  OpTester keep("Max");
  keep.Attr("keep_dims", true).Input(x).Input(Axes({0, -2}));
  ASSERT_EQ(keep.Run(), OkStatus());
  ExpectEqual(keep.Output(0), MakeTensor<float>({1, 3}, {4, 5, 6}));
}

}  // namespace
}  // namespace headrace
