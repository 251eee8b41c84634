#include "io/event_file.h"

#include <unistd.h>

#include <atomic>
#include <utility>

namespace headrace {
namespace {

constexpr uint64_t kMicrosPerSecond = 1000000;

std::string HostName() {
  char name[256] = {};
  return gethostname(name, sizeof(name) - 1) == 0 ? name : "localhost";
}

}  // namespace

StatusOr<std::unique_ptr<EventFileWriter>> EventFileWriter::Open(
    Env* env, const std::string& logdir, const std::string& suffix,
    const FlushPolicy& policy) {
  HR_RETURN_IF_ERROR(env->CreateDirRecursively(logdir));
  static std::atomic<int64_t> counter{0};
  const uint64_t seconds = env->NowMicros() / kMicrosPerSecond;
  std::string path = JoinPath(
      logdir, absl::StrCat("events.out.tfevents.", seconds, ".", HostName(),
                           ".", getpid(), ".", counter.fetch_add(1), suffix));
  HR_ASSIGN_OR_RETURN(std::unique_ptr<RecordWriter> file,
                      RecordWriter::Open(env, path, Compression::kNone));
  std::unique_ptr<EventFileWriter> writer(
      new EventFileWriter(env, std::move(path), policy, std::move(file)));
  pb::Event first;
  first.set_wall_time(static_cast<double>(seconds));
  first.set_file_version("brain.Event:2");
  first.mutable_source_metadata()->set_writer("headrace");
  HR_RETURN_IF_ERROR(writer->Write(first));
  HR_RETURN_IF_ERROR(writer->Flush());
  return writer;
}

Status EventFileWriter::Write(const pb::Event& event) {
  std::string bytes;
  if (!event.SerializeToString(&bytes)) {
    return errors::InvalidArgument(
        "the event is larger than a message can be, 2 GiB");
  }
  MutexLock lock(&mu_);
  if (file_ == nullptr) {
    return errors::FailedPrecondition("the event file ", path_, " is closed");
  }
  HR_RETURN_IF_ERROR(file_->Write(bytes));
  ++unflushed_;
  const auto waited =
      static_cast<int64_t>(env_->NowMicros() - last_flush_) / 1000;
  const bool due = unflushed_ > policy_.max_queue || waited > policy_.millis;
  return due ? FlushLocked() : OkStatus();
}

Status EventFileWriter::Flush() {
  MutexLock lock(&mu_);
  return file_ == nullptr ? OkStatus() : FlushLocked();
}

Status EventFileWriter::FlushLocked() {
  unflushed_ = 0;
  last_flush_ = env_->NowMicros();
  return file_->Flush();
}

Status EventFileWriter::Close() {
  MutexLock lock(&mu_);
  return file_ == nullptr ? OkStatus() : std::exchange(file_, nullptr)->Close();
}

}  // namespace headrace
