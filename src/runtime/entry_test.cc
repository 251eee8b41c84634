#include "runtime/entry.h"

#include <gtest/gtest.h>

#include "framework/kernel/op_tester.h"

namespace headrace {
namespace {

PlanEdge EdgeOf(DataType t) {
  return {.dst = 0,
          .slot = 0,
          .src_output = 0,
          .dtype = t,
          .element_size = static_cast<uint8_t>(DataTypeObjectSize(t))};
}

OutputSlot Slot(Tensor value) {
  OutputSlot s;
  s.value = std::move(value);
  s.is_set = true;
  return s;
}

// A scalar that replaces one of its type is copied as a word of its size.
TEST(EntryTest, ScalarsOfEverySizeArriveWhole) {
  const auto check = [](const Tensor& first, const Tensor& second) {
    SCOPED_TRACE(DataTypeString(first.dtype()));
    Entry in;
    for (const Tensor& t : {first, second, first}) {
      OutputSlot out = Slot(t);
      Deliver(EdgeOf(t.dtype()), &out, /*move=*/false, &in);
      EXPECT_TRUE(in.is_set);
      ExpectEqual(in.value, t);
      ExpectEqual(out.value, t);
    }
  };
  check(Tensor::Scalar(true), Tensor::Scalar(false));
  check(Tensor::Scalar<int8_t>(-1), Tensor::Scalar<int8_t>(5));
  check(Tensor::Scalar<int16_t>(-300), Tensor::Scalar<int16_t>(7));
  check(Tensor::Scalar(half(1.5f)), Tensor::Scalar(half(-2.f)));
  check(Tensor::Scalar(1.5f), Tensor::Scalar(-2.f));
  check(Tensor::Scalar<int64_t>(int64_t{1} << 40), Tensor::Scalar<int64_t>(-1));
  check(Tensor::Scalar(complex128(1, 2)), Tensor::Scalar(complex128(-3, 4)));
}

TEST(EntryTest, WhatWasThereBeforeIsReplaced) {
  const Tensor large = Tensor(DT_FLOAT, {100});
  const Tensor scalar = Tensor::Scalar(3.f);
  const Tensor vector = MakeTensor<float>({2}, {1, 2});
  const Tensor ints = Tensor::Scalar<int32_t>(9);
  for (const Tensor& before : {Tensor(), large, scalar, vector, ints}) {
    for (const Tensor& after : {large, scalar, vector, ints}) {
      for (const bool move : {false, true}) {
        SCOPED_TRACE(before.shape().DebugString() +
                     after.shape().DebugString());
        Entry in;
        in.value = before;
        OutputSlot out = Slot(after);
        Deliver(EdgeOf(after.dtype()), &out, move, &in);
        EXPECT_EQ(in.value.dtype(), after.dtype());
        EXPECT_EQ(in.value.shape(), after.shape());
        EXPECT_EQ(in.value.SummarizeValue(2), after.SummarizeValue(2));
        if (!after.IsInline()) {
          EXPECT_TRUE(in.value.SharesBufferWith(after));
          EXPECT_EQ(out.value.IsInitialized(), !move);
        }
      }
    }
  }
}

TEST(EntryTest, ReferencesStayReferences) {
  Tensor variable = Tensor::Scalar(1.f);
  Mutex mu;
  OutputSlot out;
  out.ref = &variable;
  out.ref_mutex = &mu;
  out.is_set = true;
  Entry in;
  Deliver(EdgeOf(DT_FLOAT), &out, /*move=*/true, &in);
  EXPECT_EQ(in.ref, &variable);
  EXPECT_EQ(in.ref_mutex, &mu);
  EXPECT_FALSE(in.value.IsInitialized());
  EXPECT_TRUE(HasRightType(EdgeOf(DT_FLOAT), out));  // its value is none
  Clear(&in);
  EXPECT_EQ(in.ref, nullptr);
  EXPECT_EQ(in.ref_mutex, nullptr);
  EXPECT_FALSE(in.is_set);
}

TEST(EntryTest, ClearedEntriesHoldNoMemory) {
  const Tensor large(DT_FLOAT, {100});
  Entry in = Slot(large);
  EXPECT_FALSE(large.OwnsExclusively());
  Clear(&in);
  EXPECT_TRUE(large.OwnsExclusively());
  EXPECT_FALSE(in.is_set);
  in = Slot(large);
  DropTensor(&in.value);
  EXPECT_FALSE(in.value.IsInitialized());
  EXPECT_TRUE(large.OwnsExclusively());
}

TEST(EntryTest, OutputsThatFollowEachOther) {
  OutputSlot slots[2] = {Slot(Tensor::Scalar(1.f)), OutputSlot()};
  const Outputs outputs(slots, /*first=*/3, /*count=*/2);
  EXPECT_EQ(outputs.Find(2), nullptr);
  EXPECT_EQ(outputs.Find(3), &slots[0]);
  EXPECT_EQ(outputs.Find(4), nullptr);  // not set
  EXPECT_EQ(outputs.Find(5), nullptr);
  EXPECT_EQ(outputs.Find(-1), nullptr);
  EXPECT_EQ(Outputs().Find(0), nullptr);
  outputs.ClearAll();
  EXPECT_EQ(outputs.Find(3), nullptr);
}

TEST(EntryTest, WrongOutputsSayWhatIsWrong) {
  ExpectError(WrongOutput({.dst = 0, .slot = 0, .src_output = 4}, nullptr),
              absl::StatusCode::kInternal, "Missing 4-th output");
  const OutputSlot out = Slot(Tensor::Scalar(1.f));
  EXPECT_FALSE(HasRightType(EdgeOf(DT_INT32), out));
  ExpectError(WrongOutput(EdgeOf(DT_INT32), &out), absl::StatusCode::kInternal,
              "Output 0 has type float but the op declares int32");
}

}  // namespace
}  // namespace headrace
