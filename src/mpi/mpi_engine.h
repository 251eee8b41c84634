// MpiEngine: bytes of collective ops between the processes of one mpirun. A
// task asks the task that has the bytes, which sends them when an op there
// offers them, or says why it cannot. One thread makes all calls of MPI.
//
//   control messages   kAsk, kFail, kCancel: a Control and its text
//   data messages      the bytes, under the tag that kAsk named
#ifndef HEADRACE_MPI_MPI_ENGINE_H_
#define HEADRACE_MPI_MPI_ENGINE_H_

#include <mpi.h>

#include <cstdint>
#include <list>
#include <map>
#include <memory>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "framework/kernel/collective_transport.h"
#include "headrace/clock.h"
#include "headrace/mutex.h"
#include "headrace/status.h"

namespace headrace {

// There is one in a process. It lives as long as the process, because
// callbacks may come late; at exit it ends MPI. Thread-safe.
class MpiEngine {
 public:
  using DoneCallback = CollectiveTransport::DoneCallback;
  using Serve = CollectiveTransport::Serve;

  // Starts MPI, if nobody has, and waits until every process of mpirun has done
  // the same. FailedPrecondition if this process is another task already, was
  // not started by mpirun, or if a program has started MPI without
  // MPI_THREAD_MULTIPLE. DeadlineExceeded after a minute.
  static StatusOr<MpiEngine*> Start(const std::string& task);

  // Constant after Start.
  bool Reaches(const std::string& task) const { return ranks_.contains(task); }
  void Recv(const std::string& task, int64_t step_id, const std::string& key,
            void* to, size_t size, CancellationManager* cancellation,
            DoneCallback done);
  void Expect();
  // Who asks gets what `serve` finds. FailedPrecondition if another is there.
  Status Attach(Serve serve);
  // Waits until no `serve` runs, and fails what has not ended.
  void Detach();

 private:
  enum Kind : int32_t { kAsk = 1, kFail = 2, kCancel = 3 };
  // All processes run one program on one kind of machine.
  struct Control {
    int32_t kind = 0;
    int32_t tag = 0;
    int64_t step_id = 0;
    int64_t bytes = 0;
    int32_t code = 0;  // kFail
    int32_t text_bytes = 0;
  };
  // What this task has asked for. The engine's thread has all but `id`.
  struct Ask {
    int64_t id = 0;
    int rank = 0, tag = 0;
    int64_t step_id = 0;
    std::string key;
    void* to = nullptr;
    size_t size = 0;
    CancellationManager* cancellation = nullptr;
    CancellationManager::Token token = 0;
    DoneCallback done;
    MPI_Request request = MPI_REQUEST_NULL;
  };
  // What another task has asked for.
  struct Serving {
    CancellationManager cancellation;
  };
  // What is on its way. `owner` keeps the bytes.
  struct Flight {
    MPI_Request request = MPI_REQUEST_NULL;
    std::shared_ptr<const void> owner;
  };
  // Of a task that gave up: its bytes may come, and are thrown away.
  struct Abandoned {
    int rank = 0, tag = 0;
  };
  using Peer = std::pair<int, int>;  // rank, tag
  using Command = std::function<void()>;

  explicit MpiEngine(std::string task) : task_(std::move(task)) {}

  // On the engine's thread.
  void Run();
  Status Begin();
  Status MeetOthers();
  void End();
  bool RunCommands();
  bool TestFlights();
  bool TestAsks();
  bool DropAbandoned();
  bool ReadControl();
  void Idle(bool has_work);
  void StartAsk(Ask ask);
  void CancelAsk(int64_t id, const Status& why);
  void FinishAsk(std::list<Ask>::iterator it, const Status& s);
  void ServeAsk(int rank, const Control& control, const std::string& key);
  void Give(int rank, int tag, const Status& s, absl::string_view bytes,
            const std::shared_ptr<const void>& owner);
  void SendControl(int rank, Control control, absl::string_view text);
  int NextTag(int rank);

  void Post(Command command);

  const std::string task_;
  std::map<std::string, int> ranks_;  // constant after Start
  Notification started_;
  Status start_status_;  // constant after started_

  // The engine's thread alone.
  MPI_Comm control_ = MPI_COMM_NULL, data_ = MPI_COMM_NULL;
  bool began_mpi_ = false;
  int rank_ = 0, size_ = 0;
  int next_tag_ = 1, max_tag_ = 32767;
  std::list<Ask> asks_;
  std::list<Flight> flights_;
  std::list<Abandoned> abandoned_;
  std::map<Peer, std::shared_ptr<Serving>> servings_;
  absl::Time last_progress_ = absl::InfinitePast();

  Mutex mu_;
  CondVar changed_;
  std::vector<Command> commands_ GUARDED_BY(mu_);
  absl::Time expect_until_ GUARDED_BY(mu_) = absl::InfinitePast();
  int64_t next_id_ GUARDED_BY(mu_) = 1;
  std::shared_ptr<const Serve> serve_ GUARDED_BY(mu_);
  int serves_running_ GUARDED_BY(mu_) = 0;
  bool stop_ GUARDED_BY(mu_) = false;
  std::thread thread_;
};

}  // namespace headrace

#endif  // HEADRACE_MPI_MPI_ENGINE_H_
