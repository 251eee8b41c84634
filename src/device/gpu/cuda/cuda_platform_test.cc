// CUDA against the host platform: both compute the same problems from the same
// numbers. Without a GPU the test says so and is skipped, except what a
// machine without a driver has to do.
#include "device/gpu/cuda/cuda_platform.h"

#include <gtest/gtest.h>

#include <cmath>
#include <cstdlib>
#include <vector>

#include "absl/strings/match.h"
#include "device/gpu/host/host_platform.h"
#include "headrace/device_factory.h"

namespace headrace::gpu {
namespace {

TEST(CudaPlatformTest, AMachineWithoutADriverHasNoGpuAndNoError) {
  Platform* const platform = CurrentPlatform();
  DeviceOptions options;
  options.name_prefix = "/job:localhost/replica:0/task:0";
  std::vector<std::unique_ptr<Device>> devices;
  ASSERT_EQ(DeviceFactories::CreateDevices(options, &devices), OkStatus());
  size_t gpus = 0;
  for (const auto& d : devices) gpus += d->device_type() == DEVICE_GPU;
  EXPECT_EQ(gpus, platform == nullptr
                      ? 0u
                      : static_cast<size_t>(platform->DeviceCount()));
  EXPECT_FALSE(devices.empty());
}

TEST(CudaPlatformTest, ErrorsNameTheCall) {
  const Status oom = CudaStatus(cudaErrorMemoryAllocation, "cudaMalloc");
  EXPECT_EQ(oom.code(), absl::StatusCode::kResourceExhausted);
  EXPECT_TRUE(absl::StrContains(oom.message(),
                                "cudaMalloc failed: "
                                "cudaErrorMemoryAllocation"))
      << oom;
  EXPECT_EQ(CudaStatus(cudaErrorLaunchFailure, "x").code(),
            absl::StatusCode::kInternal);
  EXPECT_EQ(CudaStatus(cudaSuccess, "x"), OkStatus());
}

// A platform with a stream; buffers of floats.
struct Side {
  explicit Side(StreamExecutor* e) : executor(e), stream(*e->CreateStream()) {}
  DeviceMemoryBase Put(const std::vector<float>& v) {
    const DeviceMemoryBase m = *executor->Allocate(v.size() * sizeof(float));
    EXPECT_EQ(stream->CopyToDevice(m, v.data(), m.size), OkStatus());
    EXPECT_EQ(stream->BlockHostUntilDone(), OkStatus());
    return m;
  }
  std::vector<float> Get(const DeviceMemoryBase& m) {
    std::vector<float> v(m.size / sizeof(float));
    EXPECT_EQ(stream->CopyToHost(v.data(), m, m.size), OkStatus());
    EXPECT_EQ(stream->BlockHostUntilDone(), OkStatus());
    return v;
  }
  StreamExecutor* const executor;
  const std::unique_ptr<Stream> stream;
};

class Scratch : public ScratchAllocator {
 public:
  explicit Scratch(StreamExecutor* executor) : executor_(executor) {}
  ~Scratch() override {
    for (const DeviceMemoryBase& m : made_) executor_->Deallocate(m);
  }
  int64_t MemoryLimit() const override { return int64_t{1} << 30; }
  StatusOr<DeviceMemoryBase> Allocate(int64_t bytes) override {
    HR_ASSIGN_OR_RETURN(const DeviceMemoryBase m, executor_->Allocate(bytes));
    made_.push_back(m);
    return m;
  }

 private:
  StreamExecutor* const executor_;
  std::vector<DeviceMemoryBase> made_;
};

std::vector<float> Numbers(int64_t n, int seed) {
  std::vector<float> v(n);
  for (int64_t i = 0; i < n; ++i) {
    v[i] = static_cast<float>((i * 37 + seed * 11) % 23) / 8 - 1;
  }
  return v;
}

class CudaTest : public testing::Test {
 protected:
  void SetUp() override {
    Platform* const cuda = CurrentPlatform();
    if (cuda == nullptr || std::string(cuda->name()) != "CUDA") {
      GTEST_SKIP() << "no GPU";
    }
    cuda_ = std::make_unique<Side>(*cuda->Executor(0));
    host_platform_ = NewHostPlatform({});
    host_ = std::make_unique<Side>(*host_platform_->Executor(0));
  }
  // Runs `fn(side, scratch)`, which returns what it computed, on both.
  template <typename F>
  void Compare(const std::string& what, F&& fn) {
    Scratch on_cuda(cuda_->executor), on_host(host_->executor);
    const std::vector<float> got = fn(cuda_.get(), &on_cuda);
    const std::vector<float> want = fn(host_.get(), &on_host);
    ASSERT_EQ(got.size(), want.size()) << what;
    for (size_t i = 0; i < got.size(); ++i) {
      ASSERT_NEAR(got[i], want[i], 1e-3 * (1 + std::fabs(want[i])))
          << what << " at " << i;
    }
  }

  std::unique_ptr<Platform> host_platform_;
  std::unique_ptr<Side> cuda_, host_;
};

TEST_F(CudaTest, Products) {
  for (const auto& [m, n, k] : {std::array<int64_t, 3>{3, 5, 4},
                                {64, 1000, 512},
                                {1, 7, 129},
                                {33, 1, 65}}) {
    for (const bool ta : {false, true}) {
      for (const bool tb : {false, true}) {
        for (const GpuActivation a :
             {GpuActivation::kNone, GpuActivation::kRelu, GpuActivation::kElu,
              GpuActivation::kTanh}) {
          GemmProblem p = GemmProblem::Dense(DT_FLOAT, m, n, k, ta, tb, 2);
          p.has_bias = a != GpuActivation::kNone;
          p.activation = a;
          p.alpha = 0.5;
          p.beta = 0.25;
          Compare(p.ToString(), [&](Side* s, Scratch* scratch) {
            const auto c = s->Put(Numbers(2 * p.m * p.n, 4));
            EXPECT_EQ((*s->executor->blas())
                          ->Gemm(s->stream.get(), p,
                                 s->Put(Numbers(2 * p.m * p.k, 1)),
                                 s->Put(Numbers(2 * p.k * p.n, 2)),
                                 s->Put(Numbers(p.n, 3)), c, scratch),
                      OkStatus());
            return s->Get(c);
          });
        }
      }
    }
  }
}

TEST_F(CudaTest, ConvolutionsByEveryAlgorithm) {
  for (const int64_t groups : {1, 4}) {
    for (const int64_t stride : {1, 2}) {
      for (const DataLayout layout : {DataLayout::kNHWC, DataLayout::kNCHW}) {
        for (const ConvKind kind :
             {ConvKind::kForward, ConvKind::kBackwardInput,
              ConvKind::kBackwardFilter}) {
          ConvProblem p;
          p.kind = kind;
          p.layout = layout;
          p.filter_layout = layout == DataLayout::kNHWC ? FilterLayout::kOHWI
                                                        : FilterLayout::kOIHW;
          p.batch = 3;
          p.in_depth = 8;
          p.out_depth = 16;
          p.groups = groups;
          for (int d = 0; d < 2; ++d) {
            p.input[d] = 9 + d;
            p.filter[d] = 3;
            p.padding[d] = 1;
            p.stride[d] = stride;
            p.output[d] = (p.input[d] - 1) / stride + 1;
          }
          const auto run = [&](Side* s, Scratch* scratch, size_t choice) {
            ConvBuffers b;
            b.input = s->Put(Numbers(p.InputElements(), 1));
            b.filter = s->Put(Numbers(p.FilterElements(), 2));
            b.output = s->Put(Numbers(p.OutputElements(), 3));
            Dnn* const dnn = *s->executor->dnn();
            const auto list = dnn->ConvAlgorithms(p, false);
            if (!list.ok()) {
              ADD_FAILURE() << list.status();
              return std::vector<float>();
            }
            EXPECT_EQ(dnn->Convolve(s->stream.get(), p,
                                    (*list)[choice % list->size()], b, scratch),
                      OkStatus());
            return s->Get(kind == ConvKind::kForward         ? b.output
                          : kind == ConvKind::kBackwardInput ? b.input
                                                             : b.filter);
          };
          const auto list = (*cuda_->executor->dnn())->ConvAlgorithms(p, false);
          if (!list.ok() && errors::IsUnimplemented(list.status())) continue;
          ASSERT_TRUE(list.ok()) << list.status();
          for (size_t i = 0; i < list->size(); ++i) {
            Compare(StrCat(p.ToString(), " by ", (*list)[i].name),
                    [&](Side* s, Scratch* scratch) {
                      return run(s, scratch, s == cuda_.get() ? i : 1);
                    });
          }
        }
      }
    }
  }
}

TEST_F(CudaTest, StreamsEventsTimersAndMemory) {
  StreamExecutor* const e = cuda_->executor;
  const auto a = cuda_->Put(Numbers(1 << 20, 1));
  const auto b = *e->Allocate(a.size);
  std::unique_ptr<Stream> other = *e->CreateStream();
  std::unique_ptr<Timer> timer = *e->CreateTimer();
  ASSERT_EQ(timer->Start(cuda_->stream.get()), OkStatus());
  ASSERT_EQ(cuda_->stream->CopyOnDevice(b, a, a.size), OkStatus());
  ASSERT_EQ(timer->Stop(cuda_->stream.get()), OkStatus());
  ASSERT_EQ(other->WaitFor(cuda_->stream.get()), OkStatus());
  std::vector<float> back(1 << 20);
  ASSERT_EQ(other->CopyToHost(back.data(), b, b.size), OkStatus());
  Status heard = errors::Unknown("not called");
  ASSERT_EQ(other->DoHostCallback([&](const Status& s) { heard = s; }),
            OkStatus());
  ASSERT_EQ(other->BlockHostUntilDone(), OkStatus());
  other.reset();
  EXPECT_EQ(heard, OkStatus());
  EXPECT_EQ(back, Numbers(1 << 20, 1));
  EXPECT_GT(*timer->ElapsedNanoseconds(), 0);
  const auto refused = e->Allocate(size_t{1} << 45);
  EXPECT_EQ(refused.status().code(), absl::StatusCode::kResourceExhausted);
  EXPECT_TRUE(absl::StrContains(refused.status().message(), "bytes wanted"))
      << refused.status();
}

}  // namespace
}  // namespace headrace::gpu
