#include "io/checkpoint_files.h"

#include <fcntl.h>
#include <signal.h>
#include <sys/types.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <memory>
#include <string_view>
#include <utility>

#include "absl/cleanup/cleanup.h"
#include "absl/strings/match.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "base/fingerprint.h"
#include "io/table.h"

namespace headrace {
namespace {

constexpr std::string_view kTemporary = ".tempstate";

// The system's numbers of processes mean the same where this does.
const std::string& ProcessSpace() {
  static const std::string* const space = [] {
    char name[256] = "", pids[256] = "";
    (void)gethostname(name, sizeof(name) - 1);
    if (readlink("/proc/self/ns/pid", pids, sizeof(pids) - 1) < 0) pids[0] = 0;
    return new std::string(
        absl::StrCat(absl::Hex(Fingerprint64(StrCat(name, "/", pids)))));
  }();
  return *space;
}

// The moment from which this process has written files.
uint64_t FirstNanos(Env* env) {
  static const uint64_t first = env->NowNanos();
  return first;
}

bool WriterHasEnded(Env* env, std::string_view name) {
  const size_t at = name.rfind(kTemporary);
  if (at == name.npos) return false;
  const std::vector<std::string> parts =
      absl::StrSplit(ToAbsl(name.substr(at + kTemporary.size())), '-');
  uint64_t nanos;
  int64_t pid;
  if (parts.size() != 3 || !absl::SimpleAtoi(parts[0], &nanos) ||
      !absl::SimpleAtoi(parts[1], &pid) || pid <= 0 ||
      parts[2] != ProcessSpace()) {
    return false;
  }
  // A process before this one may have had the same number.
  if (pid == getpid()) return nanos < FirstNanos(env);
  return kill(static_cast<pid_t>(pid), 0) != 0 && errno == ESRCH;
}

// A new name for a file. False where the file system has no such links.
bool LinkFile(Env* env, const std::string& from, const std::string& to) {
  (void)env->DeleteFile(to).ok();
  return link(from.c_str(), to.c_str()) == 0;
}

// Waits until the renames in the folder of `path` are on the device. Some file
// systems cannot, and those that are no real ones need not.
void SyncFolder(const std::string& path) {
  const std::string folder(Dirname(path));
  const int fd = open(folder.empty() ? "." : folder.c_str(),
                      O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  if (fd < 0) return;
  (void)fsync(fd);
  close(fd);
}

// How many shards the checkpoint at `prefix` has; 0 if there is none that can
// be read.
int ShardsOf(Env* env, const std::string& prefix) {
  const auto table = Table::Open(env, BundleIndexPath(prefix));
  if (!table.ok()) return 0;
  const Table::Entry* const entry = (*table)->Find("");
  pb::BundleHeaderProto header;
  if (entry == nullptr ||
      !header.ParseFromArray(entry->value.data(),
                             static_cast<int>(entry->value.size()))) {
    return 0;
  }
  return header.num_shards();
}

// The files whose paths begin with `start`.
std::vector<std::string> FilesOf(Env* env, const std::string& start) {
  std::vector<std::string> names, found;
  const std::string dir(Dirname(start));
  if (!env->GetChildren(dir.empty() ? "." : dir, &names).ok()) return {};
  const std::string_view base = Basename(start);
  for (const std::string& name : names) {
    if (absl::StartsWith(name, ToAbsl(base))) {
      found.push_back(start + name.substr(base.size()));
    }
  }
  return found;
}

void DeletePassingShards(Env* env, const std::string& prefix) {
  const std::string end =
      absl::StrCat("-of-", absl::Dec(kPassingShards, absl::kZeroPad5));
  for (const std::string& path : FilesOf(env, prefix + ".data-")) {
    if (absl::EndsWith(path, end)) (void)env->DeleteFile(path).ok();
  }
}

}  // namespace

std::string BundleIndexPath(const std::string& prefix) {
  return prefix + ".index";
}

std::string BundleDataPath(const std::string& prefix, int shard, int shards) {
  return absl::StrCat(prefix, ".data-", absl::Dec(shard, absl::kZeroPad5),
                      "-of-", absl::Dec(shards, absl::kZeroPad5));
}

std::string TemporarySuffix(Env* env) {
  FirstNanos(env);  // before the files of this process
  return absl::StrCat(ToAbsl(kTemporary), env->NowNanos(), "-", getpid(), "-",
                      ProcessSpace());
}

void DeleteTemporariesOfTheDead(Env* env, const std::string& prefix) {
  for (const char* kind : {".data-", ".index."}) {
    for (const std::string& path : FilesOf(env, prefix + kind)) {
      if (WriterHasEnded(env, path)) (void)env->DeleteFile(path).ok();
    }
  }
}

Status WriteIndexFile(
    Env* env, const std::string& path, const pb::BundleHeaderProto& header,
    const std::map<std::string, pb::BundleEntryProto>& entries) {
  const auto write = [&]() -> Status {
    HR_ASSIGN_OR_RETURN(std::unique_ptr<WritableFile> file,
                        env->NewWritableFile(path));
    TableWriter table(file.get());
    HR_RETURN_IF_ERROR(table.Add("", header.SerializeAsString()));
    for (const auto& [key, entry] : entries) {
      HR_RETURN_IF_ERROR(table.Add(key, entry.SerializeAsString()));
    }
    HR_RETURN_IF_ERROR(table.Finish());
    HR_RETURN_IF_ERROR(file->Sync());
    return file->Close();
  };
  const Status s = write();
  if (!s.ok()) (void)env->DeleteFile(path).ok();
  return s;
}

Status PutInPlace(Env* env, const std::string& prefix,
                  const std::vector<std::string>& data,
                  pb::BundleHeaderProto header,
                  const std::map<std::string, pb::BundleEntryProto>& entries) {
  const std::string index = BundleIndexPath(prefix);
  const int n = static_cast<int>(data.size());
  const int old_shards = ShardsOf(env, prefix);
  const std::string beside = index + TemporarySuffix(env);
  header.set_num_shards(std::max(1, n));
  HR_RETURN_IF_ERROR(WriteIndexFile(env, beside, header, entries));
  absl::Cleanup delete_index = [&] { (void)env->DeleteFile(beside).ok(); };

  bool linked = old_shards == header.num_shards() && n < kPassingShards;
  for (int i = 0; i < n && linked; ++i) {
    linked = LinkFile(env, data[i], BundleDataPath(prefix, i, kPassingShards));
  }
  if (linked) {
    const std::string passing = index + TemporarySuffix(env);
    header.set_num_shards(kPassingShards);
    Status s = WriteIndexFile(env, passing, header, entries);
    SyncFolder(prefix);  // the links, before an index that needs them
    if (s.ok()) {
      s = env->RenameFile(passing, index);
      if (!s.ok()) (void)env->DeleteFile(passing).ok();
    }
    if (!s.ok()) {
      DeletePassingShards(env, prefix);
      return s;
    }
    SyncFolder(prefix);
  }
  for (int i = 0; i < n; ++i) {
    HR_RETURN_IF_ERROR(env->RenameFile(data[i], BundleDataPath(prefix, i, n)));
  }
  // Some file systems write renames in another order.
  if (old_shards > 0) SyncFolder(prefix);
  HR_RETURN_IF_ERROR(env->RenameFile(beside, index));
  std::move(delete_index).Cancel();
  SyncFolder(prefix);
  if (linked || old_shards == kPassingShards) DeletePassingShards(env, prefix);
  return OkStatus();
}

}  // namespace headrace
