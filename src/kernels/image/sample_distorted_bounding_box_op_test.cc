#include <limits>

#include "framework/kernel/op_tester.h"

namespace headrace {
namespace {

Tensor Boxes(const std::vector<float>& v) {
  return MakeTensor<float>({1, static_cast<int64_t>(v.size()) / 4, 4}, v);
}
OpTester& Feed(OpTester& t, const std::vector<float>& boxes, float covered) {
  t.Attr("seed", int64_t{3}).Attr("seed2", int64_t{5});
  t.Input(MakeTensor<int32_t>({3}, {60, 80, 3})).Input(Boxes(boxes));
  return t.Input(MakeScalar(covered));
}

TEST(SampleDistortedBoundingBoxTest, CropsWithinTheRanges) {
  for (int64_t seed = 1; seed < 200; ++seed) {
    OpTester t("SampleDistortedBoundingBoxV2");
    Feed(t, {.2, .3, .7, .6}, .5).Attr("seed", seed);
    ASSERT_EQ(t.Run(), OkStatus());
    const int32_t* begin = t.Output(0).data<int32_t>();
    const int32_t* size = t.Output(1).data<int32_t>();
    EXPECT_TRUE(begin[0] >= 0 && begin[0] + size[0] <= 60);
    EXPECT_TRUE(begin[1] >= 0 && begin[1] + size[1] <= 80);
    EXPECT_EQ(size[2], -1);
    const float area = static_cast<float>(size[0] * size[1]);
    EXPECT_TRUE(area >= .05f * 60 * 80 && area <= 60 * 80);
    const float* box = t.Output(2).data<float>();
    EXPECT_FLOAT_EQ(box[0], begin[0] / 60.f);
    EXPECT_FLOAT_EQ(box[3], (begin[1] + size[1]) / 80.f);
    // Rows 12 to 42 and columns 24 to 48 are the object.
    const int rows = std::min(begin[0] + size[0], 42) - std::max(begin[0], 12);
    const int columns =
        std::min(begin[1] + size[1], 48) - std::max(begin[1], 24);
    EXPECT_GE(rows * columns, .5f * 30 * 24);
  }
}

TEST(SampleDistortedBoundingBoxTest, WholeImageWhereNothingFits) {
  OpTester never("SampleDistortedBoundingBoxV2"),
      image("SampleDistortedBoundingBoxV2"),
      none("SampleDistortedBoundingBoxV2");
  Feed(never, {0, 0, 1, 1}, 1).Attr("area_range", std::vector<float>{.1, .2});
  ASSERT_EQ(never.Run(), OkStatus());
  ExpectEqual(never.Output(1), MakeTensor<int32_t>({3}, {60, 80, -1}));
  Feed(image, {}, .1).Attr("use_image_if_no_bounding_boxes", true);
  ASSERT_EQ(image.Run(), OkStatus());
  Feed(none, {}, .1);
  ExpectError(none.Run(), absl::StatusCode::kInvalidArgument,
              "No bounding boxes provided");
}

TEST(SampleDistortedBoundingBoxTest, Refusals) {
  const auto kInvalid = absl::StatusCode::kInvalidArgument;
  const char* const kOp = "SampleDistortedBoundingBoxV2";
  OpTester outside(kOp), covered(kOp), ratio(kOp), area(kOp), tries(kOp),
      shape(kOp);
  Feed(outside, {0, 0, 1, std::numeric_limits<float>::quiet_NaN()}, .1);
  ExpectError(outside.Run(), kInvalid, "must be in [0.0, 1.0]");
  Feed(covered, {0, 0, 1, 1}, -1);
  ExpectError(covered.Run(), kInvalid, "non-negative");
  Feed(ratio, {0, 0, 1, 1}, .1);
  ratio.Attr("aspect_ratio_range", std::vector<float>{0, 1});
  ExpectError(ratio.Run(), kInvalid, "two positive numbers");
  Feed(area, {0, 0, 1, 1}, .1).Attr("area_range", std::vector<float>{.1});
  ExpectError(area.Run(), kInvalid, "area_range");
  Feed(tries, {0, 0, 1, 1}, .1).Attr("max_attempts", int64_t{0});
  ExpectError(tries.Run(), kInvalid, "max_attempts");
  shape.Input(MakeTensor<int64_t>({3}, {0, int64_t{1} << 60, 3}));
  shape.Input(Boxes({0, 0, 1, 1})).Input(MakeScalar(.1f));
  ExpectError(shape.Run(), kInvalid, "image height and width");
}

}  // namespace
}  // namespace headrace
