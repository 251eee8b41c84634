// VectorTail: an Epilogue (epilogue.h) as kernels apply it that hold sums of
// floats in vectors: scale, bias and addend, and Relu and Relu6, which are
// bounds. Other activations need a pass of their own over what was just
// written, ApplyEpilogue(tail.rest, ...).
//
// Constant once made, hence thread-safe. Reads the epilogue's tensors as long
// as it lives.
#ifndef HEADRACE_KERNELS_LIB_VECTOR_TAIL_H_
#define HEADRACE_KERNELS_LIB_VECTOR_TAIL_H_

#include <cstdint>
#include <limits>

#include "kernels/lib/epilogue.h"
#include "kernels/lib/simd_width.h"

namespace headrace {

struct VectorTail {
  explicit VectorTail(const Epilogue& e)
      : scale(FloatsOf(e.scale)),
        bias(FloatsOf(e.bias)),
        addend(FloatsOf(e.addend)) {
    switch (e.activation) {
      case Activation::kRelu6:
        high = 6;
        [[fallthrough]];
      case Activation::kRelu:
        low = 0;
        break;
      default:
        rest = e;
        rest.scale = rest.bias = rest.addend = nullptr;
    }
  }

  // What a vector of channels from `c` on needs.
  template <typename Vector>
  struct Channels {
    typename Vector::Type scale, bias, low, high;
    Channels(const VectorTail& tail, int64_t c)
        : scale(typename Vector::Type{} + 1.0f),
          bias(typename Vector::Type{}),
          low(typename Vector::Type{} + tail.low),
          high(typename Vector::Type{} + tail.high) {
      if (tail.scale != nullptr) scale = Vector::At(tail.scale + c);
      if (tail.bias != nullptr) bias = Vector::At(tail.bias + c);
    }
  };

  // Puts a vector of sums where it goes, element `at` of the result.
  template <typename Vector>
  void Store(const typename Vector::Type& sums,
             const Channels<Vector>& channels, int64_t at, float* out) const {
    using V = typename Vector::Type;
    V y = sums * channels.scale + channels.bias;
    if (addend != nullptr) y += Vector::At(addend + at);
    // Comparisons that keep NaN.
    y = y < channels.low ? channels.low : y;
    y = y > channels.high ? channels.high : y;
    Vector::At(out + at) = y;
  }

  // The same for `count` channels, fewer than a vector has, whose sums lie in
  // memory. Not inlined: it would be once for each vector of a tile.
  __attribute__((noinline)) void StorePart(const float* sums, int64_t count,
                                           int64_t c, int64_t at,
                                           float* out) const {
    using Scalar = ScalarOf<>;
    for (int64_t i = 0; i < count; ++i) {
      Store(sums[i], Channels<Scalar>(*this, c + i), at + i, out);
    }
  }

  const float* scale;
  const float* bias;
  const float* addend;
  float low = -std::numeric_limits<float>::infinity();
  float high = std::numeric_limits<float>::infinity();
  Epilogue rest;

 private:
  static const float* FloatsOf(const Tensor* t) {
    return t == nullptr ? nullptr : static_cast<const float*>(t->raw_data());
  }
};

}  // namespace headrace

#endif  // HEADRACE_KERNELS_LIB_VECTOR_TAIL_H_
