// Launches functors (grid.h) on streams. A kernel's source is plain C++; the
// functor's device code comes from a .cu unit of the library for CUDA.
#ifndef HEADRACE_KERNELS_GPU_LAUNCH_FUNCTOR_H_
#define HEADRACE_KERNELS_GPU_LAUNCH_FUNCTOR_H_

#include <algorithm>
#include <string>

#include "device/gpu/stream_executor.h"
#include "kernels/gpu/grid.h"

namespace headrace::gpu {

namespace launch_internal {

// "headrace::gpu::UnaryMap<...>", out of the compiler's name for this function.
template <typename F>
const char* NameOf() {
  static const std::string* const name = [] {
    const std::string text = __PRETTY_FUNCTION__;
    const size_t at = text.find("F = ");
    const size_t begin = at == std::string::npos ? 0 : at + 4;
    return new std::string(text.substr(begin, text.size() - begin - 1));
  }();
  return name->c_str();
}

template <typename P>
void HostEntry(const LaunchDims&, const void* params) {
  RunOnHost(*static_cast<const P*>(params));
}

template <typename F, typename P>
Status Launch(Stream* stream, int threads, int64_t blocks, const P& params) {
  static_assert(std::is_trivially_copyable_v<P>);
  static_assert(sizeof(P) <= kMaxKernelParams);
  static const GpuKernel kernel{NameOf<F>(), &HostEntry<P>, device_function<F>};
  LaunchDims dims;
  dims.block.x = static_cast<uint32_t>(threads);
  dims.grid.x = static_cast<uint32_t>(std::min(blocks, kMaxBlocks));
  return stream->Launch(kernel, dims, &params, sizeof(params));
}

}  // namespace launch_internal

// Queues f(i) for each i in [0, n), in any order. n == 0: nothing.
template <typename F>
Status ForEach(Stream* stream, int64_t n, const F& f) {
  if (n <= 0) return OkStatus();
  return launch_internal::Launch<F>(
      stream, kThreadsPerBlock, (n + kThreadsPerBlock - 1) / kThreadsPerBlock,
      Elements<F>{f, n});
}

// Queues the blocks [0, n) of B, in any order.
template <typename B>
Status ForBlocks(Stream* stream, int64_t n, const B& b) {
  if (n <= 0) return OkStatus();
  return launch_internal::Launch<B>(stream, B::kThreads, n, Blocks<B>{b, n});
}

}  // namespace headrace::gpu

#endif  // HEADRACE_KERNELS_GPU_LAUNCH_FUNCTOR_H_
