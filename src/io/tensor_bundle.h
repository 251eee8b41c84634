// A checkpoint of version 2: the table PREFIX.index tells for each key the
// type, shape, and place of a tensor's bytes in PREFIX.data-0000i-of-0000n. A
// partitioned tensor has an entry that lists its slices, and an entry of its
// own for each of them (EncodeSliceKey).
#ifndef HEADRACE_IO_TENSOR_BUNDLE_H_
#define HEADRACE_IO_TENSOR_BUNDLE_H_

#include <map>
#include <memory>
#include <string>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "base/env.h"
#include "framework/tensor/tensor_slice.h"
#include "headrace/mutex.h"
#include "headrace/tensor.h"
#include "headrace/tensor_bundle.pb.h"
#include "io/table.h"

namespace headrace {

std::string BundleIndexPath(const std::string& prefix);
std::string BundleDataPath(const std::string& prefix, int shard, int shards);

// Reads a checkpoint; data files are mapped when they are first needed.
// Thread-safe. Damage is DataLoss; nothing in the files makes it crash or
// allocate more than the files hold.
class BundleReader {
 public:
  // NotFound if there is no index.
  static StatusOr<std::unique_ptr<BundleReader>> Open(
      Env* env, const std::string& prefix);

  // What the index says of `key`. NotFound "Key x not found in checkpoint".
  Status Lookup(absl::string_view key, pb::BundleEntryProto* entry) const;
  // The whole tensor, put together if it is partitioned.
  Status Read(absl::string_view key, Tensor* out);
  // The slice of it; InvalidArgument unless `full_shape` is the tensor's.
  Status ReadSlice(absl::string_view key, const TensorShape& full_shape,
                   const TensorSlice& slice, Tensor* out);

  const pb::BundleHeaderProto& header() const { return header_; }
  const Table& table() const { return *index_; }

 private:
  BundleReader(Env* env, std::string prefix)
      : env_(env), prefix_(std::move(prefix)) {}
  StatusOr<RefPtr<MappedFile>> DataFile(int shard);
  // The tensor of an entry without slices.
  Status ReadEntry(absl::string_view key, const pb::BundleEntryProto& entry,
                   Tensor* out);
  Status ReadFromSlices(absl::string_view key,
                        const pb::BundleEntryProto& entry,
                        const TensorShape& shape, const TensorSlice& wanted,
                        Tensor* out);

  Env* const env_;
  const std::string prefix_;
  std::unique_ptr<Table> index_;
  pb::BundleHeaderProto header_;
  Mutex mu_;
  absl::flat_hash_map<int, RefPtr<MappedFile>> data_ GUARDED_BY(mu_);
};

// Writes a checkpoint of one shard. Nothing has its final name before Finish,
// which renames the data and then the index, so that a crash leaves the old
// checkpoint or none. Not thread-safe.
class BundleWriter {
 public:
  static StatusOr<std::unique_ptr<BundleWriter>> Open(
      Env* env, const std::string& prefix);
  ~BundleWriter();  // without Finish: deletes what was written

  // InvalidArgument for a key that is there already.
  Status Add(const std::string& key, const Tensor& value);
  // `value` is the piece `slice` of a tensor of `full_shape`.
  Status AddSlice(const std::string& key, const TensorShape& full_shape,
                  const TensorSlice& slice, const Tensor& value);
  Status Finish();

 private:
  BundleWriter(Env* env, std::string prefix);

  Env* const env_;
  const std::string prefix_;
  std::string temporary_suffix_;
  std::unique_ptr<WritableFile> data_;
  int64_t offset_ = 0;
  std::map<std::string, pb::BundleEntryProto> entries_;
  bool finished_ = false;
};

// Writes an index of `entries` (with "" the header) to `path`, atomically.
Status WriteBundleIndex(
    Env* env, const std::string& path, const pb::BundleHeaderProto& header,
    const std::map<std::string, pb::BundleEntryProto>& entries);

// Makes one checkpoint `destination` of several, renaming their data files.
Status MergeBundles(Env* env, const std::vector<std::string>& prefixes,
                    const std::string& destination, bool allow_missing);

}  // namespace headrace

#endif  // HEADRACE_IO_TENSOR_BUNDLE_H_
