// FFT, IFFT, RFFT, IRFFT over the last one, two or three dimensions. The real
// ops take fft_length: input beyond it is cut off, a shorter input is refused
// (Python pads before), but nothing at all counts as zeros. A real transform
// keeps the first n/2 + 1 of the last dimension; the inverse takes the rest to
// be conjugates, and so ignores the imaginary part of the first and, for even
// n, of the middle element.
#include <vector>

#include "headrace/op_kernel.h"
#include "kernels/signal/fft.h"

namespace headrace {
namespace {

using Complex = FftPlan::Complex;

// Transforms `data`, of these dims, along dimension `axis`.
void TransformAxis(OpKernelContext* ctx, const std::vector<int64_t>& dims,
                   int axis, bool inverse, Complex* data) {
  int64_t total = 1, inner = 1;
  for (int64_t d : dims) total *= d;
  for (size_t d = axis + 1; d < dims.size(); ++d) inner *= dims[d];
  const int64_t n = dims[axis];
  if (total == 0 || n <= 1) return;
  const FftPlan plan(n);
  ctx->ParallelFor(total / n, 20.0 * n, [&](int64_t begin, int64_t end) {
    std::vector<Complex> scratch, line(inner == 1 ? 0 : n);
    for (int64_t i = begin; i < end; ++i) {
      Complex* at = data + i / inner * inner * n + i % inner;
      if (inner == 1) {
        plan.Transform(inverse, at, &scratch);
        continue;
      }
      for (int64_t k = 0; k < n; ++k) line[k] = at[k * inner];
      plan.Transform(inverse, line.data(), &scratch);
      for (int64_t k = 0; k < n; ++k) at[k * inner] = line[k];
    }
  });
}

// Copies the corner of `from` that has to's dims, element by element.
template <typename From, typename To, typename F>
void CopyCorner(const From* from, const std::vector<int64_t>& from_dims, To* to,
                const std::vector<int64_t>& to_dims, const F& convert) {
  const size_t rank = to_dims.size();
  int64_t rows = 1;
  for (size_t d = 0; d + 1 < rank; ++d) rows *= to_dims[d];
  const int64_t n = to_dims[rank - 1];
  for (int64_t row = 0; row < rows; ++row) {
    int64_t offset = 0, rest = row, scale = from_dims[rank - 1];
    for (int d = static_cast<int>(rank) - 2; d >= 0; --d) {
      offset += rest % to_dims[d] * scale;
      rest /= to_dims[d];
      scale *= from_dims[d];
    }
    for (int64_t i = 0; i < n; ++i) to[row * n + i] = convert(from[offset + i]);
  }
}

// [batch, the last `rank` dims]
std::vector<int64_t> FoldBatch(const TensorShape& shape, int rank) {
  std::vector<int64_t> dims = {shape.ProductOf(0, shape.dims() - rank)};
  for (int d = shape.dims() - rank; d < shape.dims(); ++d) {
    dims.push_back(shape.dim_size(d));
  }
  return dims;
}

template <int rank>
class FftOpBase : public OpKernel {
 public:
  using OpKernel::OpKernel;

 protected:
  Status CheckRank(const Tensor& in) const {
    if (in.dims() >= rank) return OkStatus();
    return errors::InvalidArgument("Input must have rank of at least ", rank,
                                   " but got: ", in.shape().DebugString());
  }
  Status Workspace(OpKernelContext* ctx, const std::vector<int64_t>& dims,
                   Tensor* t) const {
    return ctx->allocate_temp(DT_COMPLEX128, TensorShape(dims), t,
                              Tensor::kHeap);
  }
  // fft_length, and `shape` with its last dims replaced by it.
  Status ReadLength(const Tensor& length, TensorShape* shape) const {
    if (length.dims() != 1 || length.dim_size(0) != rank) {
      return errors::InvalidArgument("fft_length must have shape [", rank,
                                     "], got ", length.shape().DebugString());
    }
    for (int d = 0; d < rank; ++d) {
      const int32_t n = length.data<int32_t>()[d];
      if (n < 0) {
        return errors::InvalidArgument("fft_length[", d,
                                       "] must be >= 0, but got: ", n);
      }
      shape->set_dim(shape->dims() - rank + d, n);
    }
    return OkStatus();
  }
  static Status CheckLongEnough(const Tensor& in,
                                const std::vector<int64_t>& have,
                                const std::vector<int64_t>& want) {
    for (int d = 1; d <= rank; ++d) {
      if (have[d] < want[d] && in.NumElements() > 0) {
        return errors::InvalidArgument(
            "Input dimension ", in.dims() - rank + d - 1,
            " must have length of at least ", want[d], " but got: ", have[d]);
      }
    }
    return OkStatus();
  }
};

template <int rank, bool inverse>
class FftOp : public FftOpBase<rank> {
 public:
  using FftOpBase<rank>::FftOpBase;

  void Compute(OpKernelContext* ctx) override {
    const Tensor& in = ctx->input(0);
    OP_REQUIRES_OK(ctx, this->CheckRank(in));
    Tensor* out = nullptr;
    OP_REQUIRES_OK(ctx, ctx->allocate_output(0, in.shape(), &out));
    const int64_t n = in.NumElements();
    if (n == 0) return;
    const std::vector<int64_t> dims = FoldBatch(in.shape(), rank);
    Tensor work;
    OP_REQUIRES_OK(ctx, this->Workspace(ctx, dims, &work));
    Complex* w = work.data<complex128>();
    const bool narrow = in.dtype() == DT_COMPLEX64;
    if (narrow) {
      const complex64* x = in.data<complex64>();
      for (int64_t i = 0; i < n; ++i) w[i] = Complex(x[i]);
    } else {
      std::memcpy(w, in.raw_data(), n * sizeof(Complex));
    }
    for (int d = 1; d <= rank; ++d) TransformAxis(ctx, dims, d, inverse, w);
    if (narrow) {
      complex64* y = out->data<complex64>();
      for (int64_t i = 0; i < n; ++i) y[i] = complex64(w[i]);
    } else {
      std::memcpy(out->raw_data(), w, n * sizeof(Complex));
    }
  }
};

template <int rank>
class RfftOp : public FftOpBase<rank> {
 public:
  using FftOpBase<rank>::FftOpBase;

  void Compute(OpKernelContext* ctx) override {
    const Tensor& in = ctx->input(0);
    OP_REQUIRES_OK(ctx, this->CheckRank(in));
    TensorShape full = in.shape();
    OP_REQUIRES_OK(ctx, this->ReadLength(ctx->input(1), &full));
    OP_REQUIRES(ctx, full.IsValid(),
                errors::InvalidArgument("fft_length is too large"));
    TensorShape shape = full;
    const int64_t n = full.dim_size(full.dims() - 1);
    shape.set_dim(shape.dims() - 1, n == 0 ? 0 : n / 2 + 1);
    const std::vector<int64_t> have = FoldBatch(in.shape(), rank);
    const std::vector<int64_t> want = FoldBatch(full, rank);
    OP_REQUIRES_OK(ctx, this->CheckLongEnough(in, have, want));
    Tensor* out = nullptr;
    OP_REQUIRES_OK(ctx, ctx->allocate_output(0, shape, &out));
    if (out->NumElements() == 0) return;
    if (in.NumElements() == 0) {
      std::memset(out->raw_data(), 0, out->TotalBytes());
      return;
    }
    Tensor work;
    OP_REQUIRES_OK(ctx, this->Workspace(ctx, want, &work));
    Complex* w = work.data<complex128>();
    auto widen = [](auto x) { return Complex(static_cast<double>(x), 0); };
    if (in.dtype() == DT_FLOAT) {
      CopyCorner(in.data<float>(), have, w, want, widen);
    } else {
      CopyCorner(in.data<double>(), have, w, want, widen);
    }
    for (int d = rank; d >= 1; --d) TransformAxis(ctx, want, d, false, w);
    const std::vector<int64_t> half = FoldBatch(shape, rank);
    if (out->dtype() == DT_COMPLEX64) {
      CopyCorner(w, want, out->data<complex64>(), half,
                 [](Complex x) { return complex64(x); });
    } else {
      CopyCorner(w, want, out->data<complex128>(), half,
                 [](Complex x) { return x; });
    }
  }
};

template <int rank>
class IrfftOp : public FftOpBase<rank> {
 public:
  using FftOpBase<rank>::FftOpBase;

  void Compute(OpKernelContext* ctx) override {
    const Tensor& in = ctx->input(0);
    OP_REQUIRES_OK(ctx, this->CheckRank(in));
    TensorShape shape = in.shape();
    OP_REQUIRES_OK(ctx, this->ReadLength(ctx->input(1), &shape));
    const int last = shape.dims() - 1;
    const int64_t n = shape.dim_size(last);
    TensorShape half_shape = shape;
    half_shape.set_dim(last, n == 0 ? 0 : n / 2 + 1);
    OP_REQUIRES(ctx, half_shape.IsValid() && shape.IsValid(),
                errors::InvalidArgument("fft_length is too large"));
    const std::vector<int64_t> have = FoldBatch(in.shape(), rank);
    const std::vector<int64_t> half = FoldBatch(half_shape, rank);
    const std::vector<int64_t> full = FoldBatch(shape, rank);
    OP_REQUIRES_OK(ctx, this->CheckLongEnough(in, have, half));
    Tensor* out = nullptr;
    OP_REQUIRES_OK(ctx, ctx->allocate_output(0, shape, &out));
    if (out->NumElements() == 0) return;
    if (in.NumElements() == 0) {
      std::memset(out->raw_data(), 0, out->TotalBytes());
      return;
    }
    Tensor work, lines;
    OP_REQUIRES_OK(ctx, this->Workspace(ctx, half, &work));
    OP_REQUIRES_OK(ctx, this->Workspace(ctx, full, &lines));
    Complex* w = work.data<complex128>();
    if (in.dtype() == DT_COMPLEX64) {
      CopyCorner(in.data<complex64>(), have, w, half,
                 [](complex64 x) { return Complex(x); });
    } else {
      CopyCorner(in.data<complex128>(), have, w, half,
                 [](complex128 x) { return x; });
    }
    for (int d = 1; d < rank; ++d) TransformAxis(ctx, half, d, true, w);
    Complex* l = lines.data<complex128>();
    const int64_t kept = half[rank], rows = lines.NumElements() / n;
    for (int64_t r = 0; r < rows; ++r) {
      const Complex* from = w + r * kept;
      Complex* to = l + r * n;
      to[0] = from[0].real();
      for (int64_t k = 1; k < kept; ++k) {
        to[k] = from[k];
        to[n - k] = 2 * k == n ? Complex(from[k].real()) : std::conj(from[k]);
      }
    }
    TransformAxis(ctx, full, rank, true, l);
    for (int64_t i = 0; i < out->NumElements(); ++i) {
      if (out->dtype() == DT_FLOAT) {
        out->data<float>()[i] = static_cast<float>(l[i].real());
      } else {
        out->data<double>()[i] = l[i].real();
      }
    }
  }
};

#define REGISTER(NAME, ...) \
  REGISTER_KERNEL_BUILDER(Name(NAME).Device(DEVICE_CPU), __VA_ARGS__)
REGISTER("FFT", FftOp<1, false>);
REGISTER("FFT2D", FftOp<2, false>);
REGISTER("FFT3D", FftOp<3, false>);
REGISTER("IFFT", FftOp<1, true>);
REGISTER("IFFT2D", FftOp<2, true>);
REGISTER("IFFT3D", FftOp<3, true>);
REGISTER("BatchFFT", FftOp<1, false>);
REGISTER("BatchFFT2D", FftOp<2, false>);
REGISTER("BatchFFT3D", FftOp<3, false>);
REGISTER("BatchIFFT", FftOp<1, true>);
REGISTER("BatchIFFT2D", FftOp<2, true>);
REGISTER("BatchIFFT3D", FftOp<3, true>);
REGISTER("RFFT", RfftOp<1>);
REGISTER("RFFT2D", RfftOp<2>);
REGISTER("RFFT3D", RfftOp<3>);
REGISTER("IRFFT", IrfftOp<1>);
REGISTER("IRFFT2D", IrfftOp<2>);
REGISTER("IRFFT3D", IrfftOp<3>);
#undef REGISTER

}  // namespace
}  // namespace headrace
