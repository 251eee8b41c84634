// CancellationManager: stops the blocking parts of a step. StartCancel calls
// each registered callback exactly once, on the thread that calls StartCancel.
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
  // The parent cancels this manager when it is cancelled itself. The parent
  // must outlive this manager.
  explicit CancellationManager(CancellationManager* parent);
  ~CancellationManager();

  // Calls the callbacks. Later calls do nothing. status() returns `why` from
  // now on.
  void StartCancel(Status why = absl::CancelledError("Step was cancelled."));
  bool IsCancelled() const {
    return cancelled_.load(std::memory_order_acquire);
  }
  // OK until StartCancel.
  Status status() const;

  // A token that no other callback of this manager has.
  Token NextToken() { return next_token_.fetch_add(1); }
  // Returns false and does not keep the callback if cancellation has started:
  // the caller must then stop by itself.
  bool RegisterCallback(Token token, Callback callback);
  // Removes the callback and returns true. If cancellation has started, waits
  // until the callbacks have finished and returns false. Do not call it from a
  // callback: it would wait for itself.
  bool DeregisterCallback(Token token);
  // As DeregisterCallback, but never waits. Returns false if cancellation has
  // started: the callback may still be running.
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
