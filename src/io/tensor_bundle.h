// Checkpoints of version 2. For each key the table PREFIX.index has the type,
// the shape, and the position of the tensor's bytes in
// PREFIX.data-0000i-of-0000n. A partitioned tensor has an entry that lists its
// slices, and one entry per slice (EncodeSliceKey).
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
#include "io/checkpoint_files.h"
#include "io/table.h"

namespace headrace {

// Reads a checkpoint. Data files are mapped at their first use. Thread-safe.
// Damaged files give DataLoss. No file content makes it crash or allocate more
// than the files' size.
class BundleReader {
 public:
  // NotFound if there is no index file.
  static StatusOr<std::unique_ptr<BundleReader>> Open(
      Env* env, const std::string& prefix);

  // The index entry of `key`. NotFound "Key x not found in checkpoint".
  Status Lookup(absl::string_view key, pb::BundleEntryProto* entry) const;
  // Reads the whole tensor. A partitioned tensor is put together.
  Status Read(absl::string_view key, Tensor* out);
  // Reads a slice. InvalidArgument if `full_shape` is not the tensor's shape.
  Status ReadSlice(absl::string_view key, const TensorShape& full_shape,
                   const TensorSlice& slice, Tensor* out);

  const pb::BundleHeaderProto& header() const { return header_; }
  const Table& table() const { return *index_; }

 private:
  BundleReader(Env* env, std::string prefix)
      : env_(env), prefix_(std::move(prefix)) {}
  StatusOr<RefPtr<MappedFile>> DataFile(int shard);
  // "'key' in INDEX", for messages.
  std::string InIndex(absl::string_view key) const;
  Status ShapeOf(absl::string_view key, const pb::TensorShapeProto& proto,
                 TensorShape* out) const;
  // Reads the tensor of an entry without slices.
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

// Writes a checkpoint with one shard. Until Finish, and after a crash at any
// moment of it, the old checkpoint is there, if there was one
// (checkpoint_files.h). Not thread-safe.
class BundleWriter {
 public:
  static StatusOr<std::unique_ptr<BundleWriter>> Open(
      Env* env, const std::string& prefix);
  ~BundleWriter();  // without Finish, deletes the written files

  // InvalidArgument if the key exists.
  Status Add(const std::string& key, const Tensor& value);
  // `value` is the slice `slice` of a tensor with shape `full_shape`.
  Status AddSlice(const std::string& key, const TensorShape& full_shape,
                  const TensorSlice& slice, const Tensor& value);
  Status Finish();

 private:
  BundleWriter(Env* env, std::string prefix);

  Env* const env_;
  const std::string prefix_;
  const std::string temporary_;  // the data file until Finish
  std::unique_ptr<WritableFile> data_;
  int64_t offset_ = 0;
  std::map<std::string, pb::BundleEntryProto> entries_;
  bool finished_ = false;
};

// Merges checkpoints into one checkpoint `destination` by renaming their data
// files. A crash leaves the old checkpoint at `destination` or the new one.
Status MergeBundles(Env* env, const std::vector<std::string>& prefixes,
                    const std::string& destination, bool allow_missing);

}  // namespace headrace

#endif  // HEADRACE_IO_TENSOR_BUNDLE_H_
