#include "kernels/conv/layout.h"

#include <algorithm>

#include "base/thread_pool.h"
#include "kernels/lib/narrow_float.h"

namespace headrace {
namespace {

// `batch` matrices [rows, columns] to [columns, rows], in blocks that fit the
// first level cache.
template <typename T>
void TransposeAs(ThreadPool* pool, int64_t batch, int64_t rows, int64_t columns,
                 const void* from_bytes, void* to_bytes) {
  constexpr int64_t kBlock = 32;
  const T* from = static_cast<const T*>(from_bytes);
  T* to = static_cast<T*>(to_bytes);
  const int64_t strips = (rows + kBlock - 1) / kBlock;
  pool->ParallelForCost(batch * strips, 0.5 * kBlock * columns,
                        [&](int64_t begin, int64_t end) {
                          for (int64_t at = begin; at < end; ++at) {
                            const T* f = from + at / strips * rows * columns;
                            T* t = to + at / strips * rows * columns;
                            const int64_t r0 = at % strips * kBlock;
                            const int64_t r1 = std::min(rows, r0 + kBlock);
                            for (int64_t c0 = 0; c0 < columns; c0 += kBlock) {
                              const int64_t c1 = std::min(columns, c0 + kBlock);
                              for (int64_t c = c0; c < c1; ++c) {
                                for (int64_t r = r0; r < r1; ++r) {
                                  t[c * rows + r] = f[r * columns + c];
                                }
                              }
                            }
                          }
                        });
}

void Transpose(ThreadPool* pool, int64_t batch, int64_t rows, int64_t columns,
               const Tensor& from, Tensor* to) {
  const auto run = [&](auto unit) {
    TransposeAs<decltype(unit)>(pool, batch, rows, columns, from.raw_data(),
                                to->raw_data());
  };
  switch (DataTypeSize(from.dtype())) {
    case 2:
      return run(uint16_t());
    case 4:
      return run(uint32_t());
    default:
      return run(uint64_t());
  }
}

}  // namespace

TensorShape ChannelsLast(const TensorShape& s) {
  TensorShape out = s;
  out.RemoveDim(1);
  out.AddDim(s.dim_size(1));
  return out;
}

void NchwToNhwc(ThreadPool* pool, const Tensor& from, Tensor* to) {
  Transpose(pool, from.dim_size(0), from.dim_size(1),
            from.shape().ProductOf(2, from.dims()), from, to);
}

void NhwcToNchw(ThreadPool* pool, const Tensor& from, Tensor* to) {
  const int rank = from.dims();
  Transpose(pool, from.dim_size(0), from.shape().ProductOf(1, rank - 1),
            from.dim_size(rank - 1), from, to);
}

void CastToFloat(ThreadPool* pool, const Tensor& from, Tensor* to) {
  const auto* x = static_cast<const uint16_t*>(from.raw_data());
  float* const y = to->data<float>();
  pool->ParallelForCost(
      from.NumElements(), 0.5, [&](int64_t begin, int64_t end) {
        Widen(from.dtype(), x + begin, y + begin, end - begin);
      });
}

void CastFromFloat(ThreadPool* pool, const Tensor& from, Tensor* to) {
  const float* const x = from.data<float>();
  auto* y = static_cast<uint16_t*>(to->raw_data());
  pool->ParallelForCost(
      from.NumElements(), 0.5, [&](int64_t begin, int64_t end) {
        Narrow(to->dtype(), x + begin, y + begin, end - begin);
      });
}

}  // namespace headrace
