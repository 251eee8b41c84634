// ReuseNotes: which outputs of a run took over the buffer of an input, how many
// were large, and which inputs a kernel had let go when it ended: what a memory
// plan cannot know of kernels. Thread-safe.
#ifndef HEADRACE_RUNTIME_REUSE_NOTES_H_
#define HEADRACE_RUNTIME_REUSE_NOTES_H_

#include <cstdint>
#include <utility>

#include "absl/container/flat_hash_map.h"
#include "absl/container/flat_hash_set.h"
#include "framework/memory/allocation_size.h"
#include "headrace/mutex.h"
#include "headrace/op_kernel.h"

namespace headrace {

class ReuseNotes {
 public:
  // `output` of `kernel` is a tensor of its own, or lies where `input` did.
  static constexpr int kOwn = -1;
  void Note(const OpKernel* kernel, int output, int input, int64_t bytes) {
    MutexLock lock(&mu_);
    if (input != kOwn) {
      taken_over_[{kernel, output}] = input;
    } else if (bytes >= static_cast<int64_t>(kLargeAllocation)) {
      ++num_large_;
    }
  }

  // The run alone had `input` when `kernel` ended.
  void NoteLetGo(const OpKernel* kernel, int input) {
    MutexLock lock(&mu_);
    let_go_.insert({kernel, input});
  }

  // The input that was taken over for it, or kOwn.
  int InputOf(const OpKernel* kernel, int output) const {
    MutexLock lock(&mu_);
    const auto it = taken_over_.find({kernel, output});
    return it == taken_over_.end() ? kOwn : it->second;
  }
  // False if it is not known.
  bool LetGo(const OpKernel* kernel, int input) const {
    MutexLock lock(&mu_);
    return let_go_.contains({kernel, input});
  }
  int num_large() const {
    MutexLock lock(&mu_);
    return num_large_;
  }

 private:
  mutable Mutex mu_;
  absl::flat_hash_map<std::pair<const OpKernel*, int>, int> taken_over_
      GUARDED_BY(mu_);
  absl::flat_hash_set<std::pair<const OpKernel*, int>> let_go_ GUARDED_BY(mu_);
  int num_large_ GUARDED_BY(mu_) = 0;
};

}  // namespace headrace

#endif  // HEADRACE_RUNTIME_REUSE_NOTES_H_
