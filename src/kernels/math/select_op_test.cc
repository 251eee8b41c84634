#include "framework/kernel/op_tester.h"

namespace headrace {
namespace {

Status RunSelect(OpTester& t, Tensor c, Tensor x, Tensor y) {
  t.Attr("T", x.dtype());
  t.Input(std::move(c)).Input(std::move(x)).Input(std::move(y));
  return t.Run();
}

TEST(SelectTest, ScalarVectorAndWhole) {
  const Tensor x = MakeTensor<float>({2, 2}, {1, 2, 3, 4});
  const Tensor y = MakeTensor<float>({2, 2}, {5, 6, 7, 8});
  {
    OpTester t("Select");
    ASSERT_EQ(RunSelect(t, MakeScalar(false), x, y), OkStatus());
    ExpectEqual(t.Output(0), y);
  }
  {
    OpTester t("Select");
    ASSERT_EQ(RunSelect(t, MakeTensor<bool>({2}, {true, false}), x, y),
              OkStatus());
    ExpectEqual(t.Output(0), MakeTensor<float>({2, 2}, {1, 2, 7, 8}));
  }
  {
    OpTester t("Select");
    ASSERT_EQ(RunSelect(t, MakeTensor<bool>({2, 2}, {true, false, false, true}),
                        x, y),
              OkStatus());
    ExpectEqual(t.Output(0), MakeTensor<float>({2, 2}, {1, 6, 7, 4}));
  }
  {
    OpTester t("Select");
    ExpectError(RunSelect(t, MakeTensor<bool>({2, 1}, {true, false}), x, y),
                absl::StatusCode::kInvalidArgument, "'cond' must be");
  }
  {
    OpTester t("Select");
    ExpectError(RunSelect(t, MakeScalar(true), x, MakeTensor<float>({1}, {1})),
                absl::StatusCode::kInvalidArgument, "same size");
  }
}

TEST(SelectTest, V2Broadcasts) {
  {
    OpTester t("SelectV2");
    ASSERT_EQ(
        RunSelect(t, MakeTensor<bool>({2}, {true, false}),
                  MakeTensor<int64_t>({2, 1}, {1, 2}), MakeScalar<int64_t>(9)),
        OkStatus());
    ExpectEqual(t.Output(0), MakeTensor<int64_t>({2, 2}, {1, 9, 2, 9}));
  }
  {
    OpTester t("SelectV2");
    ASSERT_EQ(RunSelect(t, MakeTensor<bool>({2}, {true, false}),
                        MakeScalar<tstring>("a"),
                        MakeTensor<tstring>({2}, {"b", "c"})),
              OkStatus());
    ExpectEqual(t.Output(0), MakeTensor<tstring>({2}, {"a", "c"}));
  }
  {
    OpTester t("SelectV2");
    ExpectError(RunSelect(t, MakeTensor<bool>({3}, {true, false, true}),
                          MakeTensor<float>({2}, {1, 2}), MakeScalar<float>(1)),
                absl::StatusCode::kInvalidArgument, "Incompatible shapes");
  }
}

TEST(AddNTest, AddsAndRefuses) {
  OpTester t("AddN");
  t.Input(MakeTensor<half>({2}, {half(1), half(2)}));
  t.Input(MakeTensor<half>({2}, {half(3), half(4)}));
  t.Input(MakeTensor<half>({2}, {half(5), half(6)}));
  ASSERT_EQ(t.Run(), OkStatus());
  ExpectEqual(t.Output(0), MakeTensor<half>({2}, {half(9), half(12)}));
  OpTester bad("AddN");
  bad.Input(MakeTensor<float>({2}, {1, 2})).Input(MakeScalar<float>(1));
  ExpectError(bad.Run(), absl::StatusCode::kInvalidArgument,
              "must have the same size and shape");
}

}  // namespace
}  // namespace headrace
