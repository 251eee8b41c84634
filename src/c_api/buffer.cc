// TF_Buffer, and messages in and out of one. Bytes come from malloc, so that a
// client in C can free them by hand as well.
#include <climits>
#include <cstdlib>
#include <cstring>

#include "base/require_memory.h"
#include "c_api/internal.h"

static_assert(sizeof(TF_Buffer) == 24);

namespace {
void FreeBytes(void* data, size_t) { std::free(data); }
}  // namespace

namespace headrace::c_api {
namespace {

// "GraphDef": clients do not know our package.
std::string NameOf(const google::protobuf::MessageLite& proto) {
  const std::string name = proto.GetTypeName();
  return name.substr(name.rfind('.') + 1);
}

}  // namespace

Status ParseProto(absl::string_view what, const void* data, size_t length,
                  google::protobuf::MessageLite* proto) {
  if (data == nullptr && length != 0) {
    return errors::InvalidArgument(what, ": ", length, " bytes at NULL");
  }
  // A map of protobuf's that fails to grow is broken.
  HR_RETURN_IF_ERROR(headrace::RequireMemoryReserve());
  if (length > INT_MAX ||
      !proto->ParseFromArray(data, static_cast<int>(length))) {
    return errors::InvalidArgument(what, ": ", length,
                                   " bytes that are not a serialized ",
                                   NameOf(*proto));
  }
  return OkStatus();
}

Status ToBuffer(const google::protobuf::MessageLite& proto, TF_Buffer* out) {
  if (out == nullptr) {
    return errors::InvalidArgument("the buffer for a ", NameOf(proto),
                                   " is NULL");
  }
  if (out->data != nullptr) {
    return errors::InvalidArgument("the buffer for a ", NameOf(proto),
                                   " is not empty: it has ", out->length,
                                   " bytes");
  }
  const size_t length = proto.ByteSizeLong();
  if (length > INT_MAX) {
    return errors::InvalidArgument("a ", NameOf(proto), " of ", length,
                                   " bytes; messages have at most 2 GiB");
  }
  void* data = std::malloc(length == 0 ? 1 : length);
  if (data == nullptr) {
    return errors::ResourceExhausted("no memory for ", length, " bytes of a ",
                                     NameOf(proto));
  }
  proto.SerializeToArray(data, static_cast<int>(length));
  out->data = data;
  out->length = length;
  out->data_deallocator = FreeBytes;
  return OkStatus();
}

Status BytesToBuffer(absl::string_view what, absl::string_view bytes,
                     TF_Buffer* out) {
  if (out == nullptr || out->data != nullptr) {
    return errors::InvalidArgument(
        "the buffer for ", what, out == nullptr ? " is NULL" : " is not empty");
  }
  void* data = NewText(bytes);
  if (data == nullptr) {
    return errors::ResourceExhausted("no memory for ", bytes.size(),
                                     " bytes of ", what);
  }
  *out = {data, bytes.size(), FreeBytes};
  return OkStatus();
}

char* NewText(absl::string_view text) {
  char* const copy = static_cast<char*>(std::malloc(text.size() + 1));
  if (copy == nullptr) return nullptr;
  if (!text.empty()) std::memcpy(copy, text.data(), text.size());
  copy[text.size()] = '\0';
  return copy;
}

TF_Buffer* NewBuffer(const google::protobuf::MessageLite& proto) {
  TF_Buffer* buffer = TF_NewBuffer();
  if (!ToBuffer(proto, buffer).ok()) {
    TF_DeleteBuffer(buffer);
    return nullptr;
  }
  return buffer;
}

}  // namespace headrace::c_api

TF_Buffer* TF_NewBufferFromString(const void* proto, size_t proto_len) {
  void* copy = std::malloc(proto_len == 0 ? 1 : proto_len);
  if (copy == nullptr || (proto == nullptr && proto_len != 0)) {
    std::free(copy);
    return nullptr;
  }
  if (proto_len != 0) std::memcpy(copy, proto, proto_len);
  return new TF_Buffer{copy, proto_len, FreeBytes};
}

TF_Buffer* TF_NewBuffer() { return new TF_Buffer{nullptr, 0, nullptr}; }

void TF_DeleteBuffer(TF_Buffer* buffer) {
  if (buffer == nullptr) return;
  if (buffer->data_deallocator != nullptr) {
    buffer->data_deallocator(const_cast<void*>(buffer->data), buffer->length);
  }
  delete buffer;
}

TF_Buffer TF_GetBuffer(TF_Buffer* buffer) {
  return buffer == nullptr ? TF_Buffer{nullptr, 0, nullptr} : *buffer;
}
