// ConstantFilter: the filter of a kernel if it never changes, and the forms
// that algorithms prepare of it (constant_forms.h).
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

  // The form that `impl` prepares of the filter for `p`, whose type may be
  // wider than the filter's. Valid as long as this object. Null if there is no
  // constant filter or no memory; the caller then makes a form for its call.
  const void* Get(ThreadPool* pool, const ConvImplementation& impl,
                  const ConvParams& p);

  // The filter itself, for algorithms that read no form. If it is not aligned,
  // it is a copy that is kept.
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
