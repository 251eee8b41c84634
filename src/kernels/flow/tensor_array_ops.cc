// TensorArrayV3 and its kin: an array of tensors of one step. The handle owns
// the array, so an array made inside a loop goes with its iteration. Handles of
// the older ops (V2: two strings; V1: a reference to them) name an array in the
// step's resources.
//
// Order comes from data flow alone: every op that writes hands on a `flow`
// scalar, which later ops take. Its value means nothing.
#include <atomic>
#include <utility>
#include <vector>

#include "headrace/op_kernel.h"
#include "kernels/flow/tensor_array.h"
#include "kernels/lib/element.h"
#include "kernels/lib/handle_lookup.h"

namespace headrace {
namespace {

constexpr char kContainer[] = "_tensor_arrays";

Status GetArray(const OpKernelContext& ctx, RefPtr<TensorArray>* out) {
  return LookupInput<TensorArray>(ctx, 0, ctx.step_resources(), out);
}

// The value of a scalar int32 input.
Status GetScalar(const OpKernelContext& ctx, int i, const char* name,
                 int32_t* out) {
  const Tensor& t = ctx.input(i);
  if (t.NumElements() != 1 || t.dims() > 1) {
    return errors::InvalidArgument(
        "TensorArray ", name,
        " must be scalar, but had shape: ", t.shape().DebugString());
  }
  *out = t.data<int32_t>()[0];
  return OkStatus();
}

// The array's handle in the form that the op's output 0 has, and a flow if
// there is an output for it.
void SetArrayOutputs(OpKernelContext* ctx, RefPtr<TensorArray> array) {
  switch (ctx->expected_output_dtype(0)) {
    case DT_RESOURCE: {
      Tensor t(DT_RESOURCE, TensorShape());
      ResourceHandle& h = t.scalar<ResourceHandle>();
      h = ctx->step_resources()->MakeHandle<TensorArray>(
          ctx->device()->name(), kContainer, array->name());
      h.resource = std::move(array);
      ctx->set_output(0, std::move(t));
      break;
    }
    case DT_STRING:
      ctx->set_output(0, array->string_handle);
      break;
    default:
      ctx->set_output_ref(0, &array->string_handle_mu, &array->string_handle);
  }
  if (ctx->num_outputs() > 1) ctx->set_output(1, Tensor::Scalar<float>(0));
}

// Makes an array findable by name, for ops whose handles only name it.
Status Publish(OpKernelContext* ctx, const RefPtr<TensorArray>& array) {
  if (ctx->expected_output_dtype(0) == DT_RESOURCE) return OkStatus();
  RefPtr<TensorArray> kept;
  return ctx->step_resources()->LookupOrCreate<TensorArray>(
      kContainer, array->name(), &kept, [&](RefPtr<TensorArray>* made) {
        array->string_handle = MakeStringHandle(kContainer, array->name());
        *made = array;
        return OkStatus();
      });
}

class TensorArrayOp : public OpKernel {
 public:
  explicit TensorArrayOp(OpKernelConstruction* ctx) : OpKernel(ctx) {
    OP_REQUIRES_OK(ctx, ctx->GetAttr("dtype", &options_.dtype));
    OP_REQUIRES_OK(ctx, ctx->GetAttr("element_shape", &options_.element_shape));
    OP_REQUIRES_OK(ctx, ctx->GetAttr("dynamic_size", &options_.dynamic_size));
    OP_REQUIRES_OK(
        ctx, ctx->GetAttr("clear_after_read", &options_.clear_after_read));
    if (ctx->HasAttr("identical_element_shapes")) {
      OP_REQUIRES_OK(ctx, ctx->GetAttr("identical_element_shapes",
                                       &options_.identical_element_shapes));
    }
    OP_REQUIRES_OK(ctx, ctx->GetAttr("tensor_array_name", &base_name_));
    if (base_name_.empty()) base_name_ = name();
    expensive_ = false;
  }

  void Compute(OpKernelContext* ctx) override {
    int32_t size = 0;
    OP_REQUIRES_OK(ctx, GetScalar(*ctx, 0, "size", &size));
    OP_REQUIRES(
        ctx, size >= 0,
        errors::InvalidArgument("TensorArray size must be >= 0, got ", size));
    static std::atomic<int64_t> counter{0};
    TensorArray::Options o = options_;
    o.size = size;
    o.name = absl::StrCat(base_name_, "_", counter.fetch_add(1));
    auto array = MakeRef<TensorArray>(std::move(o));
    OP_REQUIRES_OK(ctx, Publish(ctx, array));
    SetArrayOutputs(ctx, std::move(array));
  }

 private:
  TensorArray::Options options_;
  std::string base_name_;
};
REGISTER_KERNEL_BUILDER(Name("TensorArray").Device(DEVICE_CPU), TensorArrayOp);
REGISTER_KERNEL_BUILDER(Name("TensorArrayV2").Device(DEVICE_CPU),
                        TensorArrayOp);
REGISTER_KERNEL_BUILDER(Name("TensorArrayV3").Device(DEVICE_CPU),
                        TensorArrayOp);

class TensorArrayGradOp : public OpKernel {
 public:
  explicit TensorArrayGradOp(OpKernelConstruction* ctx) : OpKernel(ctx) {
    OP_REQUIRES_OK(ctx, ctx->GetAttr("source", &source_));
    OP_REQUIRES(ctx, !source_.empty(),
                errors::InvalidArgument("source must not be empty"));
    expensive_ = false;
  }

  void Compute(OpKernelContext* ctx) override {
    RefPtr<TensorArray> array, grad;
    OP_REQUIRES_OK(ctx, GetArray(*ctx, &array));
    TensorShape prepend;
    if (ctx->num_inputs() > 2) {
      DimVector dims;
      OP_REQUIRES_OK(
          ctx, ReadIntegerVector(ctx->input(2), "shape_to_prepend", &dims));
      OP_REQUIRES_OK(ctx, TensorShape::Build(dims, &prepend));
    }
    OP_REQUIRES_OK(ctx, array->Gradient(source_, prepend, &grad));
    OP_REQUIRES_OK(ctx, Publish(ctx, grad));
    SetArrayOutputs(ctx, std::move(grad));
  }

 private:
  std::string source_;
};
REGISTER_KERNEL_BUILDER(Name("TensorArrayGrad").Device(DEVICE_CPU),
                        TensorArrayGradOp);
REGISTER_KERNEL_BUILDER(Name("TensorArrayGradV2").Device(DEVICE_CPU),
                        TensorArrayGradOp);
REGISTER_KERNEL_BUILDER(Name("TensorArrayGradV3").Device(DEVICE_CPU),
                        TensorArrayGradOp);
REGISTER_KERNEL_BUILDER(Name("TensorArrayGradWithShape").Device(DEVICE_CPU),
                        TensorArrayGradOp);

// Inputs: handle, index, value, flow.
class TensorArrayWriteOp : public OpKernel {
 public:
  explicit TensorArrayWriteOp(OpKernelConstruction* ctx) : OpKernel(ctx) {
    expensive_ = false;
  }
  void Compute(OpKernelContext* ctx) override {
    RefPtr<TensorArray> array;
    OP_REQUIRES_OK(ctx, GetArray(*ctx, &array));
    int32_t index = 0;
    OP_REQUIRES_OK(ctx, GetScalar(*ctx, 1, "index", &index));
    OP_REQUIRES_OK(ctx, array->Write(index, ctx->input(2)));
    ctx->set_output(0, ctx->input(3));
  }
};
REGISTER_KERNEL_BUILDER(Name("TensorArrayWrite").Device(DEVICE_CPU),
                        TensorArrayWriteOp);
REGISTER_KERNEL_BUILDER(Name("TensorArrayWriteV2").Device(DEVICE_CPU),
                        TensorArrayWriteOp);
REGISTER_KERNEL_BUILDER(Name("TensorArrayWriteV3").Device(DEVICE_CPU),
                        TensorArrayWriteOp);

Status CheckType(const TensorArray& array, DataType dtype) {
  if (array.dtype() == dtype) return OkStatus();
  return errors::InvalidArgument(
      "TensorArray dtype is ", DataTypeString(array.dtype()),
      " but Op requested dtype ", DataTypeString(dtype), ".");
}

// Inputs: handle, index, flow.
class TensorArrayReadOp : public OpKernel {
 public:
  explicit TensorArrayReadOp(OpKernelConstruction* ctx) : OpKernel(ctx) {
    expensive_ = false;
  }
  void Compute(OpKernelContext* ctx) override {
    RefPtr<TensorArray> array;
    OP_REQUIRES_OK(ctx, GetArray(*ctx, &array));
    OP_REQUIRES_OK(ctx, CheckType(*array, output_type(0)));
    int32_t index = 0;
    OP_REQUIRES_OK(ctx, GetScalar(*ctx, 1, "index", &index));
    Tensor value;
    OP_REQUIRES_OK(ctx, array->Read(index, &value));
    ctx->set_output(0, std::move(value));
  }
};
REGISTER_KERNEL_BUILDER(Name("TensorArrayRead").Device(DEVICE_CPU),
                        TensorArrayReadOp);
REGISTER_KERNEL_BUILDER(Name("TensorArrayReadV2").Device(DEVICE_CPU),
                        TensorArrayReadOp);
REGISTER_KERNEL_BUILDER(Name("TensorArrayReadV3").Device(DEVICE_CPU),
                        TensorArrayReadOp);

// Indices [0, n) of an array, for ops that take all of it. An array of a
// declared size that no memory could hold is refused.
Status AllIndices(TensorArray* array, std::vector<int32_t>* out) {
  int64_t n = 0;
  HR_RETURN_IF_ERROR(array->Size(&n));
  if (n > (int64_t{1} << 28)) {
    return errors::ResourceExhausted("TensorArray ", array->name(), " has ", n,
                                     " elements, too many to be put together");
  }
  out->resize(n);
  for (int64_t i = 0; i < n; ++i) (*out)[i] = static_cast<int32_t>(i);
  return OkStatus();
}

// The shape of nothing put together: [0] and an element's.
Status EmptyShape(TensorArray* array, const PartialTensorShape& asked,
                  const char* what, TensorShape* out) {
  PartialTensorShape shape;
  HR_RETURN_IF_ERROR(array->ElementShape(&shape));
  HR_RETURN_IF_ERROR(shape.MergeWith(asked, &shape));
  TensorShape element;
  if (!shape.AsTensorShape(&element)) {
    return errors::Unimplemented(
        "TensorArray has size zero, but element shape ", shape.DebugString(),
        " is not fully defined. Currently only static shapes are supported "
        "when ",
        what, " zero-size TensorArrays.");
  }
  *out = TensorShape({0});
  out->AppendShape(element);
  return OkStatus();
}

// Gather and Pack: stacks elements along a new first dimension. Inputs: handle,
// indices (Gather), flow.
class TensorArrayGatherOp : public OpKernel {
 public:
  explicit TensorArrayGatherOp(OpKernelConstruction* ctx) : OpKernel(ctx) {
    OP_REQUIRES_OK(ctx, ctx->GetAttr("element_shape", &element_shape_));
  }

  void Compute(OpKernelContext* ctx) override {
    RefPtr<TensorArray> array;
    OP_REQUIRES_OK(ctx, GetArray(*ctx, &array));
    OP_REQUIRES_OK(ctx, CheckType(*array, output_type(0)));
    OP_REQUIRES_OK(ctx, array->MergeElementShape(element_shape_));
    std::vector<int32_t> all;
    absl::Span<const int32_t> indices;
    if (ctx->num_inputs() == 3) {
      const Tensor& t = ctx->input(1);
      OP_REQUIRES(ctx, t.dims() == 1,
                  errors::InvalidArgument(
                      "Expected indices to be a vector, but received shape: ",
                      t.shape().DebugString()));
      indices = t.span<int32_t>();
    } else {
      OP_REQUIRES_OK(ctx, AllIndices(array.get(), &all));
      indices = all;
    }
    TensorShape shape;
    Tensor* out = nullptr;
    if (indices.empty()) {
      OP_REQUIRES_OK(
          ctx, EmptyShape(array.get(), element_shape_, "packing", &shape));
      OP_REQUIRES_OK(ctx, ctx->allocate_output(0, shape, &out));
      return;
    }
    std::vector<Tensor> values;
    OP_REQUIRES_OK(ctx, array->ReadMany(indices, &values));
    const TensorShape& element = values[0].shape();
    for (size_t i = 1; i < values.size(); ++i) {
      OP_REQUIRES(
          ctx, values[i].shape() == element,
          errors::InvalidArgument(
              "TensorArray has inconsistent shapes. Index ", indices[0],
              " has shape: ", element.DebugString(), " but index ", indices[i],
              " has shape: ", values[i].shape().DebugString()));
    }
    shape = TensorShape({static_cast<int64_t>(values.size())});
    shape.AppendShape(element);
    OP_REQUIRES_OK(ctx, ctx->allocate_output(0, shape, &out));
    const int64_t n = element.num_elements();
    ctx->ParallelFor(static_cast<int64_t>(values.size()),
                     10 + 0.1 * static_cast<double>(values[0].TotalBytes()),
                     [&](int64_t begin, int64_t end) {
                       for (int64_t i = begin; i < end; ++i) {
                         CopyElements(values[i], 0, out, i * n, n);
                       }
                     });
  }

 private:
  PartialTensorShape element_shape_;
};
REGISTER_KERNEL_BUILDER(Name("TensorArrayPack").Device(DEVICE_CPU),
                        TensorArrayGatherOp);
REGISTER_KERNEL_BUILDER(Name("TensorArrayGather").Device(DEVICE_CPU),
                        TensorArrayGatherOp);
REGISTER_KERNEL_BUILDER(Name("TensorArrayGatherV2").Device(DEVICE_CPU),
                        TensorArrayGatherOp);
REGISTER_KERNEL_BUILDER(Name("TensorArrayGatherV3").Device(DEVICE_CPU),
                        TensorArrayGatherOp);

// Joins all elements along their first dimension; the second output says how
// long each was.
class TensorArrayConcatOp : public OpKernel {
 public:
  explicit TensorArrayConcatOp(OpKernelConstruction* ctx) : OpKernel(ctx) {
    OP_REQUIRES_OK(ctx, ctx->GetAttr("element_shape_except0", &shape_except0_));
  }

  void Compute(OpKernelContext* ctx) override {
    RefPtr<TensorArray> array;
    OP_REQUIRES_OK(ctx, GetArray(*ctx, &array));
    OP_REQUIRES_OK(ctx, CheckType(*array, output_type(0)));
    std::vector<int32_t> indices;
    OP_REQUIRES_OK(ctx, AllIndices(array.get(), &indices));
    Tensor *out = nullptr, *lengths = nullptr;
    OP_REQUIRES_OK(
        ctx, ctx->allocate_output(1, {static_cast<int64_t>(indices.size())},
                                  &lengths));
    if (indices.empty()) {
      TensorShape rest;
      OP_REQUIRES(ctx, shape_except0_.AsTensorShape(&rest),
                  errors::Unimplemented(
                      "TensorArray has size zero, but element_shape_except0 ",
                      shape_except0_.DebugString(),
                      " is not fully defined. Currently only static shapes are "
                      "supported when concatenating zero-size TensorArrays."));
      TensorShape shape({0});
      shape.AppendShape(rest);
      OP_REQUIRES_OK(ctx, ctx->allocate_output(0, shape, &out));
      return;
    }
    std::vector<Tensor> values;
    OP_REQUIRES_OK(ctx, array->ReadMany(indices, &values));
    TensorShape rest;
    int64_t rows = 0;
    for (size_t i = 0; i < values.size(); ++i) {
      TensorShape s = values[i].shape();
      OP_REQUIRES(
          ctx, s.dims() > 0,
          errors::InvalidArgument("Concat saw a scalar shape at index ", i,
                                  " but requires at least vectors. "
                                  "Did you mean to call pack?"));
      lengths->data<int64_t>()[i] = s.dim_size(0);
      rows = AddWithoutOverflow(rows, s.dim_size(0));
      s.RemoveDim(0);
      OP_REQUIRES(ctx, shape_except0_.IsCompatibleWith(s),
                  errors::InvalidArgument(
                      "TensorArray was passed element_shape_except0 ",
                      shape_except0_.DebugString(), " but index ", i,
                      " has (excepting dimension 0) shape: ", s.DebugString(),
                      " which does not match."));
      if (i == 0) rest = s;
      OP_REQUIRES(ctx, s == rest,
                  errors::InvalidArgument(
                      "TensorArray has inconsistent shapes. Index 0 has "
                      "(excepting dimension 0) shape: ",
                      rest.DebugString(), " but index ", i,
                      " has (excepting dimension 0) shape: ", s.DebugString()));
    }
    TensorShape shape({rows});
    shape.AppendShape(rest);
    OP_REQUIRES_OK(ctx, ctx->allocate_output(0, shape, &out));
    int64_t at = 0;
    for (const Tensor& v : values) {
      CopyElements(v, 0, out, at, v.NumElements());
      at += v.NumElements();
    }
  }

 private:
  PartialTensorShape shape_except0_;
};
REGISTER_KERNEL_BUILDER(Name("TensorArrayConcat").Device(DEVICE_CPU),
                        TensorArrayConcatOp);
REGISTER_KERNEL_BUILDER(Name("TensorArrayConcatV2").Device(DEVICE_CPU),
                        TensorArrayConcatOp);
REGISTER_KERNEL_BUILDER(Name("TensorArrayConcatV3").Device(DEVICE_CPU),
                        TensorArrayConcatOp);

// Scatter and Unpack: row i of the value becomes element indices[i]. The rows
// share the value's buffer. Inputs: handle, indices (Scatter), value, flow.
class TensorArrayScatterOp : public OpKernel {
 public:
  explicit TensorArrayScatterOp(OpKernelConstruction* ctx) : OpKernel(ctx) {}

  void Compute(OpKernelContext* ctx) override {
    RefPtr<TensorArray> array;
    OP_REQUIRES_OK(ctx, GetArray(*ctx, &array));
    const bool has_indices = ctx->num_inputs() == 4;
    const Tensor& value = ctx->input(has_indices ? 2 : 1);
    OP_REQUIRES(
        ctx, value.dims() > 0,
        errors::InvalidArgument("Input value for unpack must be at least a "
                                "vector but received shape: ",
                                value.shape().DebugString()));
    const int64_t n = value.dim_size(0);
    const int32_t* indices = nullptr;
    if (has_indices) {
      const Tensor& t = ctx->input(1);
      OP_REQUIRES(ctx, t.dims() == 1,
                  errors::InvalidArgument(
                      "Expected indices to be a vector, but received shape: ",
                      t.shape().DebugString()));
      OP_REQUIRES(ctx, t.NumElements() == n,
                  errors::InvalidArgument(
                      "Expected len(indices) == values.shape[0], but saw: ",
                      t.NumElements(), " vs. ", n));
      indices = t.data<int32_t>();
    } else {
      OP_REQUIRES_OK(ctx, array->Prepare(n, /*exact=*/true));
    }
    for (int64_t i = 0; i < n; ++i) {
      OP_REQUIRES_OK(ctx, array->Write(indices == nullptr ? i : indices[i],
                                       value.SubSlice(i)));
    }
    ctx->set_output(0, ctx->input(ctx->num_inputs() - 1));
  }
};
REGISTER_KERNEL_BUILDER(Name("TensorArrayUnpack").Device(DEVICE_CPU),
                        TensorArrayScatterOp);
REGISTER_KERNEL_BUILDER(Name("TensorArrayScatter").Device(DEVICE_CPU),
                        TensorArrayScatterOp);
REGISTER_KERNEL_BUILDER(Name("TensorArrayScatterV2").Device(DEVICE_CPU),
                        TensorArrayScatterOp);
REGISTER_KERNEL_BUILDER(Name("TensorArrayScatterV3").Device(DEVICE_CPU),
                        TensorArrayScatterOp);

// Cuts the value along its first dimension into pieces of the given lengths,
// which share its buffer. Inputs: handle, value, lengths, flow.
class TensorArraySplitOp : public OpKernel {
 public:
  explicit TensorArraySplitOp(OpKernelConstruction* ctx) : OpKernel(ctx) {}

  void Compute(OpKernelContext* ctx) override {
    RefPtr<TensorArray> array;
    OP_REQUIRES_OK(ctx, GetArray(*ctx, &array));
    const Tensor& value = ctx->input(1);
    const Tensor& lengths = ctx->input(2);
    OP_REQUIRES(ctx, value.dims() > 0,
                errors::InvalidArgument(
                    "Expected value to be at least a vector, but received "
                    "shape: ",
                    value.shape().DebugString()));
    OP_REQUIRES(ctx, lengths.dims() == 1,
                errors::InvalidArgument(
                    "Expected lengths to be a vector, received shape: ",
                    lengths.shape().DebugString()));
    int64_t sum = 0;
    for (int64_t n : lengths.span<int64_t>()) {
      OP_REQUIRES(ctx, n >= 0,
                  errors::InvalidArgument("lengths must be >= 0, got ", n));
      sum = AddWithoutOverflow(sum, n);
    }
    OP_REQUIRES(
        ctx, sum == value.dim_size(0),
        errors::InvalidArgument(
            "Expected sum of lengths to be equal to values.shape[0], but sum "
            "of lengths is ",
            sum, " and value's shape is: ", value.shape().DebugString()));
    OP_REQUIRES_OK(ctx, array->Prepare(lengths.NumElements(), /*exact=*/true));
    int64_t at = 0;
    for (int64_t i = 0; i < lengths.NumElements(); ++i) {
      const int64_t n = lengths.data<int64_t>()[i];
      OP_REQUIRES_OK(ctx, array->Write(i, value.Slice(at, at + n)));
      at += n;
    }
    ctx->set_output(0, ctx->input(3));
  }
};
REGISTER_KERNEL_BUILDER(Name("TensorArraySplit").Device(DEVICE_CPU),
                        TensorArraySplitOp);
REGISTER_KERNEL_BUILDER(Name("TensorArraySplitV2").Device(DEVICE_CPU),
                        TensorArraySplitOp);
REGISTER_KERNEL_BUILDER(Name("TensorArraySplitV3").Device(DEVICE_CPU),
                        TensorArraySplitOp);

class TensorArraySizeOp : public OpKernel {
 public:
  explicit TensorArraySizeOp(OpKernelConstruction* ctx) : OpKernel(ctx) {
    expensive_ = false;
  }
  void Compute(OpKernelContext* ctx) override {
    RefPtr<TensorArray> array;
    OP_REQUIRES_OK(ctx, GetArray(*ctx, &array));
    int64_t size = 0;
    OP_REQUIRES_OK(ctx, array->Size(&size));
    ctx->set_output(0, Tensor::Scalar<int32_t>(static_cast<int32_t>(
                           std::min<int64_t>(size, INT32_MAX))));
  }
};
REGISTER_KERNEL_BUILDER(Name("TensorArraySize").Device(DEVICE_CPU),
                        TensorArraySizeOp);
REGISTER_KERNEL_BUILDER(Name("TensorArraySizeV2").Device(DEVICE_CPU),
                        TensorArraySizeOp);
REGISTER_KERNEL_BUILDER(Name("TensorArraySizeV3").Device(DEVICE_CPU),
                        TensorArraySizeOp);

class TensorArrayCloseOp : public OpKernel {
 public:
  explicit TensorArrayCloseOp(OpKernelConstruction* ctx) : OpKernel(ctx) {
    expensive_ = false;
  }
  void Compute(OpKernelContext* ctx) override {
    RefPtr<TensorArray> array;
    OP_REQUIRES_OK(ctx, GetArray(*ctx, &array));
    array->Close();
  }
};
REGISTER_KERNEL_BUILDER(Name("TensorArrayClose").Device(DEVICE_CPU),
                        TensorArrayCloseOp);
REGISTER_KERNEL_BUILDER(Name("TensorArrayCloseV2").Device(DEVICE_CPU),
                        TensorArrayCloseOp);
REGISTER_KERNEL_BUILDER(Name("TensorArrayCloseV3").Device(DEVICE_CPU),
                        TensorArrayCloseOp);

}  // namespace
}  // namespace headrace
