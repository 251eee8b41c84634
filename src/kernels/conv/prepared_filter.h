// What algorithms make of filters that never change: see constant_forms.h.
#ifndef HEADRACE_KERNELS_CONV_PREPARED_FILTER_H_
#define HEADRACE_KERNELS_CONV_PREPARED_FILTER_H_

#include "kernels/constant_forms.h"
#include "kernels/conv/conv_impl.h"

namespace headrace {

// One kernel's constant filter, and its hold on the forms made of it.
//
// Set before the first use; then thread-safe.
class ConstantFilter {
 public:
  void Set(const Tensor& filter) { forms_.Set(filter); }
  bool is_set() const { return forms_.is_set(); }

  // What `impl` makes of the filter for `p`, whose type may be wider than the
  // filter's; valid as long as this. Null if there is no constant filter or no
  // memory: the caller then does with a form for the one call.
  const void* Get(ThreadPool* pool, const ConvImplementation& impl,
                  const ConvParams& p);

 private:
  ConstantForms forms_;
};

}  // namespace headrace

#endif  // HEADRACE_KERNELS_CONV_PREPARED_FILTER_H_
