#include "io/table.h"

#include <algorithm>
#include <utility>

#include "base/crc32c.h"
#include "io/coding.h"
#ifdef HEADRACE_HAVE_SNAPPY
#include <snappy.h>
#endif

namespace headrace {
namespace {

constexpr uint64_t kMagic = 0xdb4775248b80fb57ull;
constexpr size_t kFooterBytes = 48;
constexpr size_t kTrailerBytes = 5;
// Uncompressed sizes above this are taken for damage, not for data.
constexpr size_t kMaxUnpackedBytes = size_t{1} << 30;

// The entries of a block, one after another. False at the end, or with `broken`
// set where the block makes no sense.
class BlockCursor {
 public:
  explicit BlockCursor(absl::string_view block) {
    if (block.size() < 4) {
      broken_ = true;
      return;
    }
    const uint64_t restarts =
        GetFixed<uint32_t>(block.data() + block.size() - 4);
    if (4 + 4 * restarts > block.size()) {
      broken_ = true;
      return;
    }
    rest_ = block.substr(0, block.size() - 4 - 4 * restarts);
  }

  bool Next() {
    if (broken_ || rest_.empty()) return false;
    uint32_t shared, unshared, size;
    if (!GetVarint32(&rest_, &shared) || !GetVarint32(&rest_, &unshared) ||
        !GetVarint32(&rest_, &size) || shared > key_.size() ||
        uint64_t{unshared} + size > rest_.size()) {
      broken_ = true;
      return false;
    }
    key_.resize(shared);
    key_.append(rest_.data(), unshared);
    value_ = rest_.substr(unshared, size);
    rest_.remove_prefix(unshared + size);
    return true;
  }

  const std::string& key() const { return key_; }
  absl::string_view value() const { return value_; }
  bool broken() const { return broken_; }

 private:
  absl::string_view rest_, value_;
  std::string key_;
  bool broken_ = false;
};

bool GetHandle(absl::string_view in, uint64_t* offset, uint64_t* size) {
  return GetVarint64(&in, offset) && GetVarint64(&in, size);
}

// A short key k with last <= k < next.
std::string Separator(const std::string& last, absl::string_view next) {
  const size_t n = std::min(last.size(), next.size());
  size_t i = 0;
  while (i < n && last[i] == next[i]) ++i;
  if (i == n) return last;
  const uint8_t a = last[i], b = next[i];
  if (a == 0xff || a + 1 >= b) return last;
  std::string key = last.substr(0, i + 1);
  key[i] = static_cast<char>(a + 1);
  return key;
}

// A short key k with last <= k.
std::string Successor(const std::string& last) {
  for (size_t i = 0; i < last.size(); ++i) {
    const uint8_t byte = last[i];
    if (byte == 0xff) continue;
    std::string key = last.substr(0, i + 1);
    key[i] = static_cast<char>(byte + 1);
    return key;
  }
  return last;
}

}  // namespace

StatusOr<std::unique_ptr<Table>> Table::Open(Env* env,
                                             const std::string& path) {
  std::unique_ptr<Table> table(new Table);
  HR_ASSIGN_OR_RETURN(table->file_, env->MapFile(path));
  const Status s = table->Load();
  if (!s.ok()) return Annotate(s, StrCat(" (in ", path, ")"));
  return table;
}

Status Table::ReadBlock(absl::string_view handle, absl::string_view* block) {
  const absl::string_view file = ToAbsl(file_->view());
  uint64_t offset, size;
  if (!GetHandle(handle, &offset, &size) || offset > file.size() ||
      file.size() - offset < kTrailerBytes ||
      size > file.size() - offset - kTrailerBytes) {
    return errors::DataLoss("table: a block lies outside of the file of ",
                            file.size(), " bytes");
  }
  *block = file.substr(offset, size);
  const uint32_t stored = GetFixed<uint32_t>(file.data() + offset + size + 1);
  if (crc32c::Mask(crc32c::Value(file.data() + offset, size + 1)) != stored) {
    return errors::DataLoss("table: the checksum of the block at byte ", offset,
                            " does not match");
  }
  const int type = file[offset + size];
  if (type == 0) return OkStatus();
#ifdef HEADRACE_HAVE_SNAPPY
  if (type == 1) {
    size_t unpacked = 0;
    std::string bytes;
    if (!snappy::GetUncompressedLength(block->data(), size, &unpacked) ||
        unpacked > kMaxUnpackedBytes ||
        !snappy::IsValidCompressedBuffer(block->data(), size) ||
        !snappy::Uncompress(block->data(), size, &bytes)) {
      return errors::DataLoss("table: the block at byte ", offset,
                              " does not decompress");
    }
    unpacked_.push_back(std::move(bytes));
    *block = unpacked_.back();
    return OkStatus();
  }
#endif
  return errors::Unimplemented("table: the block at byte ", offset,
                               " has compression ", type,
                               ", which this build cannot read");
}

Status Table::Load() {
  const absl::string_view file = ToAbsl(file_->view());
  if (file.size() < kFooterBytes ||
      GetFixed<uint64_t>(file.data() + file.size() - 8) != kMagic) {
    return errors::DataLoss("not a table: no magic number at the end of ",
                            file.size(), " bytes");
  }
  absl::string_view footer = file.substr(file.size() - kFooterBytes, 40);
  uint64_t unused;
  if (!GetVarint64(&footer, &unused) || !GetVarint64(&footer, &unused)) {
    return errors::DataLoss("table: bad footer");
  }
  absl::string_view index_block;
  HR_RETURN_IF_ERROR(ReadBlock(footer, &index_block));
  // Blocks may not overlap: a small file could otherwise name one many times.
  uint64_t end_of_last = 0;
  BlockCursor index(index_block);
  while (index.Next()) {
    uint64_t offset, size;
    if (GetHandle(index.value(), &offset, &size) && offset < end_of_last) {
      return errors::DataLoss("table: blocks out of order at byte ", offset);
    }
    absl::string_view block;
    HR_RETURN_IF_ERROR(ReadBlock(index.value(), &block));
    end_of_last = offset + size + kTrailerBytes;
    BlockCursor cursor(block);
    while (cursor.Next()) {
      if (!entries_.empty() && cursor.key() <= entries_.back().key) {
        return errors::DataLoss("table: keys out of order after entry ",
                                entries_.size());
      }
      entries_.push_back({cursor.key(), cursor.value()});
    }
    if (cursor.broken()) {
      return errors::DataLoss("table: bad entry after ", entries_.size());
    }
  }
  if (index.broken()) return errors::DataLoss("table: bad index block");
  return OkStatus();
}

const Table::Entry* Table::Find(absl::string_view key) const {
  auto at = std::lower_bound(entries_.begin(), entries_.end(), key,
                             [](const Entry& e, absl::string_view k) {
                               return absl::string_view(e.key) < k;
                             });
  return at != entries_.end() && at->key == key ? &*at : nullptr;
}

void TableWriter::Block::Add(absl::string_view key, absl::string_view value) {
  size_t shared = 0;
  if (since_restart == restart_interval) {
    restarts.push_back(static_cast<uint32_t>(bytes.size()));
    since_restart = 0;
  } else if (since_restart > 0) {
    const size_t n = std::min(last_key.size(), key.size());
    while (shared < n && last_key[shared] == key[shared]) ++shared;
  }
  ++since_restart;
  PutVarint(&bytes, shared);
  PutVarint(&bytes, key.size() - shared);
  PutVarint(&bytes, value.size());
  bytes.append(key.data() + shared, key.size() - shared);
  bytes.append(value.data(), value.size());
  last_key.assign(key.data(), key.size());
}

Status TableWriter::Write(Block* block, std::string* handle) {
  std::string& bytes = block->bytes;
  for (uint32_t restart : block->restarts) PutFixed<uint32_t>(&bytes, restart);
  PutFixed<uint32_t>(&bytes, static_cast<uint32_t>(block->restarts.size()));
  handle->clear();
  PutVarint(handle, offset_);
  PutVarint(handle, bytes.size());
  bytes.push_back(0);
  PutFixed<uint32_t>(&bytes, crc32c::Mask(crc32c::Value(ToStd(bytes))));
  HR_RETURN_IF_ERROR(file_->Append(ToStd(bytes)));
  offset_ += bytes.size();
  *block = Block{block->restart_interval};
  return OkStatus();
}

void TableWriter::AddToIndex(const std::string& separator) {
  index_.Add(separator, pending_handle_);
  pending_handle_.clear();
}

Status TableWriter::Add(absl::string_view key, absl::string_view value) {
  if (any_ && key <= absl::string_view(last_key_)) {
    return errors::InvalidArgument("table: keys must increase; got '", key,
                                   "' after '", last_key_, "'");
  }
  if (key.size() > UINT32_MAX || value.size() > UINT32_MAX) {
    return errors::InvalidArgument("table: a value of ", value.size(),
                                   " bytes is more than 4 GiB");
  }
  if (!pending_handle_.empty()) AddToIndex(Separator(last_key_, key));
  any_ = true;
  data_.Add(key, value);
  last_key_.assign(key.data(), key.size());
  if (data_.bytes.size() + 4 * data_.restarts.size() + 4 >= kBlockBytes) {
    return Write(&data_, &pending_handle_);
  }
  return OkStatus();
}

Status TableWriter::Finish() {
  if (!data_.bytes.empty()) HR_RETURN_IF_ERROR(Write(&data_, &pending_handle_));
  Block metaindex{16};
  std::string footer, handle;
  HR_RETURN_IF_ERROR(Write(&metaindex, &footer));
  if (!pending_handle_.empty()) AddToIndex(Successor(last_key_));
  HR_RETURN_IF_ERROR(Write(&index_, &handle));
  footer += handle;
  footer.resize(40);
  PutFixed<uint64_t>(&footer, kMagic);
  return file_->Append(ToStd(footer));
}

}  // namespace headrace
