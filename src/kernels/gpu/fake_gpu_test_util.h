// For tests: a stream that does its work at once in the host's memory, and a
// Blas and a Dnn that note what they are asked for.
#ifndef HEADRACE_KERNELS_GPU_FAKE_GPU_TEST_UTIL_H_
#define HEADRACE_KERNELS_GPU_FAKE_GPU_TEST_UTIL_H_

#include <cstring>
#include <functional>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "device/gpu/blas.h"
#include "device/gpu/dnn.h"
#include "kernels/gpu/conv_launch.h"

namespace headrace::gpu {

class FakeStream : public Stream {
 public:
  StreamExecutor* parent() const override { return nullptr; }
  Status status() override { return OkStatus(); }
  Status BlockHostUntilDone() override { return OkStatus(); }
  Status CopyToDevice(DeviceMemoryBase dst, const void* src,
                      size_t bytes) override {
    std::memcpy(dst.opaque, src, bytes);
    return OkStatus();
  }
  Status CopyToHost(void* dst, DeviceMemoryBase src, size_t bytes) override {
    std::memcpy(dst, src.opaque, bytes);
    return OkStatus();
  }
  Status CopyOnDevice(DeviceMemoryBase dst, DeviceMemoryBase src,
                      size_t bytes) override {
    std::memmove(dst.opaque, src.opaque, bytes);
    return OkStatus();
  }
  Status Fill(DeviceMemoryBase dst, uint8_t value, size_t bytes) override {
    std::memset(dst.opaque, value, bytes);
    return OkStatus();
  }
  Status Launch(const GpuKernel& kernel, const LaunchDims& dims,
                const void* params, size_t bytes) override {
    launches.push_back(kernel.name);
    kernel.host(dims, params);
    return OkStatus();
  }
  Status Record(Event*) override { return OkStatus(); }
  Status WaitFor(Event*) override { return OkStatus(); }
  Status WaitFor(Stream*) override { return OkStatus(); }
  Status DoHostCallback(std::function<void(const Status&)> callback) override {
    callback(OkStatus());
    return OkStatus();
  }
  void* platform_handle() const override { return nullptr; }

  int LaunchesOf(const std::string& functor) const {
    int n = 0;
    for (const std::string& name : launches) {
      n += name.find(functor) != std::string::npos;
    }
    return n;
  }

  std::vector<std::string> launches;
};

class FakeBlas : public Blas {
 public:
  Status Gemm(Stream*, const GemmProblem& problem, DeviceMemoryBase a,
              DeviceMemoryBase b, DeviceMemoryBase bias, DeviceMemoryBase c,
              ScratchAllocator*) override {
    problems.push_back(problem);
    return CheckGemm(problem, a, b, bias, c);
  }
  std::vector<GemmProblem> problems;
};

// Has the algorithms that it is given. Each leaves `fill`, or its own value of
// `fills`, in what it computes, and takes its workspace.
class FakeDnn : public Dnn {
 public:
  int version() const override { return 91200; }
  bool PrefersNhwc(DataType) const override { return prefers_nhwc; }
  bool CanFuse(const ConvProblem& p) const override {
    return fuses && !(p.has_addend && !p.has_bias);
  }
  StatusOr<std::vector<ConvAlgorithm>> ConvAlgorithms(
      const ConvProblem& problem, bool deterministic) override {
    HR_RETURN_IF_ERROR(CheckConv(problem));
    ++lists;
    std::vector<ConvAlgorithm> out;
    for (const ConvAlgorithm& a : algorithms) {
      if (a.deterministic || !deterministic) out.push_back(a);
    }
    return out;
  }
  Status Convolve(Stream* stream, const ConvProblem& problem,
                  const ConvAlgorithm& algorithm, const ConvBuffers& buffers,
                  ScratchAllocator* scratch) override {
    if (algorithm.workspace_bytes > 0) {
      if (scratch == nullptr) {
        return errors::InvalidArgument("no scratch for ", algorithm.name);
      }
      HR_RETURN_IF_ERROR(scratch->Allocate(algorithm.workspace_bytes).status());
    }
    tried.push_back(problem);
    if (refuses && refuses(problem, algorithm)) {
      return errors::Unimplemented("CUDNN_STATUS_NOT_SUPPORTED: ",
                                   algorithm.name);
    }
    problems.push_back(problem);
    ran.push_back(algorithm.name);
    const DeviceMemoryBase& to =
        problem.kind == ConvKind::kForward         ? buffers.output
        : problem.kind == ConvKind::kBackwardInput ? buffers.input
                                                   : buffers.filter;
    if (problem.type == DT_FLOAT) {
      float* const p = static_cast<float*>(to.opaque);
      const float value =
          algorithm.name == wrong ? 1000.0f : static_cast<float>(1);
      for (size_t i = 0; i < to.size / sizeof(float); ++i) p[i] = value;
    }
    return OkStatus();
  }
  bool prefers_nhwc = true, fuses = true;
  std::string wrong;  // the algorithm whose result is wrong
  // What Convolve says it cannot do; null: nothing.
  std::function<bool(const ConvProblem&, const ConvAlgorithm&)> refuses;
  std::vector<ConvAlgorithm> algorithms = {{0, "first"}};
  std::vector<ConvProblem> tried;     // by Convolve
  std::vector<ConvProblem> problems;  // those that ran
  std::vector<std::string> ran;
  int lists = 0;  // calls of ConvAlgorithms
};

// Host memory up to a limit.
class FakeScratch : public ScratchAllocator {
 public:
  // `limit`: what callers are told. `there`: what there is.
  FakeScratch(int64_t limit, int64_t there) : limit_(limit), there_(there) {}
  int64_t MemoryLimit() const override { return limit_; }
  StatusOr<DeviceMemoryBase> Allocate(int64_t bytes) override {
    if (bytes > there_) {
      return errors::ResourceExhausted("scratch: wanted ", bytes, ", free ",
                                       there_);
    }
    memory_.push_back(std::make_unique<char[]>(bytes));
    return DeviceMemoryBase(memory_.back().get(), bytes);
  }

 private:
  const int64_t limit_, there_;
  std::vector<std::unique_ptr<char[]>> memory_;
};

// Says that each interval took the next of `times`, in nanoseconds; the last
// one again and again.
class FakeTimer : public Timer {
 public:
  explicit FakeTimer(std::vector<int64_t>* times) : times_(times) {}
  Status Start(Stream*) override { return OkStatus(); }
  Status Stop(Stream*) override { return OkStatus(); }
  StatusOr<int64_t> ElapsedNanoseconds() override {
    const int64_t t = times_->front();
    if (times_->size() > 1) times_->erase(times_->begin());
    return t;
  }

 private:
  std::vector<int64_t>* const times_;
};

}  // namespace headrace::gpu

#endif  // HEADRACE_KERNELS_GPU_FAKE_GPU_TEST_UTIL_H_
