// What a copy of a Tensor is: see the comment of the class.
#include <gtest/gtest.h>

#include <algorithm>
#include <utility>
#include <vector>

#include "framework/kernel/op_tester.h"
#include "headrace/op.h"
#include "headrace/op_kernel.h"
#include "headrace/tensor.h"

namespace headrace {
namespace {

Tensor Large() {
  Tensor t(DT_FLOAT, TensorShape({64}));
  std::fill_n(t.data<float>(), 64, 1.f);
  return t;
}

TEST(TensorCopyTest, ACopyOfALargeTensorSharesItsBytes) {
  const Tensor original = Large();
  Tensor copy = original;
  EXPECT_TRUE(copy.SharesBufferWith(original));
  EXPECT_FALSE(copy.OwnsExclusively());
  EXPECT_EQ(std::as_const(copy).raw_data(), original.raw_data());
}

TEST(TensorCopyTest, ACopyOfASmallTensorHasBytesOfItsOwn) {
  const Tensor original = Tensor::Scalar<float>(1);
  Tensor copy = original;
  EXPECT_FALSE(copy.SharesBufferWith(original));
  ASSERT_TRUE(copy.OwnsExclusively());
  copy.AllowWrites();
  copy.scalar<float>() = 2;
  EXPECT_EQ(original.scalar<float>(), 1);
  EXPECT_EQ(copy.scalar<float>(), 2);
}

REGISTER_OP("TensorCopyTestNeg").Input("x: float").Output("y: float");

// Writes over its input where it may.
class NegOp : public OpKernel {
 public:
  using OpKernel::OpKernel;
  void Compute(OpKernelContext* ctx) override {
    const float x = ctx->input(0).scalar<float>();
    Tensor* y = nullptr;
    OP_REQUIRES_OK(ctx, ctx->forward_input_or_allocate_output({0}, 0, {}, &y));
    y->scalar<float>() = -x;
  }
};
REGISTER_KERNEL_BUILDER(Name("TensorCopyTestNeg").Device(DEVICE_CPU), NegOp);

TEST(TensorCopyTest, WhatTakesOverAnInputMayBeWritten) {
  OpTester t("TensorCopyTestNeg");
  t.Input(MakeScalar<float>(3));
  for (int i = 0; i < 2; ++i) {
    ASSERT_EQ(t.Run(), OkStatus());
    EXPECT_EQ(t.Output(0).scalar<float>(), -3);
  }
}

#ifdef HEADRACE_CHECKED_COPIES

TEST(TensorCopyDeathTest, AWriteThroughACopyOfASmallTensorEndsTheProcess) {
  const Tensor original = Tensor::Scalar<float>(1);
  EXPECT_DEATH(
      {
        Tensor copy = original;
        copy.scalar<float>() = 2;
      },
      "A copy of a small tensor was written");
  EXPECT_DEATH(
      {
        Tensor copy = original;
        copy.scalar<float>() = 2;
        copy = Tensor::Scalar<float>(3);
      },
      "A copy of a small tensor was written");
  EXPECT_DEATH(
      {
        Tensor copy = original;
        Tensor moved = std::move(copy);
        moved.scalar<float>() = 2;
      },
      "A copy of a small tensor was written");
  EXPECT_DEATH(
      {
        Tensor rows(DT_INT32, TensorShape({4}));
        std::fill_n(rows.data<int32_t>(), 4, 5);
        Tensor row = rows.Slice(1, 2);
        row.data<int32_t>()[0] = 6;
      },
      "A copy of a small tensor was written");
}

TEST(TensorCopyTest, ReadingThroughACopyIsNoWrite) {
  const Tensor original = Tensor::Scalar<float>(1);
  Tensor copy = original;
  EXPECT_EQ(copy.scalar<float>(), 1);  // by the accessor that could write
  Tensor of_copy = copy;
  copy = Large();
  EXPECT_EQ(of_copy.scalar<float>(), 1);
}

#endif  // HEADRACE_CHECKED_COPIES

}  // namespace
}  // namespace headrace
