// ServedHere: what servers of this process serve, for callers that need no
// connection.
#ifndef HEADRACE_DISTRIBUTED_SERVED_HERE_H_
#define HEADRACE_DISTRIBUTED_SERVED_HERE_H_

#include <map>
#include <memory>
#include <string>
#include <utility>

#include "headrace/mutex.h"

namespace headrace {

// By an address. Thread-safe.
template <typename T>
class ServedHere {
 public:
  void Add(const std::string& address, std::weak_ptr<T> served) {
    MutexLock lock(&mu_);
    served_[address] = std::move(served);
  }
  void Remove(const std::string& address) {
    MutexLock lock(&mu_);
    served_.erase(address);
  }
  // Null if there is none.
  std::shared_ptr<T> Find(const std::string& address) const {
    MutexLock lock(&mu_);
    const auto it = served_.find(address);
    return it == served_.end() ? nullptr : it->second.lock();
  }

 private:
  mutable Mutex mu_;
  std::map<std::string, std::weak_ptr<T>> served_ GUARDED_BY(mu_);
};

}  // namespace headrace

#endif  // HEADRACE_DISTRIBUTED_SERVED_HERE_H_
