// Einsum of one or two inputs, by copies that bring the inputs to matrices, one
// Gemm for each element of the batch, and a copy that brings the product to the
// order of the output. Copies are left out where the order is right already;
// Gemm takes either matrix transposed. A constant that needs no copy is kept in
// panels (constant_matrix.h).
//
// A label that both inputs and the output have is of the batch; one that only
// both inputs have is contracted; one that a single input has and the output
// has not is summed first. A label that is repeated in an input takes the
// diagonal; one repeated in the output writes a diagonal into zeros.
#include <algorithm>

#include "framework/shape_fns/einsum_equation.h"
#include "headrace/op_kernel.h"
#include "kernels/lib/box_copy.h"
#include "kernels/lib/constant_matrix.h"
#include "kernels/lib/element.h"
#include "kernels/lib/elementwise.h"
#include "kernels/lib/gemm.h"

namespace headrace {
namespace {

using Labels = EinsumEquation::Labels;

bool Has(const Labels& labels, int l) {
  return std::find(labels.begin(), labels.end(), l) != labels.end();
}
Labels Join(const Labels& a, const Labels& b, const Labels& c = {}) {
  Labels all = a;
  all.insert(all.end(), b.begin(), b.end());
  all.insert(all.end(), c.begin(), c.end());
  return all;
}

// A tensor seen as dims with distinct labels: the sum of the strides of all
// dims that a label has.
struct Operand {
  Tensor tensor;
  Labels labels;
  DimVector strides;

  int64_t StrideOf(int label) const {
    for (size_t i = 0; i < labels.size(); ++i) {
      if (labels[i] == label) return strides[i];
    }
    return 0;
  }
  void Drop(int label) {
    for (size_t i = 0; i < labels.size(); ++i) {
      if (labels[i] != label) continue;
      labels.erase(labels.begin() + i);
      strides.erase(strides.begin() + i);
      return;
    }
  }
};

Operand MakeOperand(const Tensor& t, const Labels& labels) {
  Operand o;
  o.tensor = t;
  const DimVector strides = RowMajorStrides(t.shape().dim_sizes());
  for (size_t d = 0; d < labels.size(); ++d) {
    const auto at = std::find(o.labels.begin(), o.labels.end(), labels[d]);
    if (at == o.labels.end()) {
      o.labels.push_back(labels[d]);
      o.strides.push_back(strides[d]);
    } else {
      o.strides[at - o.labels.begin()] += strides[d];
    }
  }
  return o;
}

// The sizes of the labels of one equation.
class LabelSizes {
 public:
  // Takes over the sizes of an input; ellipsis dims broadcast.
  Status Add(const EinsumEquation& eq, const TensorShape& shape,
             const Labels& labels) {
    for (int d = 0; d < shape.dims(); ++d) {
      const size_t l = labels[d];
      if (l >= sizes_.size()) sizes_.resize(l + 1, -1);
      const int64_t have = sizes_[l], got = shape.dim_size(d);
      const bool broadcasts = labels[d] >= eq.num_written();
      if (have < 0 || (broadcasts && have == 1)) {
        sizes_[l] = got;
      } else if (have != got && !(broadcasts && got == 1)) {
        return errors::InvalidArgument(
            "Einsum: dim ", d, " of shape ", shape.DebugString(),
            broadcasts ? " does not broadcast with " : " should be ", have);
      }
    }
    return OkStatus();
  }
  int64_t operator[](int label) const { return sizes_[label]; }
  Status Shape(const Labels& labels, TensorShape* out) const {
    DimVector dims;
    for (int l : labels) dims.push_back(sizes_[l]);
    return TensorShape::Build(dims, out);
  }

 private:
  std::vector<int64_t> sizes_;
};

// True if the operand's elements are in row-major order of `order`.
bool IsInOrder(const Operand& o, const Labels& order, const LabelSizes& sizes) {
  int64_t stride = 1;
  for (int i = static_cast<int>(order.size()) - 1; i >= 0; --i) {
    const int64_t size = sizes[order[i]];
    if (size != 1 && o.StrideOf(order[i]) != stride) return false;
    stride *= size;
  }
  return true;
}

// Puts the operand's elements into row-major order of `order`, which has all
// its labels.
Status Arrange(OpKernelContext* ctx, const LabelSizes& sizes,
               const Labels& order, Operand* o) {
  TensorShape shape;
  HR_RETURN_IF_ERROR(sizes.Shape(order, &shape));
  if (shape.num_elements() == o->tensor.NumElements() &&
      IsInOrder(*o, order, sizes)) {
    Tensor same;
    if (!same.CopyFrom(o->tensor, shape)) {
      return errors::Internal("Einsum: sizes differ");
    }
    *o = MakeOperand(same, order);
    return OkStatus();
  }
  Tensor out;
  HR_RETURN_IF_ERROR(ctx->allocate_temp(o->tensor.dtype(), shape, &out));
  const DimVector strides = RowMajorStrides(shape.dim_sizes());
  BoxCopy copy;
  for (size_t d = 0; d < order.size(); ++d) {
    copy.AddDim(shape.dim_size(d), o->StrideOf(order[d]), strides[d]);
  }
  copy.Run(ctx, o->tensor, 0, &out, 0);
  *o = MakeOperand(out, order);
  return OkStatus();
}

template <typename T>
class EinsumOp : public OpKernel {
 public:
  explicit EinsumOp(OpKernelConstruction* ctx) : OpKernel(ctx) {
    std::string text;
    OP_REQUIRES_OK(ctx, ctx->GetAttr("equation", &text));
    OP_REQUIRES_OK(ctx, EinsumEquation::Parse(text, &equation_));
    OP_REQUIRES(
        ctx, equation_.num_inputs() == ctx->num_inputs(),
        errors::InvalidArgument("Einsum: equation '", text, "' has ",
                                equation_.num_inputs(),
                                " inputs, the node has ", ctx->num_inputs()));
  }

  void SetConstantInput(int i, const Tensor& value) override {
    if (i < 2 && std::is_same_v<T, float>) constants_[i].Set(value);
  }

  void Compute(OpKernelContext* ctx) override {
    LabelSizes sizes;
    std::vector<Operand> in;
    int ellipsis_dims = 0;
    for (int i = 0; i < ctx->num_inputs(); ++i) {
      const Tensor& t = ctx->input(i);
      Labels labels;
      OP_REQUIRES_OK(ctx, equation_.InputLabels(i, t.dims(), &labels));
      OP_REQUIRES_OK(ctx, sizes.Add(equation_, t.shape(), labels));
      ellipsis_dims =
          std::max(ellipsis_dims, equation_.EllipsisDims(i, t.dims()));
      in.push_back(MakeOperand(t, labels));
    }
    Labels out_labels;
    OP_REQUIRES_OK(ctx, equation_.OutputLabels(ellipsis_dims, &out_labels));
    TensorShape shape;
    OP_REQUIRES_OK(ctx, sizes.Shape(out_labels, &shape));
    if (shape.num_elements() == 0) {
      Tensor* out = nullptr;
      OP_REQUIRES_OK(ctx, ctx->allocate_output(0, shape, &out));
      return;
    }
    if (in.size() == 2) DropBroadcastDims(sizes, &in);
    for (size_t i = 0; i < in.size(); ++i) {
      static const Labels kNone;
      const Labels& other = in.size() == 2 ? in[1 - i].labels : kNone;
      OP_REQUIRES_OK(ctx, SumOwn(ctx, sizes, other, out_labels, &in[i]));
    }
    Operand result = in[0];
    if (in.size() == 2) {
      OP_REQUIRES_OK(ctx,
                     Multiply(ctx, sizes, out_labels, in[0], in[1], &result));
    }
    SetResult(ctx, result, out_labels, shape, sizes);
  }

 private:
  // A dim of an ellipsis that is 1 in one input only broadcasts: that input
  // does without it.
  void DropBroadcastDims(const LabelSizes& sizes, std::vector<Operand>* in) {
    for (int i : {0, 1}) {
      Operand& o = (*in)[i];
      const Labels labels = o.labels;
      for (int l : labels) {
        if (l < equation_.num_written() || !Has((*in)[1 - i].labels, l)) {
          continue;
        }
        const int from_end = l - equation_.num_written();
        if (EllipsisDim(o.tensor.shape(), i, from_end) == 1) o.Drop(l);
      }
    }
  }
  int64_t EllipsisDim(const TensorShape& shape, int input, int from_end) const {
    Labels labels;
    if (!equation_.InputLabels(input, shape.dims(), &labels).ok()) return -1;
    for (int d = 0; d < shape.dims(); ++d) {
      if (labels[d] == equation_.num_written() + from_end) {
        return shape.dim_size(d);
      }
    }
    return -1;
  }

  // Sums over the labels that neither the other input nor the output has: a
  // product with ones.
  static Status SumOwn(OpKernelContext* ctx, const LabelSizes& sizes,
                       const Labels& other, const Labels& out, Operand* o) {
    Labels kept, summed;
    for (int l : o->labels) {
      (Has(other, l) || Has(out, l) ? kept : summed).push_back(l);
    }
    if (summed.empty()) return OkStatus();
    HR_RETURN_IF_ERROR(Arrange(ctx, sizes, Join(kept, summed), o));
    TensorShape kept_shape, summed_shape;
    HR_RETURN_IF_ERROR(sizes.Shape(kept, &kept_shape));
    HR_RETURN_IF_ERROR(sizes.Shape(summed, &summed_shape));
    const DataType type = o->tensor.dtype();
    Tensor ones, sum;
    HR_RETURN_IF_ERROR(ctx->allocate_temp(
        type, TensorShape({summed_shape.num_elements()}), &ones));
    std::fill_n(ones.data<T>(), ones.NumElements(), T(1));
    HR_RETURN_IF_ERROR(ctx->allocate_temp(type, kept_shape, &sum));
    const auto g = GemmArgs<T>::Dense(kept_shape.num_elements(), 1,
                                      summed_shape.num_elements());
    Gemm(ctx->thread_pool(),
         g.At(o->tensor.data<T>(), ones.data<T>(), sum.data<T>()));
    *o = MakeOperand(sum, kept);
    return OkStatus();
  }

  Status Multiply(OpKernelContext* ctx, const LabelSizes& sizes,
                  const Labels& out, Operand a, Operand b, Operand* result) {
    // The output's last label is best the product's last.
    int input_of_b = 1;
    if (!out.empty() && Has(a.labels, out.back()) &&
        !Has(b.labels, out.back())) {
      std::swap(a, b);
      input_of_b = 0;
    }
    Labels batch, free_a, free_b, contracted;
    for (int l : out) {
      const bool in_a = Has(a.labels, l), in_b = Has(b.labels, l);
      Labels& group = in_a && in_b ? batch : in_a ? free_a : free_b;
      if (!Has(group, l)) group.push_back(l);
    }
    for (int l : a.labels) {
      if (!Has(out, l)) contracted.push_back(l);
    }
    const Labels a_transposed = Join(batch, contracted, free_a);
    const Labels b_transposed = Join(batch, free_b, contracted);
    const bool transpose_a = IsInOrder(a, a_transposed, sizes);
    const bool transpose_b = IsInOrder(b, b_transposed, sizes);
    HR_RETURN_IF_ERROR(Arrange(
        ctx, sizes,
        transpose_a ? a_transposed : Join(batch, free_a, contracted), &a));
    HR_RETURN_IF_ERROR(Arrange(
        ctx, sizes,
        transpose_b ? b_transposed : Join(batch, contracted, free_b), &b));
    const Labels order = Join(batch, free_a, free_b);
    TensorShape shape;
    HR_RETURN_IF_ERROR(sizes.Shape(order, &shape));
    Tensor product;
    HR_RETURN_IF_ERROR(ctx->allocate_temp(a.tensor.dtype(), shape, &product));

    TensorShape group;
    HR_RETURN_IF_ERROR(sizes.Shape(batch, &group));
    const int64_t batches = group.num_elements();
    HR_RETURN_IF_ERROR(sizes.Shape(free_a, &group));
    const int64_t m = group.num_elements();
    HR_RETURN_IF_ERROR(sizes.Shape(free_b, &group));
    const int64_t n = group.num_elements();
    HR_RETURN_IF_ERROR(sizes.Shape(contracted, &group));
    const int64_t k = group.num_elements();
    const auto g = GemmArgs<T>::Dense(m, n, k, transpose_a, transpose_b);
    const T *x = a.tensor.data<T>(), *y = b.tensor.data<T>();
    T* z = product.data<T>();
    const auto one = [&](int64_t i, ThreadPool* pool) {
      Gemm(pool, g.At(x + i * m * k, y + i * k * n, z + i * m * n));
    };
    const double flops = 2.0 * m * n * k;
    if constexpr (std::is_same_v<T, float>) {
      // A constant whose elements stayed where they were.
      if (batches == 1 && y == ctx->input(input_of_b).template data<T>() &&
          constants_[input_of_b].Multiply(ctx->thread_pool(),
                                          g.At(x, nullptr, z), {})) {
        *result = MakeOperand(product, order);
        return OkStatus();
      }
    }
    if (m == 1 && n == 1 && k == 1) {
      ctx->ParallelFor(batches, 0.5, [&](int64_t begin, int64_t end) {
        for (int64_t i = begin; i < end; ++i) z[i] = WrapMul(x[i], y[i]);
      });
    } else if (flops > 2e7) {
      // Large products are split themselves; small ones are shared out whole.
      for (int64_t i = 0; i < batches; ++i) one(i, ctx->thread_pool());
    } else {
      ctx->ParallelFor(batches, 50 + flops / 50,
                       [&](int64_t begin, int64_t end) {
                         for (int64_t i = begin; i < end; ++i) one(i, nullptr);
                       });
    }
    // Only now: a small tensor's elements are in the object.
    *result = MakeOperand(product, order);
    return OkStatus();
  }

  static void SetResult(OpKernelContext* ctx, const Operand& o,
                        const Labels& out_labels, const TensorShape& shape,
                        const LabelSizes& sizes) {
    Tensor same;
    // With a repeated label the output is larger than the operand.
    if (o.tensor.NumElements() == shape.num_elements() &&
        o.labels.size() == out_labels.size() &&
        IsInOrder(o, out_labels, sizes) && same.CopyFrom(o.tensor, shape)) {
      ctx->set_output(0, std::move(same));
      return;
    }
    Tensor* out = nullptr;
    OP_REQUIRES_OK(ctx, ctx->allocate_output(0, shape, &out));
    const Operand target = MakeOperand(*out, out_labels);
    if (target.labels.size() < out_labels.size()) ZeroElements(out);
    BoxCopy copy;
    for (size_t i = 0; i < target.labels.size(); ++i) {
      const int l = target.labels[i];
      copy.AddDim(sizes[l], o.StrideOf(l), target.strides[i]);
    }
    copy.Run(ctx, o.tensor, 0, out, 0);
  }

  EinsumEquation equation_;
  ConstantMatrix constants_[2];
};

#define HR_REGISTER(T)     \
  REGISTER_KERNEL_BUILDER( \
      Name("Einsum").Device(DEVICE_CPU).TypeConstraint<T>("T"), EinsumOp<T>);
HR_CALL_FLOAT_TYPES(HR_REGISTER)
HR_CALL_COMPLEX_TYPES(HR_REGISTER)
HR_REGISTER(int32_t)
HR_REGISTER(int64_t)
#undef HR_REGISTER

}  // namespace
}  // namespace headrace
