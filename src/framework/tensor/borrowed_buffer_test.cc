#include "framework/tensor/borrowed_buffer.h"

#include <gtest/gtest.h>

namespace headrace {
namespace {

class BorrowedBufferTest : public ::testing::Test {
 protected:
  Tensor Borrow() {
    return Tensor(
        DT_FLOAT, TensorShape({4, 2}),
        WrapBorrowedBuffer(bytes_, sizeof(bytes_), [this] { ++released_; }));
  }
  float bytes_[8] = {0, 1, 2, 3, 4, 5, 6, 7};
  int released_ = 0;
};

TEST_F(BorrowedBufferTest, WhatIsKeptDoesNotFollowTheOwner) {
  std::vector<Tensor> kept = {Borrow(), Borrow().SubSlice(2)};
  EXPECT_FALSE(kept[0].OwnsExclusively());
  ASSERT_EQ(OwnBytes(&kept), OkStatus());
  EXPECT_EQ(released_, 2);
  bytes_[4] = 99;
  EXPECT_EQ(kept[0].data<float>()[4], 4);
  EXPECT_EQ(kept[0].shape(), TensorShape({4, 2}));
  EXPECT_EQ(kept[1].data<float>()[0], 4);
  EXPECT_EQ(kept[1].shape(), TensorShape({2}));
  EXPECT_TRUE(kept[0].OwnsExclusively() && kept[1].OwnsExclusively());
}

TEST_F(BorrowedBufferTest, OtherTensorsStayWhatTheyAre) {
  Tensor own(DT_FLOAT, TensorShape({100}));
  const Tensor same = own;
  Tensor mapped(
      DT_FLOAT, TensorShape({8}),
      WrapExternalBuffer(bytes_, sizeof(bytes_), /*writable=*/false, nullptr));
  Tensor small = Tensor::Scalar<float>(3), none;
  for (Tensor* t : {&own, &mapped, &small, &none}) {
    ASSERT_EQ(OwnBytes(t), OkStatus());
  }
  EXPECT_TRUE(own.SharesBufferWith(same));
  EXPECT_EQ(mapped.raw_data(), bytes_);
  EXPECT_EQ(small.scalar<float>(), 3);
  EXPECT_FALSE(none.IsInitialized());
}

}  // namespace
}  // namespace headrace
