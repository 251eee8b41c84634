// PriorityQueue: the resource of the PriorityQueue op. A barrier also keeps its
// complete elements in one.
#ifndef HEADRACE_KERNELS_FLOW_PRIORITY_QUEUE_H_
#define HEADRACE_KERNELS_FLOW_PRIORITY_QUEUE_H_

#include <map>
#include <utility>

#include "kernels/flow/queue_base.h"

namespace headrace {

// The element with the smallest first component (an int64 scalar) comes out
// first. Equal elements come out in order of insertion.
// Thread-safe, as QueueBase is.
class PriorityQueue : public QueueBase {
 public:
  using QueueBase::QueueBase;

 protected:
  int64_t SizeLocked() const override REQUIRES(mu_) {
    return static_cast<int64_t>(elements_.size());
  }
  void PushLocked(Tuple e) override REQUIRES(mu_) {
    const int64_t priority = e[0].scalar<int64_t>();
    elements_.emplace(priority, std::move(e));
  }
  Tuple PopLocked() override REQUIRES(mu_) {
    Tuple e = std::move(elements_.begin()->second);
    elements_.erase(elements_.begin());
    return e;
  }
  void PutBackLocked(Tuple e) override REQUIRES(mu_) {
    const int64_t priority = e[0].scalar<int64_t>();
    elements_.emplace_hint(elements_.lower_bound(priority), priority,
                           std::move(e));
  }
  bool TakesTogether() const override { return true; }

 private:
  std::multimap<int64_t, Tuple> elements_ GUARDED_BY(mu_);
};

}  // namespace headrace

#endif  // HEADRACE_KERNELS_FLOW_PRIORITY_QUEUE_H_
