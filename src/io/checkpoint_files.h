// The files of a checkpoint on the disk: written beside their final names, and
// put there so that a crash or a kill at any moment leaves the old checkpoint
// or the new one under the name.
//
// A checkpoint has an index and data files, whose names the format fixes, and
// no system call renames two files at once. But the names of data files have
// the number of shards, which the index tells. So a checkpoint that replaces
// one with as many shards passes through a third state:
//   1. the data, hard-linked as shards of kPassingShards, and an index that
//      says so, renamed over the old index: the new checkpoint is there;
//   2. the data renamed over the old data, which nothing names any more;
//   3. the final index renamed over that of step 1; the links deleted.
// Each state is a checkpoint that TensorFlow reads, too. Where a file system
// has no hard links, data and index are renamed one after the other, and a kill
// between them leaves an index that does not fit the data.
#ifndef HEADRACE_IO_CHECKPOINT_FILES_H_
#define HEADRACE_IO_CHECKPOINT_FILES_H_

#include <map>
#include <string>
#include <vector>

#include "base/env.h"
#include "headrace/tensor_bundle.pb.h"

namespace headrace {

// No checkpoint has as many shards.
inline constexpr int kPassingShards = 99999;

std::string BundleIndexPath(const std::string& prefix);
std::string BundleDataPath(const std::string& prefix, int shard, int shards);

// What to append to a final name for the file that is written beside it. It
// names the machine and the process, so that others can tell whether the writer
// still runs.
std::string TemporarySuffix(Env* env);

// Deletes the temporary files of saves under `prefix` whose process has ended.
// Those of other machines stay: nobody can tell whether they are in use.
void DeleteTemporariesOfTheDead(Env* env, const std::string& prefix);

// Writes an index with `entries` and the header (under "") to `path` and syncs
// it. Deletes it again if it cannot be written.
Status WriteIndexFile(
    Env* env, const std::string& path, const pb::BundleHeaderProto& header,
    const std::map<std::string, pb::BundleEntryProto>& entries);

// Makes the synced files `data`, in the order of the shards, and an index with
// `entries` the checkpoint `prefix`. An error before the checkpoint is there
// leaves the old one and `data`.
Status PutInPlace(Env* env, const std::string& prefix,
                  const std::vector<std::string>& data,
                  pb::BundleHeaderProto header,
                  const std::map<std::string, pb::BundleEntryProto>& entries);

}  // namespace headrace

#endif  // HEADRACE_IO_CHECKPOINT_FILES_H_
