#include "distributed/tensor_wire.h"

#include <climits>
#include <cstdint>
#include <utility>

#include "framework/op/tensor_proto.h"
#include "google/protobuf/io/coded_stream.h"
#include "google/protobuf/wire_format_lite.h"
#include "headrace/device.pb.h"

namespace headrace {
namespace {

using google::protobuf::internal::WireFormatLite;
using google::protobuf::io::CodedInputStream;

// Below that a tensor is written as a message.
constexpr size_t kOwnPieceFrom = 1024;

// Of TensorProto and NamedTensorProto.
constexpr int kContent = 4;
constexpr int kName = 1, kTensor = 2;
// Of Any and RecvBufRespExtra.
constexpr int kTypeUrl = 1, kValue = 2;
constexpr int kBufferContent = 1;
constexpr char kBufferUrl[] = "type.googleapis.com/tensorflow.RecvBufRespExtra";

void AppendVarint(uint64_t value, std::string* out) {
  while (value >= 0x80) {
    out->push_back(static_cast<char>(value | 0x80));
    value >>= 7;
  }
  out->push_back(static_cast<char>(value));
}

void AppendTag(int field, WireFormatLite::WireType type, std::string* out) {
  AppendVarint(WireFormatLite::MakeTag(field, type), out);
}

void AppendBytes(int field, absl::string_view bytes, std::string* out) {
  AppendTag(field, WireFormatLite::WIRETYPE_LENGTH_DELIMITED, out);
  AppendVarint(bytes.size(), out);
  out->append(bytes.data(), bytes.size());
}

bool IsPlainData(const Tensor& t) { return DataTypeCanUseMemcpy(t.dtype()); }

// A message up to the content of its tensor: all but the bytes themselves.
std::string TensorHead(const Tensor& value) {
  pb::TensorProto head;
  head.set_dtype(static_cast<pb::DataType>(value.dtype()));
  ShapeToProto(PartialTensorShape(value.shape()), head.mutable_tensor_shape());
  std::string bytes = head.SerializeAsString();
  AppendTag(kContent, WireFormatLite::WIRETYPE_LENGTH_DELIMITED, &bytes);
  AppendVarint(value.TotalBytes(), &bytes);
  return bytes;
}

// Copies the field whose tag was read, tag and all, to `out`.
bool CopyField(CodedInputStream* in, uint32_t tag, std::string* out) {
  AppendVarint(tag, out);
  switch (WireFormatLite::GetTagWireType(tag)) {
    case WireFormatLite::WIRETYPE_VARINT: {
      uint64_t v;
      if (!in->ReadVarint64(&v)) return false;
      AppendVarint(v, out);
      return true;
    }
    case WireFormatLite::WIRETYPE_FIXED64:
    case WireFormatLite::WIRETYPE_FIXED32: {
      const size_t n = WireFormatLite::GetTagWireType(tag) ==
                               WireFormatLite::WIRETYPE_FIXED64
                           ? 8
                           : 4;
      char raw[8];
      if (!in->ReadRaw(raw, static_cast<int>(n))) return false;
      out->append(raw, n);
      return true;
    }
    case WireFormatLite::WIRETYPE_LENGTH_DELIMITED: {
      uint32_t n;
      std::string bytes;
      if (!in->ReadVarint32(&n) || n > INT_MAX ||
          !in->ReadString(&bytes, static_cast<int>(n))) {
        return false;
      }
      AppendVarint(n, out);
      out->append(bytes);
      return true;
    }
    default:
      return false;
  }
}

Status Malformed(absl::string_view what) {
  return errors::InvalidArgument(what, ": the bytes are no such message");
}

// The length of a delimited field; false if the message ends before it does.
bool ReadLength(CodedInputStream* in, int* n) {
  uint32_t length;
  if (!in->ReadVarint32(&length) || length > INT_MAX) return false;
  const int left = in->BytesUntilTotalBytesLimit();
  const int limit = in->BytesUntilLimit();
  *n = static_cast<int>(length);
  return (left < 0 || *n <= left) && (limit < 0 || *n <= limit);
}

// A TensorProto up to the present limit.
Status ReadTensor(absl::string_view what, CodedInputStream* in, Tensor* out) {
  std::string rest;
  bool has_content = false;
  while (const uint32_t tag = in->ReadTag()) {
    if (tag != WireFormatLite::MakeTag(
                   kContent, WireFormatLite::WIRETYPE_LENGTH_DELIMITED)) {
      if (!CopyField(in, tag, &rest)) return Malformed(what);
      continue;
    }
    int n = 0;
    if (!ReadLength(in, &n)) return Malformed(what);
    pb::TensorProto head;
    if (!head.ParseFromString(rest)) return Malformed(what);
    PartialTensorShape partial;
    TensorShape shape;
    const auto dtype = static_cast<DataType>(head.dtype());
    const bool fits =
        DataTypeCanUseMemcpy(dtype) && dtype != DT_BOOL &&
        ShapeFromProto(head.tensor_shape(), &partial).ok() &&
        partial.AsTensorShape(&shape) &&
        MultiplyWithoutOverflow(shape.num_elements(), DataTypeSize(dtype)) == n;
    if (!fits || has_content || static_cast<size_t>(n) < kOwnPieceFrom) {
      // What comes out of order, is small or is not plain data.
      std::string bytes;
      if (!in->ReadString(&bytes, n)) return Malformed(what);
      AppendBytes(kContent, bytes, &rest);
      continue;
    }
    has_content = true;
    HR_RETURN_IF_ERROR(Tensor::Allocate(CpuAllocator(), dtype, shape, out));
    if (!in->ReadRaw(out->raw_data(), n)) return Malformed(what);
  }
  if (!in->ConsumedEntireMessage() && in->BytesUntilLimit() != 0) {
    return Malformed(what);
  }
  if (has_content) return OkStatus();
  pb::TensorProto proto;
  if (!proto.ParseFromString(rest)) return Malformed(what);
  return Annotate(TensorFromProto(proto, out), StrCat(" (", what, ")"));
}

// Reads fields up to the end; those numbered `field` are given to `take` with
// the limit set.
Status ReadFields(absl::string_view what, CodedInputStream* in, int field,
                  const std::function<Status()>& take, std::string* rest) {
  while (const uint32_t tag = in->ReadTag()) {
    if (tag != WireFormatLite::MakeTag(
                   field, WireFormatLite::WIRETYPE_LENGTH_DELIMITED)) {
      if (!CopyField(in, tag, rest)) return Malformed(what);
      continue;
    }
    int n = 0;
    if (!ReadLength(in, &n)) return Malformed(what);
    const auto limit = in->PushLimit(n);
    HR_RETURN_IF_ERROR(take());
    if (in->BytesUntilLimit() != 0) return Malformed(what);
    in->PopLimit(limit);
  }
  return in->ConsumedEntireMessage() || in->BytesUntilLimit() == 0
             ? OkStatus()
             : Malformed(what);
}

Status ReadMessage(absl::string_view what, const WireBytes& bytes, int field,
                   const std::function<Status(CodedInputStream*)>& take,
                   google::protobuf::MessageLite* rest) {
  if (bytes.size() > INT_MAX) {
    return errors::ResourceExhausted(what, ": ", bytes.size(),
                                     " bytes; a message may have ", INT_MAX);
  }
  WireInput input(bytes);
  CodedInputStream in(&input);
  const auto limit = in.PushLimit(static_cast<int>(bytes.size()));
  std::string others;
  HR_RETURN_IF_ERROR(ReadFields(
      what, &in, field, [&] { return take(&in); }, &others));
  if (in.BytesUntilLimit() != 0) return Malformed(what);
  in.PopLimit(limit);
  return rest->ParseFromString(others) ? OkStatus() : Malformed(what);
}

}  // namespace

void WireWriter::AddFields(const google::protobuf::MessageLite& message) {
  message.AppendToString(&head_);
}

void WireWriter::AddVarint(int field, uint64_t value) {
  AppendTag(field, WireFormatLite::WIRETYPE_VARINT, &head_);
  AppendVarint(value, &head_);
}

void WireWriter::AddTensor(int field, const Tensor& value) {
  if (!IsPlainData(value) || value.TotalBytes() < kOwnPieceFrom) {
    pb::TensorProto proto;
    TensorToProto(value, &proto);
    AppendBytes(field, proto.SerializeAsString(), &head_);
    return;
  }
  const std::string before = TensorHead(value);
  AppendTag(field, WireFormatLite::WIRETYPE_LENGTH_DELIMITED, &head_);
  AppendVarint(before.size() + value.TotalBytes(), &head_);
  AppendTensor(value, before);
}

void WireWriter::AddNamedTensor(int field, absl::string_view name,
                                const Tensor& value) {
  std::string inner;
  AppendBytes(kName, name, &inner);
  if (!IsPlainData(value) || value.TotalBytes() < kOwnPieceFrom) {
    pb::TensorProto proto;
    TensorToProto(value, &proto);
    AppendBytes(kTensor, proto.SerializeAsString(), &inner);
    AppendBytes(field, inner, &head_);
    return;
  }
  const std::string before = TensorHead(value);
  AppendTag(kTensor, WireFormatLite::WIRETYPE_LENGTH_DELIMITED, &inner);
  AppendVarint(before.size() + value.TotalBytes(), &inner);
  AppendTag(field, WireFormatLite::WIRETYPE_LENGTH_DELIMITED, &head_);
  AppendVarint(inner.size() + before.size() + value.TotalBytes(), &head_);
  head_ += inner;
  AppendTensor(value, before);
}

void WireWriter::AppendTensor(const Tensor& value, absl::string_view before) {
  head_.append(before.data(), before.size());
  out_.Append(std::move(head_));
  head_.clear();
  auto owner = std::make_shared<const Tensor>(value);
  const absl::string_view bytes = owner->tensor_data();
  out_.Append(bytes, std::move(owner));
}

void WireWriter::AddBuffer(int field, absl::string_view bytes,
                           std::shared_ptr<const void> owner) {
  std::string content, value;
  AppendTag(kBufferContent, WireFormatLite::WIRETYPE_LENGTH_DELIMITED,
            &content);
  AppendVarint(bytes.size(), &content);
  AppendBytes(kTypeUrl, kBufferUrl, &value);
  AppendTag(kValue, WireFormatLite::WIRETYPE_LENGTH_DELIMITED, &value);
  AppendVarint(content.size() + bytes.size(), &value);
  value += content;
  AppendTag(field, WireFormatLite::WIRETYPE_LENGTH_DELIMITED, &head_);
  AppendVarint(value.size() + bytes.size(), &head_);
  head_ += value;
  out_.Append(std::move(head_));
  head_.clear();
  out_.Append(bytes, std::move(owner));
}

WireBytes WireWriter::Finish() {
  out_.Append(std::move(head_));
  head_.clear();
  return std::move(out_);
}

Status ReadTensors(absl::string_view what, const WireBytes& bytes,
                   int tensor_field, std::vector<Tensor>* tensors,
                   google::protobuf::MessageLite* rest) {
  return ReadMessage(
      what, bytes, tensor_field,
      [&](CodedInputStream* in) {
        return ReadTensor(what, in, &tensors->emplace_back());
      },
      rest);
}

Status ReadNamedTensors(absl::string_view what, const WireBytes& bytes,
                        int tensor_field, NamedTensors* tensors,
                        google::protobuf::MessageLite* rest) {
  return ReadMessage(
      what, bytes, tensor_field,
      [&](CodedInputStream* in) {
        auto& tensor = tensors->emplace_back();
        std::string others;
        bool has_tensor = false;
        HR_RETURN_IF_ERROR(ReadFields(
            what, in, kTensor,
            [&] {
              has_tensor = true;
              return ReadTensor(what, in, &tensor.second);
            },
            &others));
        pb::NamedTensorProto named;
        if (!named.ParseFromString(others)) return Malformed(what);
        tensor.first = named.name();
        if (has_tensor) return OkStatus();
        return errors::InvalidArgument(what, ": '", named.name(),
                                       "' has no tensor");
      },
      rest);
}

Status ReadBuffer(absl::string_view what, const WireBytes& bytes, int any_field,
                  void* to, size_t size, google::protobuf::MessageLite* rest) {
  size_t got = 0;
  const auto read_content = [&](CodedInputStream* in) -> Status {
    const int n = in->BytesUntilLimit();
    if (n < 0 || static_cast<size_t>(n) > size - got) {
      return errors::InvalidArgument(what, ": more than the ", size,
                                     " bytes that were asked for");
    }
    if (n > 0 && !in->ReadRaw(static_cast<char*>(to) + got, n)) {
      return Malformed(what);
    }
    got += static_cast<size_t>(n);
    return OkStatus();
  };
  HR_RETURN_IF_ERROR(ReadMessage(
      what, bytes, any_field,
      [&](CodedInputStream* in) {
        std::string of_any;
        return ReadFields(
            what, in, kValue,
            [&] {
              std::string of_extra;
              return ReadFields(
                  what, in, kBufferContent, [&] { return read_content(in); },
                  &of_extra);
            },
            &of_any);
      },
      rest));
  if (got == size) return OkStatus();
  return errors::InvalidArgument(what, ": ", got, " bytes, wanted ", size);
}

}  // namespace headrace
