// Table: a file of keys and values, sorted by key, in LevelDB's format: data
// blocks, an empty metaindex block, an index block, a footer of 48 bytes. A
// block has entries whose keys share prefixes, then the offsets of the entries
// that share nothing ("restarts"), then their count. In the file a type byte (0
// plain, 1 snappy) and a masked CRC follow the block.
//
// Checkpoints use tables: version 2 for the index, version 1 for everything.
#ifndef HEADRACE_IO_TABLE_H_
#define HEADRACE_IO_TABLE_H_

#include <cstdint>
#include <deque>
#include <memory>
#include <string>
#include <vector>

#include "absl/strings/string_view.h"
#include "base/env.h"
#include "headrace/status.h"

namespace headrace {

// The contents of a table, fully checked at Open. Immutable, so thread-safe.
class Table {
 public:
  struct Entry {
    std::string key;
    absl::string_view value;  // valid as long as the table
  };

  // DataLoss, with path and position, if the file is no complete table.
  static StatusOr<std::unique_ptr<Table>> Open(Env* env,
                                               const std::string& path);

  // Keys strictly increase in byte order.
  const std::vector<Entry>& entries() const { return entries_; }
  // Null if there is no such key.
  const Entry* Find(absl::string_view key) const;

 private:
  Table() = default;
  Status Load();
  Status ReadBlock(absl::string_view handle, absl::string_view* block);

  RefPtr<MappedFile> file_;
  std::deque<std::string> unpacked_;  // decompressed blocks
  std::vector<Entry> entries_;
};

// Writes a table, uncompressed, to a file that it does not own. Not
// thread-safe.
class TableWriter {
 public:
  explicit TableWriter(WritableFile* file) : file_(file) {}

  // InvalidArgument if the key is not greater than the previous one.
  Status Add(absl::string_view key, absl::string_view value);
  // Writes the remaining blocks and the footer. Does not close the file.
  Status Finish();

 private:
  // A block that is being filled.
  struct Block {
    int restart_interval;
    std::string bytes;
    std::vector<uint32_t> restarts = {0};
    int since_restart = 0;
    std::string last_key = {};

    void Add(absl::string_view key, absl::string_view value);
  };

  // Writes and empties `block`. *handle gets its position in the file.
  Status Write(Block* block, std::string* handle);
  void AddToIndex(const std::string& separator);

  static constexpr size_t kBlockBytes = 262144;
  WritableFile* const file_;
  uint64_t offset_ = 0;
  Block data_{16};
  Block index_{1};
  std::string last_key_;
  bool any_ = false;
  std::string pending_handle_;  // of the last block, not yet in the index
};

}  // namespace headrace

#endif  // HEADRACE_IO_TABLE_H_
