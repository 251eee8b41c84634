#include "mpi/mpi_engine.h"

#include <pthread.h>
#include <unistd.h>

#include <algorithm>
#include <climits>
#include <csignal>
#include <cstdlib>
#include <cstring>
#include <functional>

#include "absl/memory/memory.h"
#include "base/exceptions.h"
#include "base/log.h"
#include "headrace/strings.h"

namespace headrace {
namespace {

constexpr int kControlTag = 1;
constexpr size_t kNameBytes = 512;
constexpr absl::Duration kStartTimeout = absl::Seconds(60);
// Before the thread sleeps between looks: a message of this machine takes a few
// microseconds.
constexpr absl::Duration kSpin = absl::Microseconds(50);
// Between looks while something is on its way, and while nothing is.
constexpr absl::Duration kShortSleep = absl::Microseconds(50);
constexpr absl::Duration kLongSleep = absl::Milliseconds(2);
// After an op offered something.
constexpr absl::Duration kExpected = absl::Milliseconds(50);
// For what is still being sent when the process ends.
constexpr absl::Duration kEndTimeout = absl::Seconds(5);

std::string ErrorText(int code) {
  char text[MPI_MAX_ERROR_STRING];
  int size = 0;
  if (MPI_Error_string(code, text, &size) != MPI_SUCCESS) {
    return StrCat("error ", code);
  }
  return std::string(text, static_cast<size_t>(size));
}

Status CheckMpi(const char* call, int code) {
  if (code == MPI_SUCCESS) return OkStatus();
  return errors::Unavailable(call, ": ", ErrorText(code));
}

// Failures of calls return, instead of ending the process.
Status OwnComm(MPI_Comm* comm) {
  HR_RETURN_IF_ERROR(
      CheckMpi("MPI_Comm_dup", MPI_Comm_dup(MPI_COMM_WORLD, comm)));
  return CheckMpi("MPI_Comm_set_errhandler",
                  MPI_Comm_set_errhandler(*comm, MPI_ERRORS_RETURN));
}

// The program's thread handles signals.
void BlockSignals() {
  sigset_t all;
  sigfillset(&all);
  pthread_sigmask(SIG_SETMASK, &all, nullptr);
}

}  // namespace

StatusOr<MpiEngine*> MpiEngine::Start(const std::string& task) {
  static Mutex mu;
  static MpiEngine* engine = nullptr;  // guarded by mu
  static pid_t process = 0;
  MutexLock lock(&mu);
  if (engine == nullptr) {
    if (task.size() >= kNameBytes) {
      return errors::InvalidArgument("MPI: the task's name is too long");
    }
    process = getpid();
    auto made = absl::WrapUnique(new MpiEngine(task));
    HR_RETURN_IF_ERROR(CatchExceptions([&] {
      made->thread_ = std::thread([e = made.get()] {
        BlockSignals();
        e->Run();
      });
      return OkStatus();
    }));
    engine = made.release();
  }
  if (process != getpid()) {
    return errors::FailedPrecondition(
        "MPI: a child of fork cannot use its parent's MPI");
  }
  if (engine->task_ != task) {
    return errors::FailedPrecondition("MPI: this process is ", engine->task_,
                                      ", and cannot be ", task, " too");
  }
  if (!engine->started_.WaitForNotificationWithTimeout(kStartTimeout)) {
    return errors::DeadlineExceeded(
        "MPI: after ", absl::FormatDuration(kStartTimeout),
        " some process of mpirun has not started a server whose collective ops "
        "go over MPI; each has to");
  }
  HR_RETURN_IF_ERROR(engine->start_status_);
  return engine;
}

void MpiEngine::Run() {
  start_status_ = Begin();
  const bool ok = start_status_.ok();
  started_.Notify();
  if (!ok) return;
  while (true) {
    bool any = RunCommands();
    any |= ReadControl();
    any |= TestAsks();
    any |= TestFlights();
    any |= DropAbandoned();
    const absl::Time now = Now();
    if (any) last_progress_ = now;
    {
      MutexLock lock(&mu_);
      if (stop_ && commands_.empty() &&
          (flights_.empty() || now - last_progress_ > kEndTimeout)) {
        break;
      }
    }
    if (!any) {
      Idle(!asks_.empty() || !flights_.empty() || !servings_.empty());
    }
  }
  End();
}

Status MpiEngine::Begin() {
  int initialized = 0;
  HR_RETURN_IF_ERROR(
      CheckMpi("MPI_Initialized", MPI_Initialized(&initialized)));
  if (initialized != 0) {
    int level = 0;
    HR_RETURN_IF_ERROR(CheckMpi("MPI_Query_thread", MPI_Query_thread(&level)));
    if (level < MPI_THREAD_MULTIPLE) {
      return errors::FailedPrecondition(
          "MPI: the program has started MPI for calls of one thread at a time; "
          "it has to ask for MPI_THREAD_MULTIPLE");
    }
  } else {
    int level = 0;
    // At the end a process waits for all others; a server that ends when its
    // clients have gone would wait for them for ever.
    setenv("OMPI_MCA_async_mpi_finalize", "1", 0);
    HR_RETURN_IF_ERROR(CheckMpi(
        "MPI_Init_thread",
        MPI_Init_thread(nullptr, nullptr, MPI_THREAD_FUNNELED, &level)));
    began_mpi_ = true;
  }
  HR_RETURN_IF_ERROR(OwnComm(&control_));
  HR_RETURN_IF_ERROR(OwnComm(&data_));
  HR_RETURN_IF_ERROR(
      CheckMpi("MPI_Comm_rank", MPI_Comm_rank(control_, &rank_)));
  HR_RETURN_IF_ERROR(
      CheckMpi("MPI_Comm_size", MPI_Comm_size(control_, &size_)));
  int* bound = nullptr;
  int found = 0;
  if (MPI_Comm_get_attr(data_, MPI_TAG_UB, &bound, &found) == MPI_SUCCESS &&
      found != 0) {
    max_tag_ = *bound;
  }
  if (size_ == 1) {
    HR_LOG(WARNING) << "MPI has one process: collective ops of other tasks "
                       "go over gRPC. Is this program run by mpirun?";
  }
  HR_RETURN_IF_ERROR(MeetOthers());
  static MpiEngine* self = nullptr;
  self = this;
  std::atexit([] {
    static const pid_t process = getpid();
    if (process != getpid()) return;  // a child of fork
    {
      MutexLock lock(&self->mu_);
      self->stop_ = true;
      self->changed_.SignalAll();
    }
    self->thread_.join();
  });
  return OkStatus();
}

// Each tells all others which task it is.
Status MpiEngine::MeetOthers() {
  std::vector<char> own(kNameBytes, 0);
  std::memcpy(own.data(), task_.data(), task_.size());
  std::vector<char> names(static_cast<size_t>(size_) * kNameBytes);
  HR_RETURN_IF_ERROR(
      CheckMpi("MPI_Allgather",
               MPI_Allgather(own.data(), static_cast<int>(kNameBytes), MPI_BYTE,
                             names.data(), static_cast<int>(kNameBytes),
                             MPI_BYTE, control_)));
  for (int r = 0; r < size_; ++r) {
    names[(static_cast<size_t>(r) + 1) * kNameBytes - 1] = 0;
    const std::string name = &names[static_cast<size_t>(r) * kNameBytes];
    const auto [it, is_new] = ranks_.emplace(name, r);
    if (!is_new) {
      return errors::FailedPrecondition("MPI: ranks ", it->second, " and ", r,
                                        " are both ", name);
    }
  }
  return OkStatus();
}

void MpiEngine::End() {
  if (!began_mpi_) return;
  int finalized = 0;
  if (MPI_Finalized(&finalized) == MPI_SUCCESS && finalized == 0) {
    MPI_Finalize();
  }
}

void MpiEngine::Post(Command command) {
  MutexLock lock(&mu_);
  commands_.push_back(std::move(command));
  changed_.SignalAll();
}

bool MpiEngine::RunCommands() {
  std::vector<Command> commands;
  {
    MutexLock lock(&mu_);
    commands.swap(commands_);
  }
  for (const Command& c : commands) c();
  return !commands.empty();
}

void MpiEngine::Idle(bool has_work) {
  const absl::Time now = Now();
  MutexLock lock(&mu_);
  if (!commands_.empty()) return;
  has_work |= expect_until_ > now;
  if (has_work && now - last_progress_ < kSpin)
    return std::this_thread::yield();
  if (stop_) has_work = true;
  changed_.WaitWithTimeout(&mu_, has_work ? kShortSleep : kLongSleep);
}

void MpiEngine::Expect() {
  const absl::Time until = Now() + kExpected;
  MutexLock lock(&mu_);
  expect_until_ = until;
  changed_.SignalAll();
}

Status MpiEngine::Attach(Serve serve) {
  auto shared = std::make_shared<const Serve>(std::move(serve));
  MutexLock lock(&mu_);
  if (serve_ != nullptr) {
    return errors::FailedPrecondition(
        "MPI: another server of this process has it; stop that one first");
  }
  serve_ = std::move(shared);
  return OkStatus();
}

void MpiEngine::Detach() {
  // Those of this task's steps, and of others'.
  Post([this] {
    const Status why = errors::Unavailable(task_, " is shut down");
    std::vector<int64_t> ids;
    for (const Ask& a : asks_) ids.push_back(a.id);
    for (const int64_t id : ids) CancelAsk(id, why);
    const auto servings = servings_;
    for (const auto& [peer, serving] : servings) {
      serving->cancellation.StartCancel(why);
    }
  });
  MutexLock lock(&mu_);
  serve_ = nullptr;
  while (serves_running_ > 0) changed_.Wait(&mu_);
}

// ---- What this task asks for ------------------------------------------------

void MpiEngine::Recv(const std::string& task, int64_t step_id,
                     const std::string& key, void* to, size_t size,
                     CancellationManager* cancellation, DoneCallback done) {
  const auto it = ranks_.find(task);
  if (it == ranks_.end()) {
    return done(errors::NotFound("MPI: no process is ", task));
  }
  if (size > INT_MAX || key.size() > 65536) {
    return done(errors::InvalidArgument("MPI: a message of ", size,
                                        " bytes is too large"));
  }
  auto ask = std::make_shared<Ask>();
  ask->rank = it->second;
  ask->step_id = step_id;
  ask->key = key;
  ask->to = to;
  ask->size = size;
  ask->cancellation = cancellation;
  ask->done = std::move(done);
  {
    MutexLock lock(&mu_);
    ask->id = next_id_++;
  }
  if (cancellation != nullptr) {
    ask->token = cancellation->NextToken();
    if (!cancellation->RegisterCallback(
            ask->token, [this, id = ask->id, cancellation] {
              Post([this, id, why = cancellation->status()] {
                CancelAsk(id, why);
              });
            })) {
      return ask->done(cancellation->status());
    }
  }
  Post([this, ask] { StartAsk(std::move(*ask)); });
}

int MpiEngine::NextTag(int rank) {
  const auto used = [&](int tag) {
    return std::any_of(
               asks_.begin(), asks_.end(),
               [&](const Ask& a) { return a.rank == rank && a.tag == tag; }) ||
           std::any_of(abandoned_.begin(), abandoned_.end(),
                       [&](const Abandoned& a) {
                         return a.rank == rank && a.tag == tag;
                       });
  };
  do {
    next_tag_ = next_tag_ < max_tag_ ? next_tag_ + 1 : 1;
  } while (used(next_tag_));
  return next_tag_;
}

void MpiEngine::StartAsk(Ask ask) {
  ask.tag = NextTag(ask.rank);
  asks_.push_back(std::move(ask));
  const auto it = std::prev(asks_.end());
  const Status s = CheckMpi(
      "MPI_Irecv", MPI_Irecv(it->to, static_cast<int>(it->size), MPI_BYTE,
                             it->rank, it->tag, data_, &it->request));
  if (!s.ok()) return FinishAsk(it, s);
  Control c;
  c.kind = kAsk;
  c.tag = it->tag;
  c.step_id = it->step_id;
  c.bytes = static_cast<int64_t>(it->size);
  SendControl(it->rank, c, it->key);
  // It may have been cancelled before it was here.
  if (it->cancellation != nullptr && it->cancellation->IsCancelled()) {
    CancelAsk(it->id, it->cancellation->status());
  }
}

void MpiEngine::FinishAsk(std::list<Ask>::iterator it, const Status& s) {
  const Ask ask = std::move(*it);
  asks_.erase(it);
  if (ask.cancellation != nullptr) {
    ask.cancellation->TryDeregisterCallback(ask.token);
  }
  ask.done(s);
}

void MpiEngine::CancelAsk(int64_t id, const Status& why) {
  const auto it = std::find_if(asks_.begin(), asks_.end(),
                               [&](const Ask& a) { return a.id == id; });
  if (it == asks_.end()) return;
  // Only a receive that nothing has reached can be cancelled; another one ends
  // soon.
  MPI_Status status;
  int cancelled = 0;
  if (MPI_Cancel(&it->request) != MPI_SUCCESS ||
      MPI_Wait(&it->request, &status) != MPI_SUCCESS ||
      MPI_Test_cancelled(&status, &cancelled) != MPI_SUCCESS) {
    return FinishAsk(it, why);
  }
  if (cancelled != 0) {
    Control c;
    c.kind = kCancel;
    c.tag = it->tag;
    SendControl(it->rank, c, "");
    abandoned_.push_back({it->rank, it->tag});
  }
  FinishAsk(it, why);
}

bool MpiEngine::TestAsks() {
  bool any = false;
  for (auto it = asks_.begin(); it != asks_.end();) {
    const auto ask = it++;
    int ended = 0;
    MPI_Status status;
    Status s = CheckMpi("MPI_Test", MPI_Test(&ask->request, &ended, &status));
    if (s.ok() && ended == 0) continue;
    int bytes = -1;
    if (s.ok() && (MPI_Get_count(&status, MPI_BYTE, &bytes) != MPI_SUCCESS ||
                   static_cast<size_t>(bytes) != ask->size)) {
      s = errors::Internal("MPI: ", bytes, " bytes came, wanted ", ask->size);
    }
    any = true;
    FinishAsk(ask, s);
  }
  return any;
}

bool MpiEngine::DropAbandoned() {
  bool any = false;
  for (auto it = abandoned_.begin(); it != abandoned_.end();) {
    int found = 0, bytes = 0;
    MPI_Status status;
    if (MPI_Iprobe(it->rank, it->tag, data_, &found, &status) != MPI_SUCCESS ||
        found == 0) {
      ++it;
      continue;
    }
    MPI_Get_count(&status, MPI_BYTE, &bytes);
    std::vector<char> unused(static_cast<size_t>(std::max(bytes, 0)));
    MPI_Recv(unused.data(), bytes, MPI_BYTE, it->rank, it->tag, data_,
             MPI_STATUS_IGNORE);
    it = abandoned_.erase(it);
    any = true;
  }
  return any;
}

// ---- What others ask for ----------------------------------------------------

void MpiEngine::ServeAsk(int rank, const Control& control,
                         const std::string& key) {
  const Peer peer{rank, control.tag};
  auto serving = std::make_shared<Serving>();
  servings_[peer] = serving;
  std::shared_ptr<const Serve> serve;
  {
    MutexLock lock(&mu_);
    serve = serve_;
    if (serve != nullptr) ++serves_running_;
  }
  if (serve == nullptr) {
    return Give(rank, control.tag,
                errors::Unavailable(task_, " has no server now"), {}, nullptr);
  }
  (*serve)(control.step_id, key, control.bytes, &serving->cancellation,
           [this, serving, rank, tag = control.tag](
               const Status& s, absl::string_view bytes,
               const std::shared_ptr<const void>& owner) {
             Post([this, serving, rank, tag, s, bytes, owner] {
               Give(rank, tag, s, bytes, owner);
             });
           });
  serve = nullptr;
  MutexLock lock(&mu_);
  --serves_running_;
  changed_.SignalAll();
}

void MpiEngine::Give(int rank, int tag, const Status& s,
                     absl::string_view bytes,
                     const std::shared_ptr<const void>& owner) {
  servings_.erase({rank, tag});
  Status sent = s;
  if (sent.ok() && bytes.size() > INT_MAX) {
    sent = errors::InvalidArgument("MPI: a message of ", bytes.size(),
                                   " bytes is too large");
  }
  if (sent.ok()) {
    Flight& f = flights_.emplace_back();
    f.owner = owner;
    sent = CheckMpi("MPI_Isend",
                    MPI_Isend(bytes.data(), static_cast<int>(bytes.size()),
                              MPI_BYTE, rank, tag, data_, &f.request));
    if (sent.ok()) return;
    flights_.pop_back();
  }
  Control c;
  c.kind = kFail;
  c.tag = tag;
  c.code = static_cast<int32_t>(sent.code());
  SendControl(rank, c, sent.message().substr(0, 4096));
}

void MpiEngine::SendControl(int rank, Control control, absl::string_view text) {
  control.text_bytes = static_cast<int32_t>(text.size());
  auto bytes = std::make_shared<std::string>(sizeof(control), '\0');
  std::memcpy(bytes->data(), &control, sizeof(control));
  bytes->append(text.data(), text.size());
  Flight& f = flights_.emplace_back();
  f.owner = bytes;
  const Status s =
      CheckMpi("MPI_Isend",
               MPI_Isend(bytes->data(), static_cast<int>(bytes->size()),
                         MPI_BYTE, rank, kControlTag, control_, &f.request));
  if (!s.ok()) {
    HR_LOG(ERROR) << "MPI: rank " << rank << " cannot be told: " << s;
    flights_.pop_back();
  }
}

bool MpiEngine::TestFlights() {
  bool any = false;
  for (auto it = flights_.begin(); it != flights_.end();) {
    int ended = 0;
    if (MPI_Test(&it->request, &ended, MPI_STATUS_IGNORE) == MPI_SUCCESS &&
        ended == 0) {
      ++it;
      continue;
    }
    it = flights_.erase(it);
    any = true;
  }
  return any;
}

bool MpiEngine::ReadControl() {
  int found = 0, bytes = 0;
  MPI_Status status;
  if (MPI_Iprobe(MPI_ANY_SOURCE, kControlTag, control_, &found, &status) !=
          MPI_SUCCESS ||
      found == 0) {
    return false;
  }
  if (MPI_Get_count(&status, MPI_BYTE, &bytes) != MPI_SUCCESS) return false;
  std::string message(static_cast<size_t>(std::max(bytes, 0)), '\0');
  const int rank = status.MPI_SOURCE;
  if (MPI_Recv(message.data(), bytes, MPI_BYTE, rank, kControlTag, control_,
               MPI_STATUS_IGNORE) != MPI_SUCCESS ||
      message.size() < sizeof(Control)) {
    return true;
  }
  Control c;
  std::memcpy(&c, message.data(), sizeof(c));
  const std::string text = message.substr(sizeof(c));
  if (c.text_bytes < 0 || static_cast<size_t>(c.text_bytes) != text.size()) {
    HR_LOG(ERROR) << "MPI: rank " << rank
                  << " sent a message of the wrong size";
    return true;
  }
  if (c.kind == kAsk) {
    ServeAsk(rank, c, text);
  } else if (c.kind == kCancel) {
    const auto it = servings_.find({rank, c.tag});
    if (it != servings_.end()) {
      const auto serving = it->second;
      serving->cancellation.StartCancel();
    }
  } else if (c.kind == kFail) {
    // Not sent: neither to one who waits nor to one who has given up.
    abandoned_.remove_if(
        [&](const Abandoned& a) { return a.rank == rank && a.tag == c.tag; });
    const auto it = std::find_if(asks_.begin(), asks_.end(), [&](const Ask& a) {
      return a.rank == rank && a.tag == c.tag;
    });
    if (it != asks_.end()) {
      MPI_Cancel(&it->request);
      MPI_Wait(&it->request, MPI_STATUS_IGNORE);
      const auto code = static_cast<absl::StatusCode>(c.code);
      FinishAsk(it, code == absl::StatusCode::kOk
                        ? errors::Internal("MPI: a failure without a code")
                        : Status(code, text));
    }
  }
  return true;
}

}  // namespace headrace
