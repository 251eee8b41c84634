// ResponseCache: what RecvTensor has answered, by request id. A client whose
// connection broke asks again with the same id and gets the same tensor: it is
// neither lost nor sent twice. TensorFlow's clients ask so if their RPCOptions
// say cache_rpc_response.
#ifndef HEADRACE_DISTRIBUTED_RESPONSE_CACHE_H_
#define HEADRACE_DISTRIBUTED_RESPONSE_CACHE_H_

#include <cstdint>
#include <deque>
#include <functional>
#include <memory>
#include <utility>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "headrace/mutex.h"
#include "headrace/status.h"
#include "headrace/strings.h"
#include "headrace/tensor.h"

namespace headrace {

// Keeps the last `max_entries` ids that have ended, and tensors of `max_bytes`
// together. Thread-safe. No lock is held while callbacks run.
class ResponseCache {
 public:
  using Callback =
      std::function<void(const Status&, const Tensor&, bool is_dead)>;
  // Receives the tensor.
  using Start = std::function<void(Callback)>;

  ResponseCache(size_t max_entries, size_t max_bytes)
      : max_entries_(max_entries), max_bytes_(max_bytes) {}

  // Calls `done` once: with what `start` gives, or with what it gave to an
  // earlier request of this id. Aborted if that is no longer kept.
  void Get(int64_t step_id, int64_t request_id, Start start, Callback done) {
    Callback earlier;
    Entry known;
    {
      MutexLock lock(&mu_);
      const auto it = entries_.find(request_id);
      if (it == entries_.end()) {
        Entry& e = entries_[request_id];
        e.step_id = step_id;
      } else if (!it->second.ended) {
        it->second.waiting.emplace_back(std::move(start), std::move(done));
        return;
      } else {
        known = it->second;
      }
    }
    if (known.ended) {
      if (known.step_id != step_id) {
        return done(errors::InvalidArgument("request id ", request_id,
                                            " is of another step"),
                    Tensor(), false);
      }
      if (known.gone) {
        return done(errors::Aborted(
                        "The same RecvTensor request was received twice, and "
                        "its tensor is no longer kept. Its id is ",
                        request_id),
                    Tensor(), false);
      }
      return done(known.status, known.value, known.is_dead);
    }
    Run(request_id, start, std::move(done));
  }

  // Lets go of the step's tensors.
  void EndStep(int64_t step_id) {
    std::vector<Tensor> gone;  // after the lock
    MutexLock lock(&mu_);
    for (auto it = kept_.begin(); it != kept_.end();) {
      const auto e = entries_.find(*it);
      if (e == entries_.end() || e->second.step_id != step_id) {
        ++it;
        continue;
      }
      LetGo(&e->second, &gone);
      it = kept_.erase(it);
    }
  }

 private:
  struct Entry {
    int64_t step_id = 0;
    bool ended = false;
    bool gone = false;  // the value is no longer kept
    Status status;
    Tensor value;
    bool is_dead = false;
    std::vector<std::pair<Start, Callback>> waiting;
  };

  void Run(int64_t request_id, const Start& start, Callback done) {
    start([this, request_id, done = std::move(done)](
              const Status& s, const Tensor& value, bool is_dead) {
      End(request_id, s, value, is_dead);
      done(s, value, is_dead);
    });
  }

  void End(int64_t request_id, const Status& s, const Tensor& value,
           bool is_dead) {
    std::vector<std::pair<Start, Callback>> waiting;
    std::vector<Tensor> gone;
    {
      MutexLock lock(&mu_);
      const auto it = entries_.find(request_id);
      if (it == entries_.end()) return;  // forgotten meanwhile
      Entry& e = it->second;
      waiting.swap(e.waiting);
      if (errors::IsCancelled(s)) {
        // The client has gone, and the tensor is still to be had.
        if (waiting.empty()) {
          entries_.erase(it);
          return;
        }
      } else {
        e.ended = true;
        e.status = s;
        e.is_dead = is_dead;
        e.value = value;
        bytes_ += BytesOf(value);
        kept_.push_back(request_id);
        while (bytes_ > max_bytes_ && !kept_.empty()) {
          const auto oldest = entries_.find(kept_.front());
          if (oldest != entries_.end()) LetGo(&oldest->second, &gone);
          kept_.pop_front();
        }
        order_.push_back(request_id);
        if (order_.size() > max_entries_) DropOldest();
      }
    }
    if (errors::IsCancelled(s)) {
      // The first of those that wait takes its place, the others wait for it.
      auto [start, done] = std::move(waiting.front());
      waiting.erase(waiting.begin());
      {
        MutexLock lock(&mu_);
        const auto it = entries_.find(request_id);
        if (it != entries_.end()) it->second.waiting = std::move(waiting);
      }
      return Run(request_id, start, std::move(done));
    }
    for (auto& [start, done] : waiting) done(s, value, is_dead);
  }

  static size_t BytesOf(const Tensor& t) {
    return t.IsInitialized() ? t.TotalBytes() : 0;
  }
  void LetGo(Entry* e, std::vector<Tensor>* gone) REQUIRES(mu_) {
    bytes_ -= BytesOf(e->value);
    gone->push_back(std::move(e->value));
    e->value = Tensor();
    e->gone = true;
  }
  void DropOldest() REQUIRES(mu_) {
    const auto it = entries_.find(order_.front());
    order_.pop_front();
    if (!it->second.gone) bytes_ -= BytesOf(it->second.value);
    entries_.erase(it);
  }

  const size_t max_entries_, max_bytes_;
  Mutex mu_;
  size_t bytes_ GUARDED_BY(mu_) = 0;
  absl::flat_hash_map<int64_t, Entry> entries_ GUARDED_BY(mu_);
  std::deque<int64_t> order_ GUARDED_BY(mu_);  // of ids that have ended
  std::deque<int64_t> kept_ GUARDED_BY(mu_);   // of those with a value
};

}  // namespace headrace

#endif  // HEADRACE_DISTRIBUTED_RESPONSE_CACHE_H_
