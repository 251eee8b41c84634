#include "distributed/wire_bytes.h"

#include <algorithm>
#include <climits>

namespace headrace {

void WireBytes::Append(std::string bytes) {
  if (bytes.empty()) return;
  auto owner = std::make_shared<const std::string>(std::move(bytes));
  const absl::string_view view = *owner;
  Append(view, std::move(owner));
}

void WireBytes::Append(absl::string_view bytes,
                       std::shared_ptr<const void> owner) {
  if (bytes.empty()) return;
  size_ += bytes.size();
  pieces_.push_back({bytes, std::move(owner)});
}

std::string WireBytes::Flatten() const {
  std::string all;
  all.reserve(size_);
  for (const Piece& p : pieces_) all.append(p.bytes.data(), p.bytes.size());
  return all;
}

bool WireInput::Next(const void** data, int* size) {
  while (piece_ < bytes_.pieces().size()) {
    const absl::string_view rest =
        bytes_.pieces()[piece_].bytes.substr(offset_);
    if (rest.empty()) {
      ++piece_;
      offset_ = 0;
      continue;
    }
    const size_t n = std::min<size_t>(rest.size(), INT_MAX);
    *data = rest.data();
    *size = static_cast<int>(n);
    offset_ += n;
    count_ += static_cast<int64_t>(n);
    return true;
  }
  return false;
}

void WireInput::BackUp(int count) {
  offset_ -= static_cast<size_t>(count);
  count_ -= count;
}

bool WireInput::Skip(int count) {
  const void* data;
  int size;
  while (count > 0) {
    if (!Next(&data, &size)) return false;
    if (size > count) {
      BackUp(size - count);
      return true;
    }
    count -= size;
  }
  return true;
}

WireBytes ToWire(const google::protobuf::MessageLite& message) {
  return WireBytes(message.SerializeAsString());
}

Status FromWire(absl::string_view what, const WireBytes& bytes,
                google::protobuf::MessageLite* message) {
  WireInput input(bytes);
  if (message->ParseFromZeroCopyStream(&input)) return OkStatus();
  return errors::InvalidArgument(what, ": ", bytes.size(),
                                 " bytes are no such message");
}

}  // namespace headrace
