#include "headrace/tensor_shape.h"

#include <gtest/gtest.h>

#include <limits>
#include <vector>

#include "framework/kernel/op_tester.h"

namespace headrace {
namespace {

constexpr int64_t kMax = std::numeric_limits<int64_t>::max();
constexpr int64_t kHuge = int64_t{1} << 32;  // its square overflows

struct ShapeCase {
  std::vector<int64_t> dims;
  int64_t elements;        // -1: the shape is invalid
  const char* error = "";  // of Build
};

TEST(TensorShapeTest, NoShapeHidesAnOverflow) {
  const ShapeCase cases[] = {
      {{}, 1},
      {{0}, 0},
      {{2, 3}, 6},
      {{kMax}, kMax},
      {{kMax, 1}, kMax},
      {{-1}, -1, "Dimension -1 must be >= 0"},
      {{2, -3}, -1, "Dimension -3 must be >= 0"},
      {{kHuge, kHuge}, -1, "more elements than fit in int64"},
      // The product is 0 whatever the others are, but they overflow.
      {{kHuge, kHuge, 0}, -1, "more elements than fit in int64"},
      {{kMax, 2}, -1, "more elements than fit in int64"},
      {std::vector<int64_t>(kMaxTensorRank, 1), 1},
      {std::vector<int64_t>(kMaxTensorRank + 1, 1), -1,
       "Shape has 255 dimensions, more than the 254 supported"},
  };
  for (const ShapeCase& c : cases) {
    const TensorShape plain(c.dims);
    SCOPED_TRACE(plain.DebugString());
    EXPECT_EQ(plain.num_elements(), c.elements);
    EXPECT_EQ(plain.IsValid(), c.elements >= 0);
    TensorShape built({7});
    const Status s = TensorShape::Build(c.dims, &built);
    if (c.elements >= 0) {
      EXPECT_EQ(s, OkStatus());
      EXPECT_EQ(built, plain);
    } else {
      ExpectError(s, absl::StatusCode::kInvalidArgument, c.error);
      EXPECT_EQ(built, TensorShape({7}));  // as it was
    }
    EXPECT_EQ(TensorShape::Build(c.dims).status(), s);
  }
}

TEST(TensorShapeTest, ChangesKeepTheNumberOfElements) {
  TensorShape s({2, 3});
  s.AddDim(4);
  EXPECT_EQ(s.num_elements(), 24);
  s.InsertDim(0, 5);
  EXPECT_EQ(s, TensorShape({5, 2, 3, 4}));
  EXPECT_EQ(s.num_elements(), 120);
  s.set_dim(1, 0);
  EXPECT_EQ(s.num_elements(), 0);
  s.set_dim(1, 2);
  EXPECT_EQ(s.num_elements(), 120);
  s.RemoveDim(0);
  EXPECT_EQ(s.num_elements(), 24);
  s.RemoveLastDims(2);
  EXPECT_EQ(s, TensorShape({2}));
  s.AppendShape({7, 1});
  EXPECT_EQ(s, TensorShape({2, 7, 1}));
  EXPECT_EQ(s.num_elements(), 14);
  s.RemoveLastDims(9);
  EXPECT_EQ(s, TensorShape());
  EXPECT_EQ(s.num_elements(), 1);
}

TEST(TensorShapeTest, AnInvalidShapeBecomesValidOnlyWithoutWhatIsWrong) {
  TensorShape s({kHuge});
  s.AddDim(kHuge);
  EXPECT_FALSE(s.IsValid());
  s.AddDim(0);
  EXPECT_FALSE(s.IsValid());
  s.RemoveDim(1);
  EXPECT_EQ(s.num_elements(), 0);
  s.AddDim(-1);
  EXPECT_FALSE(s.IsValid());
  TensorShape many(std::vector<int64_t>(kMaxTensorRank, 1));
  many.AddDim(1);
  EXPECT_FALSE(many.IsValid());
  many.RemoveDim(0);
  EXPECT_TRUE(many.IsValid());
}

TEST(TensorShapeTest, ProductsOfSomeDims) {
  const TensorShape s({2, 3, 4});
  EXPECT_EQ(s.ProductOf(0, 3), 24);
  EXPECT_EQ(s.ProductOf(1, 2), 3);
  EXPECT_EQ(s.ProductOf(2, 2), 1);
  EXPECT_EQ(TensorShape({0, kHuge, kHuge}).ProductOf(1, 3), -1);
  EXPECT_EQ(MultiplyWithoutOverflow(kHuge, kHuge), -1);
  EXPECT_EQ(MultiplyWithoutOverflow(-1, 0), -1);
  EXPECT_EQ(AddWithoutOverflow(kMax, 0), kMax);
  EXPECT_EQ(AddWithoutOverflow(kMax, 1), -1);
  EXPECT_EQ(AddWithoutOverflow(-1, 5), -1);
}

using P = PartialTensorShape;

TEST(PartialTensorShapeTest, KnowsWhatItDoesNotKnow) {
  struct Case {
    P shape;
    int dims;
    int64_t elements;
    bool is_full;
    const char* text;
  };
  const Case cases[] = {
      {P(), -1, -1, false, "<unknown>"},
      {P::Scalar(), 0, 1, true, "[]"},
      {P({2, 3}), 2, 6, true, "[2,3]"},
      {P({2, -1}), 2, -1, false, "[2,?]"},
      {P({2, -7}), 2, -1, false, "[2,?]"},
      {P({0, -1}), 2, -1, false, "[0,?]"},
      {P::UnknownDims(2), 2, -1, false, "[?,?]"},
      {P(TensorShape({4})), 1, 4, true, "[4]"},
  };
  for (const Case& c : cases) {
    SCOPED_TRACE(c.text);
    EXPECT_EQ(c.shape.DebugString(), c.text);
    EXPECT_EQ(c.shape.dims(), c.dims);
    EXPECT_EQ(c.shape.unknown_rank(), c.dims < 0);
    EXPECT_EQ(c.shape.num_elements(), c.elements);
    EXPECT_EQ(c.shape.IsFullyDefined(), c.is_full);
    TensorShape full;
    EXPECT_EQ(c.shape.AsTensorShape(&full), c.is_full);
    if (c.is_full) {
      EXPECT_EQ(full.num_elements(), c.elements);
    }
  }
  TensorShape none;
  EXPECT_FALSE(P({kHuge, kHuge}).AsTensorShape(&none));
}

TEST(PartialTensorShapeTest, BuildRefuses) {
  P out;
  EXPECT_EQ(P::Build({2, -1, 3}, &out), OkStatus());
  EXPECT_EQ(out, P({2, -1, 3}));
  const auto kInvalid = absl::StatusCode::kInvalidArgument;
  ExpectError(P::Build({-2}, &out), kInvalid, "Dimension -2 must be >= -1");
  ExpectError(P::Build({kHuge, -1, kHuge}, &out), kInvalid, "[4294967296,?,");
  ExpectError(P::Build(std::vector<int64_t>(255, -1), &out), kInvalid, "255");
  EXPECT_EQ(out, P({2, -1, 3}));
}

TEST(PartialTensorShapeTest, MergingTellsAllOrRefuses) {
  struct Case {
    P a, b;
    const char* merged;  // or the error
    bool ok = true;
  };
  const Case cases[] = {
      {P(), P(), "<unknown>"},
      {P(), P({2}), "[2]"},
      {P({-1, 3}), P({2, -1}), "[2,3]"},
      {P({-1, -1}), P({-1, 5}), "[?,5]"},
      {P::Scalar(), P(), "[]"},
      {P({2}), P({2, 2}), "Shapes must be equal rank, but are 1 and 2", false},
      {P::Scalar(), P({1}), "Shapes must be equal rank, but are 0 and 1",
       false},
      {P({2, 3}), P({2, 4}),
       "Dimension 1 in both shapes must be equal, but are 3 and 4. Shapes are "
       "[2,3] and [2,4].",
       false},
      {P({0}), P({1}), "Dimension 0 in both shapes", false},
  };
  for (const Case& c : cases) {
    SCOPED_TRACE(c.merged);
    EXPECT_EQ(c.a.IsCompatibleWith(c.b), c.ok);
    EXPECT_EQ(c.b.IsCompatibleWith(c.a), c.ok);
    P out({9});
    const Status s = c.a.MergeWith(c.b, &out);
    if (!c.ok) {
      ExpectError(s, absl::StatusCode::kInvalidArgument, c.merged);
      EXPECT_EQ(out, P({9}));
      continue;
    }
    EXPECT_EQ(s, OkStatus());
    EXPECT_EQ(out.DebugString(), c.merged);
    EXPECT_EQ(c.b.MergeWith(c.a, &out), OkStatus());
    EXPECT_EQ(out.DebugString(), c.merged);
  }
  P same({-1, 2});
  EXPECT_EQ(same.MergeWith(P({7, -1}), &same), OkStatus());  // in place
  EXPECT_EQ(same, P({7, 2}));
}

TEST(PartialTensorShapeTest, ComparesWithFullShapes) {
  EXPECT_TRUE(P().IsCompatibleWith(TensorShape({1, 2})));
  EXPECT_TRUE(P({-1, 2}).IsCompatibleWith(TensorShape({0, 2})));
  EXPECT_FALSE(P({-1, 2}).IsCompatibleWith(TensorShape({2, 1})));
  EXPECT_FALSE(P({-1}).IsCompatibleWith(TensorShape()));
  EXPECT_NE(P(), P::Scalar());
  EXPECT_NE(P({-1}), P({1}));
}

TEST(PartialTensorShapeTest, GrowsAndConcatenates) {
  P s;
  s.AddDim(3);
  s.AddDim(-5);
  EXPECT_EQ(s, P({3, -1}));
  s.set_dim(0, -2);
  EXPECT_EQ(s, P({-1, -1}));
  EXPECT_EQ(P({2}).Concatenate(P({-1, 3})), P({2, -1, 3}));
  EXPECT_EQ(P::Scalar().Concatenate(P::Scalar()), P::Scalar());
  EXPECT_TRUE(P({2}).Concatenate(P()).unknown_rank());
  EXPECT_TRUE(P().Concatenate(P({2})).unknown_rank());
}

TEST(TensorShapeTest, ShapesOfTheSameSizeHaveTheSameDims) {
  const TensorShape shape({2, 3});
  EXPECT_TRUE(shape.IsSameSize(TensorShape({2, 3})));
  for (const TensorShape& other :
       {TensorShape({3, 2}), TensorShape({6}), TensorShape({2, 3, 1})}) {
    EXPECT_FALSE(shape.IsSameSize(other)) << other.DebugString();
  }
}

}  // namespace
}  // namespace headrace
