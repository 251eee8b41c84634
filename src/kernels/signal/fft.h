// Discrete Fourier transforms of any length, in double precision. A plan holds
// the twiddle factors of one length and may be used by many threads at once.
#ifndef HEADRACE_KERNELS_SIGNAL_FFT_H_
#define HEADRACE_KERNELS_SIGNAL_FFT_H_

#include <complex>
#include <cstdint>
#include <memory>
#include <vector>

namespace headrace {

class FftPlan {
 public:
  using Complex = std::complex<double>;

  // n >= 1.
  explicit FftPlan(int64_t n);

  int64_t size() const { return n_; }
  // x[k] <- sum_j x[j] exp(-2 pi i j k / n). With `inverse` the sign changes
  // and the result is divided by n. The caller owns `scratch`; reuse it between
  // calls.
  void Transform(bool inverse, Complex* x, std::vector<Complex>* scratch) const;

 private:
  void Forward(Complex* x, std::vector<Complex>* scratch) const;
  void MixedRadix(Complex* x, Complex* y) const;
  void OddRadix(int64_t p, int64_t m, int64_t q, int64_t stride,
                const Complex* in, Complex* out) const;
  void Bluestein(Complex* x, std::vector<Complex>* scratch) const;

  int64_t n_;
  std::vector<int64_t> factors_;  // empty: Bluestein
  std::vector<Complex> roots_;    // exp(-2 pi i k / n)
  // Bluestein: chirp_[k] = exp(-pi i k^2 / n), and the transform of its
  // conjugate, wrapped around, of the power of two that `inner_` is for.
  std::vector<Complex> chirp_, filter_;
  std::unique_ptr<FftPlan> inner_;
};

}  // namespace headrace

#endif  // HEADRACE_KERNELS_SIGNAL_FFT_H_
