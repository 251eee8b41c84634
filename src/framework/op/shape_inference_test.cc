#include "headrace/shape_inference.h"

#include <gtest/gtest.h>

#include <limits>
#include <new>
#include <string>
#include <vector>

#include "framework/kernel/op_tester.h"
#include "headrace/op.h"

namespace headrace {
namespace {

using Shape = PartialTensorShape;
constexpr int64_t kMax = std::numeric_limits<int64_t>::max();
const auto kInvalid = absl::StatusCode::kInvalidArgument;

REGISTER_OP("ShapeInferenceTest")
    .Input("a: float")
    .Input("list: N * float")
    .Output("x: float")
    .Output("y: N * float")
    .Attr("N: int >= 0");

// A context over inputs of these shapes and values.
class ShapeInferenceTest : public ::testing::Test {
 protected:
  InferenceContext& Make(std::vector<Shape> shapes,
                         std::vector<const Tensor*> values = {},
                         std::vector<Shape> as_shapes = {}, int64_t n = 1) {
    attrs_ = {{"N", n}};
    const OpDef* def = nullptr;
    EXPECT_EQ(OpRegistry::Global()->LookUp("ShapeInferenceTest", &def),
              OkStatus());
    context_.emplace(def, &attrs_, std::move(shapes), std::move(values),
                     std::move(as_shapes));
    return *context_;
  }

  AttrMap attrs_;
  std::optional<InferenceContext> context_;
};

TEST_F(ShapeInferenceTest, OutputsAndListsFollowTheAttrs) {
  InferenceContext& c = Make({Shape({1}), Shape({2}), Shape({3})}, {}, {}, 2);
  EXPECT_EQ(c.num_inputs(), 3);
  EXPECT_EQ(c.num_outputs(), 3);
  EXPECT_TRUE(c.output(2).unknown_rank());
  std::vector<Shape> list;
  ASSERT_EQ(c.input("list", &list), OkStatus());
  EXPECT_EQ(list, (std::vector<Shape>{Shape({2}), Shape({3})}));
  ASSERT_EQ(c.input("a", &list), OkStatus());
  EXPECT_EQ(list, (std::vector<Shape>{Shape({1})}));
  ExpectError(c.input("zork", &list), kInvalid,
              "op ShapeInferenceTest has no input zork");
  EXPECT_EQ(Make({Shape()}, {}, {}, 0).num_outputs(), 1);
}

TEST_F(ShapeInferenceTest, AFunctionThatIsMissingOrThrows) {
  InferenceContext& c = Make({Shape(), Shape()});
  EXPECT_EQ(c.Run(nullptr), OkStatus());
  EXPECT_TRUE(c.output(0).unknown_rank());
  EXPECT_EQ(
      c.Run([](InferenceContext*) -> Status { throw std::bad_alloc(); }).code(),
      absl::StatusCode::kResourceExhausted);
  EXPECT_EQ(c.Run([](InferenceContext*) { return errors::DataLoss("no"); }),
            errors::DataLoss("no"));
}

TEST_F(ShapeInferenceTest, Ranks) {
  const InferenceContext& c = Make({});
  Shape out;
  EXPECT_EQ(c.WithRank(Shape({2, -1}), 2, &out), OkStatus());
  EXPECT_EQ(out, Shape({2, -1}));
  EXPECT_EQ(c.WithRank(Shape(), 3, &out), OkStatus());
  EXPECT_EQ(out, Shape({-1, -1, -1}));
  ExpectError(c.WithRank(Shape({2, -1}), 3, &out), kInvalid,
              "Shape must be rank 3 but is rank 2. Shape is [2,?]");
  EXPECT_EQ(c.WithRankAtLeast(Shape(), 3, &out), OkStatus());
  EXPECT_TRUE(out.unknown_rank());
  EXPECT_EQ(c.WithRankAtLeast(Shape({1, 2}), 2, &out), OkStatus());
  ExpectError(c.WithRankAtLeast(Shape({2}), 2, &out), kInvalid,
              "Shape must be at least rank 2 but is rank 1");
  EXPECT_EQ(c.WithRankAtMost(Shape({1, 2}), 2, &out), OkStatus());
  EXPECT_EQ(c.WithRankAtMost(Shape(), 0, &out), OkStatus());
  ExpectError(c.WithRankAtMost(Shape({2, 1, 1}), 2, &out), kInvalid,
              "Shape must be at most rank 2 but is rank 3");
}

TEST_F(ShapeInferenceTest, DimsThatContradict) {
  const InferenceContext& c = Make({});
  int64_t d = 0;
  EXPECT_EQ(c.WithValue(-1, 3, &d), OkStatus());
  EXPECT_EQ(d, 3);
  EXPECT_EQ(c.WithValue(3, 3, &d), OkStatus());
  ExpectError(c.WithValue(0, 3, &d), kInvalid, "Dimension must be 3 but is 0");
  EXPECT_EQ(c.MergeDims(-1, -1, &d), OkStatus());
  EXPECT_EQ(d, -1);
  EXPECT_EQ(c.MergeDims(-1, 0, &d), OkStatus());
  EXPECT_EQ(d, 0);
  EXPECT_EQ(c.MergeDims(4, -1, &d), OkStatus());
  EXPECT_EQ(d, 4);
  ExpectError(c.MergeDims(4, 5, &d), kInvalid,
              "Dimensions must be equal, but are 4 and 5");
}

TEST_F(ShapeInferenceTest, PrefixesTellEachOther) {
  const InferenceContext& c = Make({});
  Shape s, prefix;
  ASSERT_EQ(c.MergePrefix(Shape({-1, 3, 4}), Shape({2, -1}), &s, &prefix),
            OkStatus());
  EXPECT_EQ(s, Shape({2, 3, 4}));
  EXPECT_EQ(prefix, Shape({2, 3}));
  ASSERT_EQ(c.MergePrefix(Shape(), Shape({2}), &s, &prefix), OkStatus());
  EXPECT_TRUE(s.unknown_rank());
  EXPECT_EQ(prefix, Shape({2}));
  ExpectError(c.MergePrefix(Shape({2}), Shape({2, 3}), &s, &prefix), kInvalid,
              "at least rank 2 but is rank 1");
  ExpectError(c.MergePrefix(Shape({2, 3}), Shape({3}), &s, &prefix), kInvalid,
              "are 2 and 3");
}

TEST_F(ShapeInferenceTest, PartsAsPythonSlicesThem) {
  const InferenceContext& c = Make({});
  struct Case {
    Shape s;
    int64_t begin, end;
    const char* want;  // or the error
    bool ok = true;
  };
  const Shape abc({2, 3, 4});
  const Case cases[] = {
      {abc, 0, 3, "[2,3,4]"},
      {abc, 1, kMax, "[3,4]"},
      {abc, -1, kMax, "[4]"},
      {abc, 0, -1, "[2,3]"},
      {abc, 3, 3, "[]"},
      {abc, 9, 9, "[]"},
      {Shape(), 1, 2, "<unknown>"},
      {abc, 2, 1, "Subshape [2, 1) is out of range of shape [2,3,4]", false},
      {abc, -4, 2, "Subshape [-1, 2) is out of range", false},
      {abc, 0, -4, "Subshape [0, -1) is out of range", false},
  };
  for (const Case& k : cases) {
    SCOPED_TRACE(k.want);
    Shape out;
    const Status s = c.Subshape(k.s, k.begin, k.end, &out);
    if (k.ok) {
      EXPECT_EQ(s, OkStatus());
      EXPECT_EQ(out.DebugString(), k.want);
    } else {
      ExpectError(s, kInvalid, k.want);
    }
  }
  Shape out;
  EXPECT_EQ(c.Subshape(abc, 2, &out), OkStatus());
  EXPECT_EQ(out, Shape({4}));
  EXPECT_EQ(c.Concatenate(Shape({2}), Shape({-1}), &out), OkStatus());
  EXPECT_EQ(out, Shape({2, -1}));
  EXPECT_EQ(c.ReplaceDim(abc, -1, 7, &out), OkStatus());
  EXPECT_EQ(out, Shape({2, 3, 7}));
  EXPECT_EQ(c.ReplaceDim(Shape(), 5, 7, &out), OkStatus());
  EXPECT_TRUE(out.unknown_rank());
  for (const int64_t at : {int64_t{3}, int64_t{-4}, kMax, -kMax}) {
    ExpectError(c.ReplaceDim(abc, at, 7, &out), kInvalid,
                "Out of range dim_index");
  }
  EXPECT_EQ(InferenceContext::Dim(abc, -3), 2);
  EXPECT_EQ(InferenceContext::Dim(abc, 3), -1);
  EXPECT_EQ(InferenceContext::Dim(abc, -4), -1);
  EXPECT_EQ(InferenceContext::Dim(Shape(), 0), -1);
}

TEST_F(ShapeInferenceTest, ArithmeticWithUnknownDimsAndOverflow) {
  const InferenceContext& c = Make({});
  using Op = Status (InferenceContext::*)(int64_t, int64_t, int64_t*) const;
  const Op add = &InferenceContext::Add;
  const Op sub = &InferenceContext::Subtract;
  const Op mul = &InferenceContext::Multiply;
  struct Case {
    Op op;
    int64_t a, b, want;
    const char* error = nullptr;
  };
  const Case cases[] = {
      {add, 2, 3, 5},
      {add, -1, 3, -1},
      {add, 3, -1, -1},
      {add, kMax, 0, kMax},
      {add, kMax, 1, 0, "Dimension size overflow from adding"},
      {sub, 3, 2, 1},
      {sub, 3, 3, 0},
      {sub, -1, 3, -1},
      {sub, 2, 3, 0, "Negative dimension size caused by subtracting 3 from 2"},
      {mul, 4, 5, 20},
      {mul, -1, 5, -1},
      {mul, -1, 0, 0},  // nothing times anything
      {mul, 0, kMax, 0},
      {mul, kMax, 2, 0, "Dimension size overflow from multiplying"},
  };
  for (const Case& k : cases) {
    SCOPED_TRACE(absl::StrCat(k.a, " and ", k.b));
    int64_t out = 77;
    const Status s = (c.*k.op)(k.a, k.b, &out);
    if (k.error == nullptr) {
      EXPECT_EQ(s, OkStatus());
      EXPECT_EQ(out, k.want);
    } else {
      ExpectError(s, kInvalid, k.error);
    }
  }
  int64_t out = 0;
  EXPECT_EQ(c.Divide(7, 2, /*must_be_exact=*/false, &out), OkStatus());
  EXPECT_EQ(out, 3);
  EXPECT_EQ(c.Divide(-1, 2, true, &out), OkStatus());
  EXPECT_EQ(out, -1);
  EXPECT_EQ(c.Divide(8, 2, true, &out), OkStatus());
  EXPECT_EQ(out, 4);
  ExpectError(c.Divide(7, 2, true, &out), kInvalid,
              "evenly divisible by 2 but is 7");
  ExpectError(c.Divide(7, 0, false, &out), kInvalid, "must be positive");
  ExpectError(c.Divide(7, -2, false, &out), kInvalid, "but is -2");
}

TEST_F(ShapeInferenceTest, RemembersWhatWasAskedFor) {
  const Tensor v = Tensor::Scalar<int32_t>(5);
  InferenceContext& c = Make({Shape(), Shape()}, {nullptr, &v});
  EXPECT_FALSE(c.requested_input_tensor(0));
  EXPECT_EQ(c.input_tensor(0), nullptr);
  EXPECT_TRUE(c.requested_input_tensor(0));
  EXPECT_FALSE(c.requested_input_tensor(1));
  int64_t got = 0;
  EXPECT_TRUE(c.ScalarInput(1, &got));
  EXPECT_EQ(got, 5);
  EXPECT_FALSE(c.requested_input_as_shape(0));
  Shape s;
  EXPECT_EQ(c.MakeShapeFromInput(0, &s), OkStatus());
  EXPECT_TRUE(c.requested_input_as_shape(0));
}

TEST_F(ShapeInferenceTest, ReadsIntegersOfAnyWidth) {
  const Tensor narrow = MakeTensor<int32_t>({2}, {3, -4});
  const Tensor wide = MakeTensor<int64_t>({1}, {kMax});
  const Tensor other = Tensor::Scalar(1.f);
  std::vector<int64_t> ints;
  int64_t one = 0;
  InferenceContext& c = Make({Shape(), Shape()}, {&narrow, &wide});
  EXPECT_TRUE(c.IntInputs(0, &ints));
  EXPECT_EQ(ints, (std::vector<int64_t>{3, -4}));
  EXPECT_FALSE(c.ScalarInput(0, &one));  // two of them
  EXPECT_TRUE(c.ScalarInput(1, &one));
  EXPECT_EQ(one, kMax);
  const Tensor half = Tensor::Scalar<int16_t>(-7);
  InferenceContext& f = Make({Shape(), Shape()}, {&other, &half});
  EXPECT_FALSE(f.IntInputs(0, &ints));
  EXPECT_TRUE(f.ScalarInput(1, &one));
  EXPECT_EQ(one, -7);
  InferenceContext& g = Make({Shape(), Shape()}, {&other});
  EXPECT_FALSE(g.ScalarInput(1, &one));  // not known
}

TEST_F(ShapeInferenceTest, AnInputReadAsAShape) {
  const Tensor dims = MakeTensor<int32_t>({3}, {2, -1, 4});
  const Tensor bad = MakeTensor<int64_t>({2}, {2, -2});
  const Tensor huge = MakeTensor<int64_t>({2}, {kMax, 2});
  const Tensor unknown = Tensor::Scalar<int32_t>(-1);
  const Tensor scalar = Tensor::Scalar<int32_t>(3);
  const Tensor matrix = MakeTensor<int32_t>({1, 1}, {3});
  struct Case {
    const Tensor* value;
    Shape shape, as_shape;
    const char* want;  // or the error
    bool ok = true;
  };
  const Case cases[] = {
      {&dims, Shape({3}), Shape(), "[2,?,4]"},
      {&unknown, Shape::Scalar(), Shape(), "<unknown>"},
      {&scalar, Shape::Scalar(), Shape(),
       "Input tensor must be rank 1, but was 0", false},
      {&matrix, Shape({1, 1}), Shape(), "must be rank 1, but was 2", false},
      {&bad, Shape({2}), Shape(), "Dimension -2 must be >= -1", false},
      {&huge, Shape({2}), Shape(), "more elements than fit", false},
      // What is known in part counts if the value is not.
      {nullptr, Shape({2}), Shape({5, -1}), "[5,?]"},
      {&dims, Shape({3}), Shape({9, 9, 9}), "[2,?,4]"},
      {nullptr, Shape({2}), Shape(), "[?,?]"},
      {nullptr, Shape({-1}), Shape(), "<unknown>"},
      {nullptr, Shape(), Shape(), "<unknown>"},
      {nullptr, Shape({2, 2}), Shape(), "must be rank 1 but is rank 2", false},
      {nullptr, Shape({255}), Shape(),
       "Shape has 255 dimensions, more than the 254 supported", false},
      {nullptr, Shape({kMax}), Shape(), "more than the 254 supported", false},
  };
  for (const Case& k : cases) {
    SCOPED_TRACE(k.want);
    InferenceContext& c =
        Make({k.shape, Shape()}, {k.value}, {k.as_shape, Shape()});
    Shape out;
    const Status s = c.MakeShapeFromInput(0, &out);
    if (k.ok) {
      EXPECT_EQ(s, OkStatus());
      EXPECT_EQ(out.DebugString(), k.want);
    } else {
      ExpectError(s, kInvalid, k.want);
    }
  }
}

TEST_F(ShapeInferenceTest, AScalarInputAsADim) {
  const Tensor five = Tensor::Scalar<int64_t>(5);
  const Tensor minus = Tensor::Scalar<int32_t>(-1);
  int64_t d = 0;
  EXPECT_EQ(
      Make({Shape::Scalar(), Shape()}, {&five}).MakeDimForScalarInput(0, &d),
      OkStatus());
  EXPECT_EQ(d, 5);
  EXPECT_EQ(Make({Shape(), Shape()}).MakeDimForScalarInput(0, &d), OkStatus());
  EXPECT_EQ(d, -1);
  ExpectError(
      Make({Shape::Scalar(), Shape()}, {&minus}).MakeDimForScalarInput(0, &d),
      kInvalid, "given by scalar input 0, must be non-negative but is -1");
  ExpectError(Make({Shape({1}), Shape()}).MakeDimForScalarInput(0, &d),
              kInvalid, "must be rank 0 but is rank 1");
}

TEST_F(ShapeInferenceTest, HandlesOfResources) {
  InferenceContext& c = Make({Shape(), Shape()});
  EXPECT_EQ(c.input_handle(0), nullptr);
  c.set_output_handle(1, {{DT_FLOAT, Shape({2})}});
  ASSERT_EQ(c.output_handles()[1].size(), 1u);
  EXPECT_EQ(c.output_handles()[1][0].shape, Shape({2}));
  const OpDef& def = c.op_def();
  const InferenceContext with(&def, &attrs_, {Shape(), Shape()}, {}, {},
                              {{}, {{DT_INT32, Shape({3})}}});
  EXPECT_EQ(with.input_handle(0), nullptr);
  ASSERT_NE(with.input_handle(1), nullptr);
  EXPECT_EQ((*with.input_handle(1))[0].dtype, DT_INT32);
}

}  // namespace
}  // namespace headrace
