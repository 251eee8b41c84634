// What a context records of the ops that it executes.
#ifndef HEADRACE_EAGER_TRACE_H_
#define HEADRACE_EAGER_TRACE_H_

#include <vector>

#include "eager/context.h"

namespace headrace {

// Thread-safe.
struct EagerContext::Trace {
  // The records refer to the kernel.
  void Keep(const RefPtr<EagerKernel>& kernel) {
    MutexLock lock(&mu);
    kernels.push_back(kernel);
  }

  Mutex mu;
  std::vector<RefPtr<EagerKernel>> kernels GUARDED_BY(mu);
  StepStatsCollector collector;
};

}  // namespace headrace

#endif  // HEADRACE_EAGER_TRACE_H_
