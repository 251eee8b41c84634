#include "distributed/grpc_bytes.h"

#include <climits>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"

namespace headrace {
namespace {

// Below that a copy costs less than keeping an owner.
constexpr size_t kCopyBelow = 4096;
// Longer messages do not fit the headers that carry them, where each byte that
// is no plain character takes three.
constexpr size_t kMaxStatusBytes = 3072;

void DropOwner(void* owner) {
  delete static_cast<std::shared_ptr<const void>*>(owner);
}

// How much of `message` fits, cut between characters of UTF-8.
size_t FittingPrefix(absl::string_view message) {
  size_t bytes = 0;
  size_t character = 0;
  for (size_t i = 0; i < message.size(); ++i) {
    const auto c = static_cast<unsigned char>(message[i]);
    if ((c & 0xC0) != 0x80) character = i;
    bytes += c >= 0x20 && c <= 0x7E && c != '%' ? 1 : 3;
    if (bytes > kMaxStatusBytes) return character;
  }
  return message.size();
}

}  // namespace

grpc::ByteBuffer ToGrpc(const WireBytes& bytes) {
  std::vector<grpc::Slice> slices;
  for (const WireBytes::Piece& p : bytes.pieces()) {
    if (p.bytes.size() < kCopyBelow) {
      slices.emplace_back(p.bytes.data(), p.bytes.size());
    } else {
      slices.emplace_back(const_cast<char*>(p.bytes.data()), p.bytes.size(),
                          DropOwner, new std::shared_ptr<const void>(p.owner));
    }
  }
  return grpc::ByteBuffer(slices.data(), slices.size());
}

WireBytes FromGrpc(const grpc::ByteBuffer& buffer) {
  WireBytes bytes;
  auto slices = std::make_shared<std::vector<grpc::Slice>>();
  if (!buffer.Valid() || !buffer.Dump(slices.get()).ok()) return bytes;
  for (const grpc::Slice& s : *slices) {
    bytes.Append(
        absl::string_view(reinterpret_cast<const char*>(s.begin()), s.size()),
        slices);
  }
  return bytes;
}

grpc::Status ToGrpc(const Status& status) {
  if (status.ok()) return grpc::Status::OK;
  std::string message(status.message());
  const size_t fits = FittingPrefix(message);
  if (fits < message.size()) {
    message.resize(fits);
    message += " ... [truncated]";
  }
  return grpc::Status(static_cast<grpc::StatusCode>(status.code()), message);
}

Status CheckSize(absl::string_view what, const WireBytes& bytes) {
  if (bytes.size() <= INT_MAX) return OkStatus();
  return errors::ResourceExhausted(what, ": ", bytes.size(),
                                   " bytes; a message may have ", INT_MAX);
}

Status FromGrpc(const grpc::Status& status) {
  if (status.ok()) return OkStatus();
  absl::StatusCode code = static_cast<absl::StatusCode>(status.error_code());
  // What gRPC says when the peer dies in the middle of a call.
  if (code == absl::StatusCode::kUnknown &&
      absl::StrContains(status.error_message(), "Stream removed")) {
    code = absl::StatusCode::kUnavailable;
  }
  return Status(code, status.error_message());
}

}  // namespace headrace
