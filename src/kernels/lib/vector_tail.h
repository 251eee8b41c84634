// VectorTail: applies an Epilogue (epilogue.h) in kernels that hold float sums
// in vectors. It applies scale, bias and addend, Relu and Relu6, which are
// bounds, and rounds to steps after them. Other activations, and steps after
// those, need a second pass over the written values: ApplyEpilogue(tail.rest,
// ...).
//
// Constant after construction, so thread-safe. Reads the epilogue's tensors for
// its lifetime.
#ifndef HEADRACE_KERNELS_LIB_VECTOR_TAIL_H_
#define HEADRACE_KERNELS_LIB_VECTOR_TAIL_H_

#include <algorithm>
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
      case Activation::kNone:
        break;
      default:
        rest = e;
        rest.scale = rest.bias = rest.addend = nullptr;
        return;
    }
    steps = e.steps;
    if (steps == nullptr) return;
    // A bound and then a range are one range.
    low = std::clamp(low, steps->min, steps->max);
    high = std::clamp(high, steps->min, steps->max);
  }

  // Per-channel values for the vector of channels that starts at `c`.
  template <typename Vector>
  struct Channels {
    typename Vector::Type scale, bias, low, high;
    Channels(const VectorTail& tail, int64_t c, int64_t count = Vector::kLanes)
        : scale(typename Vector::Type{} + 1.0f),
          bias(typename Vector::Type{}),
          low(typename Vector::Type{} + tail.low),
          high(typename Vector::Type{} + tail.high) {
      if (tail.scale != nullptr) Load(tail.scale + c, count, &scale);
      if (tail.bias != nullptr) Load(tail.bias + c, count, &bias);
    }

    static void Load(const float* from, int64_t count,
                     typename Vector::Type* to) {
      if (count >= Vector::kLanes) {
        *to = Vector::At(from);
        return;
      }
      float lanes[Vector::kLanes] = {};
      for (int64_t i = 0; i < count; ++i) lanes[i] = from[i];
      *to = Vector::At(lanes);
    }
  };

  // Finishes a vector of sums and stores it to element `at` of the result.
  template <typename Vector>
  void Store(const typename Vector::Type& sums,
             const Channels<Vector>& channels, int64_t at, float* out) const {
    typename Vector::Type y = sums * channels.scale + channels.bias;
    if (addend != nullptr) y += Vector::At(addend + at);
    Bound<Vector>(channels, &y);
    if (steps != nullptr) RoundToSteps<Vector>(*steps, &y);
    Vector::At(out + at) = y;
  }

  // The same for the first `count` lanes, fewer than all.
  template <typename Vector>
  void StoreLanes(const typename Vector::Type& sums,
                  const Channels<Vector>& channels, int64_t count, int64_t at,
                  float* out) const {
    typename Vector::Type y = sums * channels.scale + channels.bias;
    if (addend != nullptr) {
      typename Vector::Type more;
      Channels<Vector>::Load(addend + at, count, &more);
      y += more;
    }
    Bound<Vector>(channels, &y);
    if (steps != nullptr) RoundToSteps<Vector>(*steps, &y);
    float lanes[Vector::kLanes];
    Vector::At(lanes) = y;
    using Quad = VectorOf<16>;
    int64_t i = 0;
    for (; i + Quad::kLanes <= count; i += Quad::kLanes) {
      Quad::At(out + at + i) = Quad::At(lanes + i);
    }
    for (; i < count; ++i) out[at + i] = lanes[i];
  }

  // The same for `count` channels, with the sums in memory, one by one. Not
  // inlined: else each vector of a tile would have a copy.
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
  const FakeQuantRange* steps = nullptr;
  Epilogue rest;

 private:
  // These comparisons keep NaN.
  template <typename Vector>
  static void Bound(const Channels<Vector>& channels,
                    typename Vector::Type* y) {
    *y = *y < channels.low ? channels.low : *y;
    *y = *y > channels.high ? channels.high : *y;
  }
  // FakeQuantCode's arithmetic, and back, of what is in the range. Adding 2^23
  // leaves no digits after the point: a code has at most 16 bits.
  template <typename Vector>
  static void RoundToSteps(const FakeQuantRange& range,
                           typename Vector::Type* y) {
    using Type = typename Vector::Type;
    constexpr float kNoDigits = 8388608;
    const Type code = (*y - range.min) * range.inverse + 0.5f;
    const Type near = (code + kNoDigits) - kNoDigits;
    const Type floor = near > code ? near - 1.0f : near;
    *y = floor * range.scale + range.min;
  }
  static const float* FloatsOf(const Tensor* t) {
    return t == nullptr ? nullptr : static_cast<const float*>(t->raw_data());
  }
};

}  // namespace headrace

#endif  // HEADRACE_KERNELS_LIB_VECTOR_TAIL_H_
