// Tensors and shapes from their messages and back.
//
// What a reader would get wrong about TensorProto: non-empty tensor_content
// wins over every *_val field and must have exactly the shape's size; a *_val
// list shorter than the shape is continued with its last value, an empty one
// means zeros, and values in the field of another dtype are ignored.
#include "framework/op/tensor_proto.h"

#include <algorithm>
#include <cstring>
#include <limits>

#include "framework/op/saved_variant.h"
#include "framework/tensor/splat_buffer.h"
#include "framework/tensor/variant.h"
#include "headrace/resource_handle.h"

namespace headrace {

// A Variant whose type nobody here can decode is refused: dropping its value
// silently would change what the graph computes.
Status VariantFromProto(const pb::VariantTensorDataProto& proto, Variant* out) {
  *out = Variant();
  if (proto.type_name().empty()) return OkStatus();
  if (proto.type_name() == kIteratorStateName) {
    *out = Variant::Of<SavedVariant>(
        std::make_shared<const pb::VariantTensorDataProto>(proto),
        kIteratorStateName);
    return OkStatus();
  }
  return errors::Unimplemented("a variant of type '", proto.type_name(),
                               "' in a TensorProto");
}

namespace {

// More than this a *_val list is not expanded to: a few bytes of a hostile
// graph must not ask for all memory. What is written out in full may be longer.
constexpr int64_t kMaxExpandedBytes = int64_t{1} << 31;

// Fills t's n elements from k values; `at(i)` is value i.
template <typename T, typename F>
void Fill(Tensor* t, int64_t k, F at) {
  T* out = t->data<T>();
  const int64_t n = t->NumElements();
  k = std::min(k, n);
  for (int64_t i = 0; i < k; ++i) out[i] = at(i);
  std::fill(out + k, out + n, k > 0 ? T(out[k - 1]) : T());
}
template <typename T, typename Field>
void FillFrom(Tensor* t, const Field& field) {
  Fill<T>(t, field.size(), [&](int64_t i) { return static_cast<T>(field[i]); });
}
// Quantised types are structs around the integer.
template <typename T, typename Field>
void FillQuantized(Tensor* t, const Field& field) {
  Fill<T>(t, field.size(), [&](int64_t i) {
    return T{static_cast<decltype(T::value)>(field[i])};
  });
}
template <typename T, typename Field>
void FillHalf(Tensor* t, const Field& field) {
  Fill<T>(t, field.size(), [&](int64_t i) {
    return Eigen::numext::bit_cast<T>(static_cast<uint16_t>(field[i]));
  });
}
template <typename T, typename Field>
void FillComplex(Tensor* t, const Field& field) {
  Fill<T>(t, field.size() / 2,
          [&](int64_t i) { return T(field[2 * i], field[2 * i + 1]); });
}

Status HandleFromProto(const pb::ResourceHandleProto& proto,
                       ResourceHandle* out) {
  out->device = proto.device();
  out->container = proto.container();
  out->name = proto.name();
  out->hash_code = proto.hash_code();
  out->maybe_type_name = proto.maybe_type_name();
  for (const auto& d : proto.dtypes_and_shapes()) {
    DtypeAndShape entry;
    entry.dtype = static_cast<DataType>(d.dtype());
    HR_RETURN_IF_ERROR(ShapeFromProto(d.shape(), &entry.shape));
    out->dtypes_and_shapes.push_back(std::move(entry));
  }
  return OkStatus();
}
void HandleToProto(const ResourceHandle& h, pb::ResourceHandleProto* proto) {
  proto->set_device(h.device);
  proto->set_container(h.container);
  proto->set_name(h.name);
  proto->set_hash_code(h.hash_code);
  proto->set_maybe_type_name(h.maybe_type_name);
  for (const DtypeAndShape& d : h.dtypes_and_shapes) {
    auto* entry = proto->add_dtypes_and_shapes();
    entry->set_dtype(static_cast<pb::DataType>(d.dtype));
    ShapeToProto(d.shape, entry->mutable_shape());
  }
}

bool TakeVarint(absl::string_view* s, uint64_t* out) {
  uint64_t v = 0;
  for (int shift = 0; shift < 64 && !s->empty(); shift += 7) {
    const auto byte = static_cast<unsigned char>((*s)[0]);
    s->remove_prefix(1);
    v |= static_cast<uint64_t>(byte & 0x7f) << shift;
    if (byte < 0x80) {
      *out = v;
      return true;
    }
  }
  return false;
}

// tensor_content of objects: n varint lengths, then the bytes joined.
template <typename F>
Status ReadJoined(absl::string_view content, int64_t n, F set) {
  // Each length takes a byte: no more elements than bytes.
  if (n > static_cast<int64_t>(content.size())) {
    return errors::InvalidArgument("tensor_content of ", content.size(),
                                   " bytes is too short for ", n, " elements");
  }
  absl::string_view bytes = content;
  uint64_t total = 0;
  for (int64_t i = 0; i < n; ++i) {
    uint64_t length;
    if (!TakeVarint(&bytes, &length) || length > content.size()) {
      return errors::InvalidArgument(
          "tensor_content has a bad length for "
          "element ",
          i, " of ", n);
    }
    total += length;
  }
  if (total != bytes.size()) {
    return errors::InvalidArgument("tensor_content has ", bytes.size(),
                                   " bytes for elements of ", total, " bytes");
  }
  for (int64_t i = 0; i < n; ++i) {
    uint64_t length = 0;
    TakeVarint(&content, &length);
    HR_RETURN_IF_ERROR(set(i, bytes.substr(0, length)));
    bytes.remove_prefix(length);
  }
  return OkStatus();
}

Status FromContent(absl::string_view content, Tensor* t) {
  const int64_t n = t->NumElements();
  switch (t->dtype()) {
    case DT_STRING:
      return ReadJoined(content, n, [t](int64_t i, absl::string_view s) {
        t->data<tstring>()[i] = s;
        return OkStatus();
      });
    case DT_RESOURCE:
      return ReadJoined(content, n, [t](int64_t i, absl::string_view s) {
        pb::ResourceHandleProto proto;
        if (!proto.ParseFromArray(s.data(), static_cast<int>(s.size()))) {
          return errors::InvalidArgument("tensor_content holds a bad resource");
        }
        return HandleFromProto(proto, &t->data<ResourceHandle>()[i]);
      });
    case DT_VARIANT:
      return ReadJoined(content, n, [t](int64_t i, absl::string_view s) {
        pb::VariantTensorDataProto proto;
        if (!proto.ParseFromArray(s.data(), static_cast<int>(s.size()))) {
          return errors::InvalidArgument("tensor_content holds a bad variant");
        }
        return VariantFromProto(proto, &t->data<Variant>()[i]);
      });
    case DT_BOOL:  // any byte but 0 is true; in memory only 0 and 1 may stand
      for (int64_t i = 0; i < n; ++i) t->data<bool>()[i] = content[i] != 0;
      return OkStatus();
    default:
      if (n > 0) std::memcpy(t->raw_data(), content.data(), content.size());
      return OkStatus();
  }
}

Status FromValues(const pb::TensorProto& p, Tensor* t) {
  switch (t->dtype()) {
    case DT_FLOAT:
      FillFrom<float>(t, p.float_val());
      break;
    case DT_DOUBLE:
      FillFrom<double>(t, p.double_val());
      break;
    case DT_INT32:
      FillFrom<int32_t>(t, p.int_val());
      break;
    case DT_INT16:
      FillFrom<int16_t>(t, p.int_val());
      break;
    case DT_INT8:
      FillFrom<int8_t>(t, p.int_val());
      break;
    case DT_UINT8:
      FillFrom<uint8_t>(t, p.int_val());
      break;
    case DT_UINT16:
      FillFrom<uint16_t>(t, p.int_val());
      break;
    case DT_QINT8:
      FillQuantized<qint8>(t, p.int_val());
      break;
    case DT_QUINT8:
      FillQuantized<quint8>(t, p.int_val());
      break;
    case DT_QINT16:
      FillQuantized<qint16>(t, p.int_val());
      break;
    case DT_QUINT16:
      FillQuantized<quint16>(t, p.int_val());
      break;
    case DT_QINT32:
      FillQuantized<qint32>(t, p.int_val());
      break;
    case DT_STRING:
      Fill<tstring>(t, p.string_val_size(), [&](int64_t i) {
        return tstring(p.string_val(static_cast<int>(i)));
      });
      break;
    case DT_COMPLEX64:
      FillComplex<complex64>(t, p.scomplex_val());
      break;
    case DT_COMPLEX128:
      FillComplex<complex128>(t, p.dcomplex_val());
      break;
    case DT_INT64:
      FillFrom<int64_t>(t, p.int64_val());
      break;
    case DT_UINT32:
      FillFrom<uint32_t>(t, p.uint32_val());
      break;
    case DT_UINT64:
      FillFrom<uint64_t>(t, p.uint64_val());
      break;
    case DT_BOOL:
      FillFrom<bool>(t, p.bool_val());
      break;
    case DT_HALF:
      FillHalf<half>(t, p.half_val());
      break;
    case DT_BFLOAT16:
      FillHalf<bfloat16>(t, p.half_val());
      break;
    case DT_RESOURCE: {  // missing ones stay default handles
      const int64_t n =
          std::min<int64_t>(p.resource_handle_val_size(), t->NumElements());
      for (int64_t i = 0; i < n; ++i) {
        HR_RETURN_IF_ERROR(
            HandleFromProto(p.resource_handle_val(static_cast<int>(i)),
                            &t->data<ResourceHandle>()[i]));
      }
      break;
    }
    case DT_VARIANT: {
      const int64_t n =
          std::min<int64_t>(p.variant_val_size(), t->NumElements());
      for (int64_t i = 0; i < n; ++i) {
        HR_RETURN_IF_ERROR(VariantFromProto(p.variant_val(static_cast<int>(i)),
                                            &t->data<Variant>()[i]));
      }
      break;
    }
    default:
      return errors::Internal("no conversion from TensorProto for type ",
                              DataTypeString(t->dtype()));
  }
  return OkStatus();
}

// How many elements the *_val field of the type gives; 0 for types that are not
// plain data or strings.
int64_t NumValues(const pb::TensorProto& p, DataType dtype) {
  switch (dtype) {
    case DT_FLOAT:
      return p.float_val_size();
    case DT_DOUBLE:
      return p.double_val_size();
    case DT_STRING:
      return p.string_val_size();
    case DT_COMPLEX64:
      return p.scomplex_val_size() / 2;
    case DT_COMPLEX128:
      return p.dcomplex_val_size() / 2;
    case DT_INT64:
      return p.int64_val_size();
    case DT_UINT32:
      return p.uint32_val_size();
    case DT_UINT64:
      return p.uint64_val_size();
    case DT_BOOL:
      return p.bool_val_size();
    case DT_HALF:
    case DT_BFLOAT16:
      return p.half_val_size();
    default:
      return p.int_val_size();
  }
}

// A few values for many elements. False, with nothing done, if that is not so.
StatusOr<bool> SplatFromValues(const pb::TensorProto& p, DataType dtype,
                               const TensorShape& shape, Tensor* out) {
  const int64_t n = shape.num_elements();
  if ((!DataTypeCanUseMemcpy(dtype) && dtype != DT_STRING) ||
      n * DataTypeObjectSize(dtype) < kMinSplatBytes) {
    return false;
  }
  const int64_t given = std::max<int64_t>(1, NumValues(p, dtype));
  if (given > n / 4) return false;
  Tensor values;
  HR_RETURN_IF_ERROR(
      Tensor::Allocate(CpuAllocator(), dtype, TensorShape({given}), &values));
  HR_RETURN_IF_ERROR(FromValues(p, &values));
  return MakeSplat(values, shape, out);
}

// The single element of `t` in the field of its type; false for types that
// have none here.
bool WriteElement(const Tensor& t, pb::TensorProto* p) {
  switch (t.dtype()) {
    case DT_FLOAT:
      p->add_float_val(*t.data<float>());
      return true;
    case DT_DOUBLE:
      p->add_double_val(*t.data<double>());
      return true;
    case DT_INT32:
      p->add_int_val(*t.data<int32_t>());
      return true;
    case DT_INT16:
      p->add_int_val(*t.data<int16_t>());
      return true;
    case DT_INT8:
      p->add_int_val(*t.data<int8_t>());
      return true;
    case DT_UINT8:
      p->add_int_val(*t.data<uint8_t>());
      return true;
    case DT_UINT16:
      p->add_int_val(*t.data<uint16_t>());
      return true;
    case DT_QINT8:
      p->add_int_val(t.data<qint8>()->value);
      return true;
    case DT_QUINT8:
      p->add_int_val(t.data<quint8>()->value);
      return true;
    case DT_QINT16:
      p->add_int_val(t.data<qint16>()->value);
      return true;
    case DT_QUINT16:
      p->add_int_val(t.data<quint16>()->value);
      return true;
    case DT_QINT32:
      p->add_int_val(t.data<qint32>()->value);
      return true;
    case DT_COMPLEX64:
      p->add_scomplex_val(t.data<complex64>()->real());
      p->add_scomplex_val(t.data<complex64>()->imag());
      return true;
    case DT_COMPLEX128:
      p->add_dcomplex_val(t.data<complex128>()->real());
      p->add_dcomplex_val(t.data<complex128>()->imag());
      return true;
    case DT_INT64:
      p->add_int64_val(*t.data<int64_t>());
      return true;
    case DT_UINT32:
      p->add_uint32_val(*t.data<uint32_t>());
      return true;
    case DT_UINT64:
      p->add_uint64_val(*t.data<uint64_t>());
      return true;
    case DT_BOOL:
      p->add_bool_val(*t.data<bool>());
      return true;
    case DT_HALF:
      p->add_half_val(Eigen::numext::bit_cast<uint16_t>(*t.data<half>()));
      return true;
    case DT_BFLOAT16:
      p->add_half_val(Eigen::numext::bit_cast<uint16_t>(*t.data<bfloat16>()));
      return true;
    default:
      return false;
  }
}

Status CheckDtype(DataType dtype) {
  if (IsValidDataType(dtype) && dtype != DT_INVALID && !IsRefType(dtype)) {
    return OkStatus();
  }
  return errors::InvalidArgument("TensorProto has dtype ",
                                 static_cast<int>(dtype),
                                 ", which is not the type of a tensor known "
                                 "here");
}

// The shape of a tensor: all dims known. No shape and an unknown rank are both
// read as a scalar.
Status TensorShapeFromProto(const pb::TensorShapeProto& proto,
                            TensorShape* out) {
  DimVector dims;
  for (const auto& d : proto.dim()) {
    if (d.size() < 0) {
      return errors::InvalidArgument("TensorProto has dimension ", dims.size(),
                                     " of size ", d.size(),
                                     ", wanted at least 0");
    }
    dims.push_back(d.size());
  }
  return TensorShape::Build(dims, out);
}

// The size is checked before memory is asked for.
Status CheckContent(DataType dtype, const pb::TensorShapeProto& shape_proto,
                    absl::string_view content, TensorShape* shape) {
  HR_RETURN_IF_ERROR(CheckDtype(dtype));
  HR_RETURN_IF_ERROR(TensorShapeFromProto(shape_proto, shape));
  if (DataTypeCanUseMemcpy(dtype)) {
    const int64_t bytes =
        MultiplyWithoutOverflow(shape->num_elements(), DataTypeSize(dtype));
    if (bytes < 0 || static_cast<uint64_t>(bytes) != content.size()) {
      return errors::InvalidArgument(
          "Cannot parse tensor from proto: tensor_content has ", content.size(),
          " bytes, ", DataTypeString(dtype), " of shape ", shape->DebugString(),
          " has ", bytes);
    }
  } else if (shape->num_elements() > static_cast<int64_t>(content.size())) {
    return errors::InvalidArgument(
        "Cannot parse tensor from proto: tensor_content of ", content.size(),
        " bytes is too short for ", shape->num_elements(), " elements");
  }
  return OkStatus();
}

}  // namespace

Status TensorFromContent(DataType dtype,
                         const pb::TensorShapeProto& shape_proto,
                         absl::string_view content, Tensor* out) {
  TensorShape shape;
  HR_RETURN_IF_ERROR(CheckContent(dtype, shape_proto, content, &shape));
  Tensor t;
  HR_RETURN_IF_ERROR(Tensor::Allocate(CpuAllocator(), dtype, shape, &t));
  HR_RETURN_IF_ERROR(FromContent(content, &t));
  *out = std::move(t);
  return OkStatus();
}

Status TensorOverContent(DataType dtype,
                         const pb::TensorShapeProto& shape_proto,
                         absl::string_view content,
                         const RefPtr<TensorBuffer>& owner, Tensor* out) {
  if (!DataTypeCanUseMemcpy(dtype) || dtype == DT_BOOL) {
    return TensorFromContent(dtype, shape_proto, content, out);
  }
  TensorShape shape;
  HR_RETURN_IF_ERROR(CheckContent(dtype, shape_proto, content, &shape));
  const size_t at = content.data() - static_cast<const char*>(owner->data());
  *out = Tensor(dtype, shape, owner, at);
  return OkStatus();
}

Status TensorFromProto(const pb::TensorProto& proto, Tensor* out) {
  const auto dtype = static_cast<DataType>(proto.dtype());
  if (!proto.tensor_content().empty()) {
    return TensorFromContent(dtype, proto.tensor_shape(),
                             proto.tensor_content(), out);
  }
  TensorShape shape;
  HR_RETURN_IF_ERROR(CheckDtype(dtype));
  HR_RETURN_IF_ERROR(TensorShapeFromProto(proto.tensor_shape(), &shape));
  const int64_t bytes =
      MultiplyWithoutOverflow(shape.num_elements(), DataTypeObjectSize(dtype));
  if (bytes < 0 ||
      (bytes > kMaxExpandedBytes &&
       static_cast<uint64_t>(shape.num_elements()) > proto.ByteSizeLong())) {
    return errors::ResourceExhausted(
        "Cannot parse tensor from proto: a few values stand for ",
        DataTypeString(dtype), " of shape ", shape.DebugString(),
        ", more than ", kMaxExpandedBytes, " bytes");
  }
  HR_ASSIGN_OR_RETURN(const bool is_splat,
                      SplatFromValues(proto, dtype, shape, out));
  if (is_splat) return OkStatus();
  Tensor t;
  HR_RETURN_IF_ERROR(Tensor::Allocate(CpuAllocator(), dtype, shape, &t));
  if (t.NumElements() > 0) HR_RETURN_IF_ERROR(FromValues(proto, &t));
  *out = std::move(t);
  return OkStatus();
}

void TensorToProto(const Tensor& t, pb::TensorProto* proto) {
  proto->Clear();
  proto->set_dtype(static_cast<pb::DataType>(t.dtype()));
  ShapeToProto(t.shape(), proto->mutable_tensor_shape());
  const int64_t n = t.NumElements();
  if (n == 0 || !t.IsInitialized()) return;
  switch (t.dtype()) {
    case DT_STRING:
      for (const tstring& s : t.span<tstring>()) {
        proto->add_string_val(s.data(), s.size());
      }
      break;
    case DT_RESOURCE:
      for (const ResourceHandle& h : t.span<ResourceHandle>()) {
        HandleToProto(h, proto->add_resource_handle_val());
      }
      break;
    case DT_VARIANT:
      for (const Variant& v : t.span<Variant>()) {
        const auto* saved = v.Get<SavedVariant>();
        if (saved != nullptr) {
          *proto->add_variant_val() = **saved;
        } else {
          proto->add_variant_val()->set_type_name(v.TypeName());
        }
      }
      break;
    default:
      proto->set_tensor_content(t.tensor_data().data(), t.tensor_data().size());
  }
}

void TensorToAttrProto(const Tensor& t, pb::TensorProto* proto) {
  if (t.IsInitialized() && t.NumElements() == 1) {
    proto->Clear();
    if (WriteElement(t, proto)) {
      proto->set_dtype(static_cast<pb::DataType>(t.dtype()));
      ShapeToProto(t.shape(), proto->mutable_tensor_shape());
      return;
    }
  }
  TensorToProto(t, proto);
}

std::string ResourceHandleToBytes(const ResourceHandle& handle) {
  pb::ResourceHandleProto proto;
  HandleToProto(handle, &proto);
  return proto.SerializeAsString();
}

Status ResourceHandleFromBytes(absl::string_view bytes, ResourceHandle* out) {
  pb::ResourceHandleProto proto;
  if (bytes.size() > std::numeric_limits<int32_t>::max() ||
      !proto.ParseFromArray(bytes.data(), static_cast<int>(bytes.size()))) {
    return errors::InvalidArgument(bytes.size(),
                                   " bytes are no serialized resource handle");
  }
  return HandleFromProto(proto, out);
}

Status ShapeFromProto(const pb::TensorShapeProto& proto,
                      PartialTensorShape* out) {
  if (proto.unknown_rank()) {
    if (proto.dim_size() > 0) {
      return errors::InvalidArgument("TensorShapeProto has unknown_rank and ",
                                     proto.dim_size(), " dims");
    }
    *out = PartialTensorShape::UnknownRank();
    return OkStatus();
  }
  DimVector dims;
  for (const auto& d : proto.dim()) dims.push_back(d.size());
  return PartialTensorShape::Build(dims, out);
}

void ShapeToProto(const PartialTensorShape& s, pb::TensorShapeProto* proto) {
  proto->Clear();
  proto->set_unknown_rank(s.unknown_rank());
  for (int64_t d : s.dim_sizes()) proto->add_dim()->set_size(d);
}

}  // namespace headrace
