#include "kernels/gpu/conv_autotune.h"

#include <algorithm>
#include <cstdlib>

#include "absl/strings/str_cat.h"
#include "base/log.h"
#include "device/gpu/gpu_device.h"
#include "headrace/version.h"

namespace headrace::gpu {
namespace {

// The problems whose choice is found without a look at the text.
constexpr size_t kRecent = 256;

// The name in the file. Names of Dnn's algorithms need not be unique.
std::string NameOf(const ConvAlgorithm& a) {
  return absl::StrCat(a.name, ":", a.id);
}

}  // namespace

std::string ConvKey::Machine() const {
  std::string clean = device;
  for (char& c : clean) {
    if (c == '[' || c == ']' || c == '\n' || c == '\t') c = '_';
  }
  return absl::StrCat("GPU ", clean, ", dnn ", dnn_version, "; headrace ",
                      Version());
}

std::string ConvKey::Problem() const {
  return absl::StrCat(problem.ToString(),
                      deterministic ? " deterministic" : "");
}

ConvAutotuner::Options ConvAutotuner::OptionsFromEnvironment() {
  Options options;
  options.measure = EnvironmentFlag("TF_CUDNN_USE_AUTOTUNE", true);
  const char* const path = std::getenv("HEADRACE_GPU_TUNING");
  if (path != nullptr) options.path = path;
  options.read_only = EnvironmentFlag("HEADRACE_GPU_TUNING_READ_ONLY", false);
  return options;
}

ConvAutotuner* ConvAutotuner::Global() {
  static auto* const tuner = new ConvAutotuner(OptionsFromEnvironment());
  return tuner;
}

ConvAutotuner::ConvAutotuner(Options options)
    : options_(std::move(options)),
      env_(options_.env != nullptr ? options_.env : Env::Default()) {
  if (options_.path.empty()) return;
  StatusOr<AlgorithmChoices> there =
      AlgorithmChoices::ReadFile(env_, options_.path);
  MutexLock lock(&mu_);
  if (there.ok()) {
    choices_ = *std::move(there);
  } else if (!errors::IsNotFound(there.status())) {
    file_status_ = there.status();
    HR_LOG(WARNING) << "HEADRACE_GPU_TUNING: " << file_status_.message();
  }
}

const ConvAlgorithm* ConvAutotuner::Known(
    const ConvKey& key, const std::vector<const ConvAlgorithm*>& fitting) {
  const AlgorithmChoices::Times* times =
      choices_.Find(key.Machine(), key.Problem());
  if (times == nullptr) return nullptr;
  for (const AlgorithmChoices::Time& t : *times) {
    for (const ConvAlgorithm* a : fitting) {
      if (NameOf(*a) == t.algorithm) return a;
    }
  }
  return nullptr;
}

const ConvAlgorithm* ConvAutotuner::Recent(const ConvKey& key,
                                           int64_t workspace_limit) const {
  for (const auto& [known, algorithm] : recent_) {
    if (known == key && algorithm.workspace_bytes <= workspace_limit) {
      return &algorithm;
    }
  }
  return nullptr;
}

bool ConvAutotuner::FindRecent(const ConvKey& key, int64_t workspace_limit,
                               ConvAlgorithm* out) const {
  MutexLock lock(&mu_);
  const ConvAlgorithm* const recent = Recent(key, workspace_limit);
  if (recent != nullptr) *out = *recent;
  return recent != nullptr;
}

StatusOr<ConvAlgorithm> ConvAutotuner::Choose(
    const ConvKey& key, const std::vector<ConvAlgorithm>& candidates,
    int64_t workspace_limit, const Measure& measure) {
  if (candidates.empty()) {
    return errors::NotFound("no algorithm of Dnn computes ",
                            key.problem.ToString());
  }
  std::vector<const ConvAlgorithm*> fitting;
  for (const ConvAlgorithm& a : candidates) {
    if (a.workspace_bytes <= workspace_limit) fitting.push_back(&a);
  }
  if (fitting.empty()) {
    return *std::min_element(
        candidates.begin(), candidates.end(),
        [](const ConvAlgorithm& a, const ConvAlgorithm& b) {
          return a.workspace_bytes < b.workspace_bytes;
        });
  }
  MutexLock lock(&mu_);
  if (const ConvAlgorithm* recent = Recent(key, workspace_limit)) {
    return *recent;
  }
  const ConvAlgorithm* chosen = Known(key, fitting);
  const bool hopeless =
      std::find(failed_.begin(), failed_.end(), key) != failed_.end();
  if (chosen == nullptr && options_.measure && measure && !hopeless &&
      fitting.size() > 1) {
    AlgorithmChoices::Times times;
    for (const ConvAlgorithm* a : fitting) {
      const StatusOr<double> ns = measure(*a);
      if (ns.ok() && *ns > 0) {
        times.push_back({NameOf(*a), *ns});
      } else if (!ns.ok() && !errors::IsResourceExhausted(ns.status())) {
        HR_LOG(WARNING) << "autotuning leaves out " << a->name << " for "
                        << key.problem.ToString() << ": "
                        << ns.status().message();
      }
    }
    if (times.empty()) {
      failed_.push_back(key);
    } else {
      ++measured_;
      choices_.Add(key.Machine(), key.Problem(), times);
      chosen = Known(key, fitting);
      if (!options_.path.empty() && !options_.read_only) {
        AlgorithmChoices added;
        added.Add(key.Machine(), key.Problem(), times);
        file_status_ = added.AddToFile(env_, options_.path);
        if (!file_status_.ok()) {
          HR_LOG(WARNING) << "HEADRACE_GPU_TUNING: " << file_status_.message();
        }
      }
    }
  }
  // A caller that can measure may come later.
  const bool is_final =
      chosen != nullptr || !options_.measure || measure != nullptr;
  if (chosen == nullptr) chosen = fitting[0];
  if (!is_final) return *chosen;
  Remember(key, *chosen);
  return *chosen;
}

void ConvAutotuner::Remember(const ConvKey& key, const ConvAlgorithm& a) {
  if (recent_.size() == kRecent) recent_.erase(recent_.begin());
  recent_.emplace_back(key, a);
}

void ConvAutotuner::Take(const ConvKey& key, const ConvAlgorithm& a) {
  MutexLock lock(&mu_);
  std::erase_if(recent_, [&](const auto& r) { return r.first == key; });
  Remember(key, a);
}

void ConvAutotuner::Refuse(const ConvKey& key) {
  MutexLock lock(&mu_);
  refused_.push_back(key);
  refuses_.store(true, std::memory_order_release);
}

bool ConvAutotuner::IsRefused(const ConvKey& key) const {
  if (!refuses_.load(std::memory_order_acquire)) return false;
  MutexLock lock(&mu_);
  return std::find(refused_.begin(), refused_.end(), key) != refused_.end();
}

Status ConvAutotuner::FileStatus() const {
  MutexLock lock(&mu_);
  return file_status_;
}

int64_t ConvAutotuner::measured() const {
  MutexLock lock(&mu_);
  return measured_;
}

}  // namespace headrace::gpu
