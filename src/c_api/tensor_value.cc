// Values out of the tensors of clients, and back. A resource is, for a client,
// the bytes of a serialized handle.
#include <cstring>

#include "base/exceptions.h"
#include "c_api/internal.h"
#include "framework/op/tensor_proto.h"
#include "headrace/resource_handle.h"

namespace headrace::c_api {
namespace {

Status ReadResource(const OpaqueBytes& bytes, Tensor* out) {
  if (bytes.shape.dims() != 0) {
    return errors::InvalidArgument(
        "Malformed TF_RESOURCE tensor: expected a scalar, got a tensor with "
        "shape ",
        bytes.shape.DebugString());
  }
  Tensor t(DT_RESOURCE, TensorShape());
  const absl::string_view data(static_cast<const char*>(bytes.buffer->data()),
                               bytes.buffer->size());
  if (!ResourceHandleFromBytes(data, &t.scalar<ResourceHandle>()).ok()) {
    return errors::InvalidArgument(
        "Malformed TF_RESOURCE tensor: unable to parse resource handle of ",
        data.size(), " bytes");
  }
  *out = std::move(t);
  return OkStatus();
}

}  // namespace

Status ReadTensor(const TF_Tensor& t, Tensor* out) {
  if (t.opaque == nullptr) [[likely]] {
    const Tensor& value = t.tensor;
    if (value.dtype() == DT_STRING) {
      HR_RETURN_IF_ERROR(CheckStringCopies(value));
      // To move such a string is to copy its characters, and a move cannot say
      // that there is no memory. Inside the library there are none of them.
      if (HasStringsAtOffsets(value)) {
        return CatchExceptions([&] { return value.DeepCopyTo(out); });
      }
    }
    // Small data are copied: that costs less than to share them.
    if (!value.IsInline() && value.TotalBytes() <= Tensor::kInlineBytes &&
        DataTypeCanUseMemcpy(value.dtype())) {
      *out = Tensor(value.dtype(), value.shape());
      std::memcpy(out->raw_data(), value.raw_data(), value.TotalBytes());
    } else {
      *out = value;
    }
    return OkStatus();
  }
  const OpaqueBytes& bytes = *t.opaque;
  switch (bytes.type) {
    case TF_RESOURCE:
      return ReadResource(bytes, out);
    case TF_VARIANT:
      return errors::InvalidArgument(
          "Malformed TF_VARIANT tensor: got ", bytes.buffer->size(),
          " bytes, wanted a tensor that a run or an attr gave");
    case TF_STRING:
      if (kOffsetStrings) {
        return DecodeStrings(
            absl::string_view(static_cast<const char*>(bytes.buffer->data()),
                              bytes.buffer->size()),
            bytes.shape, out);
      }
      return errors::InvalidArgument(
          "Malformed TF_STRING tensor: got ", bytes.buffer->size(),
          " bytes, wanted a TF_TString of ", sizeof(TF_TString),
          " bytes, aligned to ", alignof(TF_TString), ", for each of ",
          bytes.shape.num_elements(), " elements");
    default:
      return errors::InvalidArgument(
          "Malformed tensor: data type ", static_cast<int>(bytes.type), " (",
          DataTypeString(ToDataType(bytes.type)), ") is none that values have");
  }
}

namespace {

// A handle on bytes that are no Tensor.
Status WrapBytes(TF_DataType type, const TensorShape& shape,
                 absl::string_view bytes, TF_Tensor** out) {
  auto t = std::unique_ptr<TF_Tensor>(TF_AllocateTensor(
      type, shape.dim_sizes().data(), shape.dims(), bytes.size()));
  if (t == nullptr) {
    return errors::ResourceExhausted("no memory for a tensor of ", bytes.size(),
                                     " bytes");
  }
  std::memcpy(TF_TensorData(t.get()), bytes.data(), bytes.size());
  *out = t.release();
  return OkStatus();
}

}  // namespace

Status WrapTensor(Tensor value, TF_Tensor** out) {
  if (value.dtype() == DT_STRING && kOffsetStrings) {
    return WrapBytes(TF_STRING, value.shape(), EncodeStrings(value), out);
  }
  if (value.dtype() != DT_RESOURCE) [[likely]] {
    *out = new TF_Tensor(std::move(value));
    return OkStatus();
  }
  if (value.dims() != 0) {
    return errors::InvalidArgument(
        "Unexpected non-scalar TF_RESOURCE tensor: shape ",
        value.shape().DebugString(), ", wanted a scalar");
  }
  return WrapBytes(TF_RESOURCE, TensorShape(),
                   ResourceHandleToBytes(value.scalar<ResourceHandle>()), out);
}

}  // namespace headrace::c_api
