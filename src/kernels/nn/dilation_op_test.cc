#include "framework/kernel/op_tester.h"

namespace headrace {
namespace {

using Ints = std::vector<int64_t>;
using F = std::vector<float>;

void Configure(OpTester* t, Ints strides, Ints rates, const char* padding) {
  t->Attr("strides", strides).Attr("rates", rates);
  t->Attr("padding", std::string(padding));
}

const Tensor& Image() {
  static const Tensor t = MakeTensor<float>({1, 2, 3, 1}, {1, 5, 2, 4, 3, 6});
  return t;
}
const Tensor& Filter() {
  static const Tensor t = MakeTensor<float>({2, 2, 1}, {0, 1, 2, 0});
  return t;
}

TEST(Dilation2DOp, MaximumOfSums) {
  OpTester t("Dilation2D");
  Configure(&t, {1, 1, 1, 1}, {1, 1, 1, 1}, "VALID");
  t.Input(Image()).Input(Filter());
  ASSERT_EQ(t.Run(), OkStatus());
  // max(1+0, 5+1, 4+2, 3+0), max(5+0, 2+1, 3+2, 6+0)
  ExpectEqual(t.Output(0), MakeTensor<float>({1, 1, 2, 1}, {6, 6}));
}

TEST(Dilation2DOp, PaddingTakesNoPart) {
  OpTester t("Dilation2D");
  Configure(&t, {1, 1, 1, 1}, {1, 1, 1, 1}, "SAME");
  t.Input(MakeTensor<float>({1, 1, 2, 1}, {-9, -8})).Input(Filter());
  ASSERT_EQ(t.Run(), OkStatus());
  ExpectEqual(t.Output(0), MakeTensor<float>({1, 1, 2, 1}, {-7, -8}));
}

TEST(Dilation2DGradOps, GoToTheFirstOfTheLargest) {
  const Tensor dy = MakeTensor<float>({1, 1, 2, 1}, {10, 100});
  OpTester in("Dilation2DBackpropInput");
  Configure(&in, {1, 1, 1, 1}, {1, 1, 1, 1}, "VALID");
  in.Input(Image()).Input(Filter()).Input(dy);
  ASSERT_EQ(in.Run(), OkStatus());
  ExpectEqual(in.Output(0),
              MakeTensor<float>({1, 2, 3, 1}, {0, 10, 0, 0, 0, 100}));
  OpTester filter("Dilation2DBackpropFilter");
  Configure(&filter, {1, 1, 1, 1}, {1, 1, 1, 1}, "VALID");
  filter.Input(Image()).Input(Filter()).Input(dy);
  ASSERT_EQ(filter.Run(), OkStatus());
  ExpectEqual(filter.Output(0), MakeTensor<float>({2, 2, 1}, {0, 10, 0, 100}));
}

TEST(Dilation2DOp, Refusals) {
  struct {
    Ints strides, rates;
    TensorShape filter;
    absl::StatusCode code;
    const char* message;
  } const kCases[] = {
      {{1, 1, 1},
       {1, 1, 1, 1},
       {2, 2, 1},
       absl::StatusCode::kInvalidArgument,
       "strides"},
      {{2, 1, 1, 1},
       {1, 1, 1, 1},
       {2, 2, 1},
       absl::StatusCode::kUnimplemented,
       "batch and depth"},
      {{1, 1, 1, 1},
       {1, 0, 1, 1},
       {2, 2, 1},
       absl::StatusCode::kInvalidArgument,
       "positive"},
      {{1, 1, 1, 1},
       {1, 1, 1, 1},
       {2, 2, 2},
       absl::StatusCode::kInvalidArgument,
       "same depth"},
      {{1, 1, 1, 1},
       {1, 1, 1, 1},
       {4, 2, 1},
       absl::StatusCode::kInvalidArgument,
       "negative"},
  };
  for (const auto& c : kCases) {
    OpTester t("Dilation2D");
    Configure(&t, c.strides, c.rates, "VALID");
    t.Input(Image()).Input(
        MakeTensor<float>(c.filter, F(c.filter.num_elements(), 0)));
    ExpectError(t.Run(), c.code, c.message);
  }
}

}  // namespace
}  // namespace headrace
