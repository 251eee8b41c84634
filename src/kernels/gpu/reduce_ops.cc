// Reductions on a GPU and what is made of them: Sum, Mean, Prod, Max, Min, All,
// Any, L2Loss, BiasAddGrad; ArgMax and ArgMin; softmax, cross entropy, layer
// norm and batch norm.
//
// Results whose elements lie side by side are reduced by a block each, results
// that lie side by side by a block for 32 of them. Where that makes few blocks,
// the elements are cut into parts and a second pass brings the parts together.
// All of it depends on shapes alone.
#include <algorithm>
#include <string>

#include "framework/shape_fns/common_shape_fns.h"
#include "kernels/gpu/gpu_op.h"
#include "kernels/gpu/reduce_functors.h"
#include "kernels/lib/broadcast.h"
#include "kernels/math/reduction.h"
#include "kernels/nn/fused_batch_norm.h"

namespace headrace::gpu {
namespace {

// The blocks that a device should have at least to be busy.
constexpr int64_t kWantedBlocks = 512;
// The fewest elements worth a part of their own.
constexpr int64_t kMinPart = 2048;

template <typename Loader, typename Op, typename To>
Status ReducePass(Stream* stream, const Loader& load, const ReduceShape& shape,
                  bool inner_reduced, typename Op::C divisor, To* y) {
  // A type of the arithmetic that is a bool does not divide.
  const bool divides = divisor != typename Op::C(1);
  if (inner_reduced) {
    return ForBlocks(
        stream, shape.outputs * shape.parts,
        RowReduce<Loader, Op, To>{load, shape, divisor, divides, y});
  }
  using F = ColumnReduce<Loader, Op, To>;
  const int64_t groups = (shape.outputs + F::kColumns - 1) / F::kColumns;
  return ForBlocks(stream, groups * shape.parts,
                   F{load, shape, divisor, divides, y});
}

// Queues y[o] = all of load(..) for each result o, divided by `divisor`.
template <typename Op, typename Loader, typename To>
Status ReduceOnDevice(OpKernelContext* ctx, const Loader& load,
                      ReduceShape shape, bool inner_reduced,
                      typename Op::C divisor, To* y) {
  using C = typename Op::C;
  Stream* stream = GpuStream(ctx);
  if (shape.outputs == 0) return OkStatus();
  const int64_t blocks =
      inner_reduced ? shape.outputs : (shape.outputs + 31) / 32;
  shape.parts = std::clamp<int64_t>(
      std::min(kWantedBlocks / blocks, shape.count / kMinPart), 1, 512);
  shape.part_size = (shape.count + shape.parts - 1) / shape.parts;
  if (shape.parts == 1) {
    return ReducePass<Loader, Op, To>(stream, load, shape, inner_reduced,
                                      divisor, y);
  }
  shape.parts = (shape.count + shape.part_size - 1) / shape.part_size;
  Tensor partial;
  // As bytes: C may be a type that tensors do not have.
  HR_RETURN_IF_ERROR(AllocateScratch(
      ctx, DT_UINT8,
      TensorShape({shape.parts, shape.outputs, int64_t{sizeof(C)}}), &partial));
  C* const parts = static_cast<C*>(partial.raw_data());
  HR_RETURN_IF_ERROR((ReducePass<Loader, Op, C>(stream, load, shape,
                                                inner_reduced, C(1), parts)));
  ReduceShape last;
  last.outputs = shape.outputs;
  last.count = last.part_size = shape.parts;
  BoxBuilder<1> kept, reduced;
  kept.AddDim(shape.outputs, {1});
  reduced.AddDim(shape.parts, {shape.outputs});
  HR_RETURN_IF_ERROR(kept.Build(&last.kept));
  HR_RETURN_IF_ERROR(reduced.Build(&last.reduced));
  return ReducePass<LoadElement<C>, Op, To>(
      stream, LoadElement<C>{parts}, last, /*inner_reduced=*/false, divisor, y);
}

Status ShapeOf(const ReductionPlan& plan, ReduceShape* shape) {
  BoxBuilder<1> kept, reduced;
  for (const BCast::Dim& d : plan.kept) kept.AddDim(d.size, {d.stride[0]});
  for (const BCast::Dim& d : plan.reduced) {
    reduced.AddDim(d.size, {d.stride[0]});
  }
  HR_RETURN_IF_ERROR(kept.Build(&shape->kept));
  HR_RETURN_IF_ERROR(reduced.Build(&shape->reduced));
  shape->outputs = plan.outputs;
  shape->count = plan.count;
  return OkStatus();
}

// A tensor seen as [outer, channels, inner], of which the channels are kept.
struct ChannelView {
  int64_t outer = 0, channels = 0, inner = 1;
  int64_t count() const { return outer * inner; }

  ChannelView() = default;
  ChannelView(const TensorShape& shape, DataFormat format) {
    const int axis = ChannelDim(format, shape.dims());
    outer = shape.ProductOf(0, axis);
    channels = shape.dim_size(axis);
    inner = shape.ProductOf(axis + 1, shape.dims());
  }
  Status Reduced(ReduceShape* shape) const {
    BoxBuilder<1> kept, reduced;
    kept.AddDim(channels, {inner});
    reduced.AddDim(outer, {channels * inner});
    reduced.AddDim(inner, {1});
    HR_RETURN_IF_ERROR(kept.Build(&shape->kept));
    HR_RETURN_IF_ERROR(reduced.Build(&shape->reduced));
    shape->outputs = channels;
    shape->count = count();
    return OkStatus();
  }
  bool inner_reduced() const { return inner > 1 || channels == 1; }
};

template <typename T, template <typename> class OpOf, bool kMean>
class ReductionOp : public OpKernel {
 public:
  explicit ReductionOp(OpKernelConstruction* ctx) : OpKernel(ctx) {
    OP_REQUIRES_OK(ctx, ctx->GetAttr("keep_dims", &keep_dims_));
  }
  void Compute(OpKernelContext* ctx) override {
    const Tensor& x = ctx->input(0);
    ReductionPlan plan;
    OP_REQUIRES_OK(ctx, plan.Init(x.shape(), ctx->input(1), keep_dims_));
    Tensor* y = nullptr;
    OP_REQUIRES_OK(ctx, ctx->allocate_output(0, plan.output_shape, &y));
    ReduceShape shape;
    OP_REQUIRES_OK(ctx, ShapeOf(plan, &shape));
    using D = Dev<T>;
    using C = ComputeType<D>;
    OP_REQUIRES_OK(ctx,
                   (ReduceOnDevice<OpOf<C>>(
                       ctx, LoadElement<D>{In<T>(x)}, shape, plan.inner_reduced,
                       kMean ? static_cast<C>(plan.count) : C(1), Out<T>(y))));
  }

 private:
  bool keep_dims_ = false;
};
template <typename C>
using All = AllOp;
template <typename C>
using Any = AnyOp;

template <typename T>
class L2LossOp : public OpKernel {
 public:
  using OpKernel::OpKernel;
  void Compute(OpKernelContext* ctx) override {
    const Tensor& x = ctx->input(0);
    Tensor* y = nullptr;
    OP_REQUIRES_OK(ctx, ctx->allocate_output(0, TensorShape(), &y));
    ReduceShape shape;
    shape.count = x.NumElements();
    BoxBuilder<1> reduced;
    reduced.AddDim(shape.count, {1});
    OP_REQUIRES_OK(ctx, reduced.Build(&shape.reduced));
    using C = ComputeType<Dev<T>>;
    OP_REQUIRES_OK(
        ctx, (ReduceOnDevice<SumOp<C>>(ctx, LoadSquare<Dev<T>>{In<T>(x)}, shape,
                                       true, C(2), Out<T>(y))));
  }
};

template <typename T>
class BiasAddGradOp : public OpKernel {
 public:
  explicit BiasAddGradOp(OpKernelConstruction* ctx) : OpKernel(ctx) {
    std::string name = "NHWC";
    if (ctx->HasAttr("data_format")) {
      OP_REQUIRES_OK(ctx, ctx->GetAttr("data_format", &name));
    }
    OP_REQUIRES_OK(ctx, ParseDataFormat(name, &format_));
  }
  void Compute(OpKernelContext* ctx) override {
    const Tensor& dy = ctx->input(0);
    OP_REQUIRES(ctx, dy.dims() >= 2,
                errors::InvalidArgument("Input tensor must be at least 2D: ",
                                        dy.shape().DebugString()));
    const ChannelView view(dy.shape(), format_);
    Tensor* db = nullptr;
    OP_REQUIRES_OK(ctx,
                   ctx->allocate_output(0, TensorShape({view.channels}), &db));
    ReduceShape shape;
    OP_REQUIRES_OK(ctx, view.Reduced(&shape));
    using C = ComputeType<Dev<T>>;
    OP_REQUIRES_OK(ctx, (ReduceOnDevice<SumOp<C>>(
                            ctx, LoadElement<Dev<T>>{In<T>(dy)}, shape,
                            view.inner_reduced(), C(1), Out<T>(db))));
  }

 private:
  DataFormat format_ = DataFormat::kNHWC;
};

// ArgMax and ArgMin: the axis is in host memory.
template <typename T, typename Index, bool kMax>
class ArgExtremeOp : public OpKernel {
 public:
  using OpKernel::OpKernel;
  void Compute(OpKernelContext* ctx) override {
    const Tensor &x = ctx->input(0), &dim = ctx->input(1);
    OP_REQUIRES(ctx, dim.dims() == 0,
                errors::InvalidArgument("dim must be a scalar, but received "
                                        "tensor of shape: ",
                                        dim.shape().DebugString()));
    int64_t axis =
        dim.dtype() == DT_INT32 ? dim.scalar<int32_t>() : dim.scalar<int64_t>();
    OP_REQUIRES(
        ctx, -x.dims() <= axis && axis < x.dims(),
        errors::InvalidArgument("Expected dimension in the range [", -x.dims(),
                                ", ", x.dims(), "), but got ", axis));
    if (axis < 0) axis += x.dims();
    const int a = static_cast<int>(axis);
    OP_REQUIRES(
        ctx, x.dim_size(a) > 0,
        errors::InvalidArgument("Reduction axis ", a, " is empty in shape ",
                                x.shape().DebugString()));
    TensorShape shape = x.shape();
    shape.RemoveDim(a);
    Tensor* y = nullptr;
    OP_REQUIRES_OK(ctx, ctx->allocate_output(0, shape, &y));
    OP_REQUIRES_OK(ctx, ForEach(GpuStream(ctx), y->NumElements(),
                                ArgExtreme<Dev<T>, Index, kMax>{
                                    In<T>(x), Out<Index>(y), x.dim_size(a),
                                    x.shape().ProductOf(a + 1, x.dims())}));
  }
};

template <typename T, bool kLog>
class SoftmaxOp : public OpKernel {
 public:
  using OpKernel::OpKernel;
  void Compute(OpKernelContext* ctx) override {
    const Tensor& x = ctx->input(0);
    OP_REQUIRES(ctx, x.dims() >= 1,
                errors::InvalidArgument("logits must have >= 1 dimension, got ",
                                        x.shape().DebugString()));
    Tensor* y = nullptr;
    OP_REQUIRES_OK(
        ctx, ctx->forward_input_or_allocate_output({0}, 0, x.shape(), &y));
    if (y->NumElements() == 0) return;
    const int64_t n = x.dim_size(x.dims() - 1);
    OP_REQUIRES_OK(ctx,
                   ForBlocks(GpuStream(ctx), x.NumElements() / n,
                             SoftmaxRow<Dev<T>, kLog>{In<T>(x), Out<T>(y), n}));
  }
};

template <typename T>
class XentOp : public OpKernel {
 public:
  using OpKernel::OpKernel;
  void Compute(OpKernelContext* ctx) override {
    const Tensor &x = ctx->input(0), &l = ctx->input(1);
    const BCast bcast({&x.shape(), &l.shape()});
    OP_REQUIRES(
        ctx, bcast.status().ok() && bcast.output_shape().dims() == 2,
        errors::InvalidArgument(
            "logits and labels must be broadcastable to 2 dimensions: "
            "logits_size=",
            x.shape().DebugString(), " labels_size=", l.shape().DebugString()));
    const TensorShape& shape = bcast.output_shape();
    Tensor *loss = nullptr, *backprop = nullptr;
    OP_REQUIRES_OK(
        ctx, ctx->allocate_output(0, TensorShape({shape.dim_size(0)}), &loss));
    OP_REQUIRES_OK(ctx, ctx->allocate_output(1, shape, &backprop));
    XentRow<Dev<T>> f{};
    f.x = In<T>(x);
    f.l = In<T>(l);
    Strides(x.shape(), &f.x_row, &f.x_column);
    Strides(l.shape(), &f.l_row, &f.l_column);
    f.n = shape.dim_size(1);
    f.loss = Out<T>(loss);
    f.backprop = Out<T>(backprop);
    OP_REQUIRES_OK(ctx, ForBlocks(GpuStream(ctx), shape.dim_size(0), f));
  }

 private:
  static void Strides(const TensorShape& s, int64_t* row, int64_t* column) {
    const int r = s.dims();
    const int64_t columns = r >= 1 ? s.dim_size(r - 1) : 1;
    const int64_t rows = r >= 2 ? s.dim_size(r - 2) : 1;
    *row = rows == 1 ? 0 : columns;
    *column = columns == 1 ? 0 : 1;
  }
};

template <typename T, typename Index>
class SparseXentOp : public OpKernel {
 public:
  using OpKernel::OpKernel;
  void Compute(OpKernelContext* ctx) override {
    const Tensor &x = ctx->input(0), &labels = ctx->input(1);
    OP_REQUIRES(ctx, x.dims() == 2,
                errors::InvalidArgument("logits must be 2-D, but got shape ",
                                        x.shape().DebugString()));
    OP_REQUIRES(ctx, labels.dims() == 1 && labels.dim_size(0) == x.dim_size(0),
                errors::InvalidArgument(
                    "logits and labels must have the same first dimension, "
                    "got logits shape ",
                    x.shape().DebugString(), " and labels shape ",
                    labels.shape().DebugString()));
    OP_REQUIRES(ctx, x.dim_size(1) > 0,
                errors::InvalidArgument(
                    "Must have at least one class, but got logits shape ",
                    x.shape().DebugString()));
    Tensor *loss = nullptr, *backprop = nullptr;
    OP_REQUIRES_OK(ctx, ctx->allocate_output(0, labels.shape(), &loss));
    OP_REQUIRES_OK(ctx, ctx->allocate_output(1, x.shape(), &backprop));
    OP_REQUIRES_OK(
        ctx, ForBlocks(GpuStream(ctx), x.dim_size(0),
                       SparseXentRow<Dev<T>, Index>{In<T>(x), In<Index>(labels),
                                                    x.dim_size(1), Out<T>(loss),
                                                    Out<T>(backprop)}));
  }
};

class FusedLayerNormOp : public OpKernel {
 public:
  explicit FusedLayerNormOp(OpKernelConstruction* ctx) : OpKernel(ctx) {
    OP_REQUIRES_OK(ctx, ctx->GetAttr("axes", &axes_));
    OP_REQUIRES_OK(ctx, ctx->GetAttr("epsilon", &epsilon_));
    OP_REQUIRES_OK(ctx, ctx->GetAttr("has_scale", &has_scale_));
    OP_REQUIRES_OK(ctx, ctx->GetAttr("has_offset", &has_offset_));
    const int args = (has_scale_ ? 1 : 0) + (has_offset_ ? 1 : 0);
    OP_REQUIRES(ctx, num_inputs() == 1 + args,
                errors::InvalidArgument("has_scale and has_offset want ", args,
                                        " args, got ", num_inputs() - 1));
  }
  void Compute(OpKernelContext* ctx) override {
    const Tensor& x = ctx->input(0);
    OP_REQUIRES(
        ctx, axes_ <= x.dims(),
        errors::InvalidArgument("x must have ", axes_, " dims or more, got ",
                                x.shape().DebugString()));
    LayerNormRow<float> f{};
    f.x = In<float>(x);
    f.n = x.shape().ProductOf(x.dims() - static_cast<int>(axes_), x.dims());
    f.epsilon = epsilon_;
    f.scale_size = f.offset_size = 1;
    int input = 1;
    if (has_scale_) {
      OP_REQUIRES_OK(ctx, Read(ctx, input++, &f.scale, &f.scale_size));
    }
    if (has_offset_) {
      OP_REQUIRES_OK(ctx, Read(ctx, input++, &f.offset, &f.offset_size));
    }
    Tensor* y = nullptr;
    OP_REQUIRES_OK(
        ctx, ctx->forward_input_or_allocate_output({0}, 0, x.shape(), &y));
    if (y->NumElements() == 0) return;
    f.y = Out<float>(y);
    OP_REQUIRES_OK(ctx, ForBlocks(GpuStream(ctx), x.NumElements() / f.n, f));
  }

 private:
  Status Read(OpKernelContext* ctx, int input, const float** values,
              int64_t* size) const {
    const Tensor& t = ctx->input(input);
    const TensorShape& x = ctx->input(0).shape();
    int d = 0;
    while (d < t.dims() && t.dim_size(d) == 1) ++d;
    bool fits = t.dims() <= x.dims() && t.dims() - d <= axes_;
    for (; fits && d < t.dims(); ++d) {
      fits = t.dim_size(d) == x.dim_size(x.dims() - t.dims() + d);
    }
    if (!fits) {
      return errors::InvalidArgument(
          "args[", input - 1, "] must have a shape that the last ", axes_,
          " dims of x's shape ", x.DebugString(), " end with, got ",
          t.shape().DebugString());
    }
    *values = In<float>(t);
    *size = std::max<int64_t>(1, t.NumElements());
    return OkStatus();
  }

  int64_t axes_ = 1;
  float epsilon_ = 0;
  bool has_scale_ = false, has_offset_ = false;
};

// ---- Batch norm -------------------------------------------------------------

// A vector of floats, one for each channel.
Status ChannelScratch(OpKernelContext* ctx, int64_t channels, Tensor* out) {
  return AllocateScratch(ctx, DT_FLOAT, TensorShape({channels}), out);
}

template <typename T>
class FusedBatchNormOp : public OpKernel {
 public:
  explicit FusedBatchNormOp(OpKernelConstruction* ctx) : OpKernel(ctx) {
    OP_REQUIRES_OK(ctx, attrs_.Read(ctx));
    OP_REQUIRES_OK(ctx, ctx->GetAttr("exponential_avg_factor", &avg_factor_));
  }

  void Compute(OpKernelContext* ctx) override {
    const Tensor& x = ctx->input(0);
    BatchNormView view;
    OP_REQUIRES_OK(ctx, attrs_.View(x.shape(), &view));
    const ChannelView v(x.shape(), attrs_.format);
    static constexpr const char* kNames[] = {"scale", "offset", "mean",
                                             "variance"};
    const bool blend = attrs_.is_training && avg_factor_ != 1.0f;
    const int vectors = blend || !attrs_.is_training ? 4 : 2;
    for (int i = 0; i < vectors; ++i) {
      OP_REQUIRES_OK(
          ctx, CheckBatchNormVector(kNames[i], ctx->input(1 + i), v.channels));
    }
    const TensorShape vector({v.channels});
    Tensor* y = nullptr;
    Tensor* stats[4];
    OP_REQUIRES_OK(ctx, ctx->allocate_output(0, x.shape(), &y));
    for (int i = 0; i < 4; ++i) {
      OP_REQUIRES_OK(ctx, ctx->allocate_output(1 + i, vector, &stats[i]));
    }
    Stream* stream = GpuStream(ctx);
    if (ctx->num_outputs() > 5) {
      Tensor* unused = nullptr;
      OP_REQUIRES_OK(ctx, ctx->allocate_output(5, TensorShape(), &unused));
      OP_REQUIRES_OK(ctx, stream->Fill(DeviceMemoryBase(*unused), 0,
                                       unused->TotalBytes()));
    }
    const float* mean = nullptr;
    const float* variance = nullptr;
    Tensor mean_scratch, variance_scratch;
    if (attrs_.is_training) {
      OP_REQUIRES_OK(ctx, ChannelScratch(ctx, v.channels, &mean_scratch));
      OP_REQUIRES_OK(ctx, ChannelScratch(ctx, v.channels, &variance_scratch));
      ReduceShape shape;
      OP_REQUIRES_OK(ctx, v.Reduced(&shape));
      // Of an empty x both are 0 / 0.
      const float n = static_cast<float>(v.count());
      using D = Dev<T>;
      OP_REQUIRES_OK(
          ctx, (ReduceOnDevice<SumOp<float>>(ctx, LoadElement<D>{In<T>(x)},
                                             shape, v.inner_reduced(), n,
                                             Out<float>(&mean_scratch))));
      mean = In<float>(mean_scratch);
      OP_REQUIRES_OK(ctx,
                     (ReduceOnDevice<SumOp<float>>(
                         ctx, LoadDeviation<D>{In<T>(x), mean}, shape,
                         v.inner_reduced(), n, Out<float>(&variance_scratch))));
      variance = In<float>(variance_scratch);
    } else {
      mean = In<float>(ctx->input(3));
      variance = In<float>(ctx->input(4));
    }
    BatchNormStats s{};
    s.mean = mean;
    s.variance = variance;
    if (blend) {
      s.old_mean = In<float>(ctx->input(3));
      s.old_variance = In<float>(ctx->input(4));
    }
    s.out_mean = Out<float>(stats[0]);
    s.out_variance = Out<float>(stats[1]);
    s.reserve_1 = Out<float>(stats[2]);
    s.reserve_2 = Out<float>(stats[3]);
    s.count = v.count();
    s.factor = avg_factor_;
    s.training = attrs_.is_training;
    OP_REQUIRES_OK(ctx, ForEach(stream, v.channels, s));
    if (v.count() == 0) {
      // The reserves of an empty x are zero.
      for (int i = 2; i < 4 && v.channels > 0; ++i) {
        OP_REQUIRES_OK(ctx, stream->Fill(DeviceMemoryBase(*stats[i]), 0,
                                         stats[i]->TotalBytes()));
      }
    }
    OP_REQUIRES_OK(
        ctx, ForEach(stream, x.NumElements(),
                     BatchNormApply<Dev<T>>{
                         In<T>(x), mean, variance, In<float>(ctx->input(1)),
                         In<float>(ctx->input(2)), Out<T>(y), v.channels,
                         v.inner, attrs_.epsilon}));
  }

 private:
  BatchNormAttrs attrs_;
  float avg_factor_ = 1.0f;
};

template <typename T>
class FusedBatchNormGradOp : public OpKernel {
 public:
  explicit FusedBatchNormGradOp(OpKernelConstruction* ctx) : OpKernel(ctx) {
    OP_REQUIRES_OK(ctx, attrs_.Read(ctx));
  }

  void Compute(OpKernelContext* ctx) override {
    const Tensor &dy = ctx->input(0), &x = ctx->input(1);
    BatchNormView view;
    OP_REQUIRES_OK(ctx, attrs_.View(x.shape(), &view));
    OP_REQUIRES(ctx, dy.shape() == x.shape(),
                errors::InvalidArgument(
                    "x and y_backprop must have same shape, but x has shape ",
                    x.shape().DebugString(), " and y_backprop has shape ",
                    dy.shape().DebugString()));
    const ChannelView v(x.shape(), attrs_.format);
    OP_REQUIRES_OK(ctx,
                   CheckBatchNormVector("scale", ctx->input(2), v.channels));
    OP_REQUIRES_OK(ctx, CheckBatchNormVector("reserve_space_1", ctx->input(3),
                                             v.channels));
    OP_REQUIRES_OK(ctx, CheckBatchNormVector("reserve_space_2", ctx->input(4),
                                             v.channels));
    const TensorShape vector({v.channels});
    Tensor *dx = nullptr, *dscale = nullptr, *doffset = nullptr;
    OP_REQUIRES_OK(ctx, ctx->allocate_output(0, x.shape(), &dx));
    OP_REQUIRES_OK(ctx, ctx->allocate_output(1, vector, &dscale));
    OP_REQUIRES_OK(ctx, ctx->allocate_output(2, vector, &doffset));
    for (int i = 3; i < 5; ++i) {
      Tensor* unused = nullptr;
      OP_REQUIRES_OK(ctx, ctx->allocate_output(i, TensorShape({0}), &unused));
    }
    const float* scale = In<float>(ctx->input(2));
    const float* mean = In<float>(ctx->input(3));
    const float* variance = In<float>(ctx->input(4));
    Tensor sum_dy, sum_dyx;
    OP_REQUIRES_OK(ctx, ChannelScratch(ctx, v.channels, &sum_dy));
    OP_REQUIRES_OK(ctx, ChannelScratch(ctx, v.channels, &sum_dyx));
    ReduceShape shape;
    OP_REQUIRES_OK(ctx, v.Reduced(&shape));
    using D = Dev<T>;
    OP_REQUIRES_OK(ctx, (ReduceOnDevice<SumOp<float>>(
                            ctx, LoadElement<D>{In<T>(dy)}, shape,
                            v.inner_reduced(), 1.0f, Out<float>(&sum_dy))));
    OP_REQUIRES_OK(ctx,
                   (ReduceOnDevice<SumOp<float>>(
                       ctx, LoadProduct<D>{In<T>(dy), In<T>(x), mean}, shape,
                       v.inner_reduced(), 1.0f, Out<float>(&sum_dyx))));
    Stream* stream = GpuStream(ctx);
    OP_REQUIRES_OK(
        ctx, ForEach(stream, v.channels,
                     BatchNormGradScale{In<float>(sum_dy), In<float>(sum_dyx),
                                        variance, Out<float>(dscale),
                                        Out<float>(doffset), attrs_.epsilon}));
    OP_REQUIRES_OK(ctx, ForEach(stream, x.NumElements(),
                                BatchNormGradInput<D>{
                                    In<T>(dy), In<T>(x), scale, mean, variance,
                                    In<float>(sum_dy), In<float>(sum_dyx),
                                    Out<T>(dx), v.channels, v.inner, v.count(),
                                    attrs_.epsilon, attrs_.is_training}));
  }

 private:
  BatchNormAttrs attrs_;
};

#define HR_GPU_REDUCTION(OP, T, ...)                            \
  REGISTER_KERNEL_BUILDER(Name(OP)                              \
                              .Device(DEVICE_GPU)               \
                              .TypeConstraint<T>("T")           \
                              .HostMemory("reduction_indices"), \
                          ReductionOp<T, __VA_ARGS__>)
#define HR_REGISTER(T)                        \
  HR_GPU_REDUCTION("Sum", T, SumOp, false);   \
  HR_GPU_REDUCTION("Mean", T, SumOp, true);   \
  HR_GPU_REDUCTION("Prod", T, ProdOp, false); \
  HR_GPU_REDUCTION("Max", T, MaxOp, false);   \
  HR_GPU_REDUCTION("Min", T, MinOp, false);
HR_GPU_REAL_TYPES(HR_REGISTER)
HR_REGISTER(int64_t)
#undef HR_REGISTER
#undef HR_GPU_REDUCTION
REGISTER_KERNEL_BUILDER(
    Name("All").Device(DEVICE_GPU).HostMemory("reduction_indices"),
    ReductionOp<bool, All, false>);
REGISTER_KERNEL_BUILDER(
    Name("Any").Device(DEVICE_GPU).HostMemory("reduction_indices"),
    ReductionOp<bool, Any, false>);

#define HR_REGISTER(T)                                \
  HR_GPU_KERNEL("L2Loss", T, L2LossOp<T>);            \
  HR_GPU_KERNEL("BiasAddGrad", T, BiasAddGradOp<T>);  \
  HR_GPU_KERNEL("Softmax", T, SoftmaxOp<T, false>);   \
  HR_GPU_KERNEL("LogSoftmax", T, SoftmaxOp<T, true>); \
  HR_GPU_KERNEL("SoftmaxCrossEntropyWithLogits", T, XentOp<T>);
HR_GPU_REAL_TYPES(HR_REGISTER)
#undef HR_REGISTER
HR_GPU_KERNEL("_FusedLayerNorm", float, FusedLayerNormOp);
HR_GPU_KERNEL("FusedBatchNorm", float, FusedBatchNormOp<float>);
HR_GPU_KERNEL("FusedBatchNormGrad", float, FusedBatchNormGradOp<float>);

#define HR_REGISTER_INDEX(T, INDEX)                                   \
  REGISTER_KERNEL_BUILDER(Name("ArgMax")                              \
                              .Device(DEVICE_GPU)                     \
                              .TypeConstraint<T>("T")                 \
                              .TypeConstraint<INDEX>("output_type")   \
                              .HostMemory("dimension"),               \
                          ArgExtremeOp<T, INDEX, true>);              \
  REGISTER_KERNEL_BUILDER(Name("ArgMin")                              \
                              .Device(DEVICE_GPU)                     \
                              .TypeConstraint<T>("T")                 \
                              .TypeConstraint<INDEX>("output_type")   \
                              .HostMemory("dimension"),               \
                          ArgExtremeOp<T, INDEX, false>);             \
  REGISTER_KERNEL_BUILDER(Name("SparseSoftmaxCrossEntropyWithLogits") \
                              .Device(DEVICE_GPU)                     \
                              .TypeConstraint<T>("T")                 \
                              .TypeConstraint<INDEX>("Tlabels"),      \
                          SparseXentOp<T, INDEX>);
#define HR_REGISTER(T)          \
  HR_REGISTER_INDEX(T, int32_t) \
  HR_REGISTER_INDEX(T, int64_t)
HR_GPU_REAL_TYPES(HR_REGISTER)
#undef HR_REGISTER
#undef HR_REGISTER_INDEX

#define HR_GPU_NORM(OP, T, ...)                            \
  REGISTER_KERNEL_BUILDER(Name(OP)                         \
                              .Device(DEVICE_GPU)          \
                              .TypeConstraint<T>("T")      \
                              .TypeConstraint<float>("U"), \
                          __VA_ARGS__)
#define HR_REGISTER(T)                                             \
  HR_GPU_NORM("FusedBatchNormV2", T, FusedBatchNormOp<T>);         \
  HR_GPU_NORM("FusedBatchNormV3", T, FusedBatchNormOp<T>);         \
  HR_GPU_NORM("FusedBatchNormGradV2", T, FusedBatchNormGradOp<T>); \
  HR_GPU_NORM("FusedBatchNormGradV3", T, FusedBatchNormGradOp<T>);
HR_GPU_FLOAT_TYPES(HR_REGISTER)
#undef HR_REGISTER
#undef HR_GPU_NORM

}  // namespace
}  // namespace headrace::gpu
