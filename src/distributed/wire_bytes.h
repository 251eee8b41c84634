// WireBytes: the bytes of one message, in pieces that lie anywhere. A large
// tensor is a piece of its own, so that it is sent from where it lies.
#ifndef HEADRACE_DISTRIBUTED_WIRE_BYTES_H_
#define HEADRACE_DISTRIBUTED_WIRE_BYTES_H_

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/string_view.h"
#include "google/protobuf/io/zero_copy_stream.h"
#include "google/protobuf/message_lite.h"
#include "headrace/status.h"

namespace headrace {

// Thread-compatible.
class WireBytes {
 public:
  struct Piece {
    absl::string_view bytes;
    std::shared_ptr<const void> owner;  // keeps the bytes alive
  };

  WireBytes() = default;
  explicit WireBytes(std::string bytes) { Append(std::move(bytes)); }

  void Append(std::string bytes);
  void Append(absl::string_view bytes, std::shared_ptr<const void> owner);
  const std::vector<Piece>& pieces() const { return pieces_; }
  size_t size() const { return size_; }
  std::string Flatten() const;

 private:
  std::vector<Piece> pieces_;
  size_t size_ = 0;
};

// Reads the bytes in order. `bytes` outlives it.
class WireInput : public google::protobuf::io::ZeroCopyInputStream {
 public:
  explicit WireInput(const WireBytes& bytes) : bytes_(bytes) {}
  bool Next(const void** data, int* size) override;
  void BackUp(int count) override;
  bool Skip(int count) override;
  int64_t ByteCount() const override { return count_; }

 private:
  const WireBytes& bytes_;
  size_t piece_ = 0;
  size_t offset_ = 0;
  int64_t count_ = 0;
};

WireBytes ToWire(const google::protobuf::MessageLite& message);
// InvalidArgument, with `what`, if the bytes are no such message.
Status FromWire(absl::string_view what, const WireBytes& bytes,
                google::protobuf::MessageLite* message);

}  // namespace headrace

#endif  // HEADRACE_DISTRIBUTED_WIRE_BYTES_H_
