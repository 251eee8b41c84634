#include "kernels/linalg/linalg.h"

#include <algorithm>
#include <cstring>

#include "framework/shape_fns/common_shape_fns.h"

namespace headrace {
namespace {

bool IsComplex(DataType t) { return t == DT_COMPLEX64 || t == DT_COMPLEX128; }

// Element i of `t` as S (a real S reads real types only).
template <typename S>
S Get(const Tensor& t, int64_t i) {
  switch (t.dtype()) {
    case DT_HALF:
      return S(static_cast<float>(t.data<half>()[i]));
    case DT_BFLOAT16:
      return S(static_cast<float>(t.data<bfloat16>()[i]));
    case DT_FLOAT:
      return S(t.data<float>()[i]);
    case DT_DOUBLE:
      return S(t.data<double>()[i]);
    default:
      break;
  }
  if constexpr (Eigen::NumTraits<S>::IsComplex) {
    return t.dtype() == DT_COMPLEX64 ? S(t.data<complex64>()[i])
                                     : t.data<complex128>()[i];
  } else {
    return S(0);
  }
}

void Put(double v, Tensor* t, int64_t i) {
  switch (t->dtype()) {
    case DT_HALF:
      t->data<half>()[i] = static_cast<half>(static_cast<float>(v));
      return;
    case DT_BFLOAT16:
      t->data<bfloat16>()[i] = static_cast<bfloat16>(static_cast<float>(v));
      return;
    case DT_FLOAT:
      t->data<float>()[i] = static_cast<float>(v);
      return;
    case DT_INT32:
      t->data<int32_t>()[i] = static_cast<int32_t>(v);
      return;
    case DT_INT64:
      t->data<int64_t>()[i] = static_cast<int64_t>(v);
      return;
    default:
      t->data<double>()[i] = v;
  }
}
void Put(complex128 v, Tensor* t, int64_t i) {
  if (t->dtype() == DT_COMPLEX64) {
    t->data<complex64>()[i] = complex64(v);
  } else if (t->dtype() == DT_COMPLEX128) {
    t->data<complex128>()[i] = v;
  } else {
    Put(v.real(), t, i);
  }
}

TensorShape BatchOf(const Tensor& t) {
  TensorShape s = t.shape();
  s.RemoveLastDims(2);
  return s;
}

// The index, in a tensor with the batch shape `have`, of element `i` of
// `batch`.
int64_t BatchIndex(const TensorShape& have, const TensorShape& batch,
                   int64_t i) {
  int64_t at = 0, scale = 1;
  for (int d = batch.dims() - 1, h = have.dims() - 1; h >= 0; --d, --h) {
    const int64_t k = i % batch.dim_size(d);
    i /= batch.dim_size(d);
    if (have.dim_size(h) != 1) at += k * scale;
    scale *= have.dim_size(h);
  }
  return at;
}

}  // namespace

template <typename S>
LinalgMatrix<S> Product(const LinalgMatrix<S>& a, const LinalgMatrix<S>& b,
                        bool adjoint) {
  if (adjoint) return Product<S>(LinalgMatrix<S>(a.adjoint()), b);
  LinalgMatrix<S> c(a.rows(), b.cols());
  c.noalias() = a * b;
  return c;
}
template LinalgMatrix<double> Product(const LinalgMatrix<double>&,
                                      const LinalgMatrix<double>&, bool);
template LinalgMatrix<complex128> Product(const LinalgMatrix<complex128>&,
                                          const LinalgMatrix<complex128>&,
                                          bool);

Status CheckSquare(const MatrixSize& m) {
  if (m.rows == m.cols) return OkStatus();
  return errors::InvalidArgument("Input matrix must be square, got ", m.rows,
                                 " x ", m.cols);
}

template <typename S>
void LinalgOp::RunBatch(OpKernelContext* ctx,
                        const std::vector<MatrixSize>& sizes,
                        const TensorShape& batch,
                        const std::vector<LinalgOutput>& kinds,
                        const std::vector<Tensor*>& outs) {
  Mutex mu;
  int64_t first_bad = batch.num_elements();
  Status failure;
  double work = 100;  // the cube of the largest side, about
  for (const MatrixSize& m : sizes) {
    const auto side = static_cast<double>(std::max(m.rows, m.cols));
    work = std::max(
        work, side * side * static_cast<double>(std::min(m.rows, m.cols) + 1));
  }
  ctx->ParallelFor(batch.num_elements(), work, [&](int64_t begin, int64_t end) {
    std::vector<LinalgMatrix<S>> in(sizes.size()), out(kinds.size());
    for (int64_t b = begin; b < end; ++b) {
      for (size_t k = 0; k < sizes.size(); ++k) {
        const Tensor& t = ctx->input(static_cast<int>(k));
        const auto [rows, cols] = sizes[k];
        const int64_t at = BatchIndex(BatchOf(t), batch, b) * rows * cols;
        in[k].resize(rows, cols);
        for (int64_t i = 0; i < rows; ++i) {
          for (int64_t j = 0; j < cols; ++j) {
            in[k](i, j) = Get<S>(t, at + i * cols + j);
          }
        }
      }
      const Status s = Run(ctx, in, &out);
      if (!s.ok()) {
        MutexLock lock(&mu);
        if (b < first_bad) {
          first_bad = b;
          failure = s;
        }
        continue;
      }
      for (size_t k = 0; k < kinds.size(); ++k) {
        if (kinds[k].kind == LinalgOutput::kNothing) continue;
        const auto& m = out[k];
        const int64_t at = b * m.rows() * m.cols();
        for (int64_t i = 0; i < m.rows(); ++i) {
          for (int64_t j = 0; j < m.cols(); ++j) {
            Put(m(i, j), outs[k], at + i * m.cols() + j);
          }
        }
      }
    }
  });
  OP_REQUIRES_OK(ctx, failure);
}

void LinalgOp::Compute(OpKernelContext* ctx) {
  const int n = num_matrices_ < 0 ? ctx->num_inputs() : num_matrices_;
  std::vector<MatrixSize> sizes;
  TensorShape batch;
  for (int i = 0; i < n; ++i) {
    const Tensor& t = ctx->input(i);
    OP_REQUIRES(ctx, t.dims() >= 2,
                errors::InvalidArgument("Input tensor ", i,
                                        " must have rank >= 2, got ",
                                        t.shape().DebugString()));
    sizes.push_back({t.dim_size(t.dims() - 2), t.dim_size(t.dims() - 1)});
    if (i == 0) {
      batch = BatchOf(t);
    } else if (broadcast_batch_) {
      PartialTensorShape both;
      OP_REQUIRES_OK(ctx, BroadcastShapes(batch, BatchOf(t), &both));
      OP_REQUIRES(ctx, both.AsTensorShape(&batch),
                  errors::Internal("batch dimensions are not known"));
    } else {
      OP_REQUIRES(ctx, BatchOf(t) == batch,
                  errors::InvalidArgument(
                      "All input tensors must have the same outer dimensions, "
                      "got ",
                      ctx->input(0).shape().DebugString(), " and ",
                      t.shape().DebugString()));
    }
  }
  OP_REQUIRES_OK(ctx, CheckScalars(ctx));
  std::vector<LinalgOutput> kinds;
  OP_REQUIRES_OK(ctx, Outputs(sizes, &kinds));
  std::vector<Tensor*> outs(kinds.size(), nullptr);
  bool empty = true;
  for (size_t k = 0; k < kinds.size(); ++k) {
    TensorShape shape = batch;
    const MatrixSize& size = kinds[k].size;
    switch (kinds[k].kind) {
      case LinalgOutput::kMatrix:
        shape.AddDim(size.rows);
        shape.AddDim(size.cols);
        break;
      case LinalgOutput::kVector:
        shape.AddDim(size.rows);
        break;
      case LinalgOutput::kScalar:
        break;
      case LinalgOutput::kNothing:
        shape = TensorShape();
        break;
    }
    OP_REQUIRES_OK(ctx,
                   ctx->allocate_output(static_cast<int>(k), shape, &outs[k]));
    if (kinds[k].kind == LinalgOutput::kNothing) {
      std::memset(outs[k]->raw_data(), 0, DataTypeSize(outs[k]->dtype()));
    } else {
      empty = empty && outs[k]->NumElements() == 0;
    }
  }
  if (empty) return;
  if (IsComplex(ctx->input(0).dtype()) || complex_outputs_) {
    RunBatch<complex128>(ctx, sizes, batch, kinds, outs);
  } else {
    RunBatch<double>(ctx, sizes, batch, kinds, outs);
  }
}

}  // namespace headrace
