// A chain of element-wise ops, run over one cache-sized block of a tensor after
// another instead of over the whole tensor once an op. The loops are those of
// the ops themselves, so every bit is what the ops one by one would give.
//
// The results have the shape of `x`; the other operands of binary ops ("args",
// in the order in which they are used) have that shape too, or one element, or
// are rows: a shape that x's ends with.
#ifndef HEADRACE_KERNELS_LIB_ELEMENTWISE_CHAIN_H_
#define HEADRACE_KERNELS_LIB_ELEMENTWISE_CHAIN_H_

#include <vector>

#include "absl/types/span.h"
#include "kernels/lib/elementwise.h"

namespace headrace {

// Whether each row of `x` has the shape `row`, leading dims of 1 aside: `row`
// is repeated over x without gaps.
bool IsRowOf(const TensorShape& row, const TensorShape& x);

// Constant after Init, hence thread-safe.
class ElementwiseChain {
 public:
  // Elements per block. With one operand, a block fits a cache of 32 KiB.
  static constexpr int64_t kBlock = 1024;

  // From the attrs "ops" and "sides" of a node whose ops work on `type` and
  // take `num_args` args.
  Status Init(OpKernelConstruction* ctx, DataType type, int num_args);

  // Element i of the operand is data[i % period].
  struct Arg {
    const char* data;
    int64_t period;
  };
  // The args are the inputs from `first` on. `laid_out` keeps what `args`
  // point to.
  Status FindArgs(OpKernelContext* ctx, const Tensor& x, int first,
                  std::vector<Arg>* args, Tensor* laid_out) const;

  // The values of the elements [at, at + n), n <= kBlock, which x begins with;
  // y may be x.
  void RunBlock(const char* x, char* y, absl::Span<const Arg> args, int64_t at,
                int64_t n, ElementwiseState* state) const;

  // What a failed state means.
  Status Error() const;

  double cost() const { return cost_; }  // ns per element

 private:
  // Rows shorter than this are laid out one after the other.
  static constexpr int64_t kShortRow = 256;

  // The side of a binary op that has the other operand, as in "sides".
  enum Side : int { kUnary = 0, kArgSecond = 1, kArgFirst = 2 };
  struct Step {
    const UnaryLoop* unary;  // one of the two
    const BinaryLoop* binary;
    Side side;
  };

  void RunBinary(const Step& step, const char* x, const Arg& arg, char* y,
                 int64_t at, int64_t n, ElementwiseState* state) const;

  std::vector<Step> steps_;
  double cost_ = 0;
  int64_t size_ = 0;
};

}  // namespace headrace

#endif  // HEADRACE_KERNELS_LIB_ELEMENTWISE_CHAIN_H_
