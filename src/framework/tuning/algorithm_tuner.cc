#include "framework/tuning/algorithm_tuner.h"

#include <pthread.h>

#include <algorithm>
#include <cstdlib>
#include <set>

#include "absl/strings/str_cat.h"
#include "base/exceptions.h"
#include "base/log.h"

namespace headrace {
namespace {

// For one problem: so long, or a part of what there is.
constexpr double kJobSeconds = 0.5, kJobPart = 0.05;
constexpr double kLongestRestNs = 5e7;
// Shapes may come without end.
constexpr size_t kMaxUses = 1 << 14;

int64_t NowNs() { return static_cast<int64_t>(Env::Default()->NowNanos()); }

// Tuners that may have a thread. When the process ends their threads must end
// before the libraries whose code they run. Not a static local: a fork while
// another thread initialises that would leave its guard locked in the child.
Mutex live_mu;
std::set<AlgorithmTuner*>* live GUARDED_BY(live_mu) = nullptr;

void StopAll() {
  MutexLock lock(&live_mu);
  for (AlgorithmTuner* t : *live) t->Stop();
}

}  // namespace

bool AlgorithmTuner::Clock::IsOver() const {
  return stop_->load(std::memory_order_relaxed) || NowNs() >= end_ns_;
}

void AlgorithmTuner::Clock::Rest(double ns) const {
  if (!yields_) return;
  Env::Default()->SleepForMicros(
      static_cast<int64_t>(std::min(ns, kLongestRestNs) / 1e3));
}

StatusOr<RefPtr<AlgorithmTuner>> AlgorithmTuner::Create(
    const Options& options) {
  RefPtr<AlgorithmTuner> tuner(new AlgorithmTuner(options));
  const std::string& path = options.cache_path;
  if (!path.empty()) {
    StatusOr<AlgorithmChoices> read =
        AlgorithmChoices::ReadFile(Env::Default(), path);
    if (read.ok()) {
      if (!options.measure && !read->machines().contains(ThisMachine())) {
        std::string others;
        for (const auto& [machine, section] : read->machines()) {
          absl::StrAppend(&others, others.empty() ? "" : "; ", "'", machine,
                          "'");
        }
        HR_LOG(WARNING) << path << " has no choices for this machine, '"
                        << ThisMachine() << "', and is not used; it is for "
                        << (others.empty() ? "none" : others);
      }
      MutexLock lock(&tuner->mu_);
      tuner->choices_ = *std::move(read);
    } else if (!options.measure || !errors::IsNotFound(read.status())) {
      return read.status();
    }
  }
  if (options.measure) {
    MutexLock lock(&live_mu);
    if (live == nullptr) {
      live = new std::set<AlgorithmTuner*>;
      std::atexit(StopAll);
    }
    live->insert(tuner.get());
  }
  return tuner;
}

AlgorithmTuner::~AlgorithmTuner() {
  if (!options_.measure) return;
  {
    MutexLock lock(&live_mu);
    if (live != nullptr) live->erase(this);  // not if Create failed
  }
  Stop();
}

bool AlgorithmTuner::Find(const std::string& problem,
                          AlgorithmChoices::Times* times) const {
  MutexLock lock(&mu_);
  const AlgorithmChoices::Times* found = choices_.Find(ThisMachine(), problem);
  if (found == nullptr) return false;
  *times = *found;
  return true;
}

void AlgorithmTuner::Measure(const std::string& problem, Job job) {
  if (!options_.measure) return;
  MutexLock lock(&mu_);
  if (stop_ || asked_.size() >= kMaxUses || !asked_.insert(problem).second) {
    return;
  }
  if (used_ns_ >= options_.seconds * 1e9) {
    ++left_out_;
    return;
  }
  queue_.emplace_back(problem, std::move(job));
  if (!measurer_->thread.joinable()) {
    try {
      measurer_->thread = std::thread([this] { Work(); });
    } catch (const std::exception&) {
      return;  // it waits for a problem at which there is a thread to be had
    }
  }
  measurer_->changed.SignalAll();
}

void AlgorithmTuner::Work() {
  bool saved = true;
  for (;;) {
    std::pair<std::string, Job> next;
    Clock clock;
    AlgorithmChoices to_save;
    // Destroyed without mu_: a fork waits for it with the allocator's mutex.
    std::deque<std::pair<std::string, Job>> dropped;
    {
      MutexLock lock(&mu_);
      if (used_ns_ >= options_.seconds * 1e9) {
        left_out_ += static_cast<int64_t>(queue_.size());
        dropped.swap(queue_);
      }
      if (queue_.empty() && saved) {
        busy_ = false;
        measurer_->changed.SignalAll();
        while (queue_.empty() && !stop_) measurer_->changed.Wait(&mu_);
      }
      if (stop_ && saved) return;
      if (stop_ || queue_.empty()) {
        to_save = choices_;
      } else {
        busy_ = true;
        next = std::move(queue_.front());
        queue_.pop_front();
        clock.stop_ = &stop_;
        clock.yields_ = options_.yields;
        clock.end_ns_ =
            NowNs() +
            static_cast<int64_t>(std::min(
                options_.seconds * 1e9 - used_ns_,
                1e9 * std::max(kJobSeconds, kJobPart * options_.seconds)));
      }
    }
    if (next.second == nullptr) {
      Save(to_save);
      saved = true;
      continue;
    }
    const int64_t start = NowNs();
    // What finds no memory is left out, like what finds no time.
    AlgorithmChoices::Times times;
    Status measured = CatchExceptions([&] {
      times = next.second(clock);
      return OkStatus();
    });
    MutexLock lock(&mu_);
    used_ns_ += static_cast<double>(NowNs() - start);
    if (measured.ok() && !times.empty()) {
      measured = CatchExceptions([&] {
        mu_.AssertHeld();
        choices_.Add(ThisMachine(), next.first, times);
        return OkStatus();
      });
    }
    if (!measured.ok() || times.empty()) {
      ++left_out_;
      continue;
    }
    generation_.fetch_add(1, std::memory_order_release);
    saved = options_.cache_path.empty();
  }
}

void AlgorithmTuner::Save(const AlgorithmChoices& choices) {
  const Status s = choices.AddToFile(Env::Default(), options_.cache_path);
  if (!s.ok()) {
    HR_LOG(WARNING) << "measured choices are not kept: " << s;
  }
  MutexLock lock(&mu_);
  save_status_ = s;
}

void AlgorithmTuner::Report(Use use) {
  MutexLock lock(&mu_);
  if (uses_.size() >= kMaxUses) return;
  std::pair<std::string, std::string> key(use.node, use.problem);
  uses_.insert_or_assign(std::move(key), std::move(use));
}

std::vector<AlgorithmTuner::Use> AlgorithmTuner::Uses() const {
  MutexLock lock(&mu_);
  std::vector<Use> out;
  for (const auto& [key, use] : uses_) out.push_back(use);
  return out;
}

int64_t AlgorithmTuner::Wait() {
  MutexLock lock(&mu_);
  while (!stop_ && (busy_ || !queue_.empty())) {
    measurer_->changed.Wait(&mu_);
  }
  return left_out_;
}

void AlgorithmTuner::Stop() {
  std::thread thread;
  std::deque<std::pair<std::string, Job>> dropped;  // as in Work
  {
    MutexLock lock(&mu_);
    stop_ = true;
    dropped.swap(queue_);
    std::swap(thread, measurer_->thread);
    measurer_->changed.SignalAll();
  }
  if (thread.joinable()) thread.join();
}

Status AlgorithmTuner::SaveStatus() const {
  MutexLock lock(&mu_);
  return save_status_;
}

// Not analysed: each locks or unlocks as many mutexes as there are tuners.
void AlgorithmTuner::LockAll() NO_THREAD_SAFETY_ANALYSIS {
  live_mu.Lock();
  if (live == nullptr) return;
  for (AlgorithmTuner* t : *live) t->mu_.Lock();
}

void AlgorithmTuner::UnlockAll() NO_THREAD_SAFETY_ANALYSIS {
  if (live != nullptr) {
    for (AlgorithmTuner* t : *live) t->mu_.Unlock();
  }
  live_mu.Unlock();
}

void AlgorithmTuner::UnlockAllInChild() NO_THREAD_SAFETY_ANALYSIS {
  if (live != nullptr) {
    for (AlgorithmTuner* t : *live) {
      t->stop_ = true;
      static_cast<void>(t->measurer_.release());
      t->measurer_ = std::make_unique<Measurer>();
    }
  }
  UnlockAll();
}

[[maybe_unused]] const int AlgorithmTuner::kAtForkRegistered =
    pthread_atfork(&LockAll, &UnlockAll, &UnlockAllInChild);

AlgorithmChoices AlgorithmTuner::Choices() const {
  MutexLock lock(&mu_);
  return choices_;
}

}  // namespace headrace
