// Converts the generator's blocks to results in groups. A block of four words
// gives four 32-bit results or two 64-bit results. Result i comes from block i
// / group size, for any number of threads. Truncated normals reject samples, so
// each of their groups has its own part of the stream: 64 blocks per result.
// Normals are Box-Muller pairs, the sine first.
#include "kernels/random/random_fill.h"

#include <algorithm>
#include <cmath>
#include <vector>

#include "headrace/simd.h"
#include "kernels/lib/visit_type.h"
#include "kernels/random/random_sampling.h"

namespace headrace {
namespace {

// Blocks first..first+n-1 of the stream, four words each. Sixteen at a time go
// through the rounds side by side, in the lanes of vector registers.
inline void Generate(const Philox& stream, int64_t first, int64_t n,
                     uint32_t* out) {
  constexpr int kLanes = 16;
  const Philox::Counter start = stream.counter() + first;
  for (int64_t at = 0; at < n; at += kLanes) {
    uint32_t c0[kLanes], c1[kLanes], c2[kLanes], c3[kLanes];
    for (int l = 0; l < kLanes; ++l) {
      const Philox::Counter c = start + at + l;
      c0[l] = static_cast<uint32_t>(c);
      c1[l] = static_cast<uint32_t>(c >> 32);
      c2[l] = static_cast<uint32_t>(c >> 64);
      c3[l] = static_cast<uint32_t>(c >> 96);
    }
    uint32_t k0 = static_cast<uint32_t>(stream.key());
    uint32_t k1 = static_cast<uint32_t>(stream.key() >> 32);
    for (int round = 0; round < 10; ++round) {
      for (int l = 0; l < kLanes; ++l) {
        const uint64_t p0 = uint64_t{Philox::kMul0} * c0[l];
        const uint64_t p1 = uint64_t{Philox::kMul1} * c2[l];
        c0[l] = static_cast<uint32_t>(p1 >> 32) ^ c1[l] ^ k0;
        c1[l] = static_cast<uint32_t>(p1);
        c2[l] = static_cast<uint32_t>(p0 >> 32) ^ c3[l] ^ k1;
        c3[l] = static_cast<uint32_t>(p0);
      }
      k0 += Philox::kWeyl0;
      k1 += Philox::kWeyl1;
    }
    const int m = static_cast<int>(std::min<int64_t>(kLanes, n - at));
    for (int l = 0; l < m; ++l) {
      uint32_t* o = out + (at + l) * 4;
      o[0] = c0[l];
      o[1] = c1[l];
      o[2] = c2[l];
      o[3] = c3[l];
    }
  }
}

// Calls convert(words, out, count) on pieces of at most kChunk blocks; `per`
// results come from each block.
constexpr int64_t kChunk = 64;
template <int per, typename T, typename F>
void FillBlocks(OpKernelContext* ctx, const Philox& stream, T* out, int64_t n,
                double ns_per_block, const F& convert) {
  const int64_t blocks = (n + per - 1) / per;
  ctx->ParallelFor(blocks, ns_per_block, [&](int64_t begin, int64_t end) {
    uint32_t words[kChunk * 4];
    for (int64_t b = begin; b < end; b += kChunk) {
      const int64_t m = std::min(kChunk, end - b);
      RunSimd([&] { Generate(stream, b, m, words); });
      convert(words, out + b * per, std::min(m * per, n - b * per));
    }
  });
}

template <typename T>
T FromWord(uint32_t x) {
  if constexpr (std::is_same_v<T, float>) return UniformFloat(x);
  if constexpr (std::is_same_v<T, half>) return UniformHalf(x);
  if constexpr (std::is_same_v<T, bfloat16>) return UniformBfloat16(x);
}

template <typename T>
void Uniform(OpKernelContext* ctx, const Philox& stream, T* out, int64_t n) {
  if constexpr (std::is_same_v<T, double>) {
    FillBlocks<2>(ctx, stream, out, n, 6,
                  [](const uint32_t* w, double* o, int64_t m) {
                    for (int64_t i = 0; i < m; ++i) {
                      o[i] = UniformDouble(w[2 * i], w[2 * i + 1]);
                    }
                  });
  } else {
    FillBlocks<4>(ctx, stream, out, n, 6,
                  [](const uint32_t* w, T* o, int64_t m) {
                    for (int64_t i = 0; i < m; ++i) o[i] = FromWord<T>(w[i]);
                  });
  }
}

template <typename T>
void Normal(OpKernelContext* ctx, const Philox& stream, T* out, int64_t n) {
  if constexpr (std::is_same_v<T, double>) {
    FillBlocks<2>(ctx, stream, out, n, 80,
                  [](const uint32_t* w, double* o, int64_t m) {
                    for (int64_t i = 0; i < m; i += 2, w += 4) {
                      const DoublePair p = BoxMullerDouble(w);
                      o[i] = p.a;
                      if (i + 1 < m) o[i + 1] = p.b;
                    }
                  });
  } else {
    FillBlocks<4>(ctx, stream, out, n, 80,
                  [](const uint32_t* w, T* o, int64_t m) {
                    for (int64_t i = 0; i < m; i += 2) {
                      const FloatPair p = BoxMuller(w[i], w[i + 1]);
                      o[i] = static_cast<T>(p.a);
                      if (i + 1 < m) o[i + 1] = static_cast<T>(p.b);
                    }
                  });
  }
}

template <typename T>
void TruncatedNormal(OpKernelContext* ctx, const Philox& stream, T* out,
                     int64_t n) {
  constexpr bool kDouble = std::is_same_v<T, double>;
  constexpr int kGroup = kDouble ? 2 : 4;
  ctx->ParallelFor(
      (n + kGroup - 1) / kGroup, 130, [&](int64_t begin, int64_t end) {
        for (int64_t g = begin; g < end; ++g) {
          Philox mine = stream;
          mine.Skip(static_cast<Philox::Counter>(g) * (kGroup * 64));
          PhiloxWords next(mine);
          T group[kGroup];
          for (int have = 0; have < kGroup;) {
            double a, b;
            const uint32_t x0 = next(), x1 = next();
            if constexpr (kDouble) {
              const uint32_t x[4] = {x0, x1, next(), next()};
              const DoublePair p = BoxMullerDouble(x);
              a = p.a, b = p.b;
            } else {
              const FloatPair p = BoxMuller(x0, x1);
              a = p.a, b = p.b;
            }
            if (std::abs(a) < 2) {
              group[have++] = static_cast<T>(kDouble ? a : float(a));
            }
            if (std::abs(b) < 2 && have < kGroup) {
              group[have++] = static_cast<T>(kDouble ? b : float(b));
            }
          }
          const int64_t m = std::min<int64_t>(kGroup, n - g * kGroup);
          std::copy(group, group + m, out + g * kGroup);
        }
      });
}

template <typename T>
void Fill(OpKernelContext* ctx, RandomDist dist, const Philox& stream,
          Tensor* out) {
  T* o = out->data<T>();
  const int64_t n = out->NumElements();
  switch (dist) {
    case RandomDist::kUniform:
      return Uniform<T>(ctx, stream, o, n);
    case RandomDist::kNormal:
      return Normal<T>(ctx, stream, o, n);
    case RandomDist::kTruncatedNormal:
      return TruncatedNormal<T>(ctx, stream, o, n);
  }
}

// U is unsigned, of the result's width.
template <typename U>
void UniformIntegers(OpKernelContext* ctx, const Philox& stream, U lo, U range,
                     U* out, int64_t n) {
  if constexpr (sizeof(U) == 8) {
    FillBlocks<2>(ctx, stream, out, n, 14,
                  [=](const uint32_t* w, U* o, int64_t m) {
                    for (int64_t i = 0; i < m; ++i) {
                      const U x = U{w[2 * i]} | U{w[2 * i + 1]} << 32;
                      o[i] = range == 0 ? x : lo + x % range;
                    }
                  });
  } else {
    FillBlocks<4>(ctx, stream, out, n, 10,
                  [=](const uint32_t* w, U* o, int64_t m) {
                    for (int64_t i = 0; i < m; ++i) {
                      o[i] = range == 0 ? w[i] : lo + w[i] % range;
                    }
                  });
  }
}

template <typename T>
Status CheckBounds(const Tensor& lo, const Tensor& hi, int64_t n) {
  const T l = lo.scalar<T>(), h = hi.scalar<T>();
  if (l >= h && n > 0) {
    return errors::InvalidArgument("Need minval < maxval, got ", l, " >= ", h);
  }
  return OkStatus();
}

template <typename T>
void BoundedIntegers(OpKernelContext* ctx, const Philox& stream,
                     const Tensor& lo, const Tensor& hi, Tensor* out) {
  using U = std::make_unsigned_t<T>;
  const U l = static_cast<U>(lo.scalar<T>()),
          h = static_cast<U>(hi.scalar<T>());
  UniformIntegers<U>(ctx, stream, l, h - l, static_cast<U*>(out->raw_data()),
                     out->NumElements());
}

// Cumulative weights of a row, relative to its greatest finite logit, so that
// exp neither overflows nor loses everything; what is not finite weighs 0.
template <typename T>
double CumulativeWeights(const T* logits, int64_t n, double* cdf) {
  auto finite = [&](int64_t i) {
    return std::isfinite(static_cast<double>(logits[i]));
  };
  double top = std::numeric_limits<double>::lowest();
  for (int64_t i = 0; i < n; ++i) {
    if (finite(i)) top = std::max(top, static_cast<double>(logits[i]));
  }
  double total = 0;
  for (int64_t i = 0; i < n; ++i) {
    if (finite(i)) total += std::exp(static_cast<double>(logits[i]) - top);
    cdf[i] = total;
  }
  return total;
}

template <typename T>
void Multinomial(OpKernelContext* ctx, const Philox& stream,
                 const Tensor& logits, Tensor* out) {
  const int64_t batch = out->dim_size(0), samples = out->dim_size(1);
  const int64_t classes = logits.dim_size(1);
  const T* in = logits.data<T>();
  auto put = [out](int64_t i, int64_t v) {
    if (out->dtype() == DT_INT32) {
      out->data<int32_t>()[i] = static_cast<int32_t>(v);
    } else {
      out->data<int64_t>()[i] = v;
    }
  };
  const double cost = 20.0 * classes + samples * (20 + 5 * std::log2(classes));
  ctx->ParallelFor(batch, cost, [&](int64_t begin, int64_t end) {
    std::vector<double> cdf(classes);
    for (int64_t b = begin; b < end; ++b) {
      const double total =
          CumulativeWeights<T>(in + b * classes, classes, cdf.data());
      PhiloxWords next(stream);
      next.Skip(static_cast<uint64_t>(b) * samples * 2);
      for (int64_t s = 0; s < samples; ++s) {
        const uint32_t x0 = next(), x1 = next();
        const double u = UniformDouble(x0, x1) * total;
        put(b * samples + s,
            std::upper_bound(cdf.begin(), cdf.end(), u) - cdf.begin());
      }
    }
  });
}

}  // namespace

Status FillRandom(OpKernelContext* ctx, RandomDist dist, const Philox& stream,
                  Tensor* out) {
  if (VisitType<half, bfloat16, float, double>(
          out->dtype(),
          [&]<typename T>(T) { Fill<T>(ctx, dist, stream, out); })) {
    return OkStatus();
  }
  return errors::Unimplemented("random numbers of type ",
                               DataTypeString(out->dtype()));
}

Status CheckUniformIntBounds(const Tensor& lo, const Tensor& hi, int64_t n) {
  if (lo.dims() != 0 || hi.dims() != 0) {
    return errors::InvalidArgument("minval and maxval must be scalars, got ",
                                   lo.shape().DebugString(), " and ",
                                   hi.shape().DebugString());
  }
  Status s = errors::Unimplemented("random integers of type ",
                                   DataTypeString(lo.dtype()));
  VisitType<int32_t, int64_t, uint32_t, uint64_t>(
      lo.dtype(), [&]<typename T>(T) { s = CheckBounds<T>(lo, hi, n); });
  return s;
}

Status FillUniformInt(OpKernelContext* ctx, const Philox& stream,
                      const Tensor& lo, const Tensor& hi, Tensor* out) {
  HR_RETURN_IF_ERROR(CheckUniformIntBounds(lo, hi, out->NumElements()));
  VisitType<int32_t, int64_t, uint32_t, uint64_t>(
      out->dtype(),
      [&]<typename T>(T) { BoundedIntegers<T>(ctx, stream, lo, hi, out); });
  return OkStatus();
}

Status FillFullInt(OpKernelContext* ctx, const Philox& stream, Tensor* out) {
  switch (DataTypeSize(out->dtype())) {
    case 4:
      UniformIntegers<uint32_t>(ctx, stream, 0, 0,
                                static_cast<uint32_t*>(out->raw_data()),
                                out->NumElements());
      return OkStatus();
    case 8:
      UniformIntegers<uint64_t>(ctx, stream, 0, 0,
                                static_cast<uint64_t*>(out->raw_data()),
                                out->NumElements());
      return OkStatus();
    default:
      return errors::Unimplemented("random integers of type ",
                                   DataTypeString(out->dtype()));
  }
}

Status MultinomialShape(const Tensor& logits, const Tensor& num_samples,
                        TensorShape* out) {
  if (logits.dims() != 2) {
    return errors::InvalidArgument("logits should be a matrix, got shape ",
                                   logits.shape().DebugString());
  }
  if (num_samples.dims() != 0) {
    return errors::InvalidArgument("num_samples should be a scalar, got shape ",
                                   num_samples.shape().DebugString());
  }
  const int32_t samples = num_samples.scalar<int32_t>();
  if (samples < 0) {
    return errors::InvalidArgument("num_samples should be nonnegative, got ",
                                   samples);
  }
  if (logits.dim_size(0) > 0 && samples > 0 && logits.dim_size(1) == 0) {
    return errors::InvalidArgument("num_classes should be positive, got 0");
  }
  *out = TensorShape({logits.dim_size(0), samples});
  return OkStatus();
}

Status FillMultinomial(OpKernelContext* ctx, const Philox& stream,
                       const Tensor& logits, Tensor* out) {
  if (out->NumElements() == 0) return OkStatus();
  switch (logits.dtype()) {
#define CASE(T)                               \
  case DataTypeToEnum<T>::value:              \
    Multinomial<T>(ctx, stream, logits, out); \
    return OkStatus();
    HR_CALL_REAL_NUMBER_TYPES(CASE)
#undef CASE
    default:
      return errors::Unimplemented("logits of type ",
                                   DataTypeString(logits.dtype()));
  }
}

Status ShapeFromVector(const Tensor& t, TensorShape* out) {
  if (t.dims() != 1) {
    return errors::InvalidArgument(
        "shape must be a vector of {int32,int64}, got shape ",
        t.shape().DebugString());
  }
  DimVector dims(t.NumElements() <= kMaxTensorRank ? t.NumElements() : 0);
  if (t.NumElements() > kMaxTensorRank) {
    return errors::InvalidArgument("shape has ", t.NumElements(),
                                   " dimensions, at most ", kMaxTensorRank,
                                   " are possible");
  }
  for (size_t i = 0; i < dims.size(); ++i) {
    dims[i] =
        t.dtype() == DT_INT32 ? t.data<int32_t>()[i] : t.data<int64_t>()[i];
    if (dims[i] < 0) {
      return errors::InvalidArgument("Dimension ", dims[i], " must be >= 0");
    }
  }
  return TensorShape::Build(dims, out);
}

Status CheckShapeEndsWith(const TensorShape& shape,
                          const TensorShape& parameters) {
  const int outer = shape.dims() - parameters.dims();
  bool ends = outer >= 0;
  for (int i = 0; ends && i < parameters.dims(); ++i) {
    ends = shape.dim_size(outer + i) == parameters.dim_size(i);
  }
  if (ends) return OkStatus();
  return errors::InvalidArgument(
      "Shape passed in must end with broadcasted shape ",
      parameters.DebugString(), " of the parameters, got ",
      shape.DebugString());
}

}  // namespace headrace
