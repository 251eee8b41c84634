// RequestIds: recognises requests that come a second time, as after a retry.
#ifndef HEADRACE_DISTRIBUTED_REQUEST_IDS_H_
#define HEADRACE_DISTRIBUTED_REQUEST_IDS_H_

#include <cstdint>
#include <deque>

#include "absl/container/flat_hash_set.h"
#include "headrace/mutex.h"
#include "headrace/status.h"

namespace headrace {

// Remembers the last `limit` ids. Thread-safe.
class RequestIds {
 public:
  explicit RequestIds(size_t limit) : limit_(limit) {}

  // Aborted if a request with this id was there. 0 is no id.
  Status Check(absl::string_view method, int64_t id) {
    if (id == 0) return OkStatus();
    MutexLock lock(&mu_);
    if (!seen_.insert(id).second) {
      return errors::Aborted("The same ", method,
                             " request was received twice. Its id is ", id);
    }
    order_.push_back(id);
    if (order_.size() > limit_) {
      seen_.erase(order_.front());
      order_.pop_front();
    }
    return OkStatus();
  }

 private:
  const size_t limit_;
  Mutex mu_;
  absl::flat_hash_set<int64_t> seen_ GUARDED_BY(mu_);
  std::deque<int64_t> order_ GUARDED_BY(mu_);
};

}  // namespace headrace

#endif  // HEADRACE_DISTRIBUTED_REQUEST_IDS_H_
