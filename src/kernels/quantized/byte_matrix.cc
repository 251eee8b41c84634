#include "kernels/quantized/byte_matrix.h"

#include <algorithm>

#include "base/thread_pool.h"
#include "headrace/simd.h"
#include "kernels/lib/cancellable_loops.h"

namespace headrace {
namespace {

constexpr int64_t kRows = kByteTileRows;
constexpr int64_t kColumns = kBytePanelColumns;

// The sum of `n` bytes.
uint32_t SumBytes(const uint8_t* x, int64_t n) {
  uint32_t sum = 0;
  RunSimd([&] {
    for (int64_t i = 0; i < n; ++i) sum += x[i];
  });
  return sum;
}

}  // namespace

// What Run multiplies. All zeros are those of the bytes as MultiplyBytes reads
// them: unsigned ones of A, signed ones of B.
struct ByteMatrix::Product {
  int64_t rows = 0, n = 0;
  int64_t segments = 1, depth = 0;  // of a row of A
  bool transpose_b = false;
  uint32_t a_zero = 0, b_zero = 0;
};

// The rows of a matrix as MultiplyBytes reads them, of whole quads. They are
// the tensor's own bytes if these are so.
class ByteMatrix::Rows {
 public:
  // `count` rows of k unsigned bytes, the columns of `t` if it is transposed.
  Status Make(OpKernelContext* ctx, const Tensor& t, int64_t count, int64_t k,
              bool transposed) {
    const uint8_t* const from = static_cast<const uint8_t*>(t.raw_data());
    step_ = 4 * NumQuads(k);
    rows_ = from;
    if (!transposed && step_ == k) return OkStatus();
    HR_RETURN_IF_ERROR(ctx->allocate_temp(DT_UINT8, TensorShape({count, step_}),
                                          &memory_, Tensor::kHeap));
    uint8_t* const to = memory_.data<uint8_t>();
    rows_ = to;
    const int64_t row_step = transposed ? 1 : k;
    const int64_t step = transposed ? count : 1;
    ctx->ParallelFor(count, 0.1 * static_cast<double>(step_),
                     [&](int64_t b, int64_t e) {
                       for (int64_t i = b; i < e; ++i) {
                         uint8_t* const row = to + i * step_;
                         const uint8_t* const x = from + i * row_step;
                         for (int64_t c = 0; c < k; ++c) row[c] = x[c * step];
                         std::fill(row + k, row + step_, uint8_t{0});
                       }
                     });
    return OkStatus();
  }

  const uint8_t* row(int64_t i) const { return rows_ + i * step_; }

 private:
  Tensor memory_;
  const uint8_t* rows_ = nullptr;
  int64_t step_ = 0;
};

// An image with its padding, as unsigned bytes. What an output pixel reads of a
// line lies in one piece, unless the columns are dilated. It is the tensor's
// own bytes if there is no padding.
class ByteMatrix::Canvas {
 public:
  // `whole_quads`: no piece is read beyond its end.
  Status Make(OpKernelContext* ctx, const Tensor& in, const ConvSizes& s,
              uint8_t zero, bool whole_quads) {
    for (int d = 1; d <= 2; ++d) {
      size_[d - 1] =
          (s.out[d] - 1) * s.stride[d] + (s.filter[d] - 1) * s.dilation[d] + 1;
    }
    depth_ = s.in_channels;
    data_ = static_cast<const uint8_t*>(in.raw_data());
    if (s.pad_before[1] == 0 && s.pad_before[2] == 0 && size_[0] <= s.in[1] &&
        size_[1] <= s.in[2] && in.dtype() == DT_QUINT8 && whole_quads) {
      size_[0] = s.in[1];
      size_[1] = s.in[2];
      return OkStatus();
    }
    TensorShape shape;
    HR_RETURN_IF_ERROR(
        TensorShape::Build({s.batch, size_[0], size_[1], depth_}, &shape));
    const int64_t bytes = AddWithoutOverflow(shape.num_elements(), 3);
    HR_RETURN_IF_ERROR(ctx->allocate_temp(DT_UINT8, TensorShape({bytes}),
                                          &memory_, Tensor::kHeap));
    Fill(ctx, s, in.dtype() == DT_QINT8 ? 0x80 : 0, zero,
         memory_.data<uint8_t>());
    data_ = memory_.data<uint8_t>();
    return OkStatus();
  }

  const uint8_t* At(int64_t image, int64_t row, int64_t column) const {
    return data_ + ((image * size_[0] + row) * size_[1] + column) * depth_;
  }

 private:
  void Fill(OpKernelContext* ctx, const ConvSizes& s, uint8_t flip,
            uint8_t zero, uint8_t* to) const {
    const int64_t line = size_[1] * depth_;
    const int64_t before = std::min(s.pad_before[2], size_[1]) * depth_;
    const int64_t copied = std::min(line - before, s.in[2] * depth_);
    std::fill_n(to + s.batch * size_[0] * line, 3, uint8_t{0});
    ctx->ParallelFor(s.batch * size_[0], 0.05 * static_cast<double>(line),
                     [&](int64_t begin, int64_t end) {
                       for (int64_t i = begin; i < end; ++i) {
                         uint8_t* const row = to + i * line;
                         const int64_t y = i % size_[0] - s.pad_before[1];
                         if (y < 0 || y >= s.in[1]) {
                           std::fill_n(row, line, zero);
                           continue;
                         }
                         const uint8_t* const from =
                             data_ +
                             (i / size_[0] * s.in[1] + y) * s.in[2] * depth_;
                         std::fill_n(row, before, zero);
                         if (flip == 0) {
                           std::copy_n(from, copied, row + before);
                         } else {
                           for (int64_t c = 0; c < copied; ++c) {
                             row[before + c] = from[c] ^ flip;
                           }
                         }
                         std::fill(row + before + copied, row + line, zero);
                       }
                     });
  }

  Tensor memory_;
  const uint8_t* data_ = nullptr;
  int64_t size_[2] = {0, 0}, depth_ = 0;
};

Status ByteMatrix::Run(OpKernelContext* ctx, const Tensor& b, const Product& p,
                       FindRow find, Finish finish) {
  if (p.rows == 0 || p.n == 0) return OkStatus();
  const int64_t n = p.n, quads = NumQuads(p.depth);
  const int64_t all_quads = p.segments * quads;
  // A form: the sums of the columns, then the panels.
  const int64_t sums_bytes =
      NumBytePanels(n) * kColumns * int64_t{sizeof(uint32_t)};
  const int64_t bytes = sums_bytes + BytePanelsBytes(n, all_quads);
  const auto pack = [&](const Tensor& from, void* to) {
    uint32_t* const sums = static_cast<uint32_t*>(to);
    std::fill_n(sums, sums_bytes / int64_t{sizeof(uint32_t)}, 0u);
    ByteQuad* const panels =
        reinterpret_cast<ByteQuad*>(static_cast<char*>(to) + sums_bytes);
    const ByteMatrixView view = {.data = from.raw_data(),
                                 .is_unsigned = from.dtype() == DT_QUINT8,
                                 .transposed = p.transpose_b,
                                 .k = p.segments * p.depth,
                                 .n = n};
    for (int64_t s = 0; s < p.segments; ++s) {
      PackBytePanels(view, s * p.depth, p.depth, s * quads, all_quads, panels,
                     sums);
    }
    return true;
  };
  static constexpr char kKind = 0;
  const int64_t sizes[] = {p.transpose_b, b.dtype(), p.segments, p.depth, n};
  const void* form = forms_.Get(&kKind, sizes, bytes, pack);
  Tensor own;
  if (form == nullptr) {
    HR_RETURN_IF_ERROR(ctx->allocate_temp(DT_UINT8, TensorShape({bytes}), &own,
                                          Tensor::kHeap));
    pack(b, own.raw_data());
    form = own.raw_data();
  }
  const uint32_t* const column_sums = static_cast<const uint32_t*>(form);
  const ByteQuad* const panels = reinterpret_cast<const ByteQuad*>(
      static_cast<const char*>(form) + sums_bytes);

  // sum of (a - a0)(b - b0) = sum of ab - b0 (sum of a) - a0 (sum of b) + K a0
  // b0
  const uint32_t length = static_cast<uint32_t>(p.segments * p.depth);
  std::vector<uint32_t> less(n);
  for (int64_t j = 0; j < n; ++j) {
    less[j] = p.a_zero * column_sums[j] - length * p.a_zero * p.b_zero;
  }
  const auto end_row = [&](int64_t row, const uint8_t* const* segments,
                           int32_t* sums, double* scratch) {
    uint32_t of_row = 0;
    if (p.b_zero != 0) {
      for (int64_t s = 0; s < p.segments; ++s) {
        of_row += SumBytes(segments[s * kRows], p.depth);
      }
      of_row *= p.b_zero;
    }
    if (p.a_zero != 0 || of_row != 0) {
      RunSimd([&] {
        for (int64_t j = 0; j < n; ++j) {
          sums[j] = static_cast<int32_t>(static_cast<uint32_t>(sums[j]) -
                                         less[j] - of_row);
        }
      });
    }
    finish(row, sums, scratch);
  };

  const int64_t tiles = (p.rows + kRows - 1) / kRows;
  const int64_t across = NumBytePanels(n);
  const double tile_work = 4.0 * kRows * kColumns *
                           static_cast<double>(std::max<int64_t>(all_quads, 1));
  const auto find_tile = [&](int64_t tile, const uint8_t** rows) {
    const int64_t count = std::min(kRows, p.rows - tile * kRows);
    for (int64_t r = 0; r < count; ++r) find(tile * kRows + r, rows + r);
  };
  const auto multiply = [&](int64_t tile, const uint8_t* const* rows,
                            int64_t panel, int32_t* sums) {
    MultiplyBytes({.rows = rows,
                   .num_rows = std::min(kRows, p.rows - tile * kRows),
                   .segments = p.segments,
                   .quads = quads,
                   .panel = panels + panel * all_quads * kColumns,
                   .sums = sums + panel * kColumns,
                   .sums_step = n,
                   .columns = std::min(kColumns, n - panel * kColumns)});
  };
  CancellableLoops cancellable(ctx);

  // Some rows alone: threads share the columns.
  constexpr int64_t kFewTiles = 4;
  if (tiles <= kFewTiles && across > 1) {
    Tensor all;
    HR_RETURN_IF_ERROR(ctx->allocate_temp(DT_INT32, TensorShape({p.rows, n}),
                                          &all, Tensor::kHeap));
    int32_t* const sums = all.data<int32_t>();
    std::vector<const uint8_t*> rows(tiles * p.segments * kRows);
    const auto rows_of = [&](int64_t tile) {
      return rows.data() + tile * p.segments * kRows;
    };
    for (int64_t t = 0; t < tiles; ++t) find_tile(t, rows_of(t));
    ctx->ParallelFor(across, 0.004 * tile_work * static_cast<double>(tiles),
                     [&](int64_t begin, int64_t end) {
                       for (int64_t panel = begin; panel < end; ++panel) {
                         for (int64_t t = 0; t < tiles; ++t) {
                           multiply(t, rows_of(t), panel, sums + t * kRows * n);
                         }
                       }
                     });
    ctx->ParallelFor(p.rows, 2.0 * static_cast<double>(n),
                     [&](int64_t begin, int64_t end) {
                       std::vector<double> scratch(n);
                       for (int64_t i = begin; i < end; ++i) {
                         end_row(i, rows_of(i / kRows) + i % kRows,
                                 sums + i * n, scratch.data());
                       }
                     });
    return OkStatus();
  }

  // Pieces of tiles that read a panel together: many, so that panels are read
  // seldom, but two pieces or more for each thread.
  const int64_t threads = ctx->thread_pool()->NumThreads();
  const int64_t together =
      std::clamp<int64_t>((tiles + 2 * threads - 1) / (2 * threads), 1, 8);
  const int64_t pieces = (tiles + together - 1) / together;
  ctx->ParallelFor(
      pieces,
      (0.004 * tile_work + 0.5 * kRows * kColumns) *
          static_cast<double>(across * together),
      [&](int64_t begin, int64_t end) {
        std::vector<const uint8_t*> rows(together * p.segments * kRows);
        std::vector<int32_t> sums(together * kRows * n);
        std::vector<double> scratch(n);
        const auto rows_of = [&](int64_t t) {
          return rows.data() + t * p.segments * kRows;
        };
        for (int64_t piece = begin; piece < end; ++piece) {
          const int64_t first = piece * together;
          const int64_t count = std::min(together, tiles - first);
          for (int64_t t = 0; t < count; ++t) find_tile(first + t, rows_of(t));
          for (int64_t panel = 0; panel < across; ++panel) {
            for (int64_t t = 0; t < count; ++t) {
              multiply(first + t, rows_of(t), panel,
                       sums.data() + t * kRows * n);
            }
          }
          const int64_t row = first * kRows;
          for (int64_t i = 0; i < std::min(count * kRows, p.rows - row); ++i) {
            end_row(row + i, rows_of(i / kRows) + i % kRows,
                    sums.data() + i * n, scratch.data());
          }
        }
      });
  return OkStatus();
}

Status ByteMatrix::Multiply(OpKernelContext* ctx, const Tensor& a,
                            const Tensor& b, const MatMul& product,
                            Finish finish) {
  const MatMulSizes& z = product.sizes;
  Rows rows;
  HR_RETURN_IF_ERROR(rows.Make(ctx, a, z.m, z.k, product.transpose_a));
  const int64_t b_less = b.dtype() == DT_QUINT8 ? 128 : 0;
  return Run(
      ctx, b,
      {.rows = z.m,
       .n = z.n,
       .depth = z.k,
       .transpose_b = product.transpose_b,
       .a_zero = static_cast<uint32_t>(product.a_zero),
       .b_zero = static_cast<uint32_t>(product.b_zero - b_less)},
      [&](int64_t row, const uint8_t** to) { *to = rows.row(row); }, finish);
}

Status ByteMatrix::Convolve(OpKernelContext* ctx, const Tensor& in,
                            const Tensor& filter, const ConvSizes& s,
                            int64_t in_zero, int64_t filter_zero,
                            Finish finish) {
  if (s.batch == 0 || s.out[1] == 0 || s.out[2] == 0) return OkStatus();
  in_zero += in.dtype() == DT_QINT8 ? 128 : 0;
  const int64_t filter_less = filter.dtype() == DT_QUINT8 ? 128 : 0;
  const bool whole_lines = s.dilation[2] == 1;
  const int64_t pieces = whole_lines ? 1 : s.filter[2];  // of a line
  const int64_t depth = s.in_channels * s.filter[2] / pieces;
  Canvas canvas;
  HR_RETURN_IF_ERROR(
      canvas.Make(ctx, in, s, static_cast<uint8_t>(in_zero), depth % 4 == 0));
  return Run(
      ctx, filter,
      {.rows = s.batch * s.out[1] * s.out[2],
       .n = s.out_channels,
       .segments = s.filter[1] * pieces,
       .depth = depth,
       .a_zero = static_cast<uint32_t>(in_zero),
       .b_zero = static_cast<uint32_t>(filter_zero - filter_less)},
      [&](int64_t at, const uint8_t** to) {
        const int64_t image = at / (s.out[1] * s.out[2]);
        const int64_t top = at / s.out[2] % s.out[1] * s.stride[1];
        const int64_t left = at % s.out[2] * s.stride[2];
        for (int64_t r = 0; r < s.filter[1]; ++r) {
          for (int64_t c = 0; c < pieces; ++c, to += kRows) {
            *to = canvas.At(image, top + r * s.dilation[1],
                            left + c * s.dilation[2]);
          }
        }
      },
      finish);
}

}  // namespace headrace
