// ConvPlan: how one convolution is computed, decided once from its sizes.
// RunConv executes it; a memory plan sums what it takes. Both read the same
// plan, so they cannot disagree.
#ifndef HEADRACE_KERNELS_CONV_CONV_PLAN_H_
#define HEADRACE_KERNELS_CONV_CONV_PLAN_H_

#include <cstdint>

#include "headrace/op_kernel.h"
#include "kernels/conv/conv_impl.h"
#include "kernels/lib/epilogue.h"

namespace headrace {

class ConstantFilter;  // prepared_filter.h
class ConvChooser;     // conv_choice.h

// A plain value: thread-safe once made.
struct ConvPlan {
  // What the implementation reads in place of the filter.
  enum class FilterForm {
    kNone,     // the filter itself
    kKept,     // a form that a ConstantFilter keeps for all calls
    kPerCall,  // a form that each call makes and drops
  };

  // The plan with a given implementation, which accepts `ArithmeticOf(p)`; null
  // if the result is empty or a sum of nothing. `threads`: of the pool of the
  // run. p.constant_filter says that the run will be given a ConstantFilter.
  ConvPlan(const ConvImplementation* implementation, ConvDirection direction,
           const ConvParams& p, const EpilogueTypes& epilogue, int threads);
  ConvPlan() = default;

  // What implementations see of `p`: NHWC, and float for half and bfloat16; as
  // few columns and as many channels as the same bytes can be read as.
  static ConvParams ArithmeticOf(const ConvParams& p);

  // Null: the result is empty, or zeros to which the epilogue is applied.
  const ConvImplementation* implementation = nullptr;
  ConvDirection direction = ConvDirection::kForward;
  ConvParams params;  // as ArithmeticOf gives them
  // Casts. The tensors have type `dtype`; where params.dtype is wider, what is
  // read is widened before and the result rounded afterwards, once.
  DataType dtype = DT_FLOAT;
  // Images, but not filters, come and go as NCHW.
  bool transposes = false;
  FilterForm filter_form = FilterForm::kNone;
  int64_t form_bytes = 0;
  int64_t workspace_bytes = 0;  // ConvArgs::workspace
  int64_t heap_bytes = 0;       // ConvImplementation::HeapBytes
  EpilogueTypes epilogue;
  // The implementation applies it; otherwise a pass over the result does.
  bool fuses_epilogue = false;

  bool casts() const { return dtype != params.dtype; }
  // The result is an image in NCHW order.
  bool transposes_result() const {
    return transposes && direction != ConvDirection::kBackwardFilter;
  }
  int64_t result_elements() const;

  // What RunConv takes from the allocator at most at once beside `result` and
  // what a ConstantFilter keeps. If there is no memory to keep a form, the call
  // makes one for itself and takes form_bytes more.
  int64_t TemporaryBytes() const;
};

// The plan with the implementation that `chooser` takes, or ChooseConv where
// that is null. `epilogue`: what RunConv will be given. Unimplemented for types
// that no algorithm accepts. Does not wait for measurements.
Status PlanConv(ThreadPool* pool, ConvDirection direction, const ConvParams& p,
                const EpilogueTypes& epilogue, ConvChooser* chooser,
                ConvPlan* plan);

// What RunConv reads. The tensor that is the result is null (conv_impl.h,
// ConvArgs).
struct ConvTensors {
  const Tensor* input = nullptr;
  const Tensor* filter = nullptr;
  const Tensor* out_backprop = nullptr;
};

// Computes `result` as planned for these shapes and for the pool of `ctx`.
// `constant` keeps the forms of `filter`; null unless the plan was made with
// constant_filter. The epilogue's tensors have the types of plan.epilogue.
// Reports the algorithm to a trace.
Status RunConv(OpKernelContext* ctx, const ConvPlan& plan,
               const ConvTensors& tensors, const Epilogue& epilogue,
               ConstantFilter* constant, Tensor* result);

}  // namespace headrace

#endif  // HEADRACE_KERNELS_CONV_CONV_PLAN_H_
