#include "kernels/lib/box_copy.h"

#include <algorithm>
#include <cstdlib>
#include <cstring>

#include "kernels/lib/element.h"

#ifdef __SSE2__
#include <emmintrin.h>
#endif

namespace headrace {
namespace {

// The side of a square tile: whole cache lines, and two of them stay in L1.
template <typename T>
constexpr int64_t kTile = sizeof(T) <= 2   ? 64
                          : sizeof(T) <= 4 ? 32
                                           : 16;
constexpr int64_t kMaxTile = 64;

// A destination of this size does not stay in the caches that belong to one
// core: whole lines of it are written past them, which saves reading them
// first.
constexpr int64_t kStreamBytes = 4 << 20;
constexpr int64_t kLineBytes = 64;

// Elements of one line.
template <typename T>
constexpr int64_t kLine = kLineBytes / sizeof(T);
// Rows of the destination that a streaming transpose has in hand.
constexpr int64_t kStreamRows = 64;

struct Plane {
  int64_t na, nb;        // b is the inner loop
  int64_t src_a, src_b;  // strides
  int64_t dst_a, dst_b;
  bool stream;  // rows of the destination begin on lines, and it is large
};

// Lines, past the caches; StreamEnd must follow before others may read them.
inline void StreamLines(const void* src, void* dst, int64_t lines) {
#ifdef __SSE2__
  const auto* from = static_cast<const __m128i*>(src);
  auto* to = static_cast<__m128i*>(dst);
  for (int64_t i = 0; i < lines * (kLineBytes / 16); i += 4) {
    const __m128i a = _mm_loadu_si128(from + i);
    const __m128i b = _mm_loadu_si128(from + i + 1);
    const __m128i c = _mm_loadu_si128(from + i + 2);
    const __m128i d = _mm_loadu_si128(from + i + 3);
    _mm_stream_si128(to + i, a);
    _mm_stream_si128(to + i + 1, b);
    _mm_stream_si128(to + i + 2, c);
    _mm_stream_si128(to + i + 3, d);
  }
#else
  std::memcpy(dst, src, lines * kLineBytes);
#endif
}
inline void StreamEnd() {
#ifdef __SSE2__
  _mm_sfence();
#endif
}

template <typename T>
inline void CopyRow(const T* src, T* dst, int64_t n) {
  if constexpr (kIsPlainElement<T>) {
    if (n * sizeof(T) <= 32) {  // shorter than a call of memcpy
      for (int64_t i = 0; i < n; ++i) dst[i] = src[i];
    } else {
      std::memcpy(dst, src, n * sizeof(T));
    }
  } else {
    std::copy(src, src + n, dst);
  }
}

// dst[b] of row a + i = src[a] of row b + i for a 4 x 4 block of 4-byte
// elements, in registers.
inline void Transpose4x4(const uint32_t* src, int64_t src_stride, uint32_t* dst,
                         int64_t dst_stride) {
  typedef uint32_t V __attribute__((vector_size(16)));
  V r[4];
  for (int i = 0; i < 4; ++i) std::memcpy(&r[i], src + i * src_stride, 16);
  const V t0 = __builtin_shufflevector(r[0], r[1], 0, 4, 1, 5);
  const V t1 = __builtin_shufflevector(r[2], r[3], 0, 4, 1, 5);
  const V t2 = __builtin_shufflevector(r[0], r[1], 2, 6, 3, 7);
  const V t3 = __builtin_shufflevector(r[2], r[3], 2, 6, 3, 7);
  r[0] = __builtin_shufflevector(t0, t1, 0, 1, 4, 5);
  r[1] = __builtin_shufflevector(t0, t1, 2, 3, 6, 7);
  r[2] = __builtin_shufflevector(t2, t3, 0, 1, 4, 5);
  r[3] = __builtin_shufflevector(t2, t3, 2, 3, 6, 7);
  for (int i = 0; i < 4; ++i) std::memcpy(dst + i * dst_stride, &r[i], 16);
}

// The source is contiguous along a, the destination along b. Full tiles go
// through a small buffer, so that memory sees whole lines only: with strides
// that are powers of two all lines of a tile share a few sets of the cache and
// would drive each other out before they are used up.
template <typename T>
void TransposeTile(const T* src, T* dst, int64_t na, int64_t nb, int64_t src_b,
                   int64_t dst_a) {
  constexpr int64_t n = kTile<T>;
  if constexpr (kIsPlainElement<T>) {
    if (na == n && nb == n) {
      alignas(64) T tile[n * n];
      for (int64_t b = 0; b < n; b += 4) {
        if constexpr (std::is_same_v<T, uint32_t>) {
          for (int64_t a = 0; a < n; a += 4) {
            Transpose4x4(src + b * src_b + a, src_b, tile + a * n + b, n);
          }
        } else {
          const T* s = src + b * src_b;
          for (int64_t a = 0; a < n; ++a) {
            for (int64_t k = 0; k < 4; ++k) {
              tile[a * n + b + k] = s[k * src_b + a];
            }
          }
        }
      }
      for (int64_t a = 0; a < n; ++a) {
        std::memcpy(dst + a * dst_a, tile + a * n, n * sizeof(T));
      }
      return;
    }
  }
  int64_t a0 = 0;  // what is left begins here
  if constexpr (std::is_same_v<T, uint32_t>) {
    const int64_t b4 = nb / 4 * 4;
    for (; a0 + 4 <= na && b4 > 0; a0 += 4) {
      for (int64_t b = 0; b < b4; b += 4) {
        Transpose4x4(src + b * src_b + a0, src_b, dst + a0 * dst_a + b, dst_a);
      }
      for (int64_t b = b4; b < nb; ++b) {
        for (int64_t a = a0; a < a0 + 4; ++a) {
          dst[a * dst_a + b] = src[b * src_b + a];
        }
      }
    }
  }
  if (na - a0 >= nb) {
    for (int64_t b = 0; b < nb; ++b) {
      for (int64_t a = a0; a < na; ++a) dst[a * dst_a + b] = src[b * src_b + a];
    }
  } else {
    for (int64_t a = a0; a < na; ++a) {
      for (int64_t b = 0; b < nb; ++b) dst[a * dst_a + b] = src[b * src_b + a];
    }
  }
}

// kLine columns and up to kStreamRows rows of the destination.
template <typename T>
void StreamTransposed(const T* src, T* dst, int64_t na, int64_t src_b,
                      int64_t dst_a) {
  constexpr int64_t n = kLine<T>;
  alignas(64) T tile[kStreamRows * n];
  int64_t a = 0;
  if constexpr (std::is_same_v<T, uint32_t>) {
    // Four lines of the source at a time, each used up: with strides that are
    // powers of two more would drive each other out of the cache.
    for (; a + n <= na; a += n) {
      for (int64_t b = 0; b < n; b += 4) {
        for (int64_t i = a; i < a + n; i += 4) {
          Transpose4x4(src + b * src_b + i, src_b, tile + i * n + b, n);
        }
      }
    }
  }
  for (int64_t b = 0; b < n; ++b) {
    for (int64_t i = a; i < na; ++i) tile[i * n + b] = src[b * src_b + i];
  }
  for (int64_t i = 0; i < na; ++i) {
    StreamLines(tile + i * n, dst + i * dst_a, 1);
  }
}

// The part of a plane that can be streamed; false if there is none. Source rows
// are read in order.
template <typename T>
bool StreamPlane(const T* src, T* dst, Plane* p) {
  if constexpr (kIsPlainElement<T> && sizeof(T) <= kLineBytes) {
    const int64_t nb = p->nb / kLine<T> * kLine<T>;
    if (!p->stream || p->dst_b != 1 || nb == 0) return false;
    if (p->src_b == 1) {
      for (int64_t a = 0; a < p->na; ++a) {
        StreamLines(src + a * p->src_a, dst + a * p->dst_a, nb / kLine<T>);
      }
    } else if (p->src_a == 1) {
      for (int64_t b = 0; b < nb; b += kLine<T>) {
        for (int64_t a = 0; a < p->na; a += kStreamRows) {
          StreamTransposed(src + b * p->src_b + a, dst + a * p->dst_a + b,
                           std::min(kStreamRows, p->na - a), p->src_b,
                           p->dst_a);
        }
      }
    } else {
      return false;
    }
    p->nb -= nb;
    return true;
  }
  return false;
}

template <typename T>
void CopyPlane(const T* src, T* dst, Plane p) {
  const int64_t all = p.nb;
  if (StreamPlane(src, dst, &p)) {
    src += (all - p.nb) * p.src_b;
    dst += all - p.nb;
    if (p.nb == 0) return;
  }
  if (p.dst_b == 1 && p.src_b == 1) {
    for (int64_t a = 0; a < p.na; ++a) {
      CopyRow(src + a * p.src_a, dst + a * p.dst_a, p.nb);
    }
  } else if (p.dst_b == 1 && p.src_a == 1) {
    constexpr int64_t n = kTile<T>;
    for (int64_t a = 0; a < p.na; a += n) {
      for (int64_t b = 0; b < p.nb; b += n) {
        TransposeTile(src + a + b * p.src_b, dst + a * p.dst_a + b,
                      std::min(n, p.na - a), std::min(n, p.nb - b), p.src_b,
                      p.dst_a);
      }
    }
  } else if (p.dst_b == 1 && p.src_b == 0) {
    for (int64_t a = 0; a < p.na; ++a) {
      T* row = dst + a * p.dst_a;
      std::fill(row, row + p.nb, src[a * p.src_a]);
    }
  } else {
    for (int64_t a = 0; a < p.na; ++a) {
      const T* s = src + a * p.src_a;
      T* d = dst + a * p.dst_a;
      for (int64_t b = 0; b < p.nb; ++b) d[b * p.dst_b] = s[b * p.src_b];
    }
  }
}

// Element `at` begins a line.
bool IsLine(const void* data, int64_t at, int64_t element_size) {
  return (reinterpret_cast<uintptr_t>(data) +
          static_cast<uintptr_t>(at * element_size)) %
             kLineBytes ==
         0;
}

}  // namespace

bool BoxCopy::Simplify() {
  for (const Dim& d : dims_) {
    if (d.n <= 0) return false;
  }
  Dims in;
  for (const Dim& d : dims_) {
    if (d.n != 1) in.push_back(d);
  }
  // Outermost what moves furthest in the destination, so that writes stream.
  std::stable_sort(in.begin(), in.end(), [](const Dim& x, const Dim& y) {
    return std::abs(x.dst) > std::abs(y.dst);
  });
  // Two dims whose steps continue one another are one.
  dims_.clear();
  for (const Dim& d : in) {
    if (!dims_.empty() && dims_.back().src == d.src * d.n &&
        dims_.back().dst == d.dst * d.n) {
      dims_.back() = {dims_.back().n * d.n, d.src, d.dst};
    } else {
      dims_.push_back(d);
    }
  }
  return true;
}

void BoxCopy::Run(OpKernelContext* ctx, const Tensor& src, int64_t src_at,
                  Tensor* dst, int64_t dst_at) {
  if (!Simplify()) return;
  const int64_t element_size = DataTypeObjectSize(src.dtype());
  const bool plain = DataTypeCanUseMemcpy(src.dtype());

  // The two inner loops: b runs along the destination, a along the source if
  // that is another dim, else along what is next.
  Dim b = {1, 1, 1}, a = {1, 0, 0};
  if (!dims_.empty()) {
    b = dims_.back();
    dims_.pop_back();
  }
  // A long row is cut, so that its pieces can run in parallel.
  if (plain && b.n * element_size > (1 << 17)) {
    const int64_t piece = (1 << 15) / element_size;
    const int64_t pieces = b.n / piece;
    const int64_t done = pieces * piece;
    BoxCopy rest;
    rest.dims_ = dims_;
    rest.AddDim(b.n - done, b.src, b.dst);
    rest.Run(ctx, src, src_at + done * b.src, dst, dst_at + done * b.dst);
    dims_.push_back({pieces, b.src * piece, b.dst * piece});
    b.n = piece;
  }
  if (!dims_.empty()) {
    size_t pick = dims_.size() - 1;
    if (b.dst == 1 && b.src != 1) {
      for (size_t i = 0; i < dims_.size(); ++i) {
        if (dims_[i].src == 1) pick = i;
      }
    }
    a = dims_[pick];
    dims_.erase(dims_.begin() + pick);
  }

  // A unit of work is one index of the outer dims and a block of a.
  const bool transposes = b.dst == 1 && b.src != 1 && a.src == 1;
  int64_t block = std::max<int64_t>(1, (16384 / element_size) / b.n);
  int64_t outer = 1;
  for (const Dim& d : dims_) outer *= d.n;
  bool stream = plain && outer * a.n * b.n * element_size >= kStreamBytes &&
                IsLine(dst->raw_data(), dst_at, element_size) &&
                a.dst * element_size % kLineBytes == 0;
  for (const Dim& d : dims_) stream &= d.dst * element_size % kLineBytes == 0;
  if (transposes) {
    const int64_t rows = stream ? 4 * kStreamRows : kMaxTile;
    block = (block + rows - 1) / rows * rows;
  }
  block = std::min(block, a.n);
  const int64_t blocks = (a.n + block - 1) / block;
  const double cost =
      static_cast<double>(block) * b.n *
      (!plain ? 20.0 : (b.src == 1 && b.dst == 1 ? 0.1 : 0.3) * element_size);

  WithElement(src.dtype(), [&]<typename T>(Element<T>) {
    const T* from = ElementsOf<T>(src) + src_at;
    T* to = ElementsOf<T>(dst) + dst_at;
    ctx->ParallelFor(outer * blocks, cost, [&](int64_t begin, int64_t end) {
      // The position of unit `begin`. The loop then advances it like an
      // odometer.
      DimVector at(dims_.size(), 0);
      int64_t rest = begin / blocks, in_a = begin % blocks;
      int64_t s = 0, d = 0;
      for (size_t i = dims_.size(); i-- > 0;) {
        at[i] = rest % dims_[i].n;
        rest /= dims_[i].n;
        s += at[i] * dims_[i].src;
        d += at[i] * dims_[i].dst;
      }
      for (int64_t unit = begin; unit < end; ++unit) {
        const int64_t a0 = in_a * block;
        CopyPlane<T>(from + s + a0 * a.src, to + d + a0 * a.dst,
                     {std::min(block, a.n - a0), b.n, a.src, b.src, a.dst,
                      b.dst, stream});
        if (++in_a < blocks) continue;
        in_a = 0;
        for (size_t i = dims_.size(); i-- > 0;) {
          s += dims_[i].src;
          d += dims_[i].dst;
          if (++at[i] < dims_[i].n) break;
          s -= at[i] * dims_[i].src;
          d -= at[i] * dims_[i].dst;
          at[i] = 0;
        }
      }
      if (stream) StreamEnd();
    });
  });
}

void SetOutputRun(OpKernelContext* ctx, int i, const Tensor& in, int64_t at,
                  const TensorShape& shape) {
  OP_REQUIRES(
      ctx,
      shape.IsValid() && at >= 0 &&
          shape.num_elements() <= in.NumElements() - at,
      errors::Internal("a run of ", shape.num_elements(), " elements at ", at,
                       " is not within ", in.shape().DebugString()));
  const int64_t n = shape.num_elements();
  const int64_t size = DataTypeObjectSize(in.dtype());
  const bool all = n == in.NumElements();
  const bool share = n * size >= 64 && at * size % 64 == 0;
  if (all || share || !DataTypeCanUseMemcpy(in.dtype())) {
    Tensor flat, out;
    const bool ok = flat.CopyFrom(in, {in.NumElements()}) &&
                    out.CopyFrom(flat.Slice(at, at + n), shape);
    OP_REQUIRES(ctx, ok, errors::Internal("cannot reshape a slice"));
    ctx->set_output(i, std::move(out));
    return;
  }
  Tensor* out = nullptr;
  OP_REQUIRES_OK(ctx, ctx->allocate_output(i, shape, &out));
  BoxCopy copy;
  copy.AddDim(n, 1, 1);
  copy.Run(ctx, in, at, out, 0);
}

DimVector RowMajorStrides(absl::Span<const int64_t> dims) {
  DimVector strides(dims.size());
  int64_t n = 1;
  for (size_t i = dims.size(); i-- > 0;) {
    strides[i] = n;
    // Wraps only where some dim is 0 and nothing is ever addressed.
    n = static_cast<int64_t>(static_cast<uint64_t>(n) *
                             static_cast<uint64_t>(dims[i]));
  }
  return strides;
}

}  // namespace headrace
