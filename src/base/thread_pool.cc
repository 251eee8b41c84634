// How the pool works. A parallel loop takes one of kMaxLoops slots of the State
// and sets its bit in `active_`. A worker that sees the bit counts itself into
// the slot's `helpers`, checks the bit again and claims blocks with a
// fetch_add. The caller claims blocks, too. When no block is left, the bit is
// cleared. Once `helpers` is zero, the slot is free again. Nothing is allocated
// and no lock is taken. Scheduled functions wait in a queue under `queue_mu_`.
//
// Assignment of blocks: each thread begins with its own range of the blocks,
// the same in every loop. So it reads the results of its previous loop while
// they are still in its cache. Then it takes blocks that other threads have
// left.
//
// Helpers: a thread in Help takes tasks of its group out of the queue, and
// blocks of loops like a worker. It spins and parks on the word of its group.
// Who publishes work of that group calls the helper before a worker. Helpers
// that take blocks of any loop are called when all workers are busy; those that
// sleep are in the list `guests_`.
//
// Sleeping: an idle worker spins (counted in `spinning_`), then parks on the
// futex `wake_epoch_` (counted in `parked_`). Each side first announces itself
// and then checks the other, all sequentially consistent. A producer publishes
// work and then reads the two counts. A worker changes the counts and then
// looks for work. So one of them always sees the other, and no wake-up is lost.
//
// Placement: MakeRoom does what thread_pool.h says of the affinity of workers.
#include "base/thread_pool.h"

#include <linux/futex.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <bit>
#include <chrono>
#include <climits>
#include <cmath>
#include <cstdlib>
#include <deque>
#include <exception>
#include <new>
#include <string_view>
#include <utility>
#include <vector>

#include "base/cpu.h"
#include "base/flush_denormals.h"
#include "base/scratch_account.h"
#include "base/stoppable_loops.h"
#include "headrace/clock.h"
#include "headrace/mutex.h"

#if defined(__x86_64__)
#include <immintrin.h>
#endif

namespace headrace {
namespace {

// Longer than the gap between two loops of one step and than most blocks, for
// which the caller waits at the end of a loop: a park and wake-up is 5-50 us.
constexpr std::chrono::microseconds kSpinTime(100);

// A loop's blocks are dealt to the threads in as many ranges at most.
constexpr int kMaxRanges = 16;

// More loops than this at once run on their callers alone; by then every
// processor is busy.
constexpr int kMaxLoops = 64;

// Up to so many threads the workers are kept off the processor of the thread
// that wakes them. Among more processors the system finds a free one, and the
// calls, two for each worker, would take longer than they save.
constexpr int kFewThreads = 4;

// Incremented in the child by fork().
std::atomic<uint64_t> pool_generation{0};
[[maybe_unused]] const int kPoolAtForkRegistered = pthread_atfork(
    nullptr, nullptr,
    [] { pool_generation.fetch_add(1, std::memory_order_relaxed); });

// Which State this thread works for, and as which of its workers, from 1; null
// elsewhere.
thread_local const void* worker_of = nullptr;
thread_local int worker_index = 0;

inline void CpuRelax() {
#if defined(__x86_64__)
  _mm_pause();
#elif defined(__aarch64__)
  asm volatile("yield");
#endif
}

// `timeout` may be null.
void FutexWait(std::atomic<uint32_t>* word, uint32_t expected,
               const timespec* timeout = nullptr) {
  syscall(SYS_futex, reinterpret_cast<uint32_t*>(word), FUTEX_WAIT_PRIVATE,
          expected, timeout, nullptr, 0);
}

void FutexWake(std::atomic<uint32_t>* word, int count) {
  syscall(SYS_futex, reinterpret_cast<uint32_t*>(word), FUTEX_WAKE_PRIVATE,
          count, nullptr, nullptr, 0);
}

// Spinning with one processor would only keep the awaited thread from running.
// Not a static local, for Global's reason below.
bool SpinningPays() {
  static std::atomic<int> cpus{0};
  int n = cpus.load(std::memory_order_relaxed);
  if (n == 0) {
    try {
      cpus.store(n = AvailableCpus(), std::memory_order_relaxed);
    } catch (const std::bad_alloc&) {  // workers ask, and nobody catches there
      return true;
    }
  }
  return n > 1;
}

// False if the environment says HEADRACE_MOVE_WORKERS=0.
bool MayMoveWorkers() {
  const char* const value = std::getenv("HEADRACE_MOVE_WORKERS");
  return value == nullptr || std::string_view(value) != "0";
}

// Spins until done() or kSpinTime has passed; the last value of done().
template <typename Done>
bool SpinUntil(Done done) {
  if (done()) return true;
  if (!SpinningPays()) return false;
  const auto deadline = std::chrono::steady_clock::now() + kSpinTime;
  do {
    for (int i = 0; i < 8; ++i) {
      CpuRelax();
      if (done()) return true;
    }
  } while (std::chrono::steady_clock::now() < deadline);
  return false;
}

// The control bits of the floating-point unit: a result must not depend on
// which thread computed a block.
uint32_t FloatMode() {
#if defined(__x86_64__)
  return _mm_getcsr() & 0xFFC0u;  // without the sticky exception flags
#else
  return 0;
#endif
}

void SetFloatMode([[maybe_unused]] uint32_t mode) {
#if defined(__x86_64__)
  _mm_setcsr(mode);
#endif
}

thread_local TaskGroup* current_group = nullptr;

}  // namespace

TaskGroup* TaskGroup::Current() { return current_group; }

TaskGroup::Scope::Scope(TaskGroup* group)
    : outer_(std::exchange(current_group, group)) {}
TaskGroup::Scope::~Scope() { current_group = outer_; }

void TaskGroup::Finish() {
  // The wake-up needs the address alone.
  if (word_.fetch_or(kFinished) & (kParked | kWaiting)) {
    FutexWake(&word_, INT_MAX);
  }
}

void TaskGroup::Nudge() {
  if (word_.fetch_add(kTick) & (kParked | kWaiting)) FutexWake(&word_, INT_MAX);
}

bool TaskGroup::Call() {
  uint32_t word = word_.load();
  while (word & kParked) {
    if (word_.compare_exchange_weak(word, (word & ~kParked) + kTick)) {
      FutexWake(&word_, INT_MAX);
      return true;
    }
  }
  return (word & kSpinning) != 0;
}

class ThreadPool::State {
 public:
  State(int num_threads, const std::string& name)
      : num_threads_(num_threads),
        name_(name),
        moves_workers_(num_threads <= kFewThreads && MayMoveWorkers()),
        loops_(kMaxLoops),
        beds_(std::max(1, num_threads - 1)) {}
  ~State();

  using Stop = absl::FunctionRef<bool()>;

  void Schedule(Task fn, TaskGroup* group);
  void ParallelFor(int64_t total, int64_t block, int64_t num_blocks,
                   const LoopBody& fn);
  // ThreadPool::Help, of whose states either may be null.
  static bool Help(TaskGroup* group, State* tasks, State* loops, HelpWith with,
                   Stop stop, absl::Time deadline);
  bool FromThisProcess() const {
    return generation_ == pool_generation.load(std::memory_order_relaxed);
  }

 private:
  // Blocks [next, end) are not yet claimed.
  struct alignas(64) Range {
    std::atomic<int64_t> next{0};
    int64_t end = 0;
  };
  // A slot for one parallel loop. The constants of the loop are written before
  // its bit in active_ is set and read by those that saw the bit after counting
  // themselves in.
  struct alignas(64) Loop {
    const LoopBody* fn = nullptr;
    int64_t total = 0;
    int64_t block = 0;
    uint32_t float_mode = 0;
    const StoppableLoops* stoppable = nullptr;
    ScratchAccount* account = nullptr;
    // Helpers look at it before they count themselves in.
    std::atomic<TaskGroup*> group{nullptr};
    // Set once, by the first block that throws; no other block begins then.
    std::atomic<bool> failed{false};
    std::exception_ptr error;
    int num_ranges = 0;
    Range ranges[kMaxRanges];
    // Number of workers looking at this slot, and kCallerWaits.
    alignas(64) std::atomic<uint32_t> helpers{0};
  };
  static constexpr uint32_t kCallerWaits = 1u << 31;

  struct Queued {
    Task fn;
    TaskGroup* group;
  };

  struct WorkerArg {
    State* state;
    int index;
  };

  // The place where a worker sleeps.
  struct alignas(64) Bed {
    std::atomic<bool> taken{false};
    std::atomic<bool> sent_away{false};
    Mutex mu;
    pid_t thread GUARDED_BY(mu) = 0;
    cpu_set_t affinity GUARDED_BY(mu);  // of before it was sent away
  };

  static void* WorkerMain(void* arg);
  void WorkerLoop(Bed* bed);
  void Park(Bed* bed);
  // Keeps parked workers off the processor of this thread: the system may put
  // a woken one there, and move it only after milliseconds.
  void MakeRoom();
  static void ComeBack(Bed* bed);
  // Takes blocks of a loop until none is left, or `stop`, which may be null, is
  // true. Of loops of `group` only, unless it is null. False: there was none.
  bool HelpSomeLoop(const TaskGroup* group = nullptr,
                    const Stop* stop = nullptr);
  // Whether a helper can join a loop, of `group` only unless it is null.
  bool HasLoop(const TaskGroup* group) const;
  bool MayJoin(const Loop& loop, const TaskGroup* group) const;
  bool RunSomeTask();
  bool RunTaskOf(TaskGroup* group);
  bool HasWork() const { return queued_.load() != 0 || HasLoop(nullptr); }
  // Wakes parked workers so that about `wanted` are looking for work. Returns
  // how many are missing, because they are busy.
  int64_t Wake(int64_t wanted);
  void WakeGuests(int64_t wanted);
  void AddGuest(TaskGroup* group);
  void RemoveGuest(TaskGroup* group);
  // Starts workers until there are `wanted`; returns how many there are.
  int EnsureWorkers(int wanted);
  int AcquireSlot();
  // The range of the loop's blocks with which this thread begins.
  int OwnRange(const Loop& loop) const;
  // Claims a block, of `*range` or the next one that has any; -1: none is left.
  static int64_t Claim(Loop& loop, int* range);
  static void RunBlocks(Loop& loop, int64_t first, int range, const Stop* stop);
  static void LeaveLoop(Loop& loop);
  static void WaitForHelpers(Loop& loop);

  const int num_threads_;
  const std::string name_;
  const bool moves_workers_;
  const uint64_t generation_ = pool_generation.load();

  std::atomic<bool> stopping_{false};
  alignas(64) std::atomic<uint64_t> active_{0};  // loops with blocks to claim
  std::atomic<int64_t> queued_{0};               // queue_.size()
  alignas(64) std::atomic<int32_t> spinning_{0};
  std::atomic<int32_t> parked_{0};
  std::atomic<uint32_t> wake_epoch_{0};
  alignas(64) std::atomic<uint64_t> owned_{0};  // slots in use
  std::vector<Loop> loops_;

  Mutex queue_mu_;
  std::deque<Queued> queue_ GUARDED_BY(queue_mu_);

  std::atomic<int> num_guests_{0};
  Mutex guests_mu_;
  TaskGroup* guests_ GUARDED_BY(guests_mu_) = nullptr;

  std::atomic<int> started_{0};
  Mutex start_mu_;
  bool start_refused_ GUARDED_BY(start_mu_) = false;
  std::vector<pthread_t> workers_ GUARDED_BY(start_mu_);
  std::vector<Bed> beds_;  // one for each worker that there may be
};

ThreadPool::State::~State() {
  stopping_.store(true);
  wake_epoch_.fetch_add(1);
  FutexWake(&wake_epoch_, INT_MAX);
  for (pthread_t worker : workers_) pthread_join(worker, nullptr);
}

void ThreadPool::State::Schedule(Task fn, TaskGroup* group) {
  if (EnsureWorkers(std::max(1, num_threads_ - 1)) == 0) {
    fn();
    return;
  }
  {
    MutexLock lock(&queue_mu_);
    queue_.push_back({std::move(fn), group});
    queued_.fetch_add(1);
    if (group != nullptr) {
      group->queued_.fetch_add(1);
      // Under the lock: the group may be gone when its last task has run.
      if (group->tasks_in_.load() == this && group->Call()) return;
    }
  }
  Wake(1);
}

void ThreadPool::State::ParallelFor(int64_t total, int64_t block,
                                    int64_t num_blocks, const LoopBody& fn) {
  const int helpers = num_threads_ > 1 ? EnsureWorkers(num_threads_ - 1) : 0;
  const int slot = helpers > 0 ? AcquireSlot() : -1;
  const StoppableLoops* const stoppable = StoppableLoops::Current();
  if (slot < 0) {
    for (int64_t k = 0; k < num_blocks; ++k) {
      if (stoppable != nullptr && stoppable->Stop()) return;
      fn(k * block, k * block + std::min(block, total - k * block));
    }
    return;
  }
  Loop& loop = loops_[slot];
  const uint64_t bit = uint64_t{1} << slot;
  loop.fn = &fn;
  loop.total = total;
  loop.block = block;
  loop.float_mode = FloatMode();
  loop.stoppable = stoppable;
  loop.account = ScratchAccount::Current();
  TaskGroup* const group = TaskGroup::Current();
  loop.group.store(group, std::memory_order_relaxed);
  loop.failed.store(false, std::memory_order_relaxed);
  loop.num_ranges = static_cast<int>(
      std::min<int64_t>({num_blocks, num_threads_, kMaxRanges}));
  int64_t begin = 0;
  for (int i = 0; i < loop.num_ranges; ++i) {
    // Not num_blocks * (i + 1): that may overflow.
    const int64_t size = num_blocks / loop.num_ranges +
                         (i < num_blocks % loop.num_ranges ? 1 : 0);
    loop.ranges[i].next.store(begin, std::memory_order_relaxed);
    loop.ranges[i].end = begin += size;
  }
  int range = OwnRange(loop);
  const int64_t first = Claim(loop, &range);
  active_.fetch_or(bit);
  int64_t wanted = std::min<int64_t>(num_blocks - 1, helpers);
  if (group != nullptr && group->loops_in_.load() == this && group->Call()) {
    --wanted;
  }
  wanted = Wake(wanted);
  if (wanted > 0 && num_guests_.load() != 0) WakeGuests(wanted);
  RunBlocks(loop, first, range, nullptr);
  // After this no worker enters: it would see the bit clear.
  if (active_.load() & bit) active_.fetch_and(~bit);
  WaitForHelpers(loop);
  const std::exception_ptr error = std::exchange(loop.error, nullptr);
  owned_.fetch_and(~bit, std::memory_order_release);
  if (error != nullptr) [[unlikely]]
    std::rethrow_exception(error);
}

int ThreadPool::State::AcquireSlot() {
  uint64_t owned = owned_.load(std::memory_order_relaxed);
  while (owned != ~uint64_t{0}) {
    const int slot = std::countr_one(owned);
    if (owned_.compare_exchange_weak(owned, owned | (uint64_t{1} << slot),
                                     std::memory_order_acq_rel)) {
      return slot;
    }
  }
  return -1;
}

int ThreadPool::State::OwnRange(const Loop& loop) const {
  const int64_t thread = worker_of == this ? worker_index : 0;
  return static_cast<int>(thread * loop.num_ranges / num_threads_);
}

int64_t ThreadPool::State::Claim(Loop& loop, int* range) {
  for (int tries = 0; tries < loop.num_ranges; ++tries) {
    Range& r = loop.ranges[*range];
    if (r.next.load(std::memory_order_relaxed) < r.end) {
      const int64_t k = r.next.fetch_add(1, std::memory_order_relaxed);
      if (k < r.end) return k;
    }
    *range = *range + 1 < loop.num_ranges ? *range + 1 : 0;
  }
  return -1;
}

void ThreadPool::State::RunBlocks(Loop& loop, int64_t first, int range,
                                  const Stop* stop) {
  for (int64_t k = first; k >= 0; k = Claim(loop, &range)) {
    if (loop.stoppable != nullptr && loop.stoppable->Stop()) return;
    if (loop.failed.load(std::memory_order_relaxed)) [[unlikely]]
      return;
    const int64_t begin = k * loop.block;
    try {
      // Not min(total, begin + block): that sum may overflow.
      (*loop.fn)(begin, begin + std::min(loop.block, loop.total - begin));
    } catch (const std::exception&) {
      if (!loop.failed.exchange(true)) loop.error = std::current_exception();
      return;
    }
    if (stop != nullptr && (*stop)()) return;
  }
}

void ThreadPool::State::LeaveLoop(Loop& loop) {
  if (loop.helpers.fetch_sub(1) == (kCallerWaits | 1)) {
    FutexWake(&loop.helpers, 1);
  }
}

void ThreadPool::State::WaitForHelpers(Loop& loop) {
  auto none = [&loop] { return loop.helpers.load() == 0; };
  if (SpinUntil(none)) return;
  uint32_t seen = loop.helpers.fetch_or(kCallerWaits) | kCallerWaits;
  while (seen != kCallerWaits) {
    FutexWait(&loop.helpers, seen);
    seen = loop.helpers.load();
  }
  loop.helpers.fetch_and(~kCallerWaits);
}

bool ThreadPool::State::MayJoin(const Loop& loop,
                                const TaskGroup* group) const {
  // The caller of a loop is one of its threads.
  return (loop.helpers.load(std::memory_order_relaxed) & ~kCallerWaits) + 1 <
             static_cast<uint32_t>(num_threads_) &&
         (group == nullptr ||
          loop.group.load(std::memory_order_relaxed) == group);
}

bool ThreadPool::State::HasLoop(const TaskGroup* group) const {
  for (uint64_t rest = active_.load(); rest != 0; rest &= rest - 1) {
    if (MayJoin(loops_[std::countr_zero(rest)], group)) return true;
  }
  return false;
}

bool ThreadPool::State::HelpSomeLoop(const TaskGroup* group, const Stop* stop) {
  uint64_t candidates = active_.load();
  while (candidates != 0) {
    // The loop with the fewest helpers, so that clients share fairly.
    int slot = -1;
    uint32_t fewest = UINT32_MAX;
    for (uint64_t rest = candidates; rest != 0; rest &= rest - 1) {
      const int i = std::countr_zero(rest);
      const uint32_t helpers =
          loops_[i].helpers.load(std::memory_order_relaxed) & ~kCallerWaits;
      if (helpers < fewest && MayJoin(loops_[i], group)) {
        fewest = helpers;
        slot = i;
      }
    }
    if (slot < 0) return false;
    Loop& loop = loops_[slot];
    const uint64_t bit = uint64_t{1} << slot;
    loop.helpers.fetch_add(1);
    if ((active_.load() & bit) &&
        (group == nullptr ||
         loop.group.load(std::memory_order_relaxed) == group)) {
      int range = OwnRange(loop);
      const int64_t first = Claim(loop, &range);
      const bool found = first >= 0;
      if (found) {
        const uint32_t own_mode = FloatMode();
        if (own_mode != loop.float_mode) SetFloatMode(loop.float_mode);
        const StoppableLoops* const own =
            StoppableLoops::SetCurrent(loop.stoppable);
        ScratchAccount* const own_account =
            ScratchAccount::SetCurrent(loop.account);
        {
          const TaskGroup::Scope scope(
              loop.group.load(std::memory_order_relaxed));
          RunBlocks(loop, first, range, stop);
        }
        ScratchAccount::SetCurrent(own_account);
        StoppableLoops::SetCurrent(own);
        if (own_mode != loop.float_mode) SetFloatMode(own_mode);
      }
      if ((stop == nullptr || !found) && (active_.load() & bit)) {
        active_.fetch_and(~bit);
      }
      LeaveLoop(loop);
      if (found) return true;
    } else {
      LeaveLoop(loop);
    }
    candidates &= ~bit;
  }
  return false;
}

bool ThreadPool::State::RunSomeTask() {
  if (queued_.load() == 0) return false;
  Task task;
  {
    MutexLock lock(&queue_mu_);
    if (queue_.empty()) return false;
    Queued& first = queue_.front();
    if (first.group != nullptr) first.group->queued_.fetch_sub(1);
    task = std::move(first.fn);
    queue_.pop_front();
    queued_.fetch_sub(1);
  }
  // While a thread spins, producers wake nobody. So a thread that stops
  // spinning must wake a worker if there is work.
  if (queued_.load() != 0) Wake(1);
  task();
  return true;
}

bool ThreadPool::State::RunTaskOf(TaskGroup* group) {
  if (group->queued_.load() == 0) return false;
  Task task;
  {
    MutexLock lock(&queue_mu_);
    const auto own =
        std::find_if(queue_.begin(), queue_.end(),
                     [group](const Queued& q) { return q.group == group; });
    if (own == queue_.end()) return false;
    task = std::move(own->fn);
    queue_.erase(own);
    queued_.fetch_sub(1);
    group->queued_.fetch_sub(1);
  }
  if (queued_.load() != 0) Wake(1);
  task();
  return true;
}

bool ThreadPool::State::Help(TaskGroup* group, State* tasks, State* loops,
                             HelpWith with, Stop stop, absl::Time deadline) {
  const bool all = with == HelpWith::kAllLoops;
  const bool helps =
      (group->word_.fetch_or(TaskGroup::kHelped) & TaskGroup::kHelped) == 0;
  const auto has_work = [&] {
    return (tasks != nullptr && group->queued_.load() != 0) ||
           (loops != nullptr && loops->HasLoop(all ? nullptr : group));
  };
  const auto work = [&] {
    return (tasks != nullptr && tasks->RunTaskOf(group)) ||
           (loops != nullptr && (loops->HelpSomeLoop(group, &stop) ||
                                 (all && loops->HelpSomeLoop(nullptr, &stop))));
  };
  // Who published work may have relied on this thread, and have woken nobody.
  const auto hand_over = [&] {
    if (tasks != nullptr && tasks->queued_.load() != 0) tasks->Wake(1);
    if (loops != nullptr && loops != tasks && loops->active_.load() != 0) {
      loops->Wake(1);
    }
  };
  if (helps) {
    group->tasks_in_.store(tasks);
    group->loops_in_.store(loops);
  }
  const uint32_t asleep = helps ? TaskGroup::kParked : TaskGroup::kWaiting;
  bool stopped = stop();
  while (!stopped) {
    if (helps) {
      if (work()) {
        stopped = stop();
        continue;
      }
      group->word_.fetch_or(TaskGroup::kSpinning);
      const bool found = SpinUntil([&] { return stop() || has_work(); });
      group->word_.fetch_and(~TaskGroup::kSpinning);
      if (found) {
        stopped = stop();
        continue;
      }
    }
    timespec left;
    const bool limited = deadline != absl::InfiniteFuture();
    if (limited) {
      const absl::Duration duration = deadline - Now();
      if (duration <= absl::ZeroDuration()) break;
      left = absl::ToTimespec(duration);
    }
    if (helps && all && loops != nullptr) loops->AddGuest(group);
    const uint32_t word = group->word_.fetch_or(asleep) | asleep;
    if (!stop() && !(helps && has_work())) {
      FutexWait(&group->word_, word, limited ? &left : nullptr);
    }
    if (helps) group->word_.fetch_and(~asleep);
    if (helps && all && loops != nullptr) loops->RemoveGuest(group);
    stopped = stop();
  }
  if (helps) {
    group->tasks_in_.store(nullptr);
    group->loops_in_.store(nullptr);
    group->word_.fetch_and(~TaskGroup::kHelped);
    hand_over();
  }
  return stopped;
}

void ThreadPool::State::AddGuest(TaskGroup* group) {
  MutexLock lock(&guests_mu_);
  group->previous_guest_ = nullptr;
  group->next_guest_ = guests_;
  if (guests_ != nullptr) guests_->previous_guest_ = group;
  guests_ = group;
  num_guests_.fetch_add(1);
}

void ThreadPool::State::RemoveGuest(TaskGroup* group) {
  MutexLock lock(&guests_mu_);
  (group->previous_guest_ == nullptr ? guests_
                                     : group->previous_guest_->next_guest_) =
      group->next_guest_;
  if (group->next_guest_ != nullptr) {
    group->next_guest_->previous_guest_ = group->previous_guest_;
  }
  num_guests_.fetch_sub(1);
}

void ThreadPool::State::WakeGuests(int64_t wanted) {
  MutexLock lock(&guests_mu_);
  for (TaskGroup* g = guests_; g != nullptr && wanted > 0; g = g->next_guest_) {
    if (g->Call()) --wanted;
  }
}

int64_t ThreadPool::State::Wake(int64_t wanted) {
  const int64_t missing = wanted - spinning_.load();
  if (missing <= 0) return 0;
  const int64_t count = std::min<int64_t>(missing, parked_.load());
  if (count <= 0) return missing;
  if (moves_workers_) MakeRoom();
  wake_epoch_.fetch_add(1);
  FutexWake(&wake_epoch_, static_cast<int>(count));
  return missing - count;
}

void ThreadPool::State::MakeRoom() {
  const int here = sched_getcpu();
  if (here < 0 || here >= CPU_SETSIZE) return;
  for (Bed& bed : beds_) {
    if (!bed.taken.load(std::memory_order_relaxed)) continue;
    MutexLock lock(&bed.mu);
    if (bed.sent_away.load(std::memory_order_relaxed)) continue;
    cpu_set_t rest;
    if (sched_getaffinity(bed.thread, sizeof(rest), &bed.affinity) != 0)
      continue;
    rest = bed.affinity;
    CPU_CLR(here, &rest);
    if (CPU_COUNT(&rest) == 0) continue;
    if (sched_setaffinity(bed.thread, sizeof(rest), &rest) == 0) {
      bed.sent_away.store(true, std::memory_order_relaxed);
    }
  }
}

void ThreadPool::State::ComeBack(Bed* bed) {
  MutexLock lock(&bed->mu);
  if (!bed->sent_away.load(std::memory_order_relaxed)) return;
  sched_setaffinity(bed->thread, sizeof(bed->affinity), &bed->affinity);
  bed->sent_away.store(false, std::memory_order_relaxed);
}

void ThreadPool::State::Park(Bed* bed) {
  bed->taken.store(true, std::memory_order_relaxed);
  parked_.fetch_add(1);
  const uint32_t epoch = wake_epoch_.load();
  if (!HasWork() && !stopping_.load()) FutexWait(&wake_epoch_, epoch);
  parked_.fetch_sub(1);
  bed->taken.store(false, std::memory_order_relaxed);
  // If another thread moves it away after this check, no harm is done: the next
  // park undoes it.
  if (bed->sent_away.load(std::memory_order_relaxed)) ComeBack(bed);
}

void ThreadPool::State::WorkerLoop(Bed* bed) {
  const FlushDenormals flush;
  {
    MutexLock lock(&bed->mu);
    bed->thread = static_cast<pid_t>(syscall(SYS_gettid));
  }
  bool loops_first = true;
  while (true) {
    // Turns, so that neither kind of work keeps the other waiting for ever.
    const bool ran = loops_first ? HelpSomeLoop() || RunSomeTask()
                                 : RunSomeTask() || HelpSomeLoop();
    loops_first = !loops_first;
    if (ran) continue;
    if (stopping_.load() && !HasWork()) return;
    spinning_.fetch_add(1);
    const bool found =
        SpinUntil([this] { return HasWork() || stopping_.load(); });
    spinning_.fetch_sub(1);
    if (!found) {
      Park(bed);
    } else if (queued_.load() > 1 || (queued_.load() != 0 && active_.load())) {
      Wake(1);  // more than this worker can take at once
    }
  }
}

void* ThreadPool::State::WorkerMain(void* arg) {
  WorkerArg worker = *static_cast<WorkerArg*>(arg);
  delete static_cast<WorkerArg*>(arg);
  // The kernel keeps 15 characters of a name.
  std::string index = "/" + std::to_string(worker.index);
  std::string name = worker.state->name_.substr(0, 15 - index.size()) + index;
  pthread_setname_np(pthread_self(), name.c_str());
  worker_of = worker.state;
  worker_index = worker.index;
  worker.state->WorkerLoop(&worker.state->beds_[worker.index - 1]);
  return nullptr;
}

int ThreadPool::State::EnsureWorkers(int wanted) {
  int started = started_.load(std::memory_order_acquire);
  if (started >= wanted) return started;
  MutexLock lock(&start_mu_);
  if (start_refused_) return started_.load();
  // The client's threads handle signals to the process. Faults and the
  // profiler's timer go to the thread that causes them.
  sigset_t blocked;
  sigset_t before;
  sigfillset(&blocked);
  for (int sig : {SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGTRAP, SIGABRT, SIGPROF}) {
    sigdelset(&blocked, sig);
  }
  pthread_sigmask(SIG_SETMASK, &blocked, &before);
  for (int i = started_.load(); i < wanted; ++i) {
    pthread_t thread;
    auto* arg = new (std::nothrow) WorkerArg{this, i + 1};
    if (arg == nullptr ||
        pthread_create(&thread, nullptr, &WorkerMain, arg) != 0) {
      delete arg;
      start_refused_ = true;  // go on with those we have
      break;
    }
    workers_.push_back(thread);
    started_.store(i + 1, std::memory_order_release);
  }
  pthread_sigmask(SIG_SETMASK, &before, nullptr);
  return started_.load();
}

ThreadPool::ThreadPool(int num_threads, std::string name)
    : num_threads_(std::max(1, num_threads)),
      name_(std::move(name)),
      state_(nullptr) {}

ThreadPool::~ThreadPool() {
  State* state = state_.load();
  // After a fork the old state's workers are not here to be joined.
  if (state != nullptr && state->FromThisProcess()) delete state;
}

ThreadPool* ThreadPool::Global() {
  // Not a static local: if fork happens while another thread initialises it,
  // its guard stays locked in the child.
  static std::atomic<ThreadPool*> global{nullptr};
  ThreadPool* pool = global.load(std::memory_order_acquire);
  if (pool != nullptr) return pool;
  auto* made = new ThreadPool(AvailableCpus());
  if (global.compare_exchange_strong(pool, made)) return made;
  delete made;
  return pool;
}

ThreadPool::State* ThreadPool::state() {
  State* state = state_.load(std::memory_order_acquire);
  if (state != nullptr && state->FromThisProcess()) return state;
  auto* made = new State(num_threads_, name_);
  if (state_.compare_exchange_strong(state, made)) return made;
  delete made;
  return state;
}

void ThreadPool::Schedule(Task fn, TaskGroup* group) {
  state()->Schedule(std::move(fn), group);
}

bool ThreadPool::Help(TaskGroup* group, ThreadPool* tasks, ThreadPool* loops,
                      HelpWith with, absl::FunctionRef<bool()> stop,
                      absl::Time deadline) {
  return State::Help(group, tasks == nullptr ? nullptr : tasks->state(),
                     loops == nullptr ? nullptr : loops->state(), with, stop,
                     deadline);
}

void ThreadPool::ParallelFor(int64_t total, int64_t block, LoopBody fn) {
  if (total <= 0) return;
  block = std::max<int64_t>(1, block);
  if (block >= total) {
    fn(0, total);
    return;
  }
  const int64_t num_blocks = (total - 1) / block + 1;
  state()->ParallelFor(total, block, num_blocks, fn);
}

int64_t ThreadPool::BlockForCost(int64_t total, double cost_ns_per_unit) {
  constexpr double kBlockNs = 25000;
  // Whole cache lines and vectors, where a block has many units.
  constexpr int64_t kAlign = 64;
  if (total <= 1) return 1;
  const double cost = std::max(cost_ns_per_unit, 1e-3);
  const double blocks =
      std::floor(static_cast<double>(total) * cost / kBlockNs);
  if (!(blocks >= 2)) return total;
  const double units = std::ceil(static_cast<double>(total) / blocks);
  const int64_t block =
      std::clamp<int64_t>(static_cast<int64_t>(units), 1, total);
  if (block < 4 * kAlign || block > total - kAlign) return block;
  return (block + kAlign - 1) / kAlign * kAlign;
}

void ThreadPool::ParallelForCost(int64_t total, double cost_ns_per_unit,
                                 LoopBody fn) {
  ParallelFor(total, BlockForCost(total, cost_ns_per_unit), fn);
}

bool ThreadPool::InWorker() const {
  return worker_of != nullptr && worker_of == state_.load();
}

}  // namespace headrace
