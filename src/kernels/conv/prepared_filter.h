// What algorithms make of filters that never change: see constant_forms.h.
#ifndef HEADRACE_KERNELS_CONV_PREPARED_FILTER_H_
#define HEADRACE_KERNELS_CONV_PREPARED_FILTER_H_

#include "framework/tensor/stored_constant.h"
#include "kernels/conv/conv_impl.h"
#include "kernels/lib/constant_forms.h"

namespace headrace {

// One kernel's constant filter, which may be unaligned, and its hold on the
// forms made of it.
//
// Set before the first use; then thread-safe.
class ConstantFilter {
 public:
  void Set(const Tensor& filter) {
    filter_ = filter;
    forms_.Set(filter);
  }
  bool is_set() const { return forms_.is_set(); }

  // What `impl` makes of the filter for `p`, whose type may be wider than the
  // filter's; valid as long as this. Null if there is no constant filter or no
  // memory: the caller then does with a form for the one call.
  const void* Get(ThreadPool* pool, const ConvImplementation& impl,
                  const ConvParams& p);

  // The filter itself, for algorithms that read it as it is: from a copy that
  // is kept, if it is not aligned.
  Status Aligned(const Tensor** filter) const {
    return aligned_.Get(filter_, filter);
  }

 private:
  Tensor filter_;
  AlignedCopy aligned_;
  ConstantForms forms_;
};

}  // namespace headrace

#endif  // HEADRACE_KERNELS_CONV_PREPARED_FILTER_H_
