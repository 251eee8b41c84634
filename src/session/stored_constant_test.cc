// Filters that stay where a model's bytes are, at any address: convolutions
// compute the same from them as from aligned ones, and keep no second copy.
#include "framework/tensor/stored_constant.h"

#include <gtest/gtest.h>

#include <cstdlib>
#include <cstring>
#include <random>
#include <string>

#include "absl/time/clock.h"
#include "graph/graph_test_util.h"
#include "headrace/allocator.h"
#include "session/direct_session.h"

namespace headrace {
namespace {

// The bytes of `t` where an element does not begin at a multiple of its size.
Tensor Unaligned(const Tensor& t) {
  char* const bytes = static_cast<char*>(std::malloc(t.TotalBytes() + 64));
  std::memcpy(bytes + 1, t.raw_data(), t.TotalBytes());
  return Tensor(
      t.dtype(), t.shape(),
      WrapExternalBuffer(bytes, t.TotalBytes() + 64,
                         /*writable=*/false, [bytes] { std::free(bytes); }),
      /*offset=*/1);
}

struct Case {
  const char* name;
  const char* op;
  DataType dtype;
  std::vector<TensorShape> filters;  // of convolutions one after the other
  // The algorithm reads the filter as it is: an aligned copy stays.
  bool reads_filter = false;
  const char* padding = "SAME";
};

class StoredFilterTest : public ::testing::TestWithParam<Case> {
 protected:
  // The result; `kept` is what stays allocated after the run.
  Tensor Run(bool aligned, int64_t* kept) {
    const Case& c = GetParam();
    const auto graph = std::make_shared<Graph>();
    std::mt19937 rng(7);
    std::uniform_real_distribution<float> d(-1, 1);
    const auto random = [&](DataType type, const TensorShape& shape) {
      Tensor t(type, shape);
      for (int64_t i = 0; i < t.NumElements(); ++i) {
        switch (type) {
          case DT_HALF:
            t.data<half>()[i] = static_cast<half>(d(rng));
            break;
          case DT_DOUBLE:
            t.data<double>()[i] = d(rng);
            break;
          default:
            t.data<float>()[i] = d(rng);
        }
      }
      return t;
    };
    const Endpoint x = Placeholder(graph.get(), "x", c.dtype,
                                   {1, 14, 14, c.filters[0].dim_size(2)});
    Endpoint y = x;
    for (const TensorShape& shape : c.filters) {
      const Tensor filter = random(c.dtype, shape);
      const bool depthwise = shape.dim_size(3) == 1;
      const Endpoint w = Const(graph.get(), graph->UniqueName("w"),
                               aligned ? filter : Unaligned(filter));
      EXPECT_EQ(IsAligned(aligned ? filter : Unaligned(filter)), aligned);
      AttrMap attrs = {{"padding", c.padding},
                       {"strides", std::vector<int64_t>{1, 1, 1, 1}}};
      std::vector<Endpoint> inputs = {y, w};
      if (std::string(c.op) == "FusedPadConv2D") {
        attrs.Set("mode", "REFLECT");
        Tensor pads(DT_INT32, TensorShape({4, 2}));
        const int32_t values[] = {0, 0, 1, 2, 2, 1, 0, 0};
        std::memcpy(pads.raw_data(), values, sizeof values);
        inputs = {y, Const(graph.get(), "pads", pads), w};
      }
      y = {AddOp(graph.get(), graph->UniqueName("y"),
                 depthwise ? "DepthwiseConv2dNative" : c.op, inputs,
                 std::move(attrs)),
           0};
    }
    const Tensor fed = random(c.dtype, {1, 14, 14, c.filters[0].dim_size(2)});
    std::unique_ptr<Session> session;
    EXPECT_EQ(NewDirectSession({}, graph, &session), OkStatus());
    Tensor result;
    const int64_t before = CpuAllocator()->GetStats().bytes_in_use;
    for (int run = 0; run < 2; ++run) {
      std::vector<Tensor> out;
      EXPECT_EQ(session->Run({}, {{x, fed}}, {y}, {}, &out, nullptr, nullptr),
                OkStatus());
      if (out.size() != 1) return Tensor();
      if (run == 1) {
        EXPECT_EQ(out[0].tensor_data(), result.tensor_data());
      }
      EXPECT_EQ(out[0].DeepCopyTo(&result), OkStatus());
    }
    *kept = CpuAllocator()->GetStats().bytes_in_use - before;
    return result;
  }
};

TEST_P(StoredFilterTest, GivesTheBitsOfAnAlignedOne) {
  // Threads of sessions before may still give memory back.
  bool keeps_the_same = false;
  for (int attempt = 0; attempt < 100 && !keeps_the_same; ++attempt) {
    if (attempt > 0) absl::SleepFor(absl::Milliseconds(20));
    int64_t kept_aligned = 0, kept_unaligned = 0;
    const Tensor want = Run(true, &kept_aligned);
    const Tensor got = Run(false, &kept_unaligned);
    ASSERT_EQ(got.tensor_data(), want.tensor_data());
    keeps_the_same = GetParam().reads_filter || kept_unaligned == kept_aligned;
  }
  EXPECT_TRUE(keeps_the_same);
}

INSTANTIATE_TEST_SUITE_P(
    Cases, StoredFilterTest,
    ::testing::Values(
        Case{"Pointwise", "Conv2D", DT_FLOAT, {{1, 1, 64, 96}}},
        Case{"Winograd", "Conv2D", DT_FLOAT, {{3, 3, 64, 64}}},
        Case{"WinogradLine", "Conv2D", DT_FLOAT, {{1, 7, 64, 64}}},
        Case{"Gemm", "Conv2D", DT_FLOAT, {{14, 14, 8, 64}}, false, "VALID"},
        Case{"Direct", "Conv2D", DT_FLOAT, {{5, 5, 32, 32}}},
        Case{"Narrow", "Conv2D", DT_FLOAT, {{7, 7, 3, 32}}},
        Case{"Double", "Conv2D", DT_DOUBLE, {{3, 3, 16, 32}}},
        Case{"Half", "Conv2D", DT_HALF, {{3, 3, 32, 32}}},
        Case{"Pad", "FusedPadConv2D", DT_FLOAT, {{3, 3, 32, 32}}},
        Case{"Depthwise", "Conv2D", DT_FLOAT, {{3, 3, 64, 1}}, true},
        Case{"Chain",
             "Conv2D",
             DT_FLOAT,
             {{1, 1, 16, 96}, {3, 3, 96, 1}, {1, 1, 96, 24}},
             true}),
    [](const auto& info) { return info.param.name; });

}  // namespace
}  // namespace headrace
