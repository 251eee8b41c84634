#include "headrace/tensor.h"

#include <gtest/gtest.h>

#include <array>
#include <limits>
#include <string>
#include <utility>
#include <vector>

#include "framework/kernel/op_tester.h"
#include "headrace/tstring.h"

namespace headrace {
namespace {

// Gives what CpuAllocator gives, `left` times.
class CountingAllocator : public Allocator {
 public:
  explicit CountingAllocator(int left) : left_(left) {}
  std::string Name() const override { return "counting"; }
  void* AllocateRaw(size_t bytes) override {
    if (left_-- <= 0) return nullptr;
    ++alive;
    return CpuAllocator()->AllocateRaw(bytes);
  }
  void DeallocateRaw(void* p, size_t bytes) override {
    --alive;
    CpuAllocator()->DeallocateRaw(p, bytes);
  }
  AllocatorStats GetStats() const override { return {}; }
  void ResetPeak() override {}

  int alive = 0;

 private:
  int left_;
};

Tensor Iota(const TensorShape& shape) {
  Tensor t(DT_INT32, shape);
  for (int64_t i = 0; i < t.NumElements(); ++i) {
    t.data<int32_t>()[i] = static_cast<int32_t>(i);
  }
  return t;
}

TEST(TensorTest, WithoutAValueItIsNotInitialized) {
  const Tensor none;
  EXPECT_FALSE(none.IsInitialized());
  EXPECT_EQ(none.dtype(), DT_INVALID);
  EXPECT_EQ(none.TotalBytes(), 0u);
  EXPECT_EQ(none.SummarizeValue(3), "uninitialized");
  const Tensor empty(DT_FLOAT);
  EXPECT_TRUE(empty.IsInitialized());
  EXPECT_EQ(empty.shape(), TensorShape({0}));
}

TEST(TensorTest, PlacesSmallPlainDataInline) {
  struct Case {
    DataType type;
    TensorShape shape;
    Tensor::Placement placement;
    bool is_inline;
  };
  const Case cases[] = {
      {DT_FLOAT, {}, Tensor::kAuto, true},
      {DT_FLOAT, {4}, Tensor::kAuto, true},
      {DT_FLOAT, {5}, Tensor::kAuto, false},
      {DT_INT8, {16}, Tensor::kAuto, true},
      {DT_INT8, {17}, Tensor::kAuto, false},
      {DT_COMPLEX128, {}, Tensor::kAuto, true},
      {DT_FLOAT, {}, Tensor::kHeap, false},
      {DT_FLOAT, {0}, Tensor::kAuto, true},
      {DT_STRING, {}, Tensor::kAuto, false},  // objects have a buffer
      {DT_STRING, {0}, Tensor::kAuto, false},
  };
  for (const Case& c : cases) {
    SCOPED_TRACE(DataTypeString(c.type) + c.shape.DebugString());
    Tensor t;
    ASSERT_EQ(
        Tensor::Allocate(CpuAllocator(), c.type, c.shape, &t, c.placement),
        OkStatus());
    EXPECT_EQ(t.IsInline(), c.is_inline);
    EXPECT_EQ(t.buffer() == nullptr, c.is_inline);
    EXPECT_TRUE(t.OwnsExclusively());
    EXPECT_EQ(t.shape(), c.shape);
  }
}

TEST(TensorTest, AllocateRefuses) {
  const auto allocate = [](DataType type, const TensorShape& shape) {
    Tensor t = Tensor::Scalar<float>(3);
    const Status s = Tensor::Allocate(CpuAllocator(), type, shape, &t);
    // On error what was there stays.
    if (!s.ok()) {
      EXPECT_EQ(t.DebugString(), Tensor::Scalar(3.f).DebugString());
    }
    return s;
  };
  const auto kInvalid = absl::StatusCode::kInvalidArgument;
  const auto kInternal = absl::StatusCode::kInternal;
  ExpectError(allocate(DT_FLOAT, {-1}), kInvalid, "negative or overflows");
  ExpectError(allocate(DT_INT8, {int64_t{1} << 32, int64_t{1} << 32}), kInvalid,
              "[4294967296,4294967296]");
  // The elements can be counted, their bytes cannot.
  ExpectError(allocate(DT_FLOAT, {int64_t{1} << 61}), kInvalid, "overflows");
  ExpectError(allocate(DT_INVALID, {}), kInternal, "cannot allocate");
  ExpectError(allocate(DT_FLOAT_REF, {}), kInternal, "float_ref");
  ExpectError(allocate(DT_FLOAT, {int64_t{1} << 50}),
              absl::StatusCode::kResourceExhausted,
              "OOM when allocating tensor with shape[1125899906842624]");
}

TEST(TensorTest, ConstructorsReportWantOfMemoryAndBadShapes) {
  CountingAllocator none(0);
  EXPECT_THROW(Tensor(&none, DT_FLOAT, {100}), std::bad_alloc);
  EXPECT_FALSE(Tensor(&none, DT_FLOAT, {-1}).IsInitialized());
  // Inline needs no memory.
  EXPECT_TRUE(Tensor(&none, DT_FLOAT, {4}).IsInitialized());
  EXPECT_EQ(none.alive, 0);
}

TEST(TensorTest, TheLastOfThoseThatShareABufferFreesIt) {
  CountingAllocator a(1);
  Tensor copy;
  {
    Tensor t(&a, DT_FLOAT, {100});
    EXPECT_TRUE(t.OwnsExclusively());
    copy = t;
    EXPECT_TRUE(copy.SharesBufferWith(t));
    EXPECT_FALSE(t.OwnsExclusively());
  }
  EXPECT_EQ(a.alive, 1);
  EXPECT_TRUE(copy.OwnsExclusively());
  Tensor moved = std::move(copy);
  EXPECT_FALSE(copy.IsInitialized());  // NOLINT: what a move leaves
  EXPECT_EQ(copy.shape(), TensorShape());
  EXPECT_FALSE(copy.SharesBufferWith(moved));
  moved = moved.Slice(10, 20);
  EXPECT_EQ(a.alive, 1);  // a part keeps the whole
  moved = Tensor();
  EXPECT_EQ(a.alive, 0);
}

TEST(TensorTest, ASmallTensorMovesWithItsElements) {
  Tensor t = Iota({2, 2});
  Tensor moved = std::move(t);
  EXPECT_FALSE(t.IsInitialized());  // NOLINT
  ExpectEqual(moved, MakeTensor<int32_t>({2, 2}, {0, 1, 2, 3}));
  moved = *&moved;  // to itself
  ExpectEqual(moved, MakeTensor<int32_t>({2, 2}, {0, 1, 2, 3}));
  const Tensor other = Iota({2, 2});
  EXPECT_FALSE(moved.SharesBufferWith(other));  // no buffer at all
}

TEST(TensorTest, ExternalMemoryIsReleasedOnceAndNotWrittenIfItMustNotBe) {
  int released = 0;
  float memory[8] = {0, 1, 2, 3, 4, 5, 6, 7};
  const auto wrap = [&](bool writable) {
    return Tensor(DT_FLOAT, {4},
                  WrapExternalBuffer(memory, sizeof(memory), writable,
                                     [&] { ++released; }),
                  2 * sizeof(float));
  };
  {
    const Tensor t = wrap(false);
    ExpectEqual(t, MakeTensor<float>({4}, {2, 3, 4, 5}));
    EXPECT_FALSE(t.OwnsExclusively());
    const Tensor again = t;
    EXPECT_EQ(released, 0);
  }
  EXPECT_EQ(released, 1);
  EXPECT_TRUE(wrap(true).OwnsExclusively());
  EXPECT_EQ(released, 2);
}

TEST(TensorTest, SlicesOfLargeSmallAndEmptyTensors) {
  struct Case {
    TensorShape shape;
    int64_t begin, end;
    Tensor want;
  };
  const Case cases[] = {
      {{4, 3}, 1, 3, MakeTensor<int32_t>({2, 3}, {3, 4, 5, 6, 7, 8})},
      {{4, 3}, 4, 4, MakeTensor<int32_t>({0, 3}, {})},
      {{4}, 1, 4, MakeTensor<int32_t>({3}, {1, 2, 3})},
      {{4}, 4, 4, MakeTensor<int32_t>({0}, {})},  // behind the inline bytes
      {{2, 2}, 1, 2, MakeTensor<int32_t>({1, 2}, {2, 3})},
      {{0, 5}, 0, 0, MakeTensor<int32_t>({0, 5}, {})},
      {{3, 0}, 1, 2, MakeTensor<int32_t>({1, 0}, {})},
  };
  for (const Case& c : cases) {
    SCOPED_TRACE(c.shape.DebugString());
    const Tensor whole = Iota(c.shape);
    ExpectEqual(whole.Slice(c.begin, c.end), c.want);
  }
  // A slice of a slice, and a row.
  const Tensor t = Iota({4, 3});
  ExpectEqual(t.Slice(1, 4).Slice(1, 2),
              MakeTensor<int32_t>({1, 3}, {6, 7, 8}));
  ExpectEqual(t.SubSlice(3), MakeTensor<int32_t>({3}, {9, 10, 11}));
  ExpectEqual(Iota({4}).SubSlice(3), MakeTensor<int32_t>({}, {3}));
  EXPECT_TRUE(t.SubSlice(3).SharesBufferWith(t));
}

TEST(TensorTest, AnotherShapeTakesAsManyElements) {
  const Tensor t = Iota({2, 6});
  Tensor other;
  EXPECT_TRUE(other.CopyFrom(t, {3, 4}));
  EXPECT_TRUE(other.SharesBufferWith(t));
  EXPECT_EQ(other.shape(), TensorShape({3, 4}));
  EXPECT_FALSE(other.CopyFrom(t, {5}));
  EXPECT_EQ(other.shape(), TensorShape({3, 4}));  // as it was
  EXPECT_FALSE(other.CopyFrom(t, {-12, -1}));
  EXPECT_TRUE(other.CopyFrom(other, {12}));  // itself
  EXPECT_EQ(other.data<int32_t>()[11], 11);
  EXPECT_TRUE(other.CopyFrom(other, other.shape()));
}

TEST(TensorTest, TheSameBytesAsAnotherType) {
  const Tensor t = MakeTensor<float>({2}, {1, -2});
  ExpectEqual(
      t.BitcastTo(DT_INT32),
      MakeTensor<int32_t>({2}, {0x3f800000, static_cast<int32_t>(0xc0000000)}));
}

TEST(TensorTest, ADeepCopySharesNothing) {
  const Tensor t = Iota({3, 4});
  Tensor copy;
  ASSERT_EQ(t.DeepCopyTo(&copy), OkStatus());
  EXPECT_FALSE(copy.SharesBufferWith(t));
  ExpectEqual(copy, t);
  copy.data<int32_t>()[0] = 99;
  EXPECT_EQ(t.data<int32_t>()[0], 0);

  const Tensor s = MakeTensor<tstring>({2}, {"a", std::string(100, 'b')});
  ASSERT_EQ(s.DeepCopyTo(&copy), OkStatus());
  ExpectEqual(copy, s);
  EXPECT_NE(copy.data<tstring>()[1].data(), s.data<tstring>()[1].data());
  ASSERT_EQ(Tensor::Scalar(1.f).DeepCopyTo(&copy, Tensor::kHeap), OkStatus());
  EXPECT_FALSE(copy.IsInline());
  EXPECT_EQ(Tensor().DeepCopyTo(&copy).code(), absl::StatusCode::kInternal);
}

TEST(TensorTest, CopiesElementsBetweenTensors) {
  const Tensor from = Iota({6});
  Tensor to = MakeTensor<int32_t>({5}, {-1, -1, -1, -1, -1});
  CopyElements(from, 4, &to, 1, 2);
  ExpectEqual(to, MakeTensor<int32_t>({5}, {-1, 4, 5, -1, -1}));
  CopyElements(from, 0, &to, 5, 0);
  CopyElements(from, 0, &to, 0, -3);  // nothing
  ExpectEqual(to, MakeTensor<int32_t>({5}, {-1, 4, 5, -1, -1}));
  const Tensor s = MakeTensor<tstring>({3}, {"x", std::string(90, 'y'), "z"});
  Tensor strings(DT_STRING, {2});
  CopyElements(s, 1, &strings, 0, 2);
  ExpectEqual(strings, MakeTensor<tstring>({2}, {std::string(90, 'y'), "z"}));
}

TEST(TensorTest, DimsFoldIntoTheFirstOrTheLast) {
  struct Case {
    TensorShape shape;
    std::array<int64_t, 2> inner, outer;
  };
  const Case cases[] = {
      {{2, 3, 4}, {6, 4}, {2, 12}}, {{5}, {1, 5}, {5, 1}},
      {{}, {1, 1}, {1, 1}},         {{2, 3}, {2, 3}, {2, 3}},
      {{2, 0, 4}, {0, 4}, {2, 0}},
  };
  for (const Case& c : cases) {
    SCOPED_TRACE(c.shape.DebugString());
    Tensor t = Iota(c.shape);
    EXPECT_EQ(t.flat_inner_dims<int32_t>().dimensions(), c.inner);
    EXPECT_EQ(t.flat_outer_dims<int32_t>().dimensions(), c.outer);
  }
  Tensor t = Iota({2, 3, 4});
  EXPECT_EQ((t.tensor<int32_t, 3>()(1, 2, 3)), 23);
  EXPECT_EQ((t.shaped<int32_t, 2>({8, 3})(7, 2)), 23);
  EXPECT_EQ((t.flat_inner_dims<int32_t, 4>().dimensions()),
            (std::array<int64_t, 4>{1, 2, 3, 4}));
  EXPECT_EQ(t.flat<int32_t>().size(), 24);
}

TEST(TensorTest, ValuesAsText) {
  struct Case {
    Tensor t;
    int64_t entries;
    const char* text;
  };
  const Case cases[] = {
      {Tensor::Scalar(1.5f), 3, "1.5"},
      {Iota({5}), 3, "0 1 2..."},
      {Iota({5}), 5, "0 1 2 3 4"},
      {Iota({5}), -1, "0 1 2 3 4"},
      {Iota({5}), 0, "..."},
      {Iota({0}), 3, ""},
      {Iota({2, 2}), 9, "[0 1][2 3]"},
      {Iota({2, 2}), 3, "[0 1][2]..."},
      {Iota({2, 1, 2}), 9, "[[0 1]][[2 3]]"},
      {MakeTensor<bool>({2}, {true, false}), 9, "1 0"},
      {MakeTensor<tstring>({1}, {"a\n"}), 9, "a\\n"},
      {MakeTensor<int8_t>({2}, {-128, 7}), 9, "-128 7"},
      {MakeTensor<uint8_t>({1}, {255}), 9, "255"},
      {Tensor::Scalar(complex64(1, -2)), 9, "(1,-2)"},
      {Tensor::Scalar(std::numeric_limits<uint64_t>::max()), 1,
       "18446744073709551615"},
      {Tensor::Scalar(half(0.5f)), 1, "0.5"},
  };
  for (const Case& c : cases) {
    EXPECT_EQ(c.t.SummarizeValue(c.entries), c.text);
  }
  EXPECT_EQ(Iota({2}).DebugString(),
            "Tensor<type: int32 shape: [2] values: 0 1>");
}

}  // namespace
}  // namespace headrace
