// Event files: records of Event messages. The first one names the format.
// TensorBoard finds the files by name,
// LOGDIR/events.out.tfevents.SECONDS.HOST.PID.NUMBER, and orders them by name.
#ifndef HEADRACE_IO_EVENT_FILE_H_
#define HEADRACE_IO_EVENT_FILE_H_

#include <memory>
#include <string>

#include "headrace/event.pb.h"
#include "headrace/mutex.h"
#include "io/record_file.h"

namespace headrace {

// Thread-safe; holds its lock while it writes. The destructor closes the file
// and ignores errors, so call Close.
class EventFileWriter {
 public:
  // Written events are passed to the system after this many events, or after
  // this much time since the last flush. Both are checked when an event is
  // written.
  struct FlushPolicy {
    int64_t max_queue = 10;
    int64_t millis = 2 * 60 * 1000;
  };

  // Creates the directory, and a new file in it whose name ends with `suffix`.
  static StatusOr<std::unique_ptr<EventFileWriter>> Open(
      Env* env, const std::string& logdir, const std::string& suffix,
      const FlushPolicy& policy);

  const std::string& path() const { return path_; }
  [[nodiscard]] Status Write(const pb::Event& event);
  [[nodiscard]] Status Flush();
  // Call it once. A later write gives FailedPrecondition.
  [[nodiscard]] Status Close();

 private:
  EventFileWriter(Env* env, std::string path, const FlushPolicy& policy,
                  std::unique_ptr<RecordWriter> file)
      : env_(env),
        path_(std::move(path)),
        policy_(policy),
        file_(std::move(file)),
        last_flush_(env->NowMicros()) {}
  Status FlushLocked() REQUIRES(mu_);

  Env* const env_;
  const std::string path_;
  const FlushPolicy policy_;
  Mutex mu_;
  std::unique_ptr<RecordWriter> file_ GUARDED_BY(mu_);  // null: closed
  int64_t unflushed_ GUARDED_BY(mu_) = 0;
  uint64_t last_flush_ GUARDED_BY(mu_);
};

}  // namespace headrace

#endif  // HEADRACE_IO_EVENT_FILE_H_
