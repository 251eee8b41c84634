// The host platform keeps the promises of the stream executor's interfaces.
#include "device/gpu/host/host_platform.h"

#include <gtest/gtest.h>

#include <atomic>
#include <cstring>
#include <numeric>
#include <thread>

#include "absl/strings/match.h"
#include "absl/time/clock.h"
#include "device/gpu/blas.h"
#include "device/gpu/dnn.h"
#include "device/gpu/launch.h"

namespace headrace::gpu {
namespace {

struct AddBody {
  static constexpr const char* kName = "Add<int>";
  int* x;
  int by;
  HR_GPU_BODY void operator()(int64_t i) const { x[i] += by; }
};

// Sums the numbers of a block: each thread its own, then one thread all.
struct BlockSumBody {
  static constexpr const char* kName = "BlockSum<int>";
  const int* x;
  int64_t n;
  int* sums;
  HR_GPU_BODY int phases() const { return 2; }
  HR_GPU_BODY void operator()(int phase, const BlockThread& at,
                              void* shared) const {
    int* const parts = static_cast<int*>(shared);
    if (phase == 0) {
      parts[at.thread] = 0;
      for (int64_t i = at.block * at.threads + at.thread; i < n;
           i += at.blocks * at.threads) {
        parts[at.thread] += x[i];
      }
    } else if (at.thread == 0) {
      sums[at.block] = 0;
      for (int t = 0; t < at.threads; ++t) sums[at.block] += parts[t];
    }
  }
};

class HostPlatformTest : public testing::Test {
 protected:
  void SetUp() override {
    HostPlatformOptions options;
    options.memory_bytes = 16 << 20;
    platform_ = NewHostPlatform(options);
    executor_ = *platform_->Executor(0);
    hooks_ = HooksOf(executor_);
    stream_ = *executor_->CreateStream();
    other_ = *executor_->CreateStream();
  }
  template <typename T>
  DeviceMemory<T> OnDevice(const std::vector<T>& values) {
    DeviceMemory<T> m(*executor_->Allocate(values.size() * sizeof(T)));
    EXPECT_EQ(stream_->CopyToDevice(m, values.data(), m.size), OkStatus());
    EXPECT_EQ(stream_->BlockHostUntilDone(), OkStatus());
    return m;
  }
  template <typename T>
  std::vector<T> ToHost(const DeviceMemory<T>& m) {
    std::vector<T> values(m.elements());
    EXPECT_EQ(stream_->CopyToHost(values.data(), m, m.size), OkStatus());
    EXPECT_EQ(stream_->BlockHostUntilDone(), OkStatus());
    return values;
  }
  void DelayWork(absl::Duration d) {
    hooks_->SetBeforeWork([d](const std::string&) {
      absl::SleepFor(d);
      return OkStatus();
    });
  }

  std::unique_ptr<Platform> platform_;
  StreamExecutor* executor_ = nullptr;
  HostHooks* hooks_ = nullptr;
  std::unique_ptr<Stream> stream_, other_;
};

TEST_F(HostPlatformTest, WorkOfAStreamRunsInOrderAndLater) {
  const auto m = OnDevice<int>({1, 2, 3});
  DelayWork(absl::Milliseconds(20));
  int* const seen = static_cast<int*>(*executor_->AllocatePinned(m.size));
  const absl::Time start = absl::Now();
  ASSERT_EQ(LaunchElements(stream_.get(), 3, AddBody{m.data(), 10}),
            OkStatus());
  ASSERT_EQ(LaunchElements(stream_.get(), 2, AddBody{m.data(), 100}),
            OkStatus());
  ASSERT_EQ(stream_->CopyToHost(seen, m, m.size), OkStatus());
  EXPECT_LT(absl::Now() - start, absl::Milliseconds(20));  // did not wait
  ASSERT_EQ(stream_->BlockHostUntilDone(), OkStatus());
  EXPECT_GE(absl::Now() - start, absl::Milliseconds(60));
  EXPECT_EQ(std::vector<int>(seen, seen + 3), (std::vector<int>{111, 112, 13}));
  executor_->DeallocatePinned(seen, m.size);
}

TEST_F(HostPlatformTest, CopiesOfMemoryThatIsNotPinnedWait) {
  const auto m = OnDevice<int>({1, 2, 3});
  DelayWork(absl::Milliseconds(10));
  std::vector<int> seen(3);
  absl::Time start = absl::Now();
  ASSERT_EQ(stream_->CopyToHost(seen.data(), m, m.size), OkStatus());
  EXPECT_GE(absl::Now() - start, absl::Milliseconds(10));
  EXPECT_EQ(seen, (std::vector<int>{1, 2, 3}));
  start = absl::Now();
  ASSERT_EQ(stream_->CopyToDevice(m, seen.data(), m.size), OkStatus());
  EXPECT_GE(absl::Now() - start, absl::Milliseconds(10));
}

TEST_F(HostPlatformTest, StreamsRunBesideEachOtherUntilOneWaits) {
  const auto a = OnDevice<int>({1}), b = OnDevice<int>({1});
  std::atomic<bool> go{false}, other_ran{false};
  hooks_->SetBeforeWork([&](const std::string& what) {
    if (what == "Fill") {
      while (!go) std::this_thread::yield();
    } else {
      other_ran = true;
    }
    return OkStatus();
  });
  ASSERT_EQ(stream_->Fill(a, 0, 4), OkStatus());  // waits for `go`
  std::unique_ptr<Event> event = *executor_->CreateEvent();
  EXPECT_EQ(event->Poll(), Event::kComplete);  // was never recorded
  ASSERT_EQ(stream_->Record(event.get()), OkStatus());
  EXPECT_EQ(event->Poll(), Event::kPending);
  ASSERT_EQ(LaunchElements(other_.get(), 1, AddBody{b.data(), 1}), OkStatus());
  ASSERT_EQ(other_->BlockHostUntilDone(),
            OkStatus());  // though `stream_` waits
  EXPECT_TRUE(other_ran);
  other_ran = false;
  ASSERT_EQ(other_->WaitFor(event.get()), OkStatus());
  ASSERT_EQ(LaunchElements(other_.get(), 1, AddBody{a.data(), 5}), OkStatus());
  absl::SleepFor(absl::Milliseconds(20));
  EXPECT_FALSE(other_ran);
  go = true;
  ASSERT_EQ(event->Wait(), OkStatus());
  EXPECT_EQ(event->Poll(), Event::kComplete);
  ASSERT_EQ(other_->BlockHostUntilDone(), OkStatus());
  EXPECT_EQ(ToHost(a), std::vector<int>{5});
}

TEST_F(HostPlatformTest, AFailureEndsItsStreamAndThoseThatWaitForIt) {
  const auto m = OnDevice<int>({1, 2});
  hooks_->SetBeforeWork([](const std::string& what) {
    return absl::StrContains(what, "Add<int>")
               ? errors::Internal("the device broke")
               : OkStatus();
  });
  std::unique_ptr<Event> event = *executor_->CreateEvent();
  Status heard;
  ASSERT_EQ(LaunchElements(stream_.get(), 2, AddBody{m.data(), 1}), OkStatus());
  ASSERT_EQ(stream_->Fill(m, 0xff, 8), OkStatus());  // does not run
  ASSERT_EQ(stream_->Record(event.get()), OkStatus());
  ASSERT_EQ(stream_->DoHostCallback([&](const Status& s) { heard = s; }),
            OkStatus());
  const Status s = stream_->BlockHostUntilDone();
  EXPECT_EQ(s.code(), absl::StatusCode::kInternal);
  EXPECT_TRUE(absl::StrContains(s.message(), "the device broke")) << s;
  EXPECT_TRUE(absl::StrContains(s.message(), "Launch Add<int>")) << s;
  EXPECT_EQ(stream_->status(), s);
  EXPECT_EQ(heard, s);
  EXPECT_EQ(event->Wait(), s);
  EXPECT_EQ(event->Poll(), Event::kFailed);
  EXPECT_EQ(other_->status(), OkStatus());
  ASSERT_EQ(other_->WaitFor(event.get()), OkStatus());
  EXPECT_EQ(other_->BlockHostUntilDone(), s);
  // The device itself goes on.
  hooks_->Clear();
  stream_ = *executor_->CreateStream();
  EXPECT_EQ(ToHost(m), (std::vector<int>{1, 2}));
}

TEST_F(HostPlatformTest, AStreamRunsItsWorkBeforeItGoes) {
  const auto m = OnDevice<int>({0});
  DelayWork(absl::Milliseconds(5));
  for (int i = 0; i < 5; ++i) {
    ASSERT_EQ(LaunchElements(other_.get(), 1, AddBody{m.data(), 1}),
              OkStatus());
  }
  other_.reset();
  EXPECT_EQ(ToHost(m), std::vector<int>{5});
}

TEST_F(HostPlatformTest, TimersMeasureTheStream) {
  const auto m = OnDevice<int>({0});
  std::unique_ptr<Timer> timer = *executor_->CreateTimer();
  hooks_->SetBeforeWork([](const std::string& what) {
    if (what == "Fill") absl::SleepFor(absl::Milliseconds(30));
    return OkStatus();
  });
  ASSERT_EQ(timer->Start(stream_.get()), OkStatus());
  ASSERT_EQ(stream_->Fill(m, 0, 4), OkStatus());
  ASSERT_EQ(timer->Stop(stream_.get()), OkStatus());
  const StatusOr<int64_t> ns = timer->ElapsedNanoseconds();
  ASSERT_TRUE(ns.ok()) << ns.status();
  EXPECT_GE(*ns, 30'000'000);
}

TEST_F(HostPlatformTest, BlocksMeetBetweenPhases) {
  std::vector<int> numbers(1000);
  std::iota(numbers.begin(), numbers.end(), 1);
  const auto x = OnDevice(numbers);
  const auto sums = OnDevice<int>({0, 0, 0});
  ASSERT_EQ(LaunchBlocks(stream_.get(), 3, 128, 128 * sizeof(int),
                         BlockSumBody{x.data(), 1000, sums.data()}),
            OkStatus());
  const std::vector<int> got = ToHost(sums);
  EXPECT_EQ(got[0] + got[1] + got[2], 1000 * 1001 / 2);
  EXPECT_GT(got[2], 0);
}

TEST_F(HostPlatformTest, RefusesWhatADeviceCannotDo) {
  const auto m = OnDevice<int>({1, 2});
  int host[4] = {};
  const auto expect = [](const Status& s, const char* words) {
    EXPECT_EQ(s.code(), absl::StatusCode::kInvalidArgument) << s;
    EXPECT_TRUE(absl::StrContains(s.message(), words)) << s;
  };
  expect(stream_->CopyToDevice(m, host, 12), "12 bytes, the destination has 8");
  expect(stream_->CopyToHost(host, m.Slice(4, 8), 8),
         "the source is no memory of this device");
  expect(stream_->CopyToHost(host, DeviceMemory<int>(host, 4), 16),
         "no memory of this device");
  expect(stream_->CopyOnDevice(m, m.Slice(0, 4), 8), "8 bytes of 4");
  const GpuKernel kernel{"k", [](const LaunchDims&, const void*) {}, nullptr};
  LaunchDims dims;
  dims.block.x = 1025;
  expect(stream_->Launch(kernel, dims, nullptr, 0), "1025 threads");
  dims.block.x = 0;
  expect(stream_->Launch(kernel, dims, nullptr, 0), "0 threads");
  dims.block.x = 1;
  std::vector<char> large(kMaxKernelParams + 1);
  expect(stream_->Launch(kernel, dims, large.data(), large.size()),
         "4097 bytes of parameters");
  const GpuKernel none{"none", nullptr, nullptr};
  EXPECT_EQ(stream_->Launch(none, dims, nullptr, 0).code(),
            absl::StatusCode::kUnimplemented);
  EXPECT_EQ(platform_->Executor(1).status().code(),
            absl::StatusCode::kInvalidArgument);
  EXPECT_EQ(stream_->BlockHostUntilDone(), OkStatus());
}

TEST_F(HostPlatformTest, MemoryEndsAndComesBack) {
  int64_t free = 0, total = 0;
  ASSERT_EQ(executor_->MemoryUsage(&free, &total), OkStatus());
  EXPECT_EQ(total, 16 << 20);
  const StatusOr<DeviceMemoryBase> refused = executor_->Allocate(17 << 20);
  EXPECT_EQ(refused.status().code(), absl::StatusCode::kResourceExhausted);
  EXPECT_TRUE(absl::StrContains(refused.status().message(),
                                "no 17825792 bytes: 16777216 bytes are free"))
      << refused.status();
  std::vector<DeviceMemoryBase> pieces;
  for (int i = 0; i < 16; ++i) pieces.push_back(*executor_->Allocate(1 << 20));
  EXPECT_FALSE(executor_->Allocate(1).ok());
  for (int i = 0; i < 16; i += 2) executor_->Deallocate(pieces[i]);
  EXPECT_FALSE(executor_->Allocate(2 << 20).ok());  // in pieces
  for (int i = 1; i < 16; i += 2) executor_->Deallocate(pieces[i]);
  EXPECT_TRUE(executor_->Allocate(16 << 20).ok());
  EXPECT_TRUE((*executor_->Allocate(0)).is_null());
}

#ifndef HEADRACE_TSAN
TEST_F(HostPlatformTest, TheCpuCannotTouchDeviceMemory) {
  GTEST_FLAG_SET(death_test_style, "threadsafe");
  const auto m = OnDevice<int>({1, 2});
  EXPECT_DEATH(*const_cast<volatile int*>(m.data()) = 1, "");
  EXPECT_DEATH(
      {
        volatile int read = *m.data();
        (void)read;
      },
      "");
}
#endif

// ---- Blas and Dnn -----------------------------------------------------------

std::vector<float> Numbers(int64_t n, int seed) {
  std::vector<float> v(n);
  for (int64_t i = 0; i < n; ++i) {
    v[i] = static_cast<float>((i * 37 + seed * 11) % 23) / 8 - 1;
  }
  return v;
}

TEST_F(HostPlatformTest, ProductsAgreeWithTheFormula) {
  Blas* const blas = *executor_->blas();
  for (const bool ta : {false, true}) {
    for (const bool tb : {false, true}) {
      GemmProblem p = GemmProblem::Dense(DT_FLOAT, 3, 5, 4, ta, tb, 2);
      p.alpha = 2;
      p.beta = 0.5;
      p.has_bias = true;
      p.activation = GpuActivation::kRelu;
      const std::vector<float> a = Numbers(24, 1), b = Numbers(40, 2),
                               bias = Numbers(5, 3), c = Numbers(30, 4);
      const auto da = OnDevice(a), db = OnDevice(b), dbias = OnDevice(bias),
                 dc = OnDevice(c);
      ASSERT_EQ(blas->Gemm(stream_.get(), p, da, db, dbias, dc, nullptr),
                OkStatus());
      const std::vector<float> got = ToHost(dc);
      for (int64_t n = 0; n < 2; ++n) {
        for (int64_t i = 0; i < 3; ++i) {
          for (int64_t j = 0; j < 5; ++j) {
            float sum = 0;
            for (int64_t k = 0; k < 4; ++k) {
              sum += a[n * 12 + (ta ? k * 3 + i : i * 4 + k)] *
                     b[n * 20 + (tb ? j * 4 + k : k * 5 + j)];
            }
            const int64_t at = n * 15 + i * 5 + j;
            const float want = std::max(0.0f, 2 * sum + 0.5f * c[at] + bias[j]);
            EXPECT_NEAR(got[at], want, 1e-4) << p.ToString();
          }
        }
      }
    }
  }
  GemmProblem p = GemmProblem::Dense(DT_FLOAT, 3, 5, 4);
  const auto small = OnDevice<float>({1, 2, 3}), c = OnDevice(Numbers(15, 1));
  const Status s = blas->Gemm(stream_.get(), p, small, OnDevice(Numbers(20, 1)),
                              {}, c, nullptr);
  EXPECT_EQ(s.code(), absl::StatusCode::kInvalidArgument);
  EXPECT_TRUE(absl::StrContains(s.message(),
                                "a takes 48 bytes, its buffer has "
                                "12"))
      << s;
  p.type = DT_INT32;
  EXPECT_EQ(blas->Gemm(stream_.get(), p, c, c, {}, c, nullptr).code(),
            absl::StatusCode::kInvalidArgument);
}

struct ConvCase {
  const char* name;
  int64_t batch, in_depth, out_depth, groups, input[2], filter[2], padding[2],
      stride[2], dilation[2];
};
constexpr ConvCase kConvCases[] = {
    {"1x1", 2, 3, 4, 1, {4, 5}, {1, 1}, {0, 0}, {1, 1}, {1, 1}},
    {"3x3 padded", 1, 2, 3, 1, {5, 4}, {3, 3}, {1, 1}, {1, 1}, {1, 1}},
    {"strided", 2, 2, 2, 1, {7, 6}, {3, 2}, {1, 0}, {2, 3}, {1, 1}},
    {"dilated", 1, 2, 2, 1, {8, 9}, {3, 3}, {2, 2}, {1, 1}, {2, 2}},
    {"groups", 1, 4, 6, 2, {4, 4}, {3, 3}, {1, 1}, {1, 1}, {1, 1}},
    {"depthwise", 2, 3, 6, 3, {5, 5}, {3, 3}, {1, 1}, {2, 2}, {1, 1}},
    {"whole image", 2, 3, 4, 1, {3, 4}, {3, 4}, {0, 0}, {1, 1}, {1, 1}},
};

class Scratch : public ScratchAllocator {
 public:
  Scratch(StreamExecutor* executor, int64_t limit)
      : executor_(executor), limit_(limit) {}
  int64_t MemoryLimit() const override { return limit_; }
  StatusOr<DeviceMemoryBase> Allocate(int64_t bytes) override {
    if (bytes > limit_) {
      return errors::ResourceExhausted("a workspace of ", bytes, " bytes");
    }
    return executor_->Allocate(bytes);
  }

 private:
  StreamExecutor* const executor_;
  const int64_t limit_;
};

ConvProblem ProblemOf(const ConvCase& c, DataLayout layout,
                      FilterLayout filter) {
  ConvProblem p;
  p.layout = layout;
  p.filter_layout = filter;
  p.batch = c.batch;
  p.in_depth = c.in_depth;
  p.out_depth = c.out_depth;
  p.groups = c.groups;
  for (int d = 0; d < 2; ++d) {
    p.input[d] = c.input[d];
    p.filter[d] = c.filter[d];
    p.padding[d] = c.padding[d];
    p.stride[d] = c.stride[d];
    p.dilation[d] = c.dilation[d];
    p.output[d] = (c.input[d] + 2 * c.padding[d] -
                   (c.filter[d] - 1) * c.dilation[d] - 1) /
                      c.stride[d] +
                  1;
  }
  return p;
}

// <x, A^T y> = <A x, y> ties the gradients to the convolution, in all layouts
// and by all algorithms.
TEST_F(HostPlatformTest, ConvolutionsAndTheirGradientsAreAdjoint) {
  Dnn* const dnn = *executor_->dnn();
  Scratch scratch(executor_, 1 << 20);
  const auto dot = [](const std::vector<float>& a,
                      const std::vector<float>& b) {
    return std::inner_product(a.begin(), a.end(), b.begin(), 0.0);
  };
  for (const ConvCase& c : kConvCases) {
    for (const auto& [layout, filter_layout] :
         {std::pair(DataLayout::kNHWC, FilterLayout::kHWIO),
          std::pair(DataLayout::kNHWC, FilterLayout::kOHWI),
          std::pair(DataLayout::kNCHW, FilterLayout::kOIHW)}) {
      ConvProblem p = ProblemOf(c, layout, filter_layout);
      const auto x = Numbers(p.InputElements(), 1),
                 w = Numbers(p.FilterElements(), 2),
                 y = Numbers(p.OutputElements(), 3);
      std::vector<double> products;
      for (const ConvKind kind : {ConvKind::kForward, ConvKind::kBackwardInput,
                                  ConvKind::kBackwardFilter}) {
        p.kind = kind;
        ConvBuffers buffers;
        const auto dx = OnDevice(x), dw = OnDevice(w), dy = OnDevice(y);
        buffers.input = dx;
        buffers.filter = dw;
        buffers.output = dy;
        const auto algorithms = dnn->ConvAlgorithms(p, false);
        ASSERT_TRUE(algorithms.ok()) << algorithms.status();
        ASSERT_EQ(
            dnn->Convolve(stream_.get(), p, (*algorithms)[products.size() % 3],
                          buffers, &scratch),
            OkStatus());
        products.push_back(kind == ConvKind::kForward ? dot(ToHost(dy), y)
                           : kind == ConvKind::kBackwardInput
                               ? dot(ToHost(dx), x)
                               : dot(ToHost(dw), w));
      }
      EXPECT_NEAR(products[0], products[1], 1e-3) << c.name;
      EXPECT_NEAR(products[0], products[2], 1e-3) << c.name;
    }
  }
}

TEST_F(HostPlatformTest, ConvolutionsRefuseWhatIsImpossible) {
  Dnn* const dnn = *executor_->dnn();
  const ConvProblem good =
      ProblemOf(kConvCases[1], DataLayout::kNHWC, FilterLayout::kHWIO);
  ASSERT_EQ(CheckConv(good), OkStatus());
  const auto refused = [&](auto&& change, const char* words) {
    ConvProblem p = good;
    change(&p);
    const Status s = dnn->ConvAlgorithms(p, true).status();
    EXPECT_EQ(s.code(), absl::StatusCode::kInvalidArgument) << s;
    EXPECT_TRUE(absl::StrContains(s.message(), words)) << s;
  };
  refused([](ConvProblem* p) { p->output[0] = 9; },
          "output dimension 0 should be 5");
  refused([](ConvProblem* p) { p->stride[1] = 0; }, "impossible");
  refused([](ConvProblem* p) { p->padding[0] = -1; }, "impossible");
  refused([](ConvProblem* p) { p->groups = 3; }, "do not divide");
  refused([](ConvProblem* p) { p->groups = 0; }, "do not divide");
  refused([](ConvProblem* p) { p->batch = int64_t{1} << 60; }, "too large");
  refused([](ConvProblem* p) { p->type = DT_INT32; }, "type int32");
  refused(
      [](ConvProblem* p) {
        p->kind = ConvKind::kBackwardInput;
        p->has_bias = true;
      },
      "epilogue");
  // Without a workspace only what needs none runs.
  const auto x = OnDevice(Numbers(good.InputElements(), 1)),
             w = OnDevice(Numbers(good.FilterElements(), 1)),
             y = OnDevice(Numbers(good.OutputElements(), 1));
  ConvBuffers buffers;
  buffers.input = x;
  buffers.filter = w;
  buffers.output = y;
  const auto algorithms = *dnn->ConvAlgorithms(good, true);
  ASSERT_EQ(algorithms.size(), 2u);
  Scratch none(executor_, 0);
  EXPECT_EQ(
      dnn->Convolve(stream_.get(), good, algorithms[0], buffers, &none).code(),
      absl::StatusCode::kResourceExhausted);
  EXPECT_EQ(dnn->Convolve(stream_.get(), good, algorithms[0], buffers, nullptr)
                .code(),
            absl::StatusCode::kInvalidArgument);
  EXPECT_EQ(dnn->Convolve(stream_.get(), good, algorithms[1], buffers, nullptr),
            OkStatus());
  ConvAlgorithm unknown;
  unknown.id = 99;
  EXPECT_EQ(
      dnn->Convolve(stream_.get(), good, unknown, buffers, nullptr).code(),
      absl::StatusCode::kInvalidArgument);
  buffers.filter.size = 4;
  EXPECT_EQ(dnn->Convolve(stream_.get(), good, algorithms[1], buffers, nullptr)
                .code(),
            absl::StatusCode::kInvalidArgument);
  EXPECT_EQ(stream_->BlockHostUntilDone(), OkStatus());
}

}  // namespace
}  // namespace headrace::gpu
