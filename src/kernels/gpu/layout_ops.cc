// Ops on a GPU that move elements: Transpose, Concat, Split, Pad, Slice,
// StridedSlice, Gather, Tile, OneHot, Pack, Unpack, BroadcastTo, and the
// gradient of Gather. Shapes, axes and paddings are in host memory.
#include <string>
#include <vector>

#include "framework/shape_fns/strided_slice.h"
#include "kernels/gpu/gpu_op.h"
#include "kernels/gpu/move.h"
#include "kernels/lib/box_copy.h"
#include "kernels/lib/broadcast.h"
#include "kernels/lib/element.h"

namespace headrace::gpu {
namespace {

// A scalar that counts an axis of `rank` dims, from the end if it is negative.
Status ReadAxis(const Tensor& t, const char* name, int rank, int* axis) {
  int64_t v = 0;
  HR_RETURN_IF_ERROR(ReadInteger(t, name, &v));
  HR_RETURN_IF_ERROR(NormalizeAxis(v, rank, name, &v));
  *axis = static_cast<int>(v);
  return OkStatus();
}

class TransposeOp : public OpKernel {
 public:
  using OpKernel::OpKernel;
  void Compute(OpKernelContext* ctx) override {
    const Tensor& in = ctx->input(0);
    const int rank = in.dims();
    DimVector perm;
    OP_REQUIRES_OK(ctx, ReadIntegerVector(ctx->input(1), "perm", &perm));
    OP_REQUIRES(ctx, static_cast<int>(perm.size()) == rank,
                errors::InvalidArgument(
                    "transpose expects a vector of size ", rank,
                    ". But input(1) is a vector of size ", perm.size()));
    std::vector<bool> seen(rank, false);
    TensorShape shape;
    for (const int64_t p : perm) {
      OP_REQUIRES(
          ctx, 0 <= p && p < rank,
          errors::InvalidArgument(p, " is out of range [0 .. ", rank, ")"));
      OP_REQUIRES(ctx, !seen[p],
                  errors::InvalidArgument(p, " occurs twice in perm"));
      seen[p] = true;
      shape.AddDim(in.dim_size(static_cast<int>(p)));
    }
    Tensor* out = nullptr;
    OP_REQUIRES_OK(ctx, ctx->allocate_output(0, shape, &out));
    OP_REQUIRES_OK(ctx, TransposeOnDevice(GpuStream(ctx), in, perm, out));
  }
};

// Copies `in`, seen as [outer, n, inner], to places [begin, begin + n) of
// `out`, seen as [outer, of, inner]; or from there, if `from_part`.
Status MovePart(Stream* stream, const Tensor& in, Tensor* out, int64_t outer,
                int64_t n, int64_t of, int64_t begin, int64_t inner,
                bool from_part) {
  BoxBuilder<2> box;
  const int64_t part = n * inner, whole = of * inner;
  box.AddDim(outer, {from_part ? whole : part, from_part ? part : whole});
  box.AddDim(part, {1, 1});
  return MoveBox(stream, in, from_part ? begin * inner : 0, out,
                 from_part ? 0 : begin * inner, box);
}

class ConcatOp : public OpKernel {
 public:
  explicit ConcatOp(OpKernelConstruction* ctx)
      : OpKernel(ctx), axis_first_(ctx->op_def().name == "Concat") {}
  void Compute(OpKernelContext* ctx) override {
    const int n = ctx->num_inputs() - 1;
    const int begin = axis_first_ ? 1 : 0;
    const TensorShape& first = ctx->input(begin).shape();
    int axis = 0;
    OP_REQUIRES_OK(ctx, ReadAxis(ctx->input(axis_first_ ? 0 : n), "axis",
                                 first.dims(), &axis));
    int64_t sum = 0;
    for (int i = 0; i < n; ++i) {
      const TensorShape& s = ctx->input(begin + i).shape();
      bool fits = s.dims() == first.dims();
      for (int d = 0; fits && d < s.dims(); ++d) {
        fits = d == axis || s.dim_size(d) == first.dim_size(d);
      }
      OP_REQUIRES(
          ctx, fits,
          errors::InvalidArgument(
              "ConcatOp : Dimensions of inputs should match: shape[0] "
              "= ",
              first.DebugString(), " vs. shape[", i, "] = ", s.DebugString()));
      sum = AddWithoutOverflow(sum, s.dim_size(axis));
      OP_REQUIRES(ctx, sum >= 0,
                  errors::InvalidArgument("ConcatOp : the sizes overflow"));
    }
    TensorShape shape = first;
    shape.set_dim(axis, sum);
    Tensor* out = nullptr;
    OP_REQUIRES_OK(ctx, ctx->allocate_output(0, shape, &out));
    if (out->NumElements() == 0) return;
    int64_t at = 0;
    for (int i = 0; i < n; ++i) {
      const Tensor& in = ctx->input(begin + i);
      const int64_t size = in.dim_size(axis);
      OP_REQUIRES_OK(
          ctx,
          MovePart(GpuStream(ctx), in, out, shape.ProductOf(0, axis), size, sum,
                   at, shape.ProductOf(axis + 1, shape.dims()), false));
      at += size;
    }
  }

 private:
  const bool axis_first_;
};

class PackOp : public OpKernel {
 public:
  explicit PackOp(OpKernelConstruction* ctx) : OpKernel(ctx) {
    OP_REQUIRES_OK(ctx, ctx->GetAttr("axis", &axis_));
  }
  void Compute(OpKernelContext* ctx) override {
    const int n = ctx->num_inputs();
    const TensorShape& first = ctx->input(0).shape();
    const int rank = first.dims() + 1;
    OP_REQUIRES(ctx, -rank <= axis_ && axis_ < rank && rank <= kMaxTensorRank,
                errors::InvalidArgument("axis = ", axis_, " not in [", -rank,
                                        ", ", rank, ")"));
    const int axis = static_cast<int>(axis_ < 0 ? axis_ + rank : axis_);
    for (int i = 0; i < n; ++i) {
      OP_REQUIRES(ctx, ctx->input(i).shape() == first,
                  errors::InvalidArgument(
                      "Shapes of all inputs must match: values[0].shape = ",
                      first.DebugString(), " != values[", i,
                      "].shape = ", ctx->input(i).shape().DebugString()));
    }
    TensorShape shape = first;
    shape.InsertDim(axis, n);
    Tensor* out = nullptr;
    OP_REQUIRES_OK(ctx, ctx->allocate_output(0, shape, &out));
    for (int i = 0; i < n && out->NumElements() > 0; ++i) {
      OP_REQUIRES_OK(ctx, MovePart(GpuStream(ctx), ctx->input(i), out,
                                   first.ProductOf(0, axis), 1, n, i,
                                   first.ProductOf(axis, first.dims()), false));
    }
  }

 private:
  int64_t axis_ = 0;
};

// The parts of `in` along `axis`, of these sizes. `drop`: without that axis.
void SplitAlong(OpKernelContext* ctx, const Tensor& in, int axis,
                const DimVector& sizes, bool drop) {
  int64_t at = 0;
  for (size_t i = 0; i < sizes.size(); ++i) {
    TensorShape shape = in.shape();
    shape.set_dim(axis, sizes[i]);
    if (drop) shape.RemoveDim(axis);
    Tensor* out = nullptr;
    OP_REQUIRES_OK(ctx, ctx->allocate_output(static_cast<int>(i), shape, &out));
    if (out->NumElements() > 0) {
      OP_REQUIRES_OK(
          ctx, MovePart(GpuStream(ctx), in, out, in.shape().ProductOf(0, axis),
                        sizes[i], in.dim_size(axis), at,
                        in.shape().ProductOf(axis + 1, in.dims()), true));
    }
    at += sizes[i];
  }
}

class SplitOp : public OpKernel {
 public:
  using OpKernel::OpKernel;
  void Compute(OpKernelContext* ctx) override {
    const Tensor& in = ctx->input(1);
    const int64_t n = ctx->num_outputs();
    if (n == 1) {
      ctx->set_output(0, in);
      return;
    }
    int axis = 0;
    OP_REQUIRES_OK(ctx, ReadAxis(ctx->input(0), "split_dim", in.dims(), &axis));
    OP_REQUIRES(
        ctx, in.dim_size(axis) % n == 0,
        errors::InvalidArgument(
            "Number of ways to split should evenly divide the split "
            "dimension, but got split_dim ",
            axis, " (size = ", in.dim_size(axis), ") and num_split ", n));
    SplitAlong(ctx, in, axis, DimVector(n, in.dim_size(axis) / n), false);
  }
};

class SplitVOp : public OpKernel {
 public:
  using OpKernel::OpKernel;
  void Compute(OpKernelContext* ctx) override {
    const Tensor &in = ctx->input(0), &sizes_in = ctx->input(1);
    const int n = ctx->num_outputs();
    OP_REQUIRES(ctx, sizes_in.dims() == 1 && sizes_in.NumElements() == n,
                errors::InvalidArgument(
                    "size of the split_tensor must be 1-D and have the same "
                    "elements as outputs, got shape ",
                    sizes_in.shape().DebugString(), " for ", n, " outputs"));
    int axis = 0;
    OP_REQUIRES_OK(ctx, ReadAxis(ctx->input(2), "split_dim", in.dims(), &axis));
    DimVector sizes;
    OP_REQUIRES_OK(ctx, ReadIntegers(sizes_in, "size_splits", &sizes));
    int64_t sum = 0;
    int unknown = -1;
    for (int i = 0; i < n; ++i) {
      OP_REQUIRES(ctx, sizes[i] >= 0 || (sizes[i] == -1 && unknown < 0),
                  errors::InvalidArgument("Split size at index ", i,
                                          " must be >= 0. Got: ", sizes[i]));
      if (sizes[i] < 0) {
        unknown = i;
        continue;
      }
      sum = AddWithoutOverflow(sum, sizes[i]);
      OP_REQUIRES(ctx, sum >= 0,
                  errors::InvalidArgument("the split sizes overflow"));
    }
    const int64_t total = in.dim_size(axis);
    OP_REQUIRES(ctx, unknown < 0 ? sum == total : sum <= total,
                errors::InvalidArgument("the split sizes add up to ", sum,
                                        ", the dimension is ", total));
    if (unknown >= 0) sizes[unknown] = total - sum;
    SplitAlong(ctx, in, axis, sizes, false);
  }
};

class UnpackOp : public OpKernel {
 public:
  explicit UnpackOp(OpKernelConstruction* ctx) : OpKernel(ctx) {
    OP_REQUIRES_OK(ctx, ctx->GetAttr("axis", &axis_));
  }
  void Compute(OpKernelContext* ctx) override {
    const Tensor& in = ctx->input(0);
    OP_REQUIRES(ctx, -in.dims() <= axis_ && axis_ < in.dims(),
                errors::InvalidArgument("axis = ", axis_, " not in [",
                                        -in.dims(), ", ", in.dims(), ")"));
    const int axis = static_cast<int>(axis_ < 0 ? axis_ + in.dims() : axis_);
    const int64_t n = ctx->num_outputs();
    OP_REQUIRES(
        ctx, in.dim_size(axis) == n,
        errors::InvalidArgument("Input shape axis ", axis, " must equal ", n,
                                ", got shape ", in.shape().DebugString()));
    SplitAlong(ctx, in, axis, DimVector(n, 1), true);
  }

 private:
  int64_t axis_ = 0;
};

class PadOp : public OpKernel {
 public:
  using OpKernel::OpKernel;
  void Compute(OpKernelContext* ctx) override {
    const Tensor &in = ctx->input(0), &paddings = ctx->input(1);
    const int rank = in.dims();
    OP_REQUIRES(ctx,
                paddings.dims() == 2 && paddings.dim_size(1) == 2 &&
                    paddings.dim_size(0) == rank,
                errors::InvalidArgument("paddings must be a matrix [", rank,
                                        ", 2], got shape ",
                                        paddings.shape().DebugString()));
    const Tensor* value = ctx->num_inputs() > 2 ? &ctx->input(2) : nullptr;
    OP_REQUIRES(
        ctx, value == nullptr || value->dims() == 0,
        errors::InvalidArgument("constant_values must be a scalar. Found: ",
                                value->shape().DebugString()));
    DimVector pads;
    OP_REQUIRES_OK(ctx, ReadIntegers(paddings, "paddings", &pads));
    TensorShape shape;
    DimVector before;
    for (int i = 0; i < rank; ++i) {
      OP_REQUIRES(ctx, pads[2 * i] >= 0 && pads[2 * i + 1] >= 0,
                  errors::InvalidArgument("Paddings must be non-negative: ",
                                          pads[2 * i], " ", pads[2 * i + 1]));
      int64_t d = AddWithoutOverflow(in.dim_size(i), pads[2 * i]);
      if (d >= 0) d = AddWithoutOverflow(d, pads[2 * i + 1]);
      OP_REQUIRES(ctx, d >= 0,
                  errors::InvalidArgument("Pad: dimension ", i, " overflows"));
      shape.AddDim(d);
      before.push_back(pads[2 * i]);
    }
    Tensor* out = nullptr;
    OP_REQUIRES_OK(ctx, ctx->allocate_output(0, shape, &out));
    OP_REQUIRES_OK(ctx, PadOnDevice(GpuStream(ctx), in, before, value, out));
  }
};

class SliceOp : public OpKernel {
 public:
  using OpKernel::OpKernel;
  void Compute(OpKernelContext* ctx) override {
    const Tensor& in = ctx->input(0);
    const int rank = in.dims();
    DimVector begin, size;
    OP_REQUIRES_OK(ctx, ReadIntegerVector(ctx->input(1), "begin", &begin));
    OP_REQUIRES_OK(ctx, ReadIntegerVector(ctx->input(2), "size", &size));
    OP_REQUIRES(
        ctx,
        static_cast<int>(begin.size()) == rank &&
            static_cast<int>(size.size()) == rank,
        errors::InvalidArgument(
            "Expected begin and size arguments to be 1-D tensors of "
            "size ",
            rank, ", but got shapes ", ctx->input(1).shape().DebugString(),
            " and ", ctx->input(2).shape().DebugString(), " instead."));
    TensorShape shape;
    for (int i = 0; i < rank; ++i) {
      const int64_t dim = in.dim_size(i);
      OP_REQUIRES(ctx, 0 <= begin[i] && begin[i] <= dim,
                  errors::InvalidArgument("Expected begin[", i, "] in [0, ",
                                          dim, "], but got ", begin[i]));
      if (size[i] == -1) size[i] = dim - begin[i];
      OP_REQUIRES(
          ctx, 0 <= size[i] && size[i] <= dim - begin[i],
          errors::InvalidArgument("Expected size[", i, "] in [0, ",
                                  dim - begin[i], "], but got ", size[i]));
      shape.AddDim(size[i]);
    }
    Tensor* out = nullptr;
    OP_REQUIRES_OK(ctx, ctx->allocate_output(0, shape, &out));
    if (out->NumElements() == 0) return;
    const DimVector from = RowMajorStrides(in.shape().dim_sizes());
    const DimVector to = RowMajorStrides(shape.dim_sizes());
    BoxBuilder<2> box;
    int64_t at = 0;
    for (int i = 0; i < rank; ++i) {
      at += begin[i] * from[i];
      box.AddDim(size[i], {from[i], to[i]});
    }
    OP_REQUIRES_OK(ctx, MoveBox(GpuStream(ctx), in, at, out, 0, box));
  }
};

// StridedSlice, and with kGrad its gradient: the slice's place in zeros.
template <bool kGrad>
class StridedSliceOp : public OpKernel {
 public:
  explicit StridedSliceOp(OpKernelConstruction* ctx) : OpKernel(ctx) {
    OP_REQUIRES_OK(ctx, masks_.FromAttrs(ctx->def().attrs));
  }
  void Compute(OpKernelContext* ctx) override {
    TensorShape whole = ctx->input(0).shape();
    if (kGrad) {
      DimVector dims;
      OP_REQUIRES_OK(ctx, ReadIntegerVector(ctx->input(0), "shape", &dims));
      OP_REQUIRES_OK(ctx, TensorShape::Build(dims, &whole));
    }
    DimVector begin, end, strides;
    OP_REQUIRES_OK(ctx, ReadIntegerVector(ctx->input(1), "begin", &begin));
    OP_REQUIRES_OK(ctx, ReadIntegerVector(ctx->input(2), "end", &end));
    OP_REQUIRES_OK(ctx, ReadIntegerVector(ctx->input(3), "strides", &strides));
    OP_REQUIRES(
        ctx, begin.size() == strides.size() && end.size() == strides.size(),
        errors::InvalidArgument(
            "Expected begin, end, and strides to be 1D equal size tensors, "
            "but got sizes ",
            begin.size(), ", ", end.size(), " and ", strides.size()));
    const absl::Span<const int64_t> begin_span(begin), end_span(end);
    StridedSlicePlan plan;
    OP_REQUIRES_OK(ctx, PlanStridedSlice(whole, &begin_span, &end_span, strides,
                                         masks_, &plan));
    TensorShape slice;
    OP_REQUIRES(ctx, plan.shape.AsTensorShape(&slice),
                errors::InvalidArgument("StridedSlice: invalid shape ",
                                        plan.shape.DebugString()));
    const Tensor& in = ctx->input(kGrad ? 4 : 0);
    OP_REQUIRES(
        ctx, !kGrad || in.shape() == slice,
        errors::InvalidArgument("shape of dy was ", in.shape().DebugString(),
                                " instead of ", slice.DebugString()));
    Tensor* out = nullptr;
    OP_REQUIRES_OK(ctx, ctx->allocate_output(0, kGrad ? whole : slice, &out));
    if (kGrad && out->TotalBytes() > 0) {
      OP_REQUIRES_OK(ctx, GpuStream(ctx)->Fill(DeviceMemoryBase(*out), 0,
                                               out->TotalBytes()));
    }
    if (slice.num_elements() == 0) return;
    const DimVector outer = RowMajorStrides(whole.dim_sizes());
    const DimVector dense = RowMajorStrides(plan.size);
    BoxBuilder<2> box;
    int64_t at = 0;
    for (int i = 0; i < whole.dims(); ++i) {
      at += plan.begin[i] * outer[i];
      const int64_t step = plan.size[i] == 1 ? 0 : outer[i] * plan.stride[i];
      if (kGrad) {
        box.AddDim(plan.size[i], {dense[i], step});
      } else {
        box.AddDim(plan.size[i], {step, dense[i]});
      }
    }
    OP_REQUIRES_OK(ctx, MoveBox(GpuStream(ctx), in, kGrad ? 0 : at, out,
                                kGrad ? at : 0, box));
  }

 private:
  StridedSliceMasks masks_;
};

class TileOp : public OpKernel {
 public:
  using OpKernel::OpKernel;
  void Compute(OpKernelContext* ctx) override {
    const Tensor& in = ctx->input(0);
    const int rank = in.dims();
    DimVector multiples;
    OP_REQUIRES_OK(ctx,
                   ReadIntegerVector(ctx->input(1), "multiples", &multiples));
    OP_REQUIRES(ctx, static_cast<int>(multiples.size()) == rank,
                errors::InvalidArgument(
                    "Expected multiples argument to be a vector of length ",
                    rank, " but got length ", multiples.size()));
    TensorShape shape;
    for (int i = 0; i < rank; ++i) {
      OP_REQUIRES(ctx, multiples[i] >= 0,
                  errors::InvalidArgument("Expected multiples[", i,
                                          "] >= 0, but got ", multiples[i]));
      const int64_t d = MultiplyWithoutOverflow(in.dim_size(i), multiples[i]);
      OP_REQUIRES(ctx, d >= 0,
                  errors::InvalidArgument("Tile: dimension ", i, " overflows"));
      shape.AddDim(d);
    }
    Tensor* out = nullptr;
    OP_REQUIRES_OK(ctx, ctx->allocate_output(0, shape, &out));
    if (out->NumElements() == 0) return;
    const DimVector from = RowMajorStrides(in.shape().dim_sizes());
    const DimVector to = RowMajorStrides(shape.dim_sizes());
    BoxBuilder<2> box;
    for (int i = 0; i < rank; ++i) {
      box.AddDim(multiples[i], {0, to[i] * in.dim_size(i)});
      box.AddDim(in.dim_size(i), {from[i], to[i]});
    }
    OP_REQUIRES_OK(ctx, MoveBox(GpuStream(ctx), in, 0, out, 0, box));
  }
};

class BroadcastToOp : public OpKernel {
 public:
  using OpKernel::OpKernel;
  void Compute(OpKernelContext* ctx) override {
    const Tensor& in = ctx->input(0);
    DimVector dims;
    OP_REQUIRES_OK(ctx, ReadIntegerVector(ctx->input(1), "shape", &dims));
    TensorShape shape;
    OP_REQUIRES_OK(ctx, TensorShape::Build(dims, &shape));
    const BCast bcast({&in.shape(), &shape});
    OP_REQUIRES(ctx, bcast.status().ok() && bcast.output_shape() == shape,
                errors::InvalidArgument(
                    "Incompatible shapes: ", in.shape().DebugString(), " vs. ",
                    shape.DebugString()));
    Tensor* out = nullptr;
    OP_REQUIRES_OK(ctx, ctx->allocate_output(0, shape, &out));
    if (out->NumElements() == 0) return;
    BoxBuilder<2> box;
    for (const BCast::Dim& d : bcast.dims()) {
      box.AddDim(d.size, {d.stride[0], d.stride[1]});
    }
    OP_REQUIRES_OK(ctx, MoveBox(GpuStream(ctx), in, 0, out, 0, box));
  }
};

// Gather, GatherV2 (the axis in host memory) without batch dims.
template <typename Index>
class GatherOp : public OpKernel {
 public:
  explicit GatherOp(OpKernelConstruction* ctx) : OpKernel(ctx) {
    int64_t batch_dims = 0;
    if (ctx->HasAttr("batch_dims")) {
      OP_REQUIRES_OK(ctx, ctx->GetAttr("batch_dims", &batch_dims));
    }
    OP_REQUIRES(ctx, batch_dims == 0,
                errors::Unimplemented("GatherV2 on a GPU: batch_dims must be "
                                      "0, got ",
                                      batch_dims));
  }
  void Compute(OpKernelContext* ctx) override {
    const Tensor &params = ctx->input(0), &indices = ctx->input(1);
    const int rank = params.dims();
    OP_REQUIRES(ctx, rank >= 1,
                errors::InvalidArgument("params must be at least 1 "
                                        "dimensional, got a scalar"));
    int axis = 0;
    if (ctx->num_inputs() > 2) {
      OP_REQUIRES_OK(ctx, ReadAxis(ctx->input(2), "axis", rank, &axis));
    }
    TensorShape shape;
    for (int i = 0; i < axis; ++i) shape.AddDim(params.dim_size(i));
    for (const int64_t d : indices.shape().dim_sizes()) shape.AddDim(d);
    for (int i = axis + 1; i < rank; ++i) shape.AddDim(params.dim_size(i));
    OP_REQUIRES(ctx, shape.dims() <= kMaxTensorRank,
                errors::InvalidArgument("the result has too many dimensions"));
    Tensor* out = nullptr;
    OP_REQUIRES_OK(ctx, ctx->allocate_output(0, shape, &out));
    if (out->NumElements() == 0) return;
    OP_REQUIRES_OK(
        ctx, WithWidth(params.dtype(), [&](auto bytes) {
          using E = Element<bytes()>;
          return ForEach(
              GpuStream(ctx), out->NumElements(),
              GatherMove<bytes(), Index>{
                  static_cast<const E*>(params.raw_data()), In<Index>(indices),
                  static_cast<E*>(out->raw_data()), params.dim_size(axis),
                  indices.NumElements(),
                  params.shape().ProductOf(axis + 1, rank)});
        }));
  }
};

// UnsortedSegmentSum: the number of segments is in host memory. A thread adds
// up one element of a segment, in the order of the rows.
template <typename T, typename Index>
class UnsortedSegmentSumOp : public OpKernel {
 public:
  using OpKernel::OpKernel;
  void Compute(OpKernelContext* ctx) override {
    const Tensor &data = ctx->input(0), &ids = ctx->input(1);
    int64_t segments = 0;
    OP_REQUIRES_OK(ctx, ReadInteger(ctx->input(2), "num_segments", &segments));
    OP_REQUIRES(ctx, segments >= 0,
                errors::InvalidArgument("num_segments must be non-negative, "
                                        "got ",
                                        segments));
    bool begins = ids.dims() <= data.dims();
    for (int i = 0; begins && i < ids.dims(); ++i) {
      begins = ids.dim_size(i) == data.dim_size(i);
    }
    OP_REQUIRES(
        ctx, begins,
        errors::InvalidArgument("data.shape = ", data.shape().DebugString(),
                                " does not start with segment_ids.shape = ",
                                ids.shape().DebugString()));
    TensorShape shape({segments});
    for (int i = ids.dims(); i < data.dims(); ++i) {
      shape.AddDim(data.dim_size(i));
    }
    Tensor* out = nullptr;
    OP_REQUIRES_OK(ctx, ctx->allocate_output(0, shape, &out));
    OP_REQUIRES_OK(
        ctx,
        ForEach(GpuStream(ctx), out->NumElements(),
                SegmentSum<Dev<T>, Index>{
                    In<T>(data), In<Index>(ids), Out<T>(out), ids.NumElements(),
                    data.shape().ProductOf(ids.dims(), data.dims())}));
  }
};

// OneHot: the depth is in host memory.
template <typename Index>
class OneHotOp : public OpKernel {
 public:
  explicit OneHotOp(OpKernelConstruction* ctx) : OpKernel(ctx) {
    OP_REQUIRES_OK(ctx, ctx->GetAttr("axis", &axis_));
  }
  void Compute(OpKernelContext* ctx) override {
    const Tensor &indices = ctx->input(0), &on = ctx->input(2),
                 &off = ctx->input(3);
    const int rank = indices.dims();
    OP_REQUIRES(
        ctx, -1 <= axis_ && axis_ <= rank && rank < kMaxTensorRank,
        errors::InvalidArgument("Expected axis to be -1 or between [0, ",
                                rank + 1, ").  But received: ", axis_));
    for (int i = 1; i < 4; ++i) {
      OP_REQUIRES(ctx, ctx->input(i).dims() == 0,
                  errors::InvalidArgument(i == 1   ? "depth"
                                          : i == 2 ? "on_value"
                                                   : "off_value",
                                          " must be a scalar, but got: ",
                                          ctx->input(i).shape().DebugString()));
    }
    const int64_t depth = ctx->input(1).scalar<int32_t>();
    OP_REQUIRES(
        ctx, depth >= 0,
        errors::InvalidArgument("depth must be non-negative, got: ", depth));
    const int axis = static_cast<int>(axis_ < 0 ? rank : axis_);
    TensorShape shape = indices.shape();
    shape.InsertDim(axis, depth);
    Tensor* out = nullptr;
    OP_REQUIRES_OK(ctx, ctx->allocate_output(0, shape, &out));
    if (out->NumElements() == 0) return;
    OP_REQUIRES_OK(ctx, WithWidth(out->dtype(), [&](auto bytes) {
                     using E = Element<bytes()>;
                     return ForEach(GpuStream(ctx), out->NumElements(),
                                    OneHotMove<bytes(), Index>{
                                        In<Index>(indices),
                                        static_cast<const E*>(on.raw_data()),
                                        static_cast<const E*>(off.raw_data()),
                                        static_cast<E*>(out->raw_data()), depth,
                                        indices.shape().ProductOf(axis, rank)});
                   }));
  }

 private:
  int64_t axis_ = -1;
};

// The types whose elements are on the device; int32 is the type of shapes
// (host_ops.cc), but is gathered and made one-hot.
#define HR_REGISTER(T)                                   \
  REGISTER_KERNEL_BUILDER(Name("Transpose")              \
                              .Device(DEVICE_GPU)        \
                              .TypeConstraint<T>("T")    \
                              .HostMemory("perm"),       \
                          TransposeOp);                  \
  REGISTER_KERNEL_BUILDER(Name("Concat")                 \
                              .Device(DEVICE_GPU)        \
                              .TypeConstraint<T>("T")    \
                              .HostMemory("concat_dim"), \
                          ConcatOp);                     \
  REGISTER_KERNEL_BUILDER(Name("ConcatV2")               \
                              .Device(DEVICE_GPU)        \
                              .TypeConstraint<T>("T")    \
                              .HostMemory("axis"),       \
                          ConcatOp);                     \
  HR_GPU_KERNEL("Pack", T, PackOp);                      \
  HR_GPU_KERNEL("Unpack", T, UnpackOp);                  \
  REGISTER_KERNEL_BUILDER(Name("Split")                  \
                              .Device(DEVICE_GPU)        \
                              .TypeConstraint<T>("T")    \
                              .HostMemory("split_dim"),  \
                          SplitOp);                      \
  REGISTER_KERNEL_BUILDER(Name("SplitV")                 \
                              .Device(DEVICE_GPU)        \
                              .TypeConstraint<T>("T")    \
                              .HostMemory("size_splits") \
                              .HostMemory("split_dim"),  \
                          SplitVOp);                     \
  REGISTER_KERNEL_BUILDER(Name("Pad")                    \
                              .Device(DEVICE_GPU)        \
                              .TypeConstraint<T>("T")    \
                              .HostMemory("paddings"),   \
                          PadOp);                        \
  REGISTER_KERNEL_BUILDER(Name("PadV2")                  \
                              .Device(DEVICE_GPU)        \
                              .TypeConstraint<T>("T")    \
                              .HostMemory("paddings"),   \
                          PadOp);                        \
  REGISTER_KERNEL_BUILDER(Name("Slice")                  \
                              .Device(DEVICE_GPU)        \
                              .TypeConstraint<T>("T")    \
                              .HostMemory("begin")       \
                              .HostMemory("size"),       \
                          SliceOp);                      \
  REGISTER_KERNEL_BUILDER(Name("StridedSlice")           \
                              .Device(DEVICE_GPU)        \
                              .TypeConstraint<T>("T")    \
                              .HostMemory("begin")       \
                              .HostMemory("end")         \
                              .HostMemory("strides"),    \
                          StridedSliceOp<false>);        \
  REGISTER_KERNEL_BUILDER(Name("StridedSliceGrad")       \
                              .Device(DEVICE_GPU)        \
                              .TypeConstraint<T>("T")    \
                              .HostMemory("shape")       \
                              .HostMemory("begin")       \
                              .HostMemory("end")         \
                              .HostMemory("strides"),    \
                          StridedSliceOp<true>);         \
  REGISTER_KERNEL_BUILDER(Name("Tile")                   \
                              .Device(DEVICE_GPU)        \
                              .TypeConstraint<T>("T")    \
                              .HostMemory("multiples"),  \
                          TileOp);                       \
  REGISTER_KERNEL_BUILDER(Name("BroadcastTo")            \
                              .Device(DEVICE_GPU)        \
                              .TypeConstraint<T>("T")    \
                              .HostMemory("shape"),      \
                          BroadcastToOp);
HR_GPU_REAL_TYPES(HR_REGISTER)
HR_REGISTER(int64_t)
HR_REGISTER(bool)
#undef HR_REGISTER

#define HR_REGISTER_INDEX(T, INDEX)                               \
  REGISTER_KERNEL_BUILDER(Name("Gather")                          \
                              .Device(DEVICE_GPU)                 \
                              .TypeConstraint<T>("Tparams")       \
                              .TypeConstraint<INDEX>("Tindices"), \
                          GatherOp<INDEX>);                       \
  REGISTER_KERNEL_BUILDER(Name("GatherV2")                        \
                              .Device(DEVICE_GPU)                 \
                              .TypeConstraint<T>("Tparams")       \
                              .TypeConstraint<INDEX>("Tindices")  \
                              .HostMemory("axis"),                \
                          GatherOp<INDEX>);
#define HR_REGISTER(T)          \
  HR_REGISTER_INDEX(T, int32_t) \
  HR_REGISTER_INDEX(T, int64_t)
HR_GPU_REAL_TYPES(HR_REGISTER)
HR_REGISTER(int32_t)
HR_REGISTER(int64_t)
#undef HR_REGISTER
#undef HR_REGISTER_INDEX

#define HR_REGISTER_INDEX(T, INDEX)                              \
  REGISTER_KERNEL_BUILDER(Name("UnsortedSegmentSum")             \
                              .Device(DEVICE_GPU)                \
                              .TypeConstraint<T>("T")            \
                              .TypeConstraint<INDEX>("Tindices") \
                              .HostMemory("num_segments"),       \
                          UnsortedSegmentSumOp<T, INDEX>);
#define HR_REGISTER(T)          \
  HR_REGISTER_INDEX(T, int32_t) \
  HR_REGISTER_INDEX(T, int64_t)
HR_GPU_REAL_TYPES(HR_REGISTER)
#undef HR_REGISTER
#undef HR_REGISTER_INDEX

#define HR_REGISTER_INDEX(T, INDEX)                        \
  REGISTER_KERNEL_BUILDER(Name("OneHot")                   \
                              .Device(DEVICE_GPU)          \
                              .TypeConstraint<T>("T")      \
                              .TypeConstraint<INDEX>("TI") \
                              .HostMemory("depth"),        \
                          OneHotOp<INDEX>);
#define HR_REGISTER(T)          \
  HR_REGISTER_INDEX(T, uint8_t) \
  HR_REGISTER_INDEX(T, int32_t) \
  HR_REGISTER_INDEX(T, int64_t)
HR_GPU_REAL_TYPES(HR_REGISTER)
HR_REGISTER(int32_t)
HR_REGISTER(int64_t)
HR_REGISTER(bool)
#undef HR_REGISTER
#undef HR_REGISTER_INDEX

}  // namespace
}  // namespace headrace::gpu
