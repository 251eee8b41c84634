// Gather, scatter, OneHot, Where, Unique, stitches, diagonals: results and
// refusals.
#include <gtest/gtest.h>

#include <cmath>

#include "framework/kernel/op_tester.h"

namespace headrace {
namespace {

constexpr auto kInvalid = absl::StatusCode::kInvalidArgument;

Tensor Iota(const TensorShape& shape) {
  Tensor t(DT_FLOAT, shape);
  for (int64_t i = 0; i < t.NumElements(); ++i) t.data<float>()[i] = i;
  return t;
}
Tensor Ints(const std::vector<int32_t>& v) {
  return Tensor::Vector<int32_t>(v);
}

TEST(GatherTest, AxesAndBatches) {
  OpTester t("GatherV2");
  t.Input(Iota({2, 3})).Input(Ints({2, 0})).Input(MakeScalar<int32_t>(1));
  ASSERT_TRUE(t.Run().ok());
  ExpectEqual(t.Output(0), MakeTensor<float>({2, 2}, {2, 0, 5, 3}));
  OpTester batch("GatherV2");
  batch.Attr("batch_dims", -1)
      .Input(Iota({2, 3}))
      .Input(MakeTensor<int64_t>({2, 2}, {0, 1, 2, 2}))
      .Input(MakeScalar<int32_t>(1));
  ASSERT_TRUE(batch.Run().ok());
  ExpectEqual(batch.Output(0), MakeTensor<float>({2, 2}, {0, 1, 5, 5}));
  OpTester bad("Gather");
  bad.Input(Iota({2, 2})).Input(MakeTensor<int32_t>({1, 2}, {0, 2}));
  ExpectError(bad.Run(), kInvalid, "indices[0,1] = 2 is not in [0, 2)");
}

TEST(GatherNdTest, CoordinatesAndRefusals) {
  OpTester t("GatherNd");
  t.Input(Iota({2, 3})).Input(MakeTensor<int32_t>({2, 2}, {0, 1, 1, 2}));
  ASSERT_TRUE(t.Run().ok());
  ExpectEqual(t.Output(0), MakeTensor<float>({2}, {1, 5}));
  OpTester whole("GatherNd");
  whole.Input(Iota({2})).Input(Tensor(DT_INT32, {2, 0}));
  ASSERT_TRUE(whole.Run().ok());
  ExpectEqual(whole.Output(0), MakeTensor<float>({2, 2}, {0, 1, 0, 1}));
  OpTester bad("GatherNd");
  bad.Input(Iota({2})).Input(MakeTensor<int32_t>({1, 1}, {2}));
  ExpectError(bad.Run(), kInvalid,
              "indices[0] = [2] does not index into param shape [2]");
}

TEST(ScatterNdTest, DuplicatesAddUp) {
  OpTester t("ScatterNd");
  t.Input(MakeTensor<int32_t>({3, 1}, {1, 1, 3}))
      .Input(MakeTensor<float>({3}, {1, 2, 4}))
      .Input(Ints({4}));
  ASSERT_TRUE(t.Run().ok());
  ExpectEqual(t.Output(0), MakeTensor<float>({4}, {0, 3, 0, 4}));
  OpTester bad("ScatterNd");
  bad.Input(MakeTensor<int32_t>({1, 1}, {3}))
      .Input(MakeTensor<float>({1}, {1}))
      .Input(Ints({3}));
  ExpectError(bad.Run(), kInvalid,
              "indices[0] = [3] does not index into shape [3]");
}

TEST(TensorScatterTest, EachUpdate) {
  for (const auto& [op, want] : {std::pair<const char*, std::vector<int32_t>>{
                                     "TensorScatterUpdate", {5, 9, 5}},
                                 {"TensorScatterAdd", {5, 17, 5}},
                                 {"TensorScatterSub", {5, -7, 5}},
                                 {"TensorScatterMax", {5, 9, 5}},
                                 {"TensorScatterMin", {5, 3, 5}}}) {
    OpTester t(op);
    t.Input(Ints({5, 5, 5}))
        .Input(MakeTensor<int32_t>({2, 1}, {1, 1}))
        .Input(Ints({3, 9}));
    ASSERT_TRUE(t.Run().ok());
    ExpectEqual(t.Output(0), Ints(want));
  }
}

TEST(OneHotTest, OutsideIsOff) {
  OpTester t("OneHot");
  t.Attr("axis", 0)
      .Input(MakeTensor<int64_t>({3}, {1, -1, 5}))
      .Input(MakeScalar<int32_t>(2))
      .Input(MakeScalar<float>(1))
      .Input(MakeScalar<float>(7));
  ASSERT_TRUE(t.Run().ok());
  ExpectEqual(t.Output(0), MakeTensor<float>({2, 3}, {7, 7, 7, 1, 7, 7}));
}

TEST(WhereTest, NanIsNotZero) {
  OpTester t("Where");
  t.Input(MakeTensor<float>({2, 2}, {-0.f, NAN, 0, 3}));
  ASSERT_TRUE(t.Run().ok());
  ExpectEqual(t.Output(0), MakeTensor<int64_t>({2, 2}, {0, 1, 1, 1}));
  OpTester bad("Where");
  bad.Input(MakeScalar<float>(1));
  EXPECT_EQ(bad.Run().code(), kInvalid);
}

TEST(UniqueTest, FirstAppearanceAndNans) {
  OpTester t("UniqueWithCounts");
  t.Input(MakeTensor<float>({6}, {2, NAN, 0, -0.f, 2, NAN}));
  ASSERT_TRUE(t.Run().ok());
  ExpectEqual(t.Output(1), Ints({0, 1, 2, 2, 0, 3}));
  ExpectEqual(t.Output(2), Ints({2, 1, 2, 1}));
  OpTester rows("UniqueV2");
  rows.Input(MakeTensor<int32_t>({2, 3}, {1, 2, 1, 4, 5, 4}))
      .Input(MakeTensor<int64_t>({1}, {1}));
  ASSERT_TRUE(rows.Run().ok());
  ExpectEqual(rows.Output(0), MakeTensor<int32_t>({2, 2}, {1, 2, 4, 5}));
  ExpectEqual(rows.Output(1), Ints({0, 1, 0}));
}

template <typename T>
void ExpectNegativesAreNumbers() {
  const auto values = [](std::initializer_list<float> v) {
    Tensor t(DataTypeToEnum<T>::value,
             TensorShape({static_cast<int64_t>(v.size())}));
    int64_t i = 0;
    for (float x : v) t.data<T>()[i++] = T(x);
    return t;
  };
  const Tensor x = values({-1, 2, -1, -0.f, 0, -INFINITY, NAN, NAN, -INFINITY});
  OpTester unique("UniqueWithCounts");
  unique.Input(x);
  ASSERT_TRUE(unique.Run().ok());
  ExpectEqual(unique.Output(1), Ints({0, 1, 0, 2, 2, 3, 4, 5, 3}));
  ExpectEqual(unique.Output(2), Ints({2, 1, 2, 2, 1, 1}));
  OpTester diff("ListDiff");
  diff.Input(x).Input(values({-1, 0, NAN}));
  ASSERT_TRUE(diff.Run().ok());
  ExpectEqual(diff.Output(1), Ints({1, 5, 6, 7, 8}));
}

TEST(UniqueTest, NegativeHalvesAreNotNans) {
  ExpectNegativesAreNumbers<half>();
  ExpectNegativesAreNumbers<bfloat16>();
  ExpectNegativesAreNumbers<float>();
  ExpectNegativesAreNumbers<double>();
}

TEST(ListDiffTest, KeepsOrderAndDuplicates) {
  OpTester t("ListDiff");
  t.Input(MakeTensor<tstring>({4}, {"c", "a", "c", "b"}))
      .Input(MakeTensor<tstring>({1}, {"a"}));
  ASSERT_TRUE(t.Run().ok());
  ExpectEqual(t.Output(0), MakeTensor<tstring>({3}, {"c", "c", "b"}));
  ExpectEqual(t.Output(1), Ints({0, 2, 3}));
}

TEST(DynamicStitchTest, LaterWinsAndGapsAreZero) {
  OpTester t("DynamicStitch");
  t.Attr("N", 2)
      .Input(Ints({0, 3}))
      .Input(MakeScalar<int32_t>(0))
      .Input(MakeTensor<float>({2}, {1, 2}))
      .Input(MakeScalar<float>(9));
  ASSERT_TRUE(t.Run().ok());
  ExpectEqual(t.Output(0), MakeTensor<float>({4}, {9, 0, 0, 2}));
  OpTester bad("DynamicPartition");
  bad.Attr("num_partitions", 3).Input(Iota({1})).Input(Ints({3}));
  ExpectError(bad.Run(), kInvalid, "partitions[0] = 3 is not in [0, 3)");
}

TEST(MatrixDiagTest, BandsAndAlignments) {
  // Diagonals 1, 0, -1 of a 2 x 3 matrix; the subdiagonal is short.
  OpTester part("MatrixDiagPartV3");
  part.Input(MakeTensor<float>({2, 3}, {1, 2, 3, 4, 5, 6}))
      .Input(Ints({-1, 1}))
      .Input(MakeScalar<float>(9));
  ASSERT_TRUE(part.Run().ok());
  ExpectEqual(part.Output(0), MakeTensor<float>({3, 2}, {2, 6, 1, 5, 4, 9}));
  OpTester diag("MatrixDiagV3");
  diag.Input(part.Output(0))
      .Input(Ints({-1, 1}))
      .Input(MakeScalar<int32_t>(2))
      .Input(MakeScalar<int32_t>(3))
      .Input(MakeScalar<float>(0));
  ASSERT_TRUE(diag.Run().ok());
  ExpectEqual(diag.Output(0), MakeTensor<float>({2, 3}, {1, 2, 0, 4, 5, 6}));
  OpTester set("MatrixSetDiag");
  set.Input(MakeTensor<float>({2, 2}, {1, 2, 3, 4}))
      .Input(MakeTensor<float>({2}, {8, 9}));
  ASSERT_TRUE(set.Run().ok());
  ExpectEqual(set.Output(0), MakeTensor<float>({2, 2}, {8, 2, 3, 9}));
  OpTester band("MatrixBandPart");
  band.Input(MakeTensor<float>({2, 3}, {1, 2, 3, 4, 5, 6}))
      .Input(MakeScalar<int64_t>(0))
      .Input(MakeScalar<int64_t>(1));
  ASSERT_TRUE(band.Run().ok());
  ExpectEqual(band.Output(0), MakeTensor<float>({2, 3}, {1, 2, 0, 0, 5, 6}));
}

TEST(FakeQuantTest, ShiftsARangeWithoutZeroAndRoundsHalvesUp) {
  OpTester t("FakeQuantWithMinMaxVars");
  t.Attr("num_bits", 3)
      .Input(MakeTensor<float>({3}, {-1, 1.01f, 3}))
      .Input(MakeScalar<float>(1))
      .Input(MakeScalar<float>(3));
  ASSERT_TRUE(t.Run().ok());
  ExpectClose(t.Output(0), MakeTensor<float>({3}, {0, 8 / 7.f, 2}));
  OpTester halves("FakeQuantWithMinMaxVars");
  halves.Attr("num_bits", 3)
      .Input(MakeTensor<float>({3}, {0.5, 1.5, 2.5}))
      .Input(MakeScalar<float>(0))
      .Input(MakeScalar<float>(7));
  ASSERT_TRUE(halves.Run().ok());
  ExpectEqual(halves.Output(0), MakeTensor<float>({3}, {1, 2, 3}));
}

TEST(UnravelIndexTest, CoordinatesFirst) {
  OpTester t("UnravelIndex");
  t.Input(Ints({1, 5})).Input(Ints({2, 3}));
  ASSERT_TRUE(t.Run().ok());
  ExpectEqual(t.Output(0), MakeTensor<int32_t>({2, 2}, {0, 1, 1, 2}));
  OpTester bad("UnravelIndex");
  bad.Input(Ints({6})).Input(Ints({2, 3}));
  ExpectError(bad.Run(), kInvalid, "out of bound");
}

TEST(InplaceTest, IndicesWrapAndTheInputStays) {
  const Tensor x = Ints({1, 2, 3});
  OpTester t("InplaceAdd");
  t.Input(x).Input(Ints({-1, 0})).Input(Ints({10, 20}));
  ASSERT_TRUE(t.Run().ok());
  ExpectEqual(t.Output(0), Ints({21, 2, 13}));
  ExpectEqual(x, Ints({1, 2, 3}));
}

TEST(EditDistanceTest, InsertionsAndEmptyTruth) {
  OpTester t("EditDistance");
  t.Input(MakeTensor<int64_t>({3, 2}, {0, 0, 0, 1, 1, 0}))
      .Input(MakeTensor<tstring>({3}, {"a", "b", "x"}))
      .Input(MakeTensor<int64_t>({2}, {2, 2}))
      .Input(MakeTensor<int64_t>({1, 2}, {0, 0}))
      .Input(MakeTensor<tstring>({1}, {"b"}))
      .Input(MakeTensor<int64_t>({2}, {2, 2}));
  ASSERT_TRUE(t.Run().ok());
  ExpectEqual(t.Output(0), MakeTensor<float>({2}, {1, INFINITY}));
}

}  // namespace
}  // namespace headrace
