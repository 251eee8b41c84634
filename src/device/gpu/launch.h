// Launches of functors as kernels. A source *.cu.cc that launches is compiled
// by nvcc for libheadrace_cuda.so, and as plain C++ for
// libheadrace_gpu_host.so, where a launch is a loop over the grid. What it
// includes must compile as both.
//
// The functor is the kernel's parameter: it holds numbers and device addresses,
// can be copied as bytes, and has at most kMaxKernelParams bytes.
//
//   struct ReluBody {                       // one call for each element
//     static constexpr const char* kName = "Relu<float>";
//     const float* x; float* y;
//     HR_GPU_BODY void operator()(int64_t i) const {
//       y[i] = x[i] > 0 ? x[i] : 0;
//     }
//   };
//   Status LaunchRelu(Stream* s, const float* x, float* y, int64_t n) {
//     return LaunchElements(s, n, ReluBody{x, y});
//   }
#ifndef HEADRACE_DEVICE_GPU_LAUNCH_H_
#define HEADRACE_DEVICE_GPU_LAUNCH_H_

#include <algorithm>
#include <cstdint>
#include <type_traits>
#include <vector>

#include "device/gpu/stream_executor.h"

#ifdef __CUDACC__
#define HR_GPU_BODY __host__ __device__
#else
#define HR_GPU_BODY
#endif

namespace headrace::gpu {

// What a thread of a block knows of its place.
struct BlockThread {
  int64_t block = 0;  // in the grid, 0 .. blocks-1
  int64_t blocks = 1;
  int32_t thread = 0;  // in the block, 0 .. threads-1
  int32_t threads = 1;
};

namespace internal {

// An elements kernel: f(i) for i in [0, count).
template <typename F>
struct ElementsParams {
  F f;
  int64_t count;
};
template <typename F>
void ElementsOnHost(const LaunchDims&, const void* params) {
  const auto& p = *static_cast<const ElementsParams<F>*>(params);
  for (int64_t i = 0; i < p.count; ++i) p.f(i);
}

// A blocks kernel: f(phase, place, shared) for phases 0 .. f.phases()-1, with a
// barrier of the block's threads between phases.
template <typename F>
void BlocksOnHost(const LaunchDims& dims, const void* params) {
  const F& f = *static_cast<const F*>(params);
  // 16 bytes at a time, for what the functor puts there.
  struct alignas(16) Line {
    char bytes[16];
  };
  std::vector<Line> shared((dims.shared_bytes + 15) / 16 + 1);
  BlockThread at;
  at.blocks = dims.grid.x;
  at.threads = static_cast<int32_t>(dims.block.x);
  for (at.block = 0; at.block < at.blocks; ++at.block) {
    const int phases = f.phases();
    for (int phase = 0; phase < phases; ++phase) {
      for (at.thread = 0; at.thread < at.threads; ++at.thread) {
        f(phase, at, static_cast<void*>(shared.data()));
      }
    }
  }
}

#ifdef __CUDACC__
template <typename F>
__global__ void ElementsOnDevice(ElementsParams<F> p) {
  const int64_t step = int64_t{blockDim.x} * gridDim.x;
  for (int64_t i = int64_t{blockIdx.x} * blockDim.x + threadIdx.x; i < p.count;
       i += step) {
    p.f(i);
  }
}
template <typename F>
__global__ void BlocksOnDevice(F f) {
  extern __shared__ __align__(16) char hr_shared[];
  BlockThread at;
  at.block = blockIdx.x;
  at.blocks = gridDim.x;
  at.thread = static_cast<int32_t>(threadIdx.x);
  at.threads = static_cast<int32_t>(blockDim.x);
  const int phases = f.phases();
  for (int phase = 0; phase < phases; ++phase) {
    if (phase > 0) __syncthreads();
    f(phase, at, static_cast<void*>(hr_shared));
  }
}
#define HR_GPU_ENTRY_(...) reinterpret_cast<const void*>(&__VA_ARGS__)
#else
#define HR_GPU_ENTRY_(...) nullptr
#endif

}  // namespace internal

// The grid for `count` elements: blocks of 256 threads, no more than fill the
// device several times over; threads step through the rest.
LaunchDims ElementsDims(const DeviceDescription& device, int64_t count);

// Queues f(i) for each i in [0, count), in any order. 0 elements: nothing.
template <typename F>
Status LaunchElements(Stream* stream, int64_t count, const F& f) {
  using Params = internal::ElementsParams<F>;
  static_assert(std::is_trivially_copyable_v<F>);
  static_assert(sizeof(Params) <= kMaxKernelParams);
  static constexpr auto kHost = &internal::ElementsOnHost<F>;
  static const GpuKernel kernel{F::kName, kHost,
                                HR_GPU_ENTRY_(internal::ElementsOnDevice<F>)};
  if (count <= 0) return OkStatus();
  const Params params{f, count};
  return stream->Launch(kernel,
                        ElementsDims(stream->parent()->description(), count),
                        &params, sizeof(params));
}

// Queues `blocks` blocks of `threads` threads, each with `shared_bytes` of
// shared memory. F has
//   HR_GPU_BODY int phases() const;
//   HR_GPU_BODY void operator()(int phase, const BlockThread& at,
//                               void* shared) const;
// Between phases the threads of a block meet. Only what is in shared or global
// memory outlives a phase. Within a phase threads of a block must not depend on
// each other's writes.
template <typename F>
Status LaunchBlocks(Stream* stream, int64_t blocks, int threads,
                    uint32_t shared_bytes, const F& f) {
  static_assert(std::is_trivially_copyable_v<F>);
  static_assert(sizeof(F) <= kMaxKernelParams);
  static constexpr auto kHost = &internal::BlocksOnHost<F>;
  static const GpuKernel kernel{F::kName, kHost,
                                HR_GPU_ENTRY_(internal::BlocksOnDevice<F>)};
  if (blocks <= 0) return OkStatus();
  if (blocks > INT32_MAX) {
    return errors::InvalidArgument("kernel ", F::kName, ": ", blocks,
                                   " blocks, the most are ", INT32_MAX);
  }
  LaunchDims dims;
  dims.grid.x = static_cast<uint32_t>(blocks);
  dims.block.x = static_cast<uint32_t>(threads);
  dims.shared_bytes = shared_bytes;
  return stream->Launch(kernel, dims, &f, sizeof(f));
}

}  // namespace headrace::gpu

#endif  // HEADRACE_DEVICE_GPU_LAUNCH_H_
