// TensorLists: a list of tensors as a value. An op that changes a list returns
// a new list. If the old one has no other owner, it is changed in place; so a
// loop that pushes n tensors copies nothing.
//
// Elements that were reserved but never set are tensors without a type. They
// read as zeros if the shape is known.
#include <utility>
#include <vector>

#include "framework/tensor/borrowed_buffer.h"
#include "framework/tensor/variant.h"
#include "headrace/op_kernel.h"
#include "kernels/flow/variant_value.h"
#include "kernels/lib/element.h"
#include "kernels/lib/variant_math.h"

namespace headrace {
namespace {

struct TensorList {
  DataType dtype = DT_INVALID;
  PartialTensorShape element_shape;
  int64_t max_num_elements = -1;  // negative: no limit
  std::vector<Tensor> tensors;
};
constexpr char kTypeName[] = "tensorflow::TensorList";
constexpr int64_t kMaxElements = int64_t{1} << 26;

Tensor Wrap(TensorList list) {
  Tensor t(DT_VARIANT, TensorShape());
  t.scalar<Variant>() = Variant::Of(std::move(list), kTypeName);
  return t;
}

Status GetList(const Tensor& t, int i, const TensorList** out) {
  if (t.dtype() != DT_VARIANT || t.NumElements() != 1) {
    return errors::InvalidArgument("Input list must be a scalar, saw: ",
                                   t.shape().DebugString());
  }
  *out = t.data<Variant>()->Get<TensorList>();
  if (*out == nullptr) {
    return errors::InvalidArgument("Input handle ", i, " is not a list. Saw: '",
                                   t.data<Variant>()->TypeName(), "'");
  }
  return OkStatus();
}

Status GetListOf(OpKernelContext* ctx, int i, DataType dtype,
                 const TensorList** out) {
  HR_RETURN_IF_ERROR(GetList(ctx->input(i), i, out));
  if ((*out)->dtype == dtype) return OkStatus();
  return errors::InvalidArgument("Invalid data types; op elements ",
                                 DataTypeString(dtype), " but list elements ",
                                 DataTypeString((*out)->dtype));
}

// A shape given as a tensor: a scalar -1 is an unknown rank, a -1 in a vector
// an unknown dimension.
Status ShapeFromTensor(const Tensor& t, PartialTensorShape* out) {
  DimVector dims;
  HR_RETURN_IF_ERROR(ReadIntegers(t, "element_shape", &dims));
  if (t.dims() == 0) {
    if (dims[0] != -1) {
      return errors::InvalidArgument(
          "The only valid scalar shape tensor is the fully unknown shape "
          "specified as -1.");
    }
    *out = PartialTensorShape();
    return OkStatus();
  }
  if (t.dims() != 1) {
    return errors::InvalidArgument(
        "element_shape must be a scalar or a "
        "vector, got shape ",
        t.shape().DebugString());
  }
  return PartialTensorShape::Build(dims, out);
}

Status CheckElement(const TensorList& list, const Tensor& t) {
  if (t.dtype() != list.dtype) {
    return errors::InvalidArgument(
        "Invalid data types; list elements ", DataTypeString(list.dtype),
        " but tried to append ", DataTypeString(t.dtype()));
  }
  if (!list.element_shape.IsCompatibleWith(t.shape())) {
    return errors::InvalidArgument(
        "Tried to append a tensor with incompatible shape to a list. Op "
        "element shape: ",
        t.shape().DebugString(),
        " list shape: ", list.element_shape.DebugString());
  }
  return OkStatus();
}

// The shape that all elements have, as far as it is known: from the list's
// shape, the requested shape, and the elements that are set.
Status CommonShape(const TensorList& list, const PartialTensorShape& asked,
                   PartialTensorShape* out) {
  if (!list.element_shape.MergeWith(asked, out).ok()) {
    return errors::InvalidArgument(
        "Incompatible shapes: the list's elements are ",
        list.element_shape.DebugString(), ", asked for ", asked.DebugString());
  }
  return OkStatus();
}

Status ZerosOf(const PartialTensorShape& shape, DataType dtype, Tensor* out) {
  TensorShape full;
  if (!shape.AsTensorShape(&full)) {
    return errors::InvalidArgument(
        "Trying to read an uninitialized tensor but element_shape is not fully "
        "defined: ",
        shape.DebugString());
  }
  HR_RETURN_IF_ERROR(Tensor::Allocate(CpuAllocator(), dtype, full, out));
  ZeroElements(out);
  return OkStatus();
}

// Stacks `values` into output 0, unset ones as zeros.
void StackInto(OpKernelContext* ctx, const TensorList& list,
               const PartialTensorShape& asked,
               const std::vector<const Tensor*>& values) {
  PartialTensorShape common;
  OP_REQUIRES_OK(ctx, CommonShape(list, asked, &common));
  const TensorShape* first = nullptr;
  for (const Tensor* t : values) {
    if (!t->IsInitialized()) continue;
    OP_REQUIRES(
        ctx, common.IsCompatibleWith(t->shape()),
        errors::InvalidArgument("Tried to stack elements of a list of shape ",
                                common.DebugString(), ", one has shape ",
                                t->shape().DebugString()));
    if (first == nullptr) first = &t->shape();
    OP_REQUIRES(ctx, t->shape() == *first,
                errors::InvalidArgument(
                    "Tried to stack list elements of differing shapes: ",
                    first->DebugString(), " and ", t->shape().DebugString()));
  }
  TensorShape element;
  if (first != nullptr) {
    element = *first;
  } else {
    OP_REQUIRES(ctx, common.AsTensorShape(&element),
                errors::InvalidArgument(
                    "Tried to stack a list which only contains uninitialized "
                    "elements or none, with non-fully-defined shape ",
                    common.DebugString()));
  }
  TensorShape shape({static_cast<int64_t>(values.size())});
  shape.AppendShape(element);
  Tensor* out = nullptr;
  OP_REQUIRES_OK(ctx, ctx->allocate_output(0, shape, &out));
  const int64_t n = element.num_elements();
  Tensor zeros;
  for (size_t i = 0; i < values.size(); ++i) {
    const Tensor* t = values[i];
    if (!t->IsInitialized()) {
      if (!zeros.IsInitialized()) {
        OP_REQUIRES_OK(ctx, ZerosOf(element, list.dtype, &zeros));
      }
      t = &zeros;
    }
    CopyElements(*t, 0, out, static_cast<int64_t>(i) * n, n);
  }
}

// Copies each row into its own tensor, so that a list does not keep the whole
// source tensor alive.
Status CopyRows(const Tensor& t, int64_t begin, int64_t end, bool drop_dim,
                Tensor* out) {
  const Tensor view = t.Slice(begin, end);
  HR_RETURN_IF_ERROR(view.DeepCopyTo(out));
  if (drop_dim) {
    TensorShape shape = out->shape();
    shape.RemoveDim(0);
    Tensor reshaped;
    if (reshaped.CopyFrom(*out, shape)) *out = std::move(reshaped);
  }
  return OkStatus();
}

class ListOp : public OpKernel {
 public:
  explicit ListOp(OpKernelConstruction* ctx) : OpKernel(ctx) {
    if (ctx->HasAttr("element_dtype")) {
      OP_REQUIRES_OK(ctx, ctx->GetAttr("element_dtype", &dtype_));
    }
    expensive_ = false;
  }

 protected:
  DataType dtype_ = DT_INVALID;
};

// Input 1: max_num_elements of EmptyTensorList, num_elements of Reserve.
template <bool kReserve>
class NewListOp : public ListOp {
 public:
  using ListOp::ListOp;
  void Compute(OpKernelContext* ctx) override {
    TensorList list;
    list.dtype = dtype_;
    OP_REQUIRES_OK(ctx, ShapeFromTensor(ctx->input(0), &list.element_shape));
    int64_t n = 0;
    OP_REQUIRES_OK(ctx, ReadInteger(ctx->input(1), "num_elements", &n));
    if (kReserve) {
      OP_REQUIRES(ctx, n >= 0 && n <= kMaxElements,
                  errors::InvalidArgument("The num_elements to reserve must be "
                                          "in [0, ",
                                          kMaxElements, "], but got ", n));
      list.tensors.resize(n);
    } else {
      list.max_num_elements = n;
    }
    ctx->set_output(0, Wrap(std::move(list)));
  }
};
REGISTER_KERNEL_BUILDER(Name("EmptyTensorList").Device(DEVICE_CPU),
                        NewListOp<false>);
REGISTER_KERNEL_BUILDER(Name("TensorListReserve").Device(DEVICE_CPU),
                        NewListOp<true>);

class PushBackOp : public ListOp {
 public:
  using ListOp::ListOp;
  void Compute(OpKernelContext* ctx) override {
    const TensorList* list = nullptr;
    OP_REQUIRES_OK(ctx, GetListOf(ctx, 0, dtype_, &list));
    OP_REQUIRES_OK(ctx, CheckElement(*list, ctx->input(1)));
    OP_REQUIRES(
        ctx,
        list->max_num_elements < 0 ||
            static_cast<int64_t>(list->tensors.size()) < list->max_num_elements,
        errors::InvalidArgument(
            "Tried to push item into a full list. list size: ",
            list->tensors.size(),
            " max_num_elements: ", list->max_num_elements));
    TensorList* out = nullptr;
    Tensor value = ctx->input(1);
    OP_REQUIRES_OK(ctx, OwnBytes(&value));
    OP_REQUIRES_OK(ctx, ValueForWrite(ctx, &out));
    out->tensors.push_back(std::move(value));
  }
};
REGISTER_KERNEL_BUILDER(Name("TensorListPushBack").Device(DEVICE_CPU),
                        PushBackOp);

class PopBackOp : public ListOp {
 public:
  using ListOp::ListOp;
  void Compute(OpKernelContext* ctx) override {
    const TensorList* list = nullptr;
    OP_REQUIRES_OK(ctx, GetListOf(ctx, 0, dtype_, &list));
    OP_REQUIRES(ctx, !list->tensors.empty(),
                errors::InvalidArgument("Trying to pop from an empty list."));
    Tensor value = list->tensors.back();
    PartialTensorShape asked, common;
    OP_REQUIRES_OK(ctx, ShapeFromTensor(ctx->input(1), &asked));
    OP_REQUIRES_OK(ctx, CommonShape(*list, asked, &common));
    if (!value.IsInitialized()) {
      OP_REQUIRES_OK(ctx, ZerosOf(common, dtype_, &value));
    }
    TensorList* out = nullptr;
    OP_REQUIRES_OK(ctx, ValueForWrite(ctx, &out));
    out->tensors.pop_back();
    ctx->set_output(1, std::move(value));
  }
};
REGISTER_KERNEL_BUILDER(Name("TensorListPopBack").Device(DEVICE_CPU),
                        PopBackOp);

class LengthOp : public ListOp {
 public:
  using ListOp::ListOp;
  void Compute(OpKernelContext* ctx) override {
    const TensorList* list = nullptr;
    OP_REQUIRES_OK(ctx, GetList(ctx->input(0), 0, &list));
    ctx->set_output(
        0, Tensor::Scalar<int32_t>(static_cast<int32_t>(list->tensors.size())));
  }
};
REGISTER_KERNEL_BUILDER(Name("TensorListLength").Device(DEVICE_CPU), LengthOp);

class ElementShapeOp : public ListOp {
 public:
  using ListOp::ListOp;
  void Compute(OpKernelContext* ctx) override {
    const TensorList* list = nullptr;
    OP_REQUIRES_OK(ctx, GetList(ctx->input(0), 0, &list));
    const PartialTensorShape& s = list->element_shape;
    Tensor* out = nullptr;
    OP_REQUIRES_OK(
        ctx, ctx->allocate_output(
                 0, s.unknown_rank() ? TensorShape() : TensorShape({s.dims()}),
                 &out));
    const auto set = [&](int i, int64_t v) {
      if (out->dtype() == DT_INT32) {
        out->data<int32_t>()[i] = static_cast<int32_t>(v);
      } else {
        out->data<int64_t>()[i] = v;
      }
    };
    if (s.unknown_rank()) set(0, -1);
    for (int i = 0; i < s.dims(); ++i) set(i, s.dim_size(i));
  }
};
REGISTER_KERNEL_BUILDER(Name("TensorListElementShape").Device(DEVICE_CPU),
                        ElementShapeOp);

class ResizeOp : public ListOp {
 public:
  using ListOp::ListOp;
  void Compute(OpKernelContext* ctx) override {
    const TensorList* list = nullptr;
    OP_REQUIRES_OK(ctx, GetList(ctx->input(0), 0, &list));
    int64_t n = 0;
    OP_REQUIRES_OK(ctx, ReadInteger(ctx->input(1), "size", &n));
    OP_REQUIRES(ctx, n >= 0 && n <= kMaxElements,
                errors::InvalidArgument("TensorListResize expects size to be "
                                        "in [0, ",
                                        kMaxElements, "]. Got: ", n));
    TensorList* out = nullptr;
    OP_REQUIRES_OK(ctx, ValueForWrite(ctx, &out));
    out->tensors.resize(n);
  }
};
REGISTER_KERNEL_BUILDER(Name("TensorListResize").Device(DEVICE_CPU), ResizeOp);

Status IndexError(int64_t index, size_t size) {
  return errors::InvalidArgument("Trying to access element ", index,
                                 " in a list with ", size, " elements.");
}

class GetItemOp : public ListOp {
 public:
  using ListOp::ListOp;
  void Compute(OpKernelContext* ctx) override {
    const TensorList* list = nullptr;
    OP_REQUIRES_OK(ctx, GetListOf(ctx, 0, dtype_, &list));
    int64_t i = 0;
    OP_REQUIRES_OK(ctx, ReadInteger(ctx->input(1), "index", &i));
    OP_REQUIRES(ctx, i >= 0 && i < static_cast<int64_t>(list->tensors.size()),
                IndexError(i, list->tensors.size()));
    Tensor value = list->tensors[i];
    if (!value.IsInitialized()) {
      PartialTensorShape asked, common;
      OP_REQUIRES_OK(ctx, ShapeFromTensor(ctx->input(2), &asked));
      OP_REQUIRES_OK(ctx, CommonShape(*list, asked, &common));
      // Elements of one list mostly have one shape: what the others tell.
      for (const Tensor& t : list->tensors) {
        PartialTensorShape merged;
        if (t.IsInitialized() && common.MergeWith(t.shape(), &merged).ok()) {
          common = merged;
          break;
        }
      }
      OP_REQUIRES_OK(ctx, ZerosOf(common, dtype_, &value));
    }
    ctx->set_output(0, std::move(value));
  }
};
REGISTER_KERNEL_BUILDER(Name("TensorListGetItem").Device(DEVICE_CPU),
                        GetItemOp);

class SetItemOp : public ListOp {
 public:
  explicit SetItemOp(OpKernelConstruction* ctx) : ListOp(ctx) {
    OP_REQUIRES_OK(ctx,
                   ctx->GetAttr("resize_if_index_out_of_bounds", &resize_));
  }
  void Compute(OpKernelContext* ctx) override {
    const TensorList* list = nullptr;
    OP_REQUIRES_OK(ctx, GetListOf(ctx, 0, dtype_, &list));
    int64_t i = 0;
    OP_REQUIRES_OK(ctx, ReadInteger(ctx->input(1), "index", &i));
    const int64_t n = static_cast<int64_t>(list->tensors.size());
    OP_REQUIRES(ctx, i >= 0 && (i < n || (resize_ && i < kMaxElements)),
                IndexError(i, n));
    Tensor value = ctx->input(2);
    OP_REQUIRES_OK(ctx, OwnBytes(&value));
    OP_REQUIRES_OK(ctx, CheckElement(*list, value));
    TensorList* out = nullptr;
    OP_REQUIRES_OK(ctx, ValueForWrite(ctx, &out));
    if (i >= n) out->tensors.resize(i + 1);
    out->tensors[i] = std::move(value);
  }

 private:
  bool resize_ = false;
};
REGISTER_KERNEL_BUILDER(Name("TensorListSetItem").Device(DEVICE_CPU),
                        SetItemOp);

class StackOp : public ListOp {
 public:
  explicit StackOp(OpKernelConstruction* ctx) : ListOp(ctx) {
    OP_REQUIRES_OK(ctx, ctx->GetAttr("num_elements", &num_elements_));
  }
  void Compute(OpKernelContext* ctx) override {
    const TensorList* list = nullptr;
    OP_REQUIRES_OK(ctx, GetListOf(ctx, 0, dtype_, &list));
    OP_REQUIRES(
        ctx,
        num_elements_ < 0 ||
            num_elements_ == static_cast<int64_t>(list->tensors.size()),
        errors::InvalidArgument("Operation expected a list with ",
                                num_elements_, " elements but got a list with ",
                                list->tensors.size(), " elements."));
    PartialTensorShape asked;
    OP_REQUIRES_OK(ctx, ShapeFromTensor(ctx->input(1), &asked));
    std::vector<const Tensor*> values;
    for (const Tensor& t : list->tensors) values.push_back(&t);
    StackInto(ctx, *list, asked, values);
  }

 private:
  int64_t num_elements_ = -1;
};
REGISTER_KERNEL_BUILDER(Name("TensorListStack").Device(DEVICE_CPU), StackOp);

class GatherOp : public ListOp {
 public:
  using ListOp::ListOp;
  void Compute(OpKernelContext* ctx) override {
    const TensorList* list = nullptr;
    OP_REQUIRES_OK(ctx, GetListOf(ctx, 0, dtype_, &list));
    DimVector indices;
    OP_REQUIRES_OK(ctx, ReadIntegerVector(ctx->input(1), "indices", &indices));
    PartialTensorShape asked;
    OP_REQUIRES_OK(ctx, ShapeFromTensor(ctx->input(2), &asked));
    std::vector<const Tensor*> values;
    for (int64_t i : indices) {
      OP_REQUIRES(ctx, i >= 0 && i < static_cast<int64_t>(list->tensors.size()),
                  IndexError(i, list->tensors.size()));
      values.push_back(&list->tensors[i]);
    }
    StackInto(ctx, *list, asked, values);
  }
};
REGISTER_KERNEL_BUILDER(Name("TensorListGather").Device(DEVICE_CPU), GatherOp);

// Joins elements along their first dimension. leading_dims (V2) says how long
// those are that were never set.
template <bool kV2>
class ConcatOp : public ListOp {
 public:
  explicit ConcatOp(OpKernelConstruction* ctx) : ListOp(ctx) {
    if (!kV2) OP_REQUIRES_OK(ctx, ctx->GetAttr("element_shape", &shape_));
  }
  void Compute(OpKernelContext* ctx) override {
    const TensorList* list = nullptr;
    OP_REQUIRES_OK(ctx, GetListOf(ctx, 0, dtype_, &list));
    PartialTensorShape asked = shape_, common;
    DimVector leading;
    if (kV2) {
      OP_REQUIRES_OK(ctx, ShapeFromTensor(ctx->input(1), &asked));
      OP_REQUIRES_OK(
          ctx, ReadIntegerVector(ctx->input(2), "leading_dims", &leading));
    }
    OP_REQUIRES_OK(ctx, CommonShape(*list, asked, &common));
    PartialTensorShape rest;
    if (!common.unknown_rank()) {
      OP_REQUIRES(ctx, common.dims() >= 1,
                  errors::InvalidArgument(
                      "Concat requires elements to be at least vectors, found "
                      "scalars instead."));
      rest = PartialTensorShape(common.dim_sizes().subspan(1));
    }
    const size_t n = list->tensors.size();
    Tensor* lengths = nullptr;
    OP_REQUIRES_OK(
        ctx, ctx->allocate_output(1, {static_cast<int64_t>(n)}, &lengths));
    int64_t rows = 0;
    for (size_t i = 0; i < n; ++i) {
      const Tensor& t = list->tensors[i];
      int64_t length = -1;
      if (t.IsInitialized()) {
        OP_REQUIRES(
            ctx, t.dims() >= 1,
            errors::InvalidArgument("Concat saw a scalar shape at index ", i,
                                    " but requires at least vectors."));
        TensorShape s = t.shape();
        s.RemoveDim(0);
        OP_REQUIRES(ctx, rest.IsCompatibleWith(s),
                    errors::InvalidArgument(
                        "Tried to concat tensors with unequal shapes: ",
                        rest.DebugString(), " vs ", s.DebugString()));
        rest = s;
        length = t.dim_size(0);
      } else {
        if (!common.unknown_rank()) length = common.dim_size(0);
        if (length < 0 && i < leading.size()) length = leading[i];
        OP_REQUIRES(
            ctx, length >= 0,
            errors::InvalidArgument("element ", i,
                                    " was never set and its length is not "
                                    "known"));
      }
      lengths->data<int64_t>()[i] = length;
      rows = AddWithoutOverflow(rows, length);
    }
    TensorShape element;
    OP_REQUIRES(
        ctx, rest.AsTensorShape(&element),
        errors::InvalidArgument("All except the first dimension must be fully "
                                "defined when concating an empty list. "
                                "element_shape: ",
                                common.DebugString()));
    TensorShape shape({rows});
    shape.AppendShape(element);
    Tensor* out = nullptr;
    OP_REQUIRES_OK(ctx, ctx->allocate_output(0, shape, &out));
    const int64_t row = element.num_elements();
    int64_t at = 0;
    for (size_t i = 0; i < n; ++i) {
      const int64_t count = lengths->data<int64_t>()[i] * row;
      Tensor value = list->tensors[i];
      if (!value.IsInitialized()) {
        TensorShape s = element;
        s.InsertDim(0, lengths->data<int64_t>()[i]);
        OP_REQUIRES_OK(ctx, ZerosOf(s, dtype_, &value));
      }
      CopyElements(value, 0, out, at, count);
      at += count;
    }
  }

 private:
  PartialTensorShape shape_;
};
REGISTER_KERNEL_BUILDER(Name("TensorListConcat").Device(DEVICE_CPU),
                        ConcatOp<false>);
REGISTER_KERNEL_BUILDER(Name("TensorListConcatV2").Device(DEVICE_CPU),
                        ConcatOp<true>);

class FromTensorOp : public ListOp {
 public:
  using ListOp::ListOp;
  void Compute(OpKernelContext* ctx) override {
    TensorList list;
    list.dtype = dtype_;
    const Tensor& t = ctx->input(0);
    OP_REQUIRES_OK(ctx, ShapeFromTensor(ctx->input(1), &list.element_shape));
    OP_REQUIRES(ctx, t.dims() >= 1,
                errors::InvalidArgument(
                    "Tensor must be at least a vector, but saw shape: ",
                    t.shape().DebugString()));
    OP_REQUIRES(ctx, t.dim_size(0) <= kMaxElements,
                errors::InvalidArgument("a list of ", t.dim_size(0),
                                        " elements is too long"));
    TensorShape row = t.shape();
    row.RemoveDim(0);
    OP_REQUIRES(ctx, list.element_shape.IsCompatibleWith(row),
                errors::InvalidArgument("Specified a list with shape ",
                                        list.element_shape.DebugString(),
                                        " from a tensor with shape ",
                                        row.DebugString()));
    list.tensors.resize(t.dim_size(0));
    for (int64_t i = 0; i < t.dim_size(0); ++i) {
      OP_REQUIRES_OK(ctx, CopyRows(t, i, i + 1, true, &list.tensors[i]));
    }
    ctx->set_output(0, Wrap(std::move(list)));
  }
};
REGISTER_KERNEL_BUILDER(Name("TensorListFromTensor").Device(DEVICE_CPU),
                        FromTensorOp);

class SplitOp : public ListOp {
 public:
  using ListOp::ListOp;
  void Compute(OpKernelContext* ctx) override {
    TensorList list;
    list.dtype = dtype_;
    const Tensor& t = ctx->input(0);
    OP_REQUIRES_OK(ctx, ShapeFromTensor(ctx->input(1), &list.element_shape));
    DimVector lengths;
    OP_REQUIRES_OK(ctx, ReadIntegerVector(ctx->input(2), "lengths", &lengths));
    OP_REQUIRES(ctx, t.dims() >= 1,
                errors::InvalidArgument(
                    "Tensor must be at least a vector, but saw shape: ",
                    t.shape().DebugString()));
    int64_t at = 0;
    for (int64_t n : lengths) {
      OP_REQUIRES(ctx, n >= 0,
                  errors::InvalidArgument("Invalid value in lengths: ", n));
      OP_REQUIRES(ctx, n <= t.dim_size(0) - at,
                  errors::InvalidArgument(
                      "Attempting to slice [", at, ", ", at, " + ", n,
                      "] from tensor with length ", t.dim_size(0)));
      Tensor piece;
      OP_REQUIRES_OK(ctx, CopyRows(t, at, at + n, false, &piece));
      OP_REQUIRES_OK(ctx, CheckElement(list, piece));
      list.tensors.push_back(std::move(piece));
      at += n;
    }
    OP_REQUIRES(
        ctx, at == t.dim_size(0),
        errors::InvalidArgument("Unused values in tensor. Length of tensor: ",
                                t.dim_size(0), " Values used: ", at));
    ctx->set_output(0, Wrap(std::move(list)));
  }
};
REGISTER_KERNEL_BUILDER(Name("TensorListSplit").Device(DEVICE_CPU), SplitOp);

// Puts row i of `t` at indices[i]; the list grows as far as needed.
Status ScatterRows(const Tensor& t, const Tensor& index, TensorList* list) {
  DimVector indices;
  HR_RETURN_IF_ERROR(ReadIntegerVector(index, "indices", &indices));
  if (t.dims() < 1 || t.dim_size(0) != static_cast<int64_t>(indices.size())) {
    return errors::InvalidArgument(
        "Expected len(indices) == tensor.shape[0], but saw: ", indices.size(),
        " indices and a tensor of shape ", t.shape().DebugString());
  }
  for (size_t i = 0; i < indices.size(); ++i) {
    const int64_t at = indices[i];
    if (at < 0 || at >= kMaxElements) {
      return errors::InvalidArgument(
          "Indices in TensorListScatter must all be non-negative and below ",
          kMaxElements, ", got ", at);
    }
    Tensor row;
    HR_RETURN_IF_ERROR(CopyRows(t, static_cast<int64_t>(i),
                                static_cast<int64_t>(i) + 1, true, &row));
    HR_RETURN_IF_ERROR(CheckElement(*list, row));
    if (at >= static_cast<int64_t>(list->tensors.size())) {
      list->tensors.resize(at + 1);
    }
    list->tensors[at] = std::move(row);
  }
  return OkStatus();
}

// Inputs: tensor, indices, element_shape, num_elements (V2).
class ScatterOp : public ListOp {
 public:
  using ListOp::ListOp;
  void Compute(OpKernelContext* ctx) override {
    TensorList list;
    list.dtype = dtype_;
    OP_REQUIRES_OK(ctx, ShapeFromTensor(ctx->input(2), &list.element_shape));
    int64_t n = -1;
    if (ctx->num_inputs() > 3) {
      OP_REQUIRES_OK(ctx, ReadInteger(ctx->input(3), "num_elements", &n));
      OP_REQUIRES(
          ctx, n >= -1 && n <= kMaxElements,
          errors::InvalidArgument(
              "TensorListScatter expects num_elements >= -1, found: ", n));
    }
    if (n > 0) list.tensors.resize(n);
    OP_REQUIRES_OK(ctx, ScatterRows(ctx->input(0), ctx->input(1), &list));
    OP_REQUIRES(ctx, n < 0 || static_cast<int64_t>(list.tensors.size()) == n,
                errors::InvalidArgument(
                    "TensorListScatter: an index is out of range for ", n,
                    " elements"));
    ctx->set_output(0, Wrap(std::move(list)));
  }
};
REGISTER_KERNEL_BUILDER(Name("TensorListScatter").Device(DEVICE_CPU),
                        ScatterOp);
REGISTER_KERNEL_BUILDER(Name("TensorListScatterV2").Device(DEVICE_CPU),
                        ScatterOp);

class ScatterIntoOp : public ListOp {
 public:
  using ListOp::ListOp;
  void Compute(OpKernelContext* ctx) override {
    const TensorList* list = nullptr;
    OP_REQUIRES_OK(ctx, GetListOf(ctx, 0, dtype_, &list));
    TensorList* out = nullptr;
    OP_REQUIRES_OK(ctx, ValueForWrite(ctx, &out));
    OP_REQUIRES_OK(ctx, ScatterRows(ctx->input(1), ctx->input(2), out));
  }
};
REGISTER_KERNEL_BUILDER(
    Name("TensorListScatterIntoExistingList").Device(DEVICE_CPU),
    ScatterIntoOp);

class ConcatListsOp : public ListOp {
 public:
  using ListOp::ListOp;
  void Compute(OpKernelContext* ctx) override {
    const Tensor &a = ctx->input(0), &b = ctx->input(1);
    OP_REQUIRES(ctx, a.shape() == b.shape(),
                errors::InvalidArgument(
                    "Incompatible input TensorLists tensors with different "
                    "shapes: ",
                    a.shape().DebugString(), " vs. ", b.shape().DebugString()));
    Tensor* out = nullptr;
    OP_REQUIRES_OK(ctx, ctx->allocate_output(0, a.shape(), &out));
    for (int64_t i = 0; i < a.NumElements(); ++i) {
      const TensorList* x = a.data<Variant>()[i].Get<TensorList>();
      const TensorList* y = b.data<Variant>()[i].Get<TensorList>();
      OP_REQUIRES(ctx, x != nullptr && y != nullptr,
                  errors::InvalidArgument("an input is not a list"));
      OP_REQUIRES(
          ctx, x->dtype == dtype_ && y->dtype == dtype_,
          errors::InvalidArgument("the lists hold ", DataTypeString(x->dtype),
                                  " and ", DataTypeString(y->dtype),
                                  ", wanted ", DataTypeString(dtype_)));
      TensorList joined = *x;
      OP_REQUIRES_OK(ctx,
                     CommonShape(*x, y->element_shape, &joined.element_shape));
      joined.tensors.insert(joined.tensors.end(), y->tensors.begin(),
                            y->tensors.end());
      out->data<Variant>()[i] = Variant::Of(std::move(joined), kTypeName);
    }
  }
};
REGISTER_KERNEL_BUILDER(Name("TensorListConcatLists").Device(DEVICE_CPU),
                        ConcatListsOp);

// Row i of the tensor goes to list i of a tensor of lists.
class PushBackBatchOp : public ListOp {
 public:
  using ListOp::ListOp;
  void Compute(OpKernelContext* ctx) override {
    const Tensor &lists = ctx->input(0), &t = ctx->input(1);
    bool is_prefix = t.dims() >= lists.dims();
    for (int i = 0; is_prefix && i < lists.dims(); ++i) {
      is_prefix = t.dim_size(i) == lists.dim_size(i);
    }
    OP_REQUIRES(ctx, is_prefix,
                errors::InvalidArgument("the shape of input_handles, ",
                                        lists.shape().DebugString(),
                                        ", must be a prefix of the tensor's, ",
                                        t.shape().DebugString()));
    TensorShape rows({lists.NumElements()});
    for (int i = lists.dims(); i < t.dims(); ++i) rows.AddDim(t.dim_size(i));
    Tensor flat;
    OP_REQUIRES(ctx, flat.CopyFrom(t, rows),
                errors::InvalidArgument("bad shape ", rows.DebugString()));
    Tensor* out = nullptr;
    OP_REQUIRES_OK(ctx, ctx->allocate_output(0, lists.shape(), &out));
    for (int64_t i = 0; i < lists.NumElements(); ++i) {
      const TensorList* list = lists.data<Variant>()[i].Get<TensorList>();
      OP_REQUIRES(
          ctx, list != nullptr,
          errors::InvalidArgument("Input handle ", i, " is not a list"));
      Tensor row;
      OP_REQUIRES_OK(ctx, CopyRows(flat, i, i + 1, true, &row));
      OP_REQUIRES_OK(ctx, CheckElement(*list, row));
      TensorList longer = *list;
      longer.tensors.push_back(std::move(row));
      out->data<Variant>()[i] = Variant::Of(std::move(longer), kTypeName);
    }
  }
};
REGISTER_KERNEL_BUILDER(Name("TensorListPushBackBatch").Device(DEVICE_CPU),
                        PushBackBatchOp);

Status ZerosLikeList(const Variant& v, int depth, Variant* out) {
  TensorList list = *v.Get<TensorList>();
  for (Tensor& t : list.tensors) {
    if (!t.IsInitialized()) continue;
    Tensor zeros;
    HR_RETURN_IF_ERROR(ZerosLikeTensor(t, depth, &zeros));
    t = std::move(zeros);
  }
  *out = Variant::Of(std::move(list), kTypeName);
  return OkStatus();
}

Status AddLists(const Variant& a, const Variant& b, int depth, Variant* out) {
  const TensorList& x = *a.Get<TensorList>();
  const TensorList& y = *b.Get<TensorList>();
  if (x.dtype != y.dtype) {
    return errors::InvalidArgument(
        "Trying to add two lists of tensors of different dtypes. One is ",
        DataTypeString(x.dtype), " and the other is ", DataTypeString(y.dtype));
  }
  if (x.tensors.size() != y.tensors.size()) {
    return errors::InvalidArgument(
        "Trying to add two lists of tensors with different lengths. One is ",
        x.tensors.size(), " and the other is ", y.tensors.size());
  }
  TensorList sum = x;
  if (!x.element_shape.MergeWith(y.element_shape, &sum.element_shape).ok()) {
    return errors::InvalidArgument(
        "Trying to add two lists of tensors with incompatible element shapes. "
        "One is ",
        x.element_shape.DebugString(), " and the other is ",
        y.element_shape.DebugString());
  }
  for (size_t i = 0; i < sum.tensors.size(); ++i) {
    if (!y.tensors[i].IsInitialized()) continue;
    if (!x.tensors[i].IsInitialized()) {
      sum.tensors[i] = y.tensors[i];
      continue;
    }
    HR_RETURN_IF_ERROR(
        AddTensors(x.tensors[i], y.tensors[i], depth, &sum.tensors[i]));
  }
  *out = Variant::Of(std::move(sum), kTypeName);
  return OkStatus();
}

const VariantMathRegistrar list_math(kTypeName, {ZerosLikeList, AddLists});

}  // namespace
}  // namespace headrace
