// Epilogue: element-wise work after a convolution or a matrix product. It is
// applied while the result is still in the cache:
//
//   y = steps(activation(y * scale[channel] + bias[channel] + addend))
//
// where steps() rounds to the steps of a fake quantisation.
//
// Kernels that hold float sums in vectors apply it with a VectorTail
// (vector_tail.h). All others use ApplyEpilogue. FusedOps reads an Epilogue
// from the attrs of fused nodes (_FusedConv2D and similar).
//
// Plain values: thread-safe once set.
#ifndef HEADRACE_KERNELS_LIB_EPILOGUE_H_
#define HEADRACE_KERNELS_LIB_EPILOGUE_H_

#include <cstdint>
#include <string>

#include "absl/types/span.h"
#include "headrace/op_kernel.h"
#include "kernels/lib/fake_quant.h"

namespace headrace {

// Values from kFirstFunction on are functions, in the order in which
// FindActivation first saw them.
enum class Activation : uint8_t { kNone, kRelu, kRelu6, kFirstFunction };

// Finds the activation that `op` is. The op's schema says whether it is one
// (headrace/op_traits.h). The loop of its kernel computes the function
// (elementwise.h), so an op of a loaded library can be fused, too. NotFound if
// the op is no activation or has no float and double loops. Thread-safe.
Status FindActivation(absl::string_view op, Activation* out);

// The operations, and their tensors. A result is rows of channels, with the
// channels innermost. `scale` and `bias` are [channels]; `addend` has the
// result's shape. All have the result's type, may be null, and belong to the
// caller. int32 results are not scaled. RunConv (conv/conv_plan.h) also accepts
// narrower types and NCHW order, and converts them.
struct Epilogue {
  const Tensor* scale = nullptr;
  const Tensor* bias = nullptr;
  const Tensor* addend = nullptr;
  Activation activation = Activation::kNone;
  float leaky_alpha = 0.2f;  // for an activation with a parameter
  // Float results alone have them. The caller's; not all zero.
  const FakeQuantRange* steps = nullptr;

  bool empty() const {
    return scale == nullptr && bias == nullptr && addend == nullptr &&
           activation == Activation::kNone && steps == nullptr;
  }
};

// What plans know of an Epilogue before its tensors exist: their types.
// DT_INVALID: no such tensor.
struct EpilogueTypes {
  DataType scale = DT_INVALID, bias = DT_INVALID, addend = DT_INVALID;
  bool activates = false;  // or rounds to steps

  bool empty() const {
    return scale == DT_INVALID && bias == DT_INVALID && addend == DT_INVALID &&
           !activates;
  }
};

// A block of a result: `rows` rows starting at `row`, and in each `channels`
// channels starting at `channel`.
struct EpilogueBlock {
  int64_t row = 0, rows = 0;
  int64_t channel = 0, channels = 0;
  int64_t row_size = 0;  // elements from one row of the result to the next
};

// Applies the epilogue in place on this thread. `result` points to the start of
// the whole result. T is float, double or int32 (which wraps around and has no
// activations).
template <typename T>
void ApplyEpilogue(const Epilogue& e, const EpilogueBlock& block, T* result);

// The same for a whole result of float, double or int32, on the pool's threads.
void ApplyEpilogue(ThreadPool* pool, DataType dtype, const Epilogue& e,
                   int64_t rows, int64_t channels, void* result);

// The attr fused_ops: [Mul] [BiasAdd | FusedBatchNorm] [Add] [an activation]
// [FakeQuantWithMinMaxArgs], at least one of them. Their arguments are
// consecutive in `args`, in this order: a factor per channel; the bias, or
// scale, offset, mean and variance; the addend. The fake quantisation's range
// is in attr _result_steps: lowest and highest level, min and max.
struct FusedOps {
  bool mul = false, bias = false, batch_norm = false, add = false;
  Activation activation = Activation::kNone;
  float leaky_alpha = 0.2f, epsilon = 0.0001f;
  bool rounds = false;
  FakeQuantRange steps;  // if it rounds

  int num_args() const {
    return (mul ? 1 : 0) + (bias ? 1 : batch_norm ? 4 : 0) + (add ? 1 : 0);
  }
  // The epilogue of these ops, without tensors.
  // It points to this object.
  Epilogue Begin() const {
    return {.activation = activation,
            .leaky_alpha = leaky_alpha,
            .steps = rounds ? &steps : nullptr};
  }
  // The types of the epilogue's tensors for arguments of type `dtype`.
  // FusedBatchNorm becomes a scale and a bias; they are float if `dtype` is
  // narrower.
  EpilogueTypes Types(DataType dtype) const;
  // Parses the ops alone, without the range of steps. Unimplemented for any
  // other combination.
  static Status Parse(absl::Span<const std::string> ops, FusedOps* out);
  // Reads and checks the attrs fused_ops, num_args, epsilon, leakyrelu_alpha
  // and _result_steps of a node. Its `args` start at input `first_arg` and have
  // type T. Unimplemented for any other combination.
  static Status Read(const OpKernelConstruction& ctx, int first_arg,
                     FusedOps* out);
  // The same for a matrix product: a bias, an activation, or both.
  static Status ReadOfProduct(const OpKernelConstruction& ctx, int first_arg,
                              FusedOps* out);
};

}  // namespace headrace

#endif  // HEADRACE_KERNELS_LIB_EPILOGUE_H_
