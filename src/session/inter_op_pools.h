// InterOpPools: the thread pools on which a session runs nodes.
#ifndef HEADRACE_SESSION_INTER_OP_POOLS_H_
#define HEADRACE_SESSION_INTER_OP_POOLS_H_

#include <memory>
#include <vector>

#include "base/thread_pool.h"
#include "session/session_options.h"

namespace headrace {

class InterOpPools {
 public:
  // One for each of session_inter_op_thread_pool, or the only one: the
  // process's, or one of the session's own if the options ask. Pools with a
  // global_name are the process's, and all who name one must want as many
  // threads: InvalidArgument.
  static Status Make(const SessionOptions& options,
                     std::unique_ptr<InterOpPools>* out);

  // RunOptions.inter_op_thread_pool. Null for -1: a step that stays on the
  // caller's thread. InvalidArgument if there is no such pool.
  Status Find(int index, ThreadPool** out) const;
  ThreadPool* first() const { return pools_.front(); }

 private:
  std::vector<ThreadPool*> pools_;  // not empty
  std::vector<std::unique_ptr<ThreadPool>> owned_;
};

}  // namespace headrace

#endif  // HEADRACE_SESSION_INTER_OP_POOLS_H_
