// Table: a file of keys and values in the order of the keys, laid out as
// LevelDB's: data blocks, an empty metaindex block, an index block, a footer of
// 48 bytes. A block is entries whose keys share prefixes, then the offsets of
// the entries that share nothing ("restarts") and their count; on disk a type
// byte (0 plain, 1 snappy) and a masked CRC follow.
//
// Checkpoints use it: the index of version 2, the whole of version 1.
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

// All of a table, checked when it is opened. Immutable, so thread-safe.
class Table {
 public:
  struct Entry {
    std::string key;
    absl::string_view value;  // lives as long as the table
  };

  // DataLoss, with path and place, for whatever is not a whole table.
  static StatusOr<std::unique_ptr<Table>> Open(Env* env,
                                               const std::string& path);

  // Keys strictly increase, bytewise.
  const std::vector<Entry>& entries() const { return entries_; }
  // Null if there is none.
  const Entry* Find(absl::string_view key) const;

 private:
  Table() = default;
  Status Load();
  Status ReadBlock(absl::string_view handle, absl::string_view* block);

  RefPtr<MappedFile> file_;
  std::deque<std::string> unpacked_;  // blocks that were compressed
  std::vector<Entry> entries_;
};

// Writes a table, uncompressed, to a file that it does not own. One thread.
class TableWriter {
 public:
  explicit TableWriter(WritableFile* file) : file_(file) {}

  // Keys must strictly increase: InvalidArgument otherwise.
  Status Add(absl::string_view key, absl::string_view value);
  // Writes what is left and the footer; does not close the file.
  Status Finish();

 private:
  // Entries on their way into a block.
  struct Block {
    int restart_interval;
    std::string bytes;
    std::vector<uint32_t> restarts = {0};
    int since_restart = 0;
    std::string last_key = {};

    void Add(absl::string_view key, absl::string_view value);
  };

  // Leaves `block` empty, and in *handle where it went.
  Status Write(Block* block, std::string* handle);
  void AddToIndex(const std::string& separator);

  static constexpr size_t kBlockBytes = 262144;
  WritableFile* const file_;
  uint64_t offset_ = 0;
  Block data_{16};
  Block index_{1};
  std::string last_key_;
  bool any_ = false;
  std::string pending_handle_;  // of a written block that is not in the index
};

}  // namespace headrace

#endif  // HEADRACE_IO_TABLE_H_
