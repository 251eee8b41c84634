// Epilogue: what follows a convolution or a matrix product element by element,
// applied to its result while that is still in the cache:
//
//   y = activation(y * scale[channel] + bias[channel] + addend)
//
// Kernels that hold sums of floats in vectors apply it by a VectorTail
// (vector_tail.h), all others by ApplyEpilogue. FusedOps are the attrs in which
// the nodes of graph passes (_FusedConv2D and its like) spell an Epilogue.
//
// Plain values: thread-safe once set.
#ifndef HEADRACE_KERNELS_LIB_EPILOGUE_H_
#define HEADRACE_KERNELS_LIB_EPILOGUE_H_

#include <cstdint>
#include <string>

#include "absl/types/span.h"
#include "headrace/op_kernel.h"

namespace headrace {

// Values from kFirstFunction on are loops of ops, in the order in which
// FindActivation met them.
enum class Activation : uint8_t { kNone, kRelu, kRelu6, kFirstFunction };

// The op as an activation. Which ops are activations, their schemas say
// (headrace/op_traits.h); what a function computes is the loop of the op's
// kernel (elementwise.h). So an op of a loaded library can be fused. NotFound
// if it is none, or has no loops for float and double. Thread-safe.
Status FindActivation(absl::string_view op, Activation* out);

// What is done, and with which tensors. A result is rows of channels, the
// channels innermost: `scale` and `bias` are [channels], `addend` has the
// result's shape. All have the result's type and may be null; the caller owns
// them. int32 results are not scaled. RunConv (conv/conv_plan.h) takes tensors
// of narrower types and in NCHW order, too, and converts them.
struct Epilogue {
  const Tensor* scale = nullptr;
  const Tensor* bias = nullptr;
  const Tensor* addend = nullptr;
  Activation activation = Activation::kNone;
  float leaky_alpha = 0.2f;  // of an activation that has a parameter

  bool empty() const {
    return scale == nullptr && bias == nullptr && addend == nullptr &&
           activation == Activation::kNone;
  }
};

// What can be said of an Epilogue before its tensors exist, for plans: their
// types, DT_INVALID for those that are absent.
struct EpilogueTypes {
  DataType scale = DT_INVALID, bias = DT_INVALID, addend = DT_INVALID;
  bool activates = false;

  bool empty() const {
    return scale == DT_INVALID && bias == DT_INVALID && addend == DT_INVALID &&
           !activates;
  }
};

// A part of a result: `rows` rows from `row` on, of each `channels` channels
// from `channel` on.
struct EpilogueBlock {
  int64_t row = 0, rows = 0;
  int64_t channel = 0, channels = 0;
  int64_t row_size = 0;  // elements from one row of the result to the next
};

// In place, on this thread. `result` is the whole result's beginning. T: float,
// double or int32 (which wraps around, and has no activations).
template <typename T>
void ApplyEpilogue(const Epilogue& e, const EpilogueBlock& block, T* result);

// The same for a whole result of float, double or int32, on the pool.
void ApplyEpilogue(ThreadPool* pool, DataType dtype, const Epilogue& e,
                   int64_t rows, int64_t channels, void* result);

// fused_ops = [Mul] [BiasAdd | FusedBatchNorm] [Add] [an activation], at least
// one of them; their arguments follow each other in `args` in this order: a
// factor for each channel; the bias, or scale, offset, mean and variance; the
// addend.
struct FusedOps {
  bool mul = false, bias = false, batch_norm = false, add = false;
  Activation activation = Activation::kNone;
  float leaky_alpha = 0.2f, epsilon = 0.0001f;

  int num_args() const {
    return (mul ? 1 : 0) + (bias ? 1 : batch_norm ? 4 : 0) + (add ? 1 : 0);
  }
  // The epilogue that these ops are, still without tensors.
  Epilogue Begin() const {
    return {.activation = activation, .leaky_alpha = leaky_alpha};
  }
  // The types of its tensors if the arguments have type `dtype`. FusedBatchNorm
  // becomes a scale and a bias, which are float where `dtype` is narrower.
  EpilogueTypes Types(DataType dtype) const;
  // Of the ops alone. Unimplemented for other combinations.
  static Status Parse(absl::Span<const std::string> ops, FusedOps* out);
  // Reads and checks the attrs fused_ops, num_args, epsilon and leakyrelu_alpha
  // of a node whose `args` begin at input `first_arg` and have type T.
  // Unimplemented for other combinations.
  static Status Read(const OpKernelConstruction& ctx, int first_arg,
                     FusedOps* out);
};

}  // namespace headrace

#endif  // HEADRACE_KERNELS_LIB_EPILOGUE_H_
