#include "kernels/lib/gemm_kernel.h"

#include <Eigen/Core>
#include <cstring>
#include <limits>
#include <type_traits>

#include "base/cpu.h"
#include "headrace/simd.h"
#ifdef HEADRACE_HAVE_XSMM
#include <libxsmm.h>
#include <pthread.h>

#include <atomic>
#include <climits>
#include <thread>

#include "headrace/mutex.h"
#endif

namespace headrace {
namespace {

#ifdef HEADRACE_HAVE_XSMM
// libxsmm generates code under its own locks. A child of fork() would find them
// locked for ever if another thread held them. So the forking thread waits
// until no thread is in libxsmm. Threads count themselves on different cache
// lines.
class XsmmUse {
 public:
  XsmmUse() {
    static std::atomic<int> threads{0};
    thread_local const int index = threads.fetch_add(1) % kLines;
    line_ = &lines_[index].inside;
    for (;;) {
      line_->fetch_add(1);
      if (!forking_.load()) [[likely]]
        return;
      line_->fetch_sub(1);
      while (forking_.load()) std::this_thread::yield();
    }
  }
  ~XsmmUse() { line_->fetch_sub(1, std::memory_order_release); }
  XsmmUse(const XsmmUse&) = delete;
  XsmmUse& operator=(const XsmmUse&) = delete;

 private:
  static constexpr int kLines = 16;
  struct alignas(64) Line {
    std::atomic<int> inside;
  };
  static void BeforeFork() ACQUIRE(fork_mu_) {
    fork_mu_.Lock();
    forking_.store(true);
    for (const Line& l : lines_) {
      while (l.inside.load() != 0) std::this_thread::yield();
    }
  }
  static void AfterFork() RELEASE(fork_mu_) {
    forking_.store(false);
    fork_mu_.Unlock();
  }
  static void AfterForkInChild() RELEASE(fork_mu_) {
    // Threads of the parent may have been about to count themselves out.
    for (Line& l : lines_) l.inside.store(0);
    AfterFork();
  }

  static inline Line lines_[kLines];
  static inline std::atomic<bool> forking_{false};
  static inline Mutex fork_mu_;
  [[maybe_unused]] static inline const int registered_ =
      pthread_atfork(&BeforeFork, &AfterFork, &AfterForkInChild);
  std::atomic<int>* line_;
};

// libxsmm's tables are set up once, before any look-up; those are thread-safe.
void InitXsmm() {
  static const bool done = [] {
    libxsmm_init();
    libxsmm_set_verbosity(0);
    const CpuFeatures& cpu = HostCpu();
    const int most = cpu.avx512f ? INT_MAX
                     : cpu.avx2  ? LIBXSMM_X86_AVX2
                                 : LIBXSMM_X86_SSE4;
    if (libxsmm_get_target_archid() > most) libxsmm_set_target_archid(most);
    return true;
  }();
  (void)done;
}

// Null if there is no generated code for the shape.
template <typename T>
auto Dispatch(const typename GemmKernel<T>::Shape& s) {
  InitXsmm();  // fork waits for it here (base/fork.h), but not in XsmmUse
  const XsmmUse use;
  const int m = s.n, n = s.m, k = s.k, lda = s.ldb, ldb = s.lda, ldc = s.ldc;
  const T alpha = 1, beta = s.accumulate ? 1 : 0;
  const int flags =
      s.transpose_a ? LIBXSMM_GEMM_FLAG_TRANS_B : LIBXSMM_GEMM_FLAG_NONE;
  const int prefetch =
      s.fetch_next_b ? LIBXSMM_GEMM_PREFETCH_AL2 : LIBXSMM_GEMM_PREFETCH_NONE;
  if constexpr (std::is_same_v<T, float>) {
    return libxsmm_smmdispatch(m, n, k, &lda, &ldb, &ldc, &alpha, &beta, &flags,
                               &prefetch);
  } else {
    return libxsmm_dmmdispatch(m, n, k, &lda, &ldb, &ldc, &alpha, &beta, &flags,
                               &prefetch);
  }
}
#endif

template <typename T>
void EigenBlock(const typename GemmKernel<T>::Shape& s, const T* a, const T* b,
                T* c) {
  using Matrix =
      Eigen::Matrix<T, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>;
  using Stride = Eigen::OuterStride<>;
  using In = Eigen::Map<const Matrix, 0, Stride>;
  const In bm(b, s.k, s.n, Stride(s.ldb));
  Eigen::Map<Matrix, 0, Stride> cm(c, s.m, s.n, Stride(s.ldc));
  if (!s.accumulate) cm.setZero();
  if (s.transpose_a) {
    cm.noalias() += In(a, s.k, s.m, Stride(s.lda)).transpose() * bm;
  } else {
    cm.noalias() += In(a, s.m, s.k, Stride(s.lda)) * bm;
  }
}

void IntegerBlock(const GemmKernel<int32_t>::Shape& s, const int32_t* a,
                  const int32_t* b, int32_t* c) {
  RunSimd([&] {
    for (int64_t i = 0; i < s.m; ++i) {
      int32_t* row = c + i * s.ldc;
      if (!s.accumulate) std::fill(row, row + s.n, 0);
      for (int64_t p = 0; p < s.k; ++p) {
        // Unsigned, where wrapping around is defined.
        const uint32_t x = s.transpose_a ? a[p * s.lda + i] : a[i * s.lda + p];
        const int32_t* y = b + p * s.ldb;
        for (int64_t j = 0; j < s.n; ++j) {
          row[j] = static_cast<int32_t>(static_cast<uint32_t>(row[j]) +
                                        x * static_cast<uint32_t>(y[j]));
        }
      }
    }
  });
}

}  // namespace

template <typename T>
GemmKernel<T>::GemmKernel(const Shape& shape, bool generate) : shape_(shape) {
#ifdef HEADRACE_HAVE_XSMM
  if constexpr (!std::is_same_v<T, int32_t>) {
    const int64_t most = std::numeric_limits<int>::max();
    if (generate && shape.m <= most && shape.n <= most && shape.k <= most &&
        shape.lda <= most && shape.ldb <= most && shape.ldc <= most) {
      code_.fn = Dispatch<T>(shape);
    }
  }
#else
  (void)generate;
#endif
}

template <typename T>
void GemmKernel<T>::RunPortable(const T* a, const T* b, T* c) const {
  if constexpr (std::is_same_v<T, int32_t>) {
    IntegerBlock(shape_, a, b, c);
  } else {
    EigenBlock<T>(shape_, a, b, c);
  }
}

template <typename T>
void PackPanel(const T* b, int64_t ldb, bool transpose_b, int64_t k0,
               int64_t n0, int64_t k, int64_t n, T* panel) {
  if (!transpose_b) {
    const T* from = b + k0 * ldb + n0;
    for (int64_t i = 0; i < k; ++i) {
      std::memcpy(panel + i * n, from + i * ldb, n * sizeof(T));
    }
    return;
  }
  // Eight rows of B at once: each line of the panel is then written in runs of
  // eight while eight lines of B are read on. B may lie at any address.
  const T* from = b + n0 * ldb + k0;
  int64_t j = 0;
  for (; j + 8 <= n; j += 8) {
    const T* rows = from + j * ldb;
    for (int64_t i = 0; i < k; ++i) {
      T* to = panel + i * n + j;
      for (int64_t r = 0; r < 8; ++r) {
        std::memcpy(to + r, rows + r * ldb + i, sizeof(T));
      }
    }
  }
  for (; j < n; ++j) {
    for (int64_t i = 0; i < k; ++i) {
      std::memcpy(panel + i * n + j, from + j * ldb + i, sizeof(T));
    }
  }
}

#define HR_INSTANTIATE(T)                                               \
  template class GemmKernel<T>;                                         \
  template void PackPanel<T>(const T*, int64_t, bool, int64_t, int64_t, \
                             int64_t, int64_t, T*);
HR_INSTANTIATE(float)
HR_INSTANTIATE(double)
HR_INSTANTIATE(int32_t)
#undef HR_INSTANTIATE

}  // namespace headrace
