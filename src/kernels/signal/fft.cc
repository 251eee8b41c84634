// Lengths with small prime factors go through Stockham's method: for each
// factor p, one pass that does all the p-point transforms and leaves its output
// in order, so nothing needs to be permuted. A length with a large prime factor
// is a convolution with a chirp (Bluestein), done with transforms of a power of
// two; the cost is n log n for every n.
#include "kernels/signal/fft.h"

#include <algorithm>
#include <cmath>
#include <numbers>

namespace headrace {
namespace {

// Above this prime factor Bluestein's three larger transforms are cheaper.
constexpr int64_t kMaxFactor = 31;

FftPlan::Complex Root(int64_t k, int64_t n) {
  const double angle =
      -2 * std::numbers::pi * static_cast<double>(k) / static_cast<double>(n);
  return {std::cos(angle), std::sin(angle)};
}

// Products spelled out: std::complex's operator* also sorts out infinities.
inline FftPlan::Complex Times(FftPlan::Complex a, FftPlan::Complex b) {
  return {a.real() * b.real() - a.imag() * b.imag(),
          a.real() * b.imag() + a.imag() * b.real()};
}

}  // namespace

FftPlan::FftPlan(int64_t n) : n_(n) {
  int64_t rest = n;
  while (rest % 4 == 0) factors_.push_back(4), rest /= 4;
  for (int64_t p = 2; p <= kMaxFactor; ++p) {
    while (rest % p == 0) factors_.push_back(p), rest /= p;
  }
  if (rest == 1) {
    roots_.resize(n);
    for (int64_t k = 0; k < n; ++k) roots_[k] = Root(k, n);
    return;
  }
  factors_.clear();
  int64_t size = 1;
  while (size < 2 * n - 1) size *= 2;
  inner_ = std::make_unique<FftPlan>(size);
  chirp_.resize(n);
  filter_.assign(size, Complex(0));
  for (int64_t k = 0; k < n; ++k) {
    const auto square =
        static_cast<int64_t>(static_cast<unsigned __int128>(k) * k % (2 * n));
    chirp_[k] = Root(square, 2 * n);
    filter_[k] = std::conj(chirp_[k]);
    filter_[(size - k) % size] = filter_[k];
  }
  std::vector<Complex> scratch;
  inner_->Forward(filter_.data(), &scratch);
}

void FftPlan::Transform(bool inverse, Complex* x,
                        std::vector<Complex>* scratch) const {
  if (!inverse) return Forward(x, scratch);
  // The conjugate of the forward transform of the conjugate.
  for (int64_t i = 0; i < n_; ++i) x[i] = std::conj(x[i]);
  Forward(x, scratch);
  const double scale = 1.0 / static_cast<double>(n_);
  for (int64_t i = 0; i < n_; ++i) x[i] = std::conj(x[i]) * scale;
}

void FftPlan::Forward(Complex* x, std::vector<Complex>* scratch) const {
  if (n_ == 1) return;
  if (inner_ != nullptr) return Bluestein(x, scratch);
  if (static_cast<int64_t>(scratch->size()) < n_) scratch->resize(n_);
  MixedRadix(x, scratch->data());
}

void FftPlan::MixedRadix(Complex* x, Complex* y) const {
  Complex* const result = x;
  int64_t stride = 1, length = n_;
  for (const int64_t p : factors_) {
    const int64_t m = length / p;
    for (int64_t q = 0; q < m; ++q) {
      const Complex* in = x + stride * q;
      Complex* out = y + stride * p * q;
      // The first roots are 1. Infinities are not multiplied by it: times its
      // imaginary part, 0, they would be NaN.
      if (p == 2 && q == 0) {
        for (int64_t r = 0; r < stride; ++r) {
          const Complex a = in[r], b = in[r + stride * m];
          out[r] = a + b;
          out[r + stride] = a - b;
        }
      } else if (p == 2) {
        const Complex w = roots_[q * stride];
        for (int64_t r = 0; r < stride; ++r) {
          const Complex a = in[r], b = in[r + stride * m];
          out[r] = a + b;
          out[r + stride] = Times(a - b, w);
        }
      } else if (p == 4) {
        const Complex w1 = roots_[q * stride], w2 = roots_[2 * q * stride];
        const Complex w3 = roots_[3 * q * stride];
        for (int64_t r = 0; r < stride; ++r) {
          const Complex a = in[r], b = in[r + stride * m];
          const Complex c = in[r + stride * 2 * m];
          const Complex d = in[r + stride * 3 * m];
          const Complex ac = a + c, bd = b + d, a_c = a - c;
          const Complex turned = {(b - d).imag(), -(b - d).real()};
          out[r] = ac + bd;
          if (q == 0) {
            out[r + stride] = a_c + turned;
            out[r + 2 * stride] = ac - bd;
            out[r + 3 * stride] = a_c - turned;
            continue;
          }
          out[r + stride] = Times(a_c + turned, w1);
          out[r + 2 * stride] = Times(ac - bd, w2);
          out[r + 3 * stride] = Times(a_c - turned, w3);
        }
      } else {
        OddRadix(p, m, q, stride, in, out);
      }
    }
    std::swap(x, y);
    length = m;
    stride *= p;
  }
  if (x != result) std::copy(x, x + n_, result);
}

// Terms j and p - j have conjugate roots: outputs k and p - k are the sum and
// the difference of what the sums of such pairs give, times cosines, and their
// differences, times sines.
void FftPlan::OddRadix(int64_t p, int64_t m, int64_t q, int64_t stride,
                       const Complex* in, Complex* out) const {
  const auto store = [&](int64_t k, int64_t r, Complex v) {
    out[r + stride * k] = q == 0 ? v : Times(v, roots_[q * k * stride]);
  };
  const int64_t half = (p - 1) / 2;
  Complex sums[kMaxFactor / 2], differences[kMaxFactor / 2];
  for (int64_t r = 0; r < stride; ++r) {
    Complex total = in[r];
    for (int64_t j = 0; j < half; ++j) {
      const Complex a = in[r + stride * m * (j + 1)];
      const Complex b = in[r + stride * m * (p - 1 - j)];
      sums[j] = a + b;
      differences[j] = a - b;
      total += sums[j];
    }
    store(0, r, total);
    for (int64_t k = 1; k <= half; ++k) {
      Complex even = in[r], odd = 0;
      for (int64_t j = 0; j < half; ++j) {
        const Complex root = roots_[(j + 1) * k % p * (n_ / p)];
        even += root.real() * sums[j];
        odd += root.imag() * differences[j];
      }
      const Complex turned = {-odd.imag(), odd.real()};
      store(k, r, even + turned);
      store(p - k, r, even - turned);
    }
  }
}

void FftPlan::Bluestein(Complex* x, std::vector<Complex>* scratch) const {
  const int64_t size = inner_->size();
  std::vector<Complex> work(size);
  for (int64_t k = 0; k < n_; ++k) work[k] = Times(x[k], chirp_[k]);
  inner_->Forward(work.data(), scratch);
  for (int64_t k = 0; k < size; ++k) work[k] = Times(work[k], filter_[k]);
  inner_->Transform(true, work.data(), scratch);
  for (int64_t k = 0; k < n_; ++k) x[k] = Times(work[k], chirp_[k]);
}

}  // namespace headrace
