#include "headrace/cancellation.h"

#include <exception>
#include <utility>
#include <vector>

namespace headrace {

CancellationManager::CancellationManager(CancellationManager* parent)
    : parent_(parent) {
  if (parent_ == nullptr) return;
  parent_token_ = parent_->NextToken();
  if (!parent_->RegisterCallback(parent_token_,
                                 [this] { StartCancel(parent_->status()); })) {
    StartCancel(parent_->status());
  }
}

CancellationManager::~CancellationManager() {
  if (parent_ != nullptr) parent_->DeregisterCallback(parent_token_);
}

void CancellationManager::StartCancel(Status why) {
  absl::flat_hash_map<Token, Callback> callbacks;
  {
    MutexLock lock(&mu_);
    if (cancelled_.load(std::memory_order_relaxed)) return;
    why_ = std::move(why);
    running_ = true;
    cancelled_.store(true, std::memory_order_release);
    callbacks.swap(callbacks_);
  }
  for (auto& [token, callback] : callbacks) {
    try {
      callback();
    } catch (const std::exception&) {
      // For want of memory. The others are to stop all the same.
    }
  }
  MutexLock lock(&mu_);
  running_ = false;
  finished_.SignalAll();
}

Status CancellationManager::status() const {
  MutexLock lock(&mu_);
  return why_;
}

bool CancellationManager::RegisterCallback(Token token, Callback callback) {
  MutexLock lock(&mu_);
  if (IsCancelled()) return false;
  callbacks_.emplace(token, std::move(callback));
  return true;
}

bool CancellationManager::DeregisterCallback(Token token) {
  MutexLock lock(&mu_);
  if (!IsCancelled()) {
    callbacks_.erase(token);
    return true;
  }
  while (running_) finished_.Wait(&mu_);
  return false;
}

bool CancellationManager::TryDeregisterCallback(Token token) {
  MutexLock lock(&mu_);
  if (IsCancelled()) return false;
  callbacks_.erase(token);
  return true;
}

}  // namespace headrace
