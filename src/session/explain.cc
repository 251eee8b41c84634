#include "session/explain.h"

#include <map>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "base/thread_pool.h"
#include "framework/tuning/algorithm_tuner.h"
#include "headrace/allocator.h"
#include "headrace/device.h"
#include "headrace/mutex.h"
#include "headrace/resource_mgr.h"
#include "runtime/memory_plan.h"
#include "session/device_resources.h"

namespace headrace {
namespace {

// The most tensors that are listed by size.
constexpr size_t kLargest = 8;

void AppendUse(const AlgorithmTuner::Use& use, const AlgorithmChoices& choices,
               std::string* out) {
  absl::StrAppend(out, use.node, "\n  ", use.problem, "\n");
  std::map<std::string, double> measured;
  if (const AlgorithmChoices::Times* times =
          choices.Find(ThisMachine(), use.problem)) {
    for (const AlgorithmChoices::Time& t : *times) {
      measured[t.algorithm] = t.ns;
    }
  }
  bool listed = false;
  for (const AlgorithmChoices::Time& t : use.predicted) {
    listed |= t.algorithm == use.chosen;
    const auto it = measured.find(t.algorithm);
    const std::string time =
        it == measured.end() ? "-" : absl::StrFormat("%.3f", it->second / 1e6);
    absl::StrAppendFormat(
        out, "    %-20s predicted %10.3f ms   measured %10s ms%s\n",
        t.algorithm, t.ns / 1e6, time,
        t.algorithm == use.chosen ? "   chosen" : "");
  }
  if (!listed) {
    absl::StrAppendFormat(
        out,
        "    %-20s together with others of the node, so that what lies between "
        "them\n                         stays in the cache   chosen\n",
        use.chosen);
  }
}

// The changes of the graph passes.
void AppendPasses(const pb::RunMetadata& metadata, std::string* out) {
  absl::StrAppend(
      out, "\ngraph passes, and the nodes that each removed or replaced:\n");
  for (const pb::GraphPassReport& pass : metadata.headrace_passes()) {
    absl::StrAppendFormat(out, "  %-18s %s\n", pass.name(),
                          pass.off() ? "off" : absl::StrCat(pass.changes()));
  }
}

std::string Bytes(int64_t n) {
  const bool large = n >= 1000000;
  return absl::StrFormat("%.2f %s",
                         static_cast<double>(n) / (large ? 1e6 : 1e3),
                         large ? "MB" : "KB");
}

// `measured`: what the tensors of a run took at most.
void AppendMemory(const MemoryPlan& plan, int64_t measured, std::string* out) {
  absl::StrAppend(out, "\nmemory: the tensors of a run take ",
                  Bytes(plan.peak_bytes), " at most at once, took ",
                  Bytes(measured), "; ", Bytes(plan.total_bytes),
                  " without sharing\n");
  if (!plan.unknown.empty()) {
    absl::StrAppend(out, "  ", plan.unknown.size(),
                    " tensors of unknown size are not counted, as ",
                    plan.unknown[0], "\n");
  }
  for (size_t i = 0; i < plan.blocks.size() && i < kLargest; ++i) {
    const MemoryPlan::Block& b = plan.blocks[i];
    absl::StrAppendFormat(out, "  %12s at %12s  %s %s\n", Bytes(b.bytes),
                          Bytes(b.offset), b.name, b.contents);
  }
}

// A step of a session that was compiled for this.
struct Run {
  Session* session;
  absl::Span<const Session::Feed> feeds;
  absl::Span<const Endpoint> fetches;
  absl::Span<Node* const> targets;
  std::shared_ptr<const Session::Prepared> prepared;
  std::vector<Tensor> values;  // of the feeds

  Status Prepare() {
    std::vector<Endpoint> fed;
    for (const Session::Feed& f : feeds) {
      fed.push_back(f.first);
      values.push_back(f.second);
    }
    HR_ASSIGN_OR_RETURN(prepared, session->Prepare(fed, fetches, targets));
    return OkStatus();
  }
  // Traced if `metadata` is given.
  Status operator()(pb::RunMetadata* metadata, RunToken token) const {
    pb::RunOptions options;
    if (metadata != nullptr) {
      options.set_trace_level(pb::RunOptions::FULL_TRACE);
    }
    std::vector<Tensor> results;
    return session->RunPrepared(*prepared, options, values, &results, metadata,
                                token);
  }
};

Status ExplainMemory(const Run& run, RunToken token, std::string* out) {
  std::vector<std::pair<Endpoint, TensorShape>> shapes;
  for (const Session::Feed& f : run.feeds) {
    shapes.emplace_back(f.first, f.second.shape());
  }
  MemoryPlan plan;
  const Status s =
      MoveTo(run.session->PlanMemory(shapes, run.fetches, run.targets), &plan);
  if (errors::IsUnimplemented(s)) {
    absl::StrAppend(out, "\nmemory: not planned: ", s.message(), "\n");
    return OkStatus();
  }
  HR_RETURN_IF_ERROR(s);
  Allocator* const allocator = CpuAllocator();
  allocator->ResetPeak();
  const int64_t before = allocator->GetStats().bytes_in_use;
  HR_RETURN_IF_ERROR(run(nullptr, token));
  AppendMemory(plan, allocator->GetStats().peak_bytes_in_use - before, out);
  return OkStatus();
}

// The tuners that are lent to sessions, and how many calls use each.
struct Loans {
  Mutex mu;
  std::map<AlgorithmTuner*, int> users GUARDED_BY(mu);

  static Loans* Get() {
    static Loans* const loans = new Loans;
    return loans;
  }
};

// The session's tuner; else one that keeps notes, which its devices have until
// the last call that uses it ends: threads may explain one session at a time.
class NotingTuner {
 public:
  explicit NotingTuner(absl::Span<Device* const> devices) : devices_(devices) {}
  ~NotingTuner() {
    Loans* const loans = Loans::Get();
    MutexLock lock(&loans->mu);
    const auto it = loans->users.find(tuner_.get());
    if (it == loans->users.end() || --it->second > 0) return;
    loans->users.erase(it);
    for (Device* d : devices_) {
      d->resource_manager()
          ->Delete<AlgorithmTuner>(AlgorithmTuner::kContainer,
                                   AlgorithmTuner::kName)
          .IgnoreError();
    }
  }

  Status Find() {
    Loans* const loans = Loans::Get();
    MutexLock lock(&loans->mu);
    const bool found =
        devices_.front()
            ->resource_manager()
            ->Lookup<AlgorithmTuner>(AlgorithmTuner::kContainer,
                                     AlgorithmTuner::kName, &tuner_)
            .ok();
    if (found) {
      const auto it = loans->users.find(tuner_.get());
      if (it != loans->users.end()) ++it->second;  // not the session's own
      return OkStatus();
    }
    HR_ASSIGN_OR_RETURN(tuner_, AlgorithmTuner::Create({}));
    loans->users[tuner_.get()] = 1;
    for (Device* d : devices_) ShareWith(d, tuner_);
    return OkStatus();
  }

  const AlgorithmTuner* operator->() const { return tuner_.get(); }

 private:
  const absl::Span<Device* const> devices_;
  RefPtr<AlgorithmTuner> tuner_;
};

}  // namespace

StatusOr<std::string> ExplainRun(Session* session,
                                 absl::Span<const Session::Feed> feeds,
                                 absl::Span<const Endpoint> fetches,
                                 absl::Span<Node* const> targets,
                                 RunToken token) {
  const std::vector<Device*> devices = session->ListDevices();
  NotingTuner tuner(devices);
  HR_RETURN_IF_ERROR(tuner.Find());
  Run run{session, feeds, fetches, targets, nullptr, {}};
  HR_RETURN_IF_ERROR(run.Prepare());
  pb::RunMetadata metadata;
  HR_RETURN_IF_ERROR(run(&metadata, token));
  const std::vector<AlgorithmTuner::Use> uses = tuner->Uses();
  std::string out;
  absl::StrAppendFormat(
      &out,
      "machine: %s\n%d convolutions\ntimes: predicted of one core, measured "
      "of %d threads\n\n",
      ThisMachine(), uses.size(), devices.front()->thread_pool()->NumThreads());
  const AlgorithmChoices choices = tuner->Choices();
  for (const AlgorithmTuner::Use& u : uses) AppendUse(u, choices, &out);
  AppendPasses(metadata, &out);
  HR_RETURN_IF_ERROR(ExplainMemory(run, token, &out));
  return out;
}

}  // namespace headrace
