// MatrixDiag, MatrixDiagPart and MatrixSetDiag, all versions. Diagonal d holds
// the elements (i, i + d). A band of diagonals is stored as rows, the highest
// first, each as long as the longest; a shorter one stands at the left or right
// end of its row, as `align` says: "RIGHT_LEFT" has superdiagonals at the right
// and subdiagonals at the left. V1 and V2 have both at the left.
#include <algorithm>
#include <string>

#include "headrace/op_kernel.h"
#include "kernels/lib/element.h"

namespace headrace {
namespace {

struct Band {
  int64_t lower = 0, upper = 0;
  int64_t rows = 0, cols = 0;
  int64_t width = 0;  // of the stored rows
  bool super_left = true, sub_left = true;

  int64_t count() const { return upper - lower + 1; }
  // Stored row m is diagonal upper - m: `length` elements from `offset` on, in
  // the matrix from (row, col) on.
  struct Diagonal {
    int64_t length, offset, row, col;
  };
  Diagonal At(int64_t m) const {
    const int64_t d = upper - m;
    const int64_t row = std::max<int64_t>(-d, 0), col = std::max<int64_t>(d, 0);
    const int64_t length =
        std::max<int64_t>(0, std::min(rows - row, cols - col));
    const bool left = (d >= 0 && super_left) || (d <= 0 && sub_left);
    return {length, left ? 0 : width - length, row, col};
  }
  Status CheckBounds() const {
    for (int64_t d : {lower, upper}) {
      if (d != 0 && (d <= -rows || d >= cols)) {
        return errors::InvalidArgument("diagonal ", d,
                                       " is out of bound: the matrix has ",
                                       rows, " rows and ", cols, " columns");
      }
    }
    return OkStatus();
  }
  // The longest diagonal of the band.
  int64_t MaxLength() const {
    return std::min(rows + std::min<int64_t>(upper, 0),
                    cols - std::max<int64_t>(lower, 0));
  }
};

class BandOp : public OpKernel {
 public:
  explicit BandOp(OpKernelConstruction* ctx) : OpKernel(ctx) {
    if (!ctx->HasAttr("align")) return;
    std::string align;
    OP_REQUIRES_OK(ctx, ctx->GetAttr("align", &align));
    band_.super_left = align == "LEFT_LEFT" || align == "LEFT_RIGHT";
    band_.sub_left = align == "LEFT_LEFT" || align == "RIGHT_LEFT";
  }

 protected:
  // The band as attrs and input `k_input` say; the main diagonal if there is no
  // such input.
  Status ReadBand(OpKernelContext* ctx, int k_input, Band* band) const {
    *band = band_;
    if (k_input >= ctx->num_inputs()) return OkStatus();
    const Tensor& in = ctx->input(k_input);
    if (in.dims() > 1 || in.NumElements() < 1 || in.NumElements() > 2) {
      return errors::InvalidArgument(
          "diag_index must be a scalar or vector with one or two elements, "
          "received shape: ",
          in.shape().DebugString());
    }
    DimVector k;
    HR_RETURN_IF_ERROR(ReadIntegers(in, "k", &k));
    band->lower = k.front();
    band->upper = k.back();
    if (band->lower > band->upper) {
      return errors::InvalidArgument(
          "lower_diag_index must not be larger than upper_diag_index: ",
          band->lower, " > ", band->upper);
    }
    return OkStatus();
  }

 private:
  Band band_;
};

// Runs fn(batch) for each matrix.
template <typename F>
void ForEachMatrix(OpKernelContext* ctx, int64_t batches, int64_t elements,
                   const F& fn) {
  ctx->ParallelFor(batches, 1.0 * elements, [&](int64_t begin, int64_t end) {
    for (int64_t b = begin; b < end; ++b) fn(b);
  });
}

// Between a matrix and its stored diagonals.
template <typename T>
void StoreDiagonals(const Band& band, const T* diagonals, T* matrix) {
  for (int64_t m = 0; m < band.count(); ++m) {
    const Band::Diagonal d = band.At(m);
    const T* from = diagonals + m * band.width + d.offset;
    T* to = matrix + d.row * band.cols + d.col;
    for (int64_t i = 0; i < d.length; ++i) to[i * (band.cols + 1)] = from[i];
  }
}
template <typename T>
void LoadDiagonals(const Band& band, const T* matrix, const T& padding,
                   T* diagonals) {
  for (int64_t m = 0; m < band.count(); ++m) {
    const Band::Diagonal d = band.At(m);
    T* to = diagonals + m * band.width;
    const T* from = matrix + d.row * band.cols + d.col;
    if (d.length < band.width) std::fill(to, to + band.width, padding);
    for (int64_t i = 0; i < d.length; ++i) {
      to[d.offset + i] = from[i * (band.cols + 1)];
    }
  }
}

class MatrixDiagOp : public BandOp {
 public:
  using BandOp::BandOp;
  void Compute(OpKernelContext* ctx) override {
    const Tensor& in = ctx->input(0);
    OP_REQUIRES(ctx, in.dims() >= 1,
                errors::InvalidArgument("diagonal must be at least 1-dim, "
                                        "received shape: ",
                                        in.shape().DebugString()));
    Band band;
    OP_REQUIRES_OK(ctx, ReadBand(ctx, 1, &band));
    int batch_dims = in.dims() - 1;
    band.width = in.dim_size(batch_dims);
    if (band.count() > 1) {
      --batch_dims;
      OP_REQUIRES(ctx,
                  batch_dims >= 0 && in.dim_size(batch_dims) == band.count(),
                  errors::InvalidArgument(
                      "The number of diagonals provided in the input does not "
                      "match the lower_diag_index and upper_diag_index range: "
                      "wanted ",
                      band.count(), ", got shape ", in.shape().DebugString()));
    }
    const int64_t min_rows = band.width - std::min<int64_t>(band.upper, 0);
    const int64_t min_cols = band.width + std::max<int64_t>(band.lower, 0);
    int64_t rows = -1, cols = -1;
    Tensor padding(in.dtype(), TensorShape());
    ZeroElements(&padding);
    if (ctx->num_inputs() > 1) {
      OP_REQUIRES_OK(ctx, ReadInteger(ctx->input(2), "num_rows", &rows));
      OP_REQUIRES_OK(ctx, ReadInteger(ctx->input(3), "num_cols", &cols));
      OP_REQUIRES(ctx, ctx->input(4).NumElements() == 1,
                  errors::InvalidArgument("padding_value must be a scalar, got "
                                          "shape ",
                                          ctx->input(4).shape().DebugString()));
      padding = ctx->input(4);
    }
    if (rows == -1 && cols == -1) {
      rows = cols = std::max(min_rows, min_cols);
    } else if (rows == -1) {
      rows = min_rows;
    } else if (cols == -1) {
      cols = min_cols;
    }
    OP_REQUIRES(ctx, rows >= min_rows,
                errors::InvalidArgument("The number of rows is too small: ",
                                        rows, " < ", min_rows));
    OP_REQUIRES(ctx, cols >= min_cols,
                errors::InvalidArgument("The number of columns is too small: ",
                                        cols, " < ", min_cols));
    OP_REQUIRES(ctx, rows == min_rows || cols == min_cols,
                errors::InvalidArgument(
                    "The number of rows or columns is not consistent with the "
                    "specified d_lower, d_upper, and diagonal."));
    // A diagonal that lies outside the matrix is left out.
    band.rows = rows;
    band.cols = cols;
    TensorShape shape(in.shape().dim_sizes().subspan(0, batch_dims));
    const int64_t batches = shape.num_elements();
    shape.AddDim(rows);
    shape.AddDim(cols);
    Tensor* out = nullptr;
    OP_REQUIRES_OK(ctx, ctx->allocate_output(0, shape, &out));
    if (out->NumElements() == 0) return;
    const int64_t size = rows * cols;
    const int64_t stored = band.count() * band.width;
    WithElement(in.dtype(), [&]<typename T>(Element<T>) {
      ForEachMatrix(ctx, batches, size, [&](int64_t b) {
        T* matrix = ElementsOf<T>(out) + b * size;
        std::fill(matrix, matrix + size, *ElementsOf<T>(padding));
        StoreDiagonals<T>(band, ElementsOf<T>(in) + b * stored, matrix);
      });
    });
  }
};
REGISTER_KERNEL_BUILDER(Name("MatrixDiag").Device(DEVICE_CPU), MatrixDiagOp);
REGISTER_KERNEL_BUILDER(Name("MatrixDiagV2").Device(DEVICE_CPU), MatrixDiagOp);
REGISTER_KERNEL_BUILDER(Name("MatrixDiagV3").Device(DEVICE_CPU), MatrixDiagOp);
REGISTER_KERNEL_BUILDER(Name("BatchMatrixDiag").Device(DEVICE_CPU),
                        MatrixDiagOp);

class MatrixDiagPartOp : public BandOp {
 public:
  using BandOp::BandOp;
  void Compute(OpKernelContext* ctx) override {
    const Tensor& in = ctx->input(0);
    OP_REQUIRES(ctx, in.dims() >= 2,
                errors::InvalidArgument("input must be at least 2-dim, "
                                        "received shape: ",
                                        in.shape().DebugString()));
    Band band;
    OP_REQUIRES_OK(ctx, ReadBand(ctx, 1, &band));
    band.rows = in.dim_size(in.dims() - 2);
    band.cols = in.dim_size(in.dims() - 1);
    OP_REQUIRES_OK(ctx, band.CheckBounds());
    band.width = band.MaxLength();
    Tensor padding(in.dtype(), TensorShape());
    ZeroElements(&padding);
    if (ctx->num_inputs() > 2) {
      OP_REQUIRES(ctx, ctx->input(2).NumElements() == 1,
                  errors::InvalidArgument("padding_value must be a scalar, got "
                                          "shape ",
                                          ctx->input(2).shape().DebugString()));
      padding = ctx->input(2);
    }
    TensorShape shape = in.shape();
    shape.RemoveLastDims(2);
    const int64_t batches = shape.num_elements();
    if (band.count() > 1) shape.AddDim(band.count());
    shape.AddDim(band.width);
    Tensor* out = nullptr;
    OP_REQUIRES_OK(ctx, ctx->allocate_output(0, shape, &out));
    if (out->NumElements() == 0) return;
    const int64_t size = band.rows * band.cols;
    const int64_t stored = band.count() * band.width;
    WithElement(in.dtype(), [&]<typename T>(Element<T>) {
      ForEachMatrix(ctx, batches, stored, [&](int64_t b) {
        LoadDiagonals<T>(band, ElementsOf<T>(in) + b * size,
                         *ElementsOf<T>(padding),
                         ElementsOf<T>(out) + b * stored);
      });
    });
  }
};
REGISTER_KERNEL_BUILDER(Name("MatrixDiagPart").Device(DEVICE_CPU),
                        MatrixDiagPartOp);
REGISTER_KERNEL_BUILDER(Name("MatrixDiagPartV2").Device(DEVICE_CPU),
                        MatrixDiagPartOp);
REGISTER_KERNEL_BUILDER(Name("MatrixDiagPartV3").Device(DEVICE_CPU),
                        MatrixDiagPartOp);
REGISTER_KERNEL_BUILDER(Name("BatchMatrixDiagPart").Device(DEVICE_CPU),
                        MatrixDiagPartOp);

class MatrixSetDiagOp : public BandOp {
 public:
  using BandOp::BandOp;
  void Compute(OpKernelContext* ctx) override {
    const Tensor& in = ctx->input(0);
    const Tensor& diagonal = ctx->input(1);
    OP_REQUIRES(ctx, in.dims() >= 2,
                errors::InvalidArgument("input must be at least 2-dim, "
                                        "received shape: ",
                                        in.shape().DebugString()));
    Band band;
    OP_REQUIRES_OK(ctx, ReadBand(ctx, 2, &band));
    band.rows = in.dim_size(in.dims() - 2);
    band.cols = in.dim_size(in.dims() - 1);
    OP_REQUIRES_OK(ctx, band.CheckBounds());
    band.width = band.MaxLength();
    TensorShape want = in.shape();
    want.RemoveLastDims(2);
    const int64_t batches = want.num_elements();
    if (band.count() > 1) want.AddDim(band.count());
    want.AddDim(band.width);
    OP_REQUIRES(ctx, diagonal.shape() == want,
                errors::InvalidArgument(
                    "diagonal must have shape ", want.DebugString(),
                    " for an input of shape ", in.shape().DebugString(),
                    ", got ", diagonal.shape().DebugString()));
    if (in.NumElements() == 0) {
      ctx->set_output(0, in);
      return;
    }
    Tensor* out = nullptr;
    int forwarded = -1;
    OP_REQUIRES_OK(ctx, ctx->forward_input_or_allocate_output(
                            {0}, 0, in.shape(), &out, &forwarded));
    if (forwarded < 0) CopyElements(in, 0, out, 0, in.NumElements());
    const int64_t size = band.rows * band.cols;
    const int64_t stored = band.count() * band.width;
    WithElement(out->dtype(), [&]<typename T>(Element<T>) {
      ForEachMatrix(ctx, batches, stored, [&](int64_t b) {
        StoreDiagonals<T>(band, ElementsOf<T>(diagonal) + b * stored,
                          ElementsOf<T>(out) + b * size);
      });
    });
  }
};
REGISTER_KERNEL_BUILDER(Name("MatrixSetDiag").Device(DEVICE_CPU),
                        MatrixSetDiagOp);
REGISTER_KERNEL_BUILDER(Name("MatrixSetDiagV2").Device(DEVICE_CPU),
                        MatrixSetDiagOp);
REGISTER_KERNEL_BUILDER(Name("MatrixSetDiagV3").Device(DEVICE_CPU),
                        MatrixSetDiagOp);
REGISTER_KERNEL_BUILDER(Name("BatchMatrixSetDiag").Device(DEVICE_CPU),
                        MatrixSetDiagOp);

}  // namespace
}  // namespace headrace
