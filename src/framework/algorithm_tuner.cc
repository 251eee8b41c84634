#include "framework/algorithm_tuner.h"

#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <set>

#include "absl/strings/str_cat.h"
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
// before the libraries whose code they run.
struct LiveTuners {
  Mutex mu;
  std::set<AlgorithmTuner*> all GUARDED_BY(mu);
  static LiveTuners* Get() {
    static LiveTuners* const live = [] {
      std::atexit([] {
        LiveTuners* const live = Get();
        MutexLock lock(&live->mu);
        for (AlgorithmTuner* t : live->all) t->Stop();
      });
      return new LiveTuners;
    }();
    return live;
  }
};

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
    LiveTuners* const live = LiveTuners::Get();
    MutexLock lock(&live->mu);
    live->all.insert(tuner.get());
  }
  return tuner;
}

AlgorithmTuner::~AlgorithmTuner() {
  if (!options_.measure) return;
  {
    LiveTuners* const live = LiveTuners::Get();
    MutexLock lock(&live->mu);
    live->all.erase(this);
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
  if (!thread_.joinable()) {
    thread_ = std::thread([this] { Work(); });
    thread_pid_ = getpid();
  }
  changed_.SignalAll();
}

void AlgorithmTuner::Work() {
  bool saved = true;
  for (;;) {
    std::pair<std::string, Job> next;
    Clock clock;
    AlgorithmChoices to_save;
    {
      MutexLock lock(&mu_);
      if (used_ns_ >= options_.seconds * 1e9) {
        left_out_ += static_cast<int64_t>(queue_.size());
        queue_.clear();
      }
      if (queue_.empty() && saved) {
        busy_ = false;
        changed_.SignalAll();
        while (queue_.empty() && !stop_) changed_.Wait(&mu_);
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
      Save(std::move(to_save));
      saved = true;
      continue;
    }
    const int64_t start = NowNs();
    const AlgorithmChoices::Times times = next.second(clock);
    MutexLock lock(&mu_);
    used_ns_ += static_cast<double>(NowNs() - start);
    if (times.empty()) {
      ++left_out_;
      continue;
    }
    choices_.Add(ThisMachine(), next.first, times);
    generation_.fetch_add(1, std::memory_order_release);
    saved = options_.cache_path.empty();
  }
}

void AlgorithmTuner::Save(AlgorithmChoices choices) const {
  Env* const env = Env::Default();
  StatusOr<AlgorithmChoices> there =
      AlgorithmChoices::ReadFile(env, options_.cache_path);
  Status s = there.status();
  if (there.ok()) choices.Merge(*there);
  // What is not ours is not overwritten.
  if (s.ok() || errors::IsNotFound(s)) {
    s = choices.WriteFile(env, options_.cache_path);
  }
  if (!s.ok()) {
    HR_LOG(WARNING) << "measured choices are not kept: " << s;
  }
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
  while (!stop_ && (busy_ || !queue_.empty())) changed_.Wait(&mu_);
  return left_out_;
}

void AlgorithmTuner::Stop() {
  std::thread thread;
  int pid = 0;
  {
    MutexLock lock(&mu_);
    stop_ = true;
    queue_.clear();
    std::swap(thread, thread_);
    pid = thread_pid_;
    changed_.SignalAll();
  }
  if (!thread.joinable()) return;
  // A child of fork has the object but not the thread.
  if (pid == getpid()) {
    thread.join();
  } else {
    thread.detach();
  }
}

AlgorithmChoices AlgorithmTuner::Choices() const {
  MutexLock lock(&mu_);
  return choices_;
}

}  // namespace headrace
