// Reads the wire format of GraphDef, NodeDef and the attrs of usual kinds by
// hand; rarer attrs (lists, functions, tensors with typed values) are parsed as
// messages. Fields that are unknown or have another wire type than they should
// are skipped, as protobuf does.
#include "graph/graph_def_reader.h"

#include <google/protobuf/io/coded_stream.h>
#include <google/protobuf/stubs/logging.h>

#include <algorithm>
#include <cstring>

#include "base/memory.h"
#include "base/require_memory.h"
#include "framework/op/tensor_proto.h"
#include "framework/tensor/mapped_buffer.h"
#include "framework/tensor/splat_buffer.h"

namespace headrace {
namespace {

// A message nested deeper than this is no graph, and parsing it recurses.
constexpr int kMaxNesting = 100;
// Constants below this size are not worth a way of their own.
constexpr size_t kLargeContent = 1024;
// Constants from the first size on are left in a mapped file.
constexpr size_t kMappedContent = 16 << 10;
// Those from the first size on are left in other bytes that can be kept, if one
// of them has the second: the bytes are then kept, all of them.
constexpr size_t kViewedContent = 1 << 20, kKeptContent = 16000000;

enum WireType { kVarint = 0, kFixed64 = 1, kBytes = 2, kFixed32 = 5 };

// The fields of one message, in order.
class WireReader {
 public:
  explicit WireReader(absl::string_view bytes)
      : begin_(bytes.data()), rest_(bytes) {}

  // Goes to the next field; false at the end and at a field that cannot be
  // read (then ok() is false).
  bool Next() {
    if (!ok_ || rest_.empty()) return false;
    start_ = rest_.data();
    field_ = 0;
    uint64_t tag;
    ok_ = Varint(&tag) && tag >> 3 != 0 && tag >> 3 < (1 << 29);
    if (!ok_) return false;
    field_ = static_cast<int>(tag >> 3);
    type_ = static_cast<int>(tag & 7);
    switch (type_) {
      case kVarint:
        ok_ = Varint(&number_);
        break;
      case kFixed64:
        ok_ = Take(8);
        break;
      case kBytes:
        ok_ = Varint(&number_) && Take(number_);
        break;
      case kFixed32:
        ok_ = Take(4);
        break;
      default:  // groups are not used
        ok_ = false;
    }
    return ok_;
  }
  bool ok() const { return ok_; }
  bool Is(int field, WireType type) const {
    return field_ == field && type_ == type;
  }
  uint64_t number() const { return number_; }
  absl::string_view bytes() const { return bytes_; }
  // The whole field with its tag.
  absl::string_view raw() const {
    return {start_, static_cast<size_t>(rest_.data() - start_)};
  }
  size_t left() const { return rest_.size(); }
  size_t start() const { return start_ - begin_; }
  // Why Next failed, in words.
  std::string Describe() const {
    if (field_ != 0 && type_ == kBytes && number_ > rest_.size()) {
      return StrCat("field ", field_, " at byte ", start(), " wants ", number_,
                    " bytes, ", rest_.size(), " are left");
    }
    return StrCat("no field can be read at byte ", start());
  }

 private:
  bool Varint(uint64_t* v) {
    *v = 0;
    for (int shift = 0; shift < 64 && !rest_.empty(); shift += 7) {
      const auto b = static_cast<unsigned char>(rest_[0]);
      rest_.remove_prefix(1);
      *v |= static_cast<uint64_t>(b & 0x7f) << shift;
      if (b < 0x80) return true;
    }
    return false;
  }
  bool Take(uint64_t n) {
    if (n > rest_.size()) return false;
    bytes_ = rest_.substr(0, n);
    rest_.remove_prefix(n);
    return true;
  }

  const char* const begin_;
  absl::string_view rest_;
  const char* start_ = nullptr;
  absl::string_view bytes_;
  uint64_t number_ = 0;
  int field_ = 0;
  int type_ = 0;
  bool ok_ = true;
};

// proto3 strings are UTF-8.
bool IsUtf8(absl::string_view s) {
  size_t i = 0;
  while (i < s.size()) {
    const auto c = static_cast<unsigned char>(s[i]);
    if (c < 0x80) {
      ++i;
      continue;
    }
    const int more = c >= 0xf0 ? 3 : c >= 0xe0 ? 2 : 1;
    if (c < 0xc2 || c > 0xf4 || i + more >= s.size()) return false;
    uint32_t code = c & (0x3f >> more);
    for (int k = 1; k <= more; ++k) {
      const auto d = static_cast<unsigned char>(s[i + k]);
      if ((d & 0xc0) != 0x80) return false;
      code = code << 6 | (d & 0x3f);
    }
    // Overlong forms, surrogates, and beyond the last code point.
    if ((more == 2 && code < 0x800) || (more == 3 && code < 0x10000) ||
        (code >= 0xd800 && code < 0xe000) || code > 0x10ffff) {
      return false;
    }
    i += more + 1;
  }
  return true;
}

bool SetString(absl::string_view s, std::string* out) {
  if (!IsUtf8(s)) return false;
  out->assign(s.data(), s.size());
  return true;
}

template <typename Proto>
bool ParseMessage(absl::string_view bytes, Proto* proto) {
  google::protobuf::io::CodedInputStream in(
      reinterpret_cast<const uint8_t*>(bytes.data()),
      static_cast<int>(bytes.size()));
  in.SetRecursionLimit(kMaxNesting);
  return bytes.size() <= INT32_MAX && proto->ParseFromCodedStream(&in) &&
         in.ConsumedEntireMessage();
}

// The limit for the memory of a graph's constants.
class ConstantsBudget {
 public:
  explicit ConstantsBudget(int64_t max_bytes)
      : max_bytes_(max_bytes), free_bytes_(AvailableMemory()) {}

  Status Add(const NodeDef& node) {
    int64_t bytes = 0;
    for (const auto& [name, value] : node.attrs) {
      if (const Tensor* t = value.Get<Tensor>()) bytes += MemoryOf(*t);
      if (const auto* list = value.GetList<Tensor>()) {
        for (const Tensor& t : *list) bytes += MemoryOf(t);
      }
    }
    taken_ += bytes;
    const int64_t allowed = max_bytes_ > 0 ? max_bytes_ : free_bytes_;
    if (taken_ <= allowed) return OkStatus();
    return errors::ResourceExhausted(
        "the constants of the graph take more than ", allowed, " bytes, ",
        max_bytes_ > 0 ? "what the import may take"
                       : "the machine's free memory",
        ": node '", node.name, "', op ", node.op, ", has ", bytes,
        " bytes, those before it ", taken_ - bytes);
  }

 private:
  const int64_t max_bytes_, free_bytes_;
  int64_t taken_ = 0;
};

class Reader {
 public:
  // `owner` of the bytes may be null; then nothing becomes a view of them.
  explicit Reader(const RefPtr<TensorBuffer>& owner)
      : owner_(owner),
        mapped_(owner != nullptr && IsMapped(*owner)),
        viewed_(mapped_ ? kMappedContent : kViewedContent) {}

  // These return false if the bytes are not the message; what the message says
  // may still be wrong, which goes into a Status.
  bool ReadNode(absl::string_view bytes, GraphDefParts::Node* out);

  // After the last node: copies what had better not keep the bytes.
  void Finish(std::vector<GraphDefParts::Node>* nodes);

 private:
  bool ReadAttr(absl::string_view bytes, GraphDefParts::Node* out);
  bool ReadValue(absl::string_view bytes, AttrValue* out, Status* status);
  // Nothing done and true if it is no large constant.
  bool ReadLargeTensor(absl::string_view bytes, AttrValue* out, Status* status,
                       bool* done);

  const RefPtr<TensorBuffer>& owner_;
  const bool mapped_;
  const size_t viewed_;   // the size of the least view
  std::string bad_attr_;  // of the node being read, if its status is bad
  size_t largest_view_ = 0;
};

bool Reader::ReadNode(absl::string_view bytes, GraphDefParts::Node* out) {
  NodeDef& def = out->def;
  WireReader in(bytes);
  bool ok = true;
  while (ok && in.Next()) {
    if (in.Is(1, kBytes)) {
      ok = SetString(in.bytes(), &def.name);
    } else if (in.Is(2, kBytes)) {
      ok = SetString(in.bytes(), &def.op);
    } else if (in.Is(3, kBytes)) {
      ok = SetString(in.bytes(), &def.inputs.emplace_back());
    } else if (in.Is(4, kBytes)) {
      ok = SetString(in.bytes(), &def.device);
    } else if (in.Is(5, kBytes)) {
      ok = ReadAttr(in.bytes(), out);
    }
  }
  if (!out->status.ok()) {
    out->status =
        Annotate(out->status, StrCat(" (attr '", bad_attr_, "' of node '",
                                     def.name, "', op ", def.op, ")"));
  }
  return ok && in.ok();
}

bool Reader::ReadAttr(absl::string_view bytes, GraphDefParts::Node* out) {
  absl::string_view key, value;
  WireReader in(bytes);
  while (in.Next()) {
    if (in.Is(1, kBytes)) key = in.bytes();
    if (in.Is(2, kBytes)) value = in.bytes();
  }
  if (!in.ok() || !IsUtf8(key)) return false;
  AttrValue v;
  Status status;
  if (!ReadValue(value, &v, &status)) return false;
  if (!status.ok()) {
    if (out->status.ok()) {
      out->status = std::move(status);
      bad_attr_ = std::string(key);
    }
    return true;
  }
  out->def.attrs.Set(key, std::move(v));
  return true;
}

bool Reader::ReadValue(absl::string_view bytes, AttrValue* out,
                       Status* status) {
  WireReader in(bytes);
  if (in.Next() && in.left() == 0) {  // one field, as always
    const uint64_t n = in.number();
    if (in.Is(2, kBytes)) {
      *out = std::string(in.bytes());
      return true;
    }
    if (in.Is(3, kVarint)) {
      *out = static_cast<int64_t>(n);
      return true;
    }
    if (in.Is(4, kFixed32)) {
      float f;
      std::memcpy(&f, in.bytes().data(), sizeof(f));
      *out = f;
      return true;
    }
    if (in.Is(5, kVarint)) {
      *out = n != 0;
      return true;
    }
    if (in.Is(6, kVarint)) {
      *out = static_cast<DataType>(static_cast<int32_t>(n));
      return true;
    }
    if (in.Is(8, kBytes)) {
      bool done = false;
      if (!ReadLargeTensor(in.bytes(), out, status, &done)) return false;
      if (done) return true;
    }
  }
  pb::AttrValue proto;
  if (!ParseMessage(bytes, &proto)) return false;
  *status = AttrValueFromProto(proto, out);
  return true;
}

bool Reader::ReadLargeTensor(absl::string_view bytes, AttrValue* out,
                             Status* status, bool* done) {
  if (bytes.size() < kLargeContent) return true;
  absl::string_view content;
  pb::TensorShapeProto shape;
  auto dtype = DT_INVALID;
  WireReader in(bytes);
  while (in.Next()) {
    if (in.Is(1, kVarint)) {
      dtype = static_cast<DataType>(static_cast<int32_t>(in.number()));
    } else if (in.Is(2, kBytes)) {
      pb::TensorShapeProto part;
      if (!ParseMessage(in.bytes(), &part)) return false;
      shape.MergeFrom(part);
    } else if (in.Is(4, kBytes)) {
      content = in.bytes();
    }
  }
  if (!in.ok()) return false;
  if (content.size() < kLargeContent) return true;
  *done = true;
  Tensor t;
  if (owner_ != nullptr && content.size() >= viewed_) {
    *status = TensorOverContent(dtype, shape, content, owner_, &t);
    largest_view_ = std::max(largest_view_, content.size());
  } else {
    *status = TensorFromContent(dtype, shape, content, &t);
  }
  if (status->ok()) *out = std::move(t);
  return true;
}

void Reader::Finish(std::vector<GraphDefParts::Node>* nodes) {
  if (mapped_ || largest_view_ == 0 || largest_view_ >= kKeptContent) return;
  for (GraphDefParts::Node& n : *nodes) {
    AttrMap copies;
    for (const auto& [name, value] : n.def.attrs) {
      const Tensor* const t = value.Get<Tensor>();
      if (t == nullptr || t->TotalBytes() < kViewedContent) continue;
      Tensor copy;
      if (Status s = t->DeepCopyTo(&copy); s.ok()) {
        copies.Set(name, std::move(copy));
      } else if (n.status.ok()) {
        n.status = std::move(s);
      }
    }
    for (const auto& [name, value] : copies) n.def.attrs.Set(name, value);
  }
}

Status Broken(absl::string_view bytes) {
  return errors::InvalidArgument("Invalid GraphDef of ", bytes.size(),
                                 " bytes: ", DescribeBrokenGraphDef(bytes));
}

Status ReadParts(absl::string_view bytes, GraphDefParts* parts,
                 const RefPtr<TensorBuffer>& owner, int64_t max_bytes) {
  // Errors go to the Status, not to stderr.
  const google::protobuf::LogSilencer silencer;
  Reader reader(owner);
  ConstantsBudget budget(max_bytes);
  std::string rest;
  WireReader in(bytes);
  while (in.Next()) {
    if (in.Is(1, kBytes)) {
      const size_t at = in.start();
      if (!reader.ReadNode(in.bytes(), &parts->nodes.emplace_back())) {
        return errors::InvalidArgument("Invalid GraphDef of ", bytes.size(),
                                       " bytes: node ", parts->nodes.size() - 1,
                                       " at byte ", at, " cannot be read");
      }
      HR_RETURN_IF_ERROR(budget.Add(parts->nodes.back().def));
    } else {
      rest.append(in.raw().data(), in.raw().size());
    }
  }
  if (!in.ok() || !ParseMessage(rest, &parts->rest)) return Broken(bytes);
  reader.Finish(&parts->nodes);
  return OkStatus();
}

}  // namespace

Status ReadGraphDefParts(absl::string_view bytes, GraphDefParts* parts,
                         int64_t max_bytes) {
  HR_RETURN_IF_ERROR(RequireMemoryReserve());
  return ReadParts(bytes, parts, RefPtr<TensorBuffer>(), max_bytes);
}

Status ReadGraphDefParts(const RefPtr<TensorBuffer>& bytes,
                         GraphDefParts* parts, int64_t max_bytes) {
  HR_RETURN_IF_ERROR(RequireMemoryReserve());
  return ReadParts({static_cast<const char*>(bytes->data()), bytes->size()},
                   parts, bytes, max_bytes);
}

Status GraphDefPartsFromProto(const pb::GraphDef& def, GraphDefParts* parts,
                              int64_t max_bytes) {
  HR_RETURN_IF_ERROR(RequireMemoryReserve());
  ConstantsBudget budget(max_bytes);
  parts->nodes.resize(def.node_size());
  for (int i = 0; i < def.node_size(); ++i) {
    GraphDefParts::Node& n = parts->nodes[i];
    n.status = NodeDefFromProto(def.node(i), &n.def);
    HR_RETURN_IF_ERROR(budget.Add(n.def));
  }
  *parts->rest.mutable_versions() = def.versions();
  *parts->rest.mutable_library() = def.library();
  return OkStatus();
}

std::string DescribeBrokenGraphDef(absl::string_view bytes) {
  WireReader in(bytes);
  while (in.Next()) {
  }
  if (in.ok()) return "a message inside it cannot be read";
  return in.Describe();
}

}  // namespace headrace
