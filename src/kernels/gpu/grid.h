// How functors run. A barrier-free kernel is a functor over an index; what
// needs barriers is a functor over a block, in phases:
//
//   struct Double { const float* x; float* y;
//     HR_HOST_DEVICE void operator()(int64_t i) const { y[i] = 2 * x[i]; } };
//
//   struct SumRow {
//     static constexpr int kThreads = 128, kPhases = 8;
//     struct Shared { float v[kThreads]; };
//     HR_HOST_DEVICE void Run(int phase, int64_t block, int thread,
//                             Shared* s) const;
//   };
//
// Between two phases all threads of a block wait for each other, and see what
// the others wrote to Shared and to memory. Nothing else lives from one phase
// to the next. So the host can model a block as loops: over phases, and inside
// over threads.
//
// A functor is plain data: it is copied to the device as the kernel's argument.
// A .cu unit says HR_GPU_FUNCTOR(F) or HR_GPU_BLOCK_FUNCTOR(F) for each functor
// that has device code.
#ifndef HEADRACE_KERNELS_GPU_GRID_H_
#define HEADRACE_KERNELS_GPU_GRID_H_

#include <cstdint>

#include "kernels/gpu/numeric.h"

namespace headrace::gpu {

// The threads of a block of a barrier-free kernel.
inline constexpr int kThreadsPerBlock = 256;
// More blocks than any device runs at the same time; the kernels loop.
inline constexpr int64_t kMaxBlocks = 65535;

// The address of the kernel that runs F on the device; null where no .cu unit
// has one (the host implementation needs none).
template <typename F>
inline const void* device_function = nullptr;

// The parameters of kernels.
template <typename F>
struct Elements {
  F f;
  int64_t count;
};
template <typename B>
struct Blocks {
  B b;
  int64_t count;
};

template <typename F>
void RunOnHost(const Elements<F>& p) {
  for (int64_t i = 0; i < p.count; ++i) p.f(i);
}

template <typename B>
void RunOnHost(const Blocks<B>& p) {
  typename B::Shared shared;
  for (int64_t block = 0; block < p.count; ++block) {
    // What a block finds in its shared memory is anything.
    memset(static_cast<void*>(&shared), 0xa5, sizeof(shared));
    for (int phase = 0; phase < B::kPhases; ++phase) {
      for (int thread = 0; thread < B::kThreads; ++thread) {
        p.b.Run(phase, block, thread, &shared);
      }
    }
  }
}

constexpr int Log2(int n) { return n <= 1 ? 0 : 1 + Log2(n / 2); }
template <int kThreads>
inline constexpr int kCombinePhases = Log2(kThreads);

template <int kThreads, typename C, typename Combine>
HR_HOST_DEVICE inline void CombinePhase(int phase, int thread, C* s,
                                        const Combine& combine) {
  const int half = kThreads >> (phase + 1);
  if (thread < half) s[thread] = combine(s[thread], s[thread + half]);
}

#ifdef __CUDACC__
template <typename F>
__global__ void ForEachIndex(Elements<F> p) {
  const int64_t step = static_cast<int64_t>(gridDim.x) * blockDim.x;
  int64_t i = static_cast<int64_t>(blockIdx.x) * blockDim.x + threadIdx.x;
  for (; i < p.count; i += step) p.f(i);
}

template <typename B>
__global__ void __launch_bounds__(B::kThreads) ForEachBlock(Blocks<B> p) {
  __shared__ typename B::Shared shared;
  for (int64_t block = blockIdx.x; block < p.count; block += gridDim.x) {
    for (int phase = 0; phase < B::kPhases; ++phase) {
      p.b.Run(phase, block, threadIdx.x, &shared);
      __syncthreads();
    }
  }
}

template <typename F>
bool HasDeviceCode(const void* function) {
  device_function<F> = function;
  return true;
}
#define HR_GPU_UNIQUE(A, B) HR_GPU_UNIQUE2(A, B)
#define HR_GPU_UNIQUE2(A, B) A##B
#define HR_GPU_FUNCTOR(...)                                 \
  static const bool HR_GPU_UNIQUE(has_code_, __COUNTER__) = \
      ::headrace::gpu::HasDeviceCode<__VA_ARGS__>(          \
          reinterpret_cast<const void*>(                    \
              &::headrace::gpu::ForEachIndex<__VA_ARGS__>))
#define HR_GPU_BLOCK_FUNCTOR(...)                           \
  static const bool HR_GPU_UNIQUE(has_code_, __COUNTER__) = \
      ::headrace::gpu::HasDeviceCode<__VA_ARGS__>(          \
          reinterpret_cast<const void*>(                    \
              &::headrace::gpu::ForEachBlock<__VA_ARGS__>))
#endif

// Division by sizes that are known on the host only, of numbers that mostly fit
// 32 bits.
HR_HOST_DEVICE inline int64_t Divide(int64_t a, int64_t b) {
#ifdef __CUDA_ARCH__
  if (((a | b) >> 32) == 0) {
    return static_cast<uint32_t>(a) / static_cast<uint32_t>(b);
  }
#endif
  return a / b;
}

// Where element i of a box lies for kOperands arrays: i is taken apart by the
// sizes, the last dim first, and each array adds index times stride.
template <int kOperands, int kRank = 8>
struct StridedBox {
  static constexpr int kMaxRank = kRank;
  int rank = 0;
  int64_t size[kRank] = {};
  int64_t stride[kOperands][kRank] = {};

  HR_HOST_DEVICE void Offsets(int64_t i, int64_t* offsets) const {
    for (int k = 0; k < kOperands; ++k) offsets[k] = 0;
    for (int d = rank - 1; d >= 0; --d) {
      const int64_t next = d == 0 ? 0 : Divide(i, size[d]);
      const int64_t at = i - next * size[d];
      for (int k = 0; k < kOperands; ++k) offsets[k] += at * stride[k][d];
      i = next;
    }
  }
  HR_HOST_DEVICE int64_t Offset(int64_t i) const {
    static_assert(kOperands == 1);
    int64_t offset;
    Offsets(i, &offset);
    return offset;
  }
};

}  // namespace headrace::gpu

#endif  // HEADRACE_KERNELS_GPU_GRID_H_
