// What algorithms make of filters that never change, packed panels or
// transforms: made when first needed, in parallel, once in a process for the
// same bytes, and kept as long as a kernel holds it.
#ifndef HEADRACE_KERNELS_CONV_PREPARED_FILTER_H_
#define HEADRACE_KERNELS_CONV_PREPARED_FILTER_H_

#include <cstdint>
#include <memory>
#include <vector>

#include "base/mutex.h"
#include "framework/tensor.h"
#include "kernels/conv/conv_impl.h"

namespace headrace {

class PreparedFilter;

// One kernel's constant filter, and its hold on the forms made of it.
//
// Set before the first use; then thread-safe.
class ConstantFilter {
 public:
  // The buffer stays alive as long as this does.
  void Set(const Tensor& filter) { filter_ = filter; }
  bool is_set() const { return filter_.IsInitialized(); }

  // What `impl` makes of the filter for `p`, whose type may be wider than the
  // filter's; valid as long as this. Null if there is no constant filter or no
  // memory: the caller then does with a form for the one call.
  const void* Get(ThreadPool* pool, const ConvImplementation& impl,
                  const ConvParams& p);

 private:
  Tensor filter_;
  Mutex mu_;
  std::vector<std::shared_ptr<PreparedFilter>> held_ GUARDED_BY(mu_);
};

// Bytes of all prepared filters of the process.
int64_t PreparedFilterBytesInUse();

}  // namespace headrace

#endif  // HEADRACE_KERNELS_CONV_PREPARED_FILTER_H_
