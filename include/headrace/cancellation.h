// CancellationManager: tells the blocking parts of a step to stop. A callback
// registered before StartCancel runs exactly once, on the cancelling thread.
//
// Thread-safe.
#ifndef HEADRACE_CANCELLATION_H_
#define HEADRACE_CANCELLATION_H_

#include <atomic>
#include <functional>

#include "absl/container/flat_hash_map.h"
#include "headrace/mutex.h"
#include "headrace/status.h"

namespace headrace {

class CancellationManager {
 public:
  using Token = int64_t;
  using Callback = std::function<void()>;

  CancellationManager() = default;
  // A child is cancelled with its parent, which must outlive it.
  explicit CancellationManager(CancellationManager* parent);
  ~CancellationManager();

  // Runs the callbacks, once; `why` is what IsCancelled callers report.
  void StartCancel(Status why = absl::CancelledError("Step was cancelled."));
  bool IsCancelled() const {
    return cancelled_.load(std::memory_order_acquire);
  }
  // OK until StartCancel.
  Status status() const;

  Token NextToken() { return next_token_.fetch_add(1); }
  // False, without taking the callback, if cancellation has started.
  bool RegisterCallback(Token token, Callback callback);
  // Removes the callback; if it is running, waits for it to finish and returns
  // false.
  bool DeregisterCallback(Token token);
  // As DeregisterCallback without waiting: false if cancellation has started.
  bool TryDeregisterCallback(Token token);

 private:
  CancellationManager* const parent_ = nullptr;
  Token parent_token_ = 0;
  std::atomic<bool> cancelled_{false};
  std::atomic<Token> next_token_{0};
  mutable Mutex mu_;
  CondVar finished_;
  bool running_ GUARDED_BY(mu_) = false;
  Status why_ GUARDED_BY(mu_);
  absl::flat_hash_map<Token, Callback> callbacks_ GUARDED_BY(mu_);
};

}  // namespace headrace

#endif  // HEADRACE_CANCELLATION_H_
