// Blas of the host platform: rows of the result, one after the other.
#include <vector>

#include "device/gpu/blas.h"
#include "device/gpu/host/host_numbers.h"
#include "device/gpu/host/host_platform.h"

namespace headrace::gpu {
namespace {

template <typename T>
void Multiply(const GemmProblem& p, const T* a, const T* b, const T* bias,
              T* c) {
  using S = SumOf<T>;
  std::vector<S> sums(p.n);
  // b with k rows of n, as sums.
  std::vector<S> rows(p.k * p.n);
  for (int64_t batch = 0; batch < p.batch; ++batch) {
    const T* const a0 = a + batch * p.stride_a;
    const T* const b0 = b + batch * p.stride_b;
    T* const c0 = c + batch * p.stride_c;
    if (batch == 0 || p.stride_b != 0) {
      for (int64_t k = 0; k < p.k; ++k) {
        for (int64_t j = 0; j < p.n; ++j) {
          rows[k * p.n + j] = static_cast<S>(p.transpose_b ? b0[j * p.ldb + k]
                                                           : b0[k * p.ldb + j]);
        }
      }
    }
    for (int64_t i = 0; i < p.m; ++i) {
      std::fill(sums.begin(), sums.end(), S(0));
      for (int64_t k = 0; k < p.k; ++k) {
        const S factor = static_cast<S>(p.transpose_a ? a0[k * p.lda + i]
                                                      : a0[i * p.lda + k]);
        const S* const row = rows.data() + k * p.n;
        for (int64_t j = 0; j < p.n; ++j) sums[j] += factor * row[j];
      }
      T* const out = c0 + i * p.ldc;
      for (int64_t j = 0; j < p.n; ++j) {
        S v = static_cast<S>(p.alpha) * sums[j];
        if (p.beta != 0) {
          v += static_cast<S>(p.beta) * static_cast<S>(out[j]);
        }
        if (p.has_bias) v += static_cast<S>(bias[j]);
        out[j] = static_cast<T>(Activate(p.activation, v));
      }
    }
  }
}

class HostBlas : public Blas {
 public:
  Status Gemm(Stream* stream, const GemmProblem& p, DeviceMemoryBase a,
              DeviceMemoryBase b, DeviceMemoryBase bias, DeviceMemoryBase c,
              ScratchAllocator*) override {
    HR_RETURN_IF_ERROR(CheckGemm(p, a, b, bias, c));
    if (p.m == 0 || p.n == 0 || p.batch == 0) return OkStatus();
    return static_cast<HostStream*>(stream)->Enqueue(p.ToString(), [p, a, b,
                                                                    bias, c] {
      ForFloatingType(p.type, [&](auto zero) {
        using T = decltype(zero);
        Multiply(p, static_cast<const T*>(a.opaque),
                 static_cast<const T*>(b.opaque),
                 static_cast<const T*>(bias.opaque), static_cast<T*>(c.opaque));
      });
      return OkStatus();
    });
  }
};

}  // namespace

std::unique_ptr<Blas> NewHostBlas() { return std::make_unique<HostBlas>(); }

}  // namespace headrace::gpu
