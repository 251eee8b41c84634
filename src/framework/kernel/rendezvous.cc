#include "framework/kernel/rendezvous.h"

#include <cstdlib>
#include <deque>
#include <memory>
#include <utility>

#include "absl/container/flat_hash_map.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "headrace/cancellation.h"
#include "headrace/mutex.h"

namespace headrace {

std::string Rendezvous::CreateKey(absl::string_view src_device,
                                  uint64_t src_incarnation,
                                  absl::string_view dst_device,
                                  absl::string_view edge_name,
                                  uint64_t frame_id, int64_t iteration) {
  return absl::StrCat(
      src_device, ";", absl::Hex(src_incarnation, absl::kZeroPad16), ";",
      dst_device, ";", edge_name, ";", frame_id, ":", iteration);
}

Status Rendezvous::ParseKey(absl::string_view key, ParsedKey* out) {
  const std::vector<absl::string_view> parts = absl::StrSplit(key, ';');
  if (parts.size() != 5 || parts[1].size() != 16) {
    return errors::InvalidArgument("Invalid rendezvous key: ", key);
  }
  out->src_device = parts[0];
  out->dst_device = parts[2];
  out->edge_name = parts[3];
  uint64_t v = 0;
  for (char c : parts[1]) {
    const int digit = c >= '0' && c <= '9'   ? c - '0'
                      : c >= 'a' && c <= 'f' ? c - 'a' + 10
                                             : -1;
    if (digit < 0) {
      return errors::InvalidArgument("Invalid rendezvous key: ", key);
    }
    v = v << 4 | static_cast<uint64_t>(digit);
  }
  out->src_incarnation = v;
  return OkStatus();
}

Status Rendezvous::Recv(absl::string_view key, Tensor* value, bool* is_dead) {
  Notification done;
  Status status;
  RecvAsync(key, nullptr, [&](const Status& s, const Tensor& t, bool dead) {
    status = s;
    if (s.ok()) {
      *value = t;
      *is_dead = dead;
    }
    done.Notify();
  });
  done.WaitForNotification();
  return status;
}

namespace {

class LocalRendezvous : public Rendezvous {
 public:
  Status Send(absl::string_view key, Tensor value, bool is_dead) override {
    std::unique_ptr<Waiter> waiter;
    {
      MutexLock lock(&mu_);
      if (!aborted_.ok()) return aborted_;
      Queue& q = queues_[std::string(key)];
      if (q.waiters.empty()) {
        q.values.emplace_back(std::move(value), is_dead);
        return OkStatus();
      }
      waiter = std::move(q.waiters.front());
      q.waiters.pop_front();
    }
    Finish(waiter.get(), OkStatus(), value, is_dead);
    return OkStatus();
  }

  void RecvAsync(absl::string_view key, CancellationManager* cancellation,
                 DoneCallback done) override {
    Status failure;
    Tensor value;
    bool is_dead = false;
    {
      MutexLock lock(&mu_);
      failure = aborted_;
      if (failure.ok()) {
        Queue& q = queues_[std::string(key)];
        if (q.values.empty()) {
          auto waiter = std::make_unique<Waiter>();
          waiter->done = std::move(done);
          Waiter* raw = waiter.get();
          if (cancellation == nullptr) {
            q.waiters.push_back(std::move(waiter));
            return;
          }
          // Registering under mu_ is safe: callbacks run without the manager's
          // lock, and CancelWaiter takes mu_ afresh.
          raw->cancellation = cancellation;
          raw->token = cancellation->NextToken();
          if (cancellation->RegisterCallback(
                  raw->token, [self = RefPtr<LocalRendezvous>::NewRef(this),
                               raw, name = std::string(key)] {
                    self->CancelWaiter(name, raw);
                  })) {
            q.waiters.push_back(std::move(waiter));
            return;
          }
          failure = absl::CancelledError("RecvAsync is cancelled.");
          done = std::move(waiter->done);
        } else {
          value = std::move(q.values.front().first);
          is_dead = q.values.front().second;
          q.values.pop_front();
        }
      }
    }
    done(failure, value, is_dead);
  }

  void StartAbort(const Status& status) override {
    const Status why =
        status.ok() ? absl::AbortedError("rendezvous aborted") : status;
    absl::flat_hash_map<std::string, Queue> queues;
    {
      MutexLock lock(&mu_);
      if (!aborted_.ok()) return;
      aborted_ = why;
      queues.swap(queues_);
    }
    for (auto& [key, q] : queues) {
      for (auto& w : q.waiters) Finish(w.get(), why, Tensor(), false);
    }
  }

 private:
  struct Waiter {
    DoneCallback done;
    CancellationManager* cancellation = nullptr;
    CancellationManager::Token token = 0;
  };
  struct Queue {
    std::deque<std::pair<Tensor, bool>> values;
    std::deque<std::unique_ptr<Waiter>> waiters;
  };

  static void Finish(Waiter* w, const Status& s, const Tensor& value,
                     bool is_dead) {
    // A callback that has begun finds the waiter gone from the table.
    if (w->cancellation != nullptr) {
      w->cancellation->TryDeregisterCallback(w->token);
    }
    w->done(s, value, is_dead);
  }

  void CancelWaiter(const std::string& key, Waiter* raw) {
    std::unique_ptr<Waiter> waiter;
    {
      MutexLock lock(&mu_);
      auto it = queues_.find(key);
      if (it == queues_.end()) return;
      for (auto w = it->second.waiters.begin(); w != it->second.waiters.end();
           ++w) {
        if (w->get() == raw) {
          waiter = std::move(*w);
          it->second.waiters.erase(w);
          break;
        }
      }
    }
    if (waiter != nullptr) {
      waiter->done(absl::CancelledError("RecvAsync is cancelled."), Tensor(),
                   false);
    }
  }

  Mutex mu_;  // never held while calling `done`
  absl::flat_hash_map<std::string, Queue> queues_ GUARDED_BY(mu_);
  Status aborted_ GUARDED_BY(mu_);  // OK until StartAbort
};

}  // namespace

RefPtr<Rendezvous> NewLocalRendezvous() {
  return RefPtr<Rendezvous>(new LocalRendezvous);
}

}  // namespace headrace
