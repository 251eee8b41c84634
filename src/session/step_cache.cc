#include "session/step_cache.h"

#include <algorithm>
#include <utility>
#include <vector>

namespace headrace {

std::shared_ptr<const CompiledStep> StepCache::Find(const Key& key) {
  MutexLock lock(&mu_);
  const auto it = steps_.find(key);
  if (it == steps_.end()) return nullptr;
  it->second.used = ++uses_;
  return it->second.step;
}

bool StepCache::IsFull() const {
  return steps_.size() > limits_.always &&
         (steps_.size() > limits_.steps || nodes_ > limits_.nodes);
}

std::shared_ptr<const CompiledStep> StepCache::Insert(
    Key key, std::shared_ptr<const CompiledStep> step) {
  Kept kept;
  for (const CompiledStep::Part& p : step->parts) {
    kept.nodes += p.graph->num_nodes();
  }
  kept.step = std::move(step);
  std::vector<std::shared_ptr<const CompiledStep>> dropped;
  MutexLock lock(&mu_);
  const auto [it, added] = steps_.try_emplace(std::move(key), std::move(kept));
  it->second.used = ++uses_;
  const std::shared_ptr<const CompiledStep> result = it->second.step;
  if (!added) return result;
  nodes_ += it->second.nodes;
  // A look through all of them is short beside the compilation before it.
  while (IsFull()) {
    const auto oldest = std::min_element(steps_.begin(), steps_.end(),
                                         [](const auto& a, const auto& b) {
                                           return a.second.used < b.second.used;
                                         });
    nodes_ -= oldest->second.nodes;
    dropped.push_back(std::move(oldest->second.step));
    steps_.erase(oldest);
  }
  return result;
}

void StepCache::Clear() {
  Map gone;
  MutexLock lock(&mu_);
  gone.swap(steps_);
  nodes_ = 0;
}

size_t StepCache::size() const {
  MutexLock lock(&mu_);
  return steps_.size();
}

}  // namespace headrace
