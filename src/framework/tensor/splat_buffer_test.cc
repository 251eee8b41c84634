#include "framework/tensor/splat_buffer.h"

#include <gtest/gtest.h>

#include <string>

#include "base/exceptions.h"
#include "framework/op/tensor_proto.h"
#include "framework/tensor/stored_constant.h"

namespace headrace {
namespace {

constexpr int64_t kMany = 5'000'001;  // no multiple of anything

template <typename T>
Tensor Values(std::initializer_list<T> values) {
  return Tensor::Vector<T>(absl::MakeConstSpan(values.begin(), values.size()));
}

// All elements of `splat` are those of `given`, then its last.
template <typename T>
void ExpectSplat(const Tensor& given, int64_t n) {
  Tensor splat;
  ASSERT_TRUE(MakeSplat(given, TensorShape({n}), &splat));
  ASSERT_EQ(splat.NumElements(), n);
  EXPECT_LT(MemoryOf(splat), static_cast<int64_t>(splat.TotalBytes()) / 8);
  EXPECT_FALSE(splat.OwnsExclusively());
  const int64_t k = given.NumElements();
  int64_t wrong = 0;
  for (int64_t i = 0; i < n; ++i) {
    wrong += splat.data<T>()[i] != given.data<T>()[std::min(i, k - 1)];
  }
  EXPECT_EQ(wrong, 0);
}

TEST(SplatBufferTest, EveryElementIsTheValue) {
  ExpectSplat<float>(Values<float>({2.5f}), kMany);
  ExpectSplat<double>(Values<double>({1, 2, 3}), kMany);
  ExpectSplat<uint8_t>(Values<uint8_t>({7, 8}), 4 * kMany);
  ExpectSplat<complex128>(Values<complex128>({{1, -1}}), kMany);
  ExpectSplat<int64_t>(Values<int64_t>({0}), kMany);  // one mapping
  ExpectSplat<tstring>(Values<tstring>({"short"}), kMany);
  ExpectSplat<tstring>(
      Values<tstring>({"", std::string(1000, 'x'), std::string(30, 'y')}),
      kMany);
}

TEST(SplatBufferTest, WhatWouldSaveLittleIsRefused) {
  Tensor out;
  EXPECT_FALSE(MakeSplat(Values<float>({1}), TensorShape({1000}), &out));
  EXPECT_FALSE(MakeSplat(Tensor(DT_FLOAT, TensorShape({kMany - 1})),
                         TensorShape({kMany}), &out));
  EXPECT_FALSE(MakeSplat(Tensor(DT_FLOAT), TensorShape({kMany}), &out));
}

// The mappings of a process are few: splats leave it some.
TEST(SplatBufferTest, ManySplatsDoNotTakeAllMappings) {
  std::vector<Tensor> splats;
  Tensor t;
  while (splats.size() < 100000 &&
         MakeSplat(Values<float>({1}), TensorShape({int64_t{64} << 20}), &t)) {
    splats.push_back(t);
  }
  EXPECT_GT(splats.size(), 20);
  EXPECT_LT(splats.size(), 1000);
  splats.clear();
  t = Tensor();
  EXPECT_TRUE(
      MakeSplat(Values<float>({1}), TensorShape({int64_t{64} << 20}), &t));
}

// 14 constants of a gigabyte each took 14 GB.
TEST(SplatBufferTest, AProtoOfOneValueTakesLittleMemory) {
  for (const DataType dtype :
       {DT_FLOAT, DT_INT8, DT_BOOL, DT_HALF, DT_STRING}) {
    pb::TensorProto proto;
    proto.set_dtype(static_cast<pb::DataType>(dtype));
    const int64_t n = (int64_t{1} << 30) / DataTypeObjectSize(dtype);
    proto.mutable_tensor_shape()->add_dim()->set_size(n);
    switch (dtype) {
      case DT_FLOAT:
        proto.add_float_val(1.5f);
        break;
      case DT_INT8:
        proto.add_int_val(-3);
        proto.add_int_val(4);
        break;
      case DT_BOOL:
        break;  // false
      case DT_HALF:
        proto.add_half_val(0x3c00);
        break;
      default:
        proto.add_string_val(std::string(100, 'a'));
    }
    Tensor t;
    ASSERT_EQ(TensorFromProto(proto, &t), OkStatus());
    EXPECT_EQ(t.NumElements(), n);
    EXPECT_LT(MemoryOf(t), int64_t{16} << 20) << DataTypeString(dtype);
    EXPECT_TRUE(IsAligned(t));  // else Const's kernel makes a copy
    const Tensor last = t.Slice(n - 1, n);
    EXPECT_EQ(last.SummarizeValue(1), dtype == DT_FLOAT  ? "1.5"
                                      : dtype == DT_INT8 ? "4"
                                      : dtype == DT_BOOL ? "0"
                                      : dtype == DT_HALF
                                          ? "1"
                                          : std::string(100, 'a'));
  }
}

TEST(TensorTest, AStringThatMemoryCannotHoldThrowsWithItsSize) {
  for (const size_t n : {size_t{1} << 50, ~size_t{0} - 5}) {
    tstring s("left as it may");
    const Status thrown = CatchExceptions([&] {
      s.resize_uninitialized(n);
      return OkStatus();
    });
    EXPECT_EQ(thrown.code(), absl::StatusCode::kResourceExhausted) << thrown;
    EXPECT_NE(thrown.message().find(" bytes"), absl::string_view::npos);
    s = "usable";
    EXPECT_EQ(s, "usable");
  }
}

TEST(TensorTest, ATensorWithoutMemoryIsNotMadeSilently) {
  const Status thrown = CatchExceptions([] {
    Tensor t(DT_FLOAT, TensorShape({int64_t{1} << 50}));
    t.data<float>()[100] = 1;  // not reached
    return OkStatus();
  });
  EXPECT_EQ(thrown.code(), absl::StatusCode::kResourceExhausted) << thrown;
}

TEST(TensorTest, AppendingToAStringItself) {
  tstring s("0123456789012345678901234567890");
  s.append(s.data() + 1, 5);
  EXPECT_EQ(s, "012345678901234567890123456789012345");
  s.assign(s.data() + 30, 6);
  EXPECT_EQ(s, "012345");
}

}  // namespace
}  // namespace headrace
