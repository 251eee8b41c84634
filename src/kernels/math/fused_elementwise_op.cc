// _FusedElementwise: a chain of element-wise ops, run over one cache-sized
// block of the tensor after another instead of over the whole tensor once an
// op. The loops are those of the ops themselves, so every bit is what the ops
// one by one would give.
//
// The result has the shape of `x`; the other operands of binary ops ("args", in
// the order in which they are used) have that shape too, or one element, or are
// rows: a shape that x's ends with.
#include <algorithm>
#include <cstring>
#include <string>
#include <vector>

#include "headrace/op_kernel.h"
#include "kernels/lib/cancellable_loops.h"
#include "kernels/lib/elementwise.h"

namespace headrace {
namespace {

// The side of a binary op that has the other operand, as in the attr "sides".
enum Side : int { kUnary = 0, kArgSecond = 1, kArgFirst = 2 };

struct Step {
  const UnaryLoop* unary;  // one of the two
  const BinaryLoop* binary;
  Side side;
};

class FusedElementwiseOp : public OpKernel {
 public:
  explicit FusedElementwiseOp(OpKernelConstruction* ctx) : OpKernel(ctx) {
    expensive_ = false;
    std::vector<std::string> ops;
    std::vector<int64_t> sides;
    OP_REQUIRES_OK(ctx, ctx->GetAttr("ops", &ops));
    OP_REQUIRES_OK(ctx, ctx->GetAttr("sides", &sides));
    OP_REQUIRES(ctx, ops.size() == sides.size(),
                errors::InvalidArgument("ops and sides must be equally long, "
                                        "got ",
                                        ops.size(), " and ", sides.size()));
    const DataType type = input_type(0);
    int num_args = 0;
    for (size_t i = 0; i < ops.size(); ++i) {
      OP_REQUIRES(ctx, kUnary <= sides[i] && sides[i] <= kArgFirst,
                  errors::InvalidArgument("sides[", i, "] must be 0, 1 or 2, ",
                                          "got ", sides[i]));
      Step step = {nullptr, nullptr, static_cast<Side>(sides[i])};
      if (step.side == kUnary) {
        step.unary = FindUnaryLoop(ops[i], type);
      } else {
        step.binary = FindBinaryLoop(ops[i], type);
        ++num_args;
      }
      OP_REQUIRES(ctx, step.unary != nullptr || step.binary != nullptr,
                  errors::InvalidArgument(
                      "ops[", i, "]: ", ops[i], " is no element-wise op of ",
                      step.side == kUnary ? 1 : 2, " operands of type ",
                      DataTypeString(type)));
      cost_ += step.unary != nullptr ? step.unary->cost : step.binary->cost;
      steps_.push_back(step);
    }
    OP_REQUIRES(ctx, num_args == num_inputs() - 1,
                errors::InvalidArgument("the ops want ", num_args,
                                        " args, got ", num_inputs() - 1));
    size_ = DataTypeSize(type);
  }

  void Compute(OpKernelContext* ctx) override {
    const Tensor& x = ctx->input(0);
    const int64_t n = x.NumElements();
    std::vector<Arg> args(num_inputs() - 1);
    Tensor laid_out;
    OP_REQUIRES_OK(ctx, FindArgs(ctx, &args, &laid_out));
    Tensor* y = nullptr;
    OP_REQUIRES_OK(
        ctx, ctx->forward_input_or_allocate_output({0}, 0, x.shape(), &y));
    const char* from = static_cast<const char*>(x.raw_data());
    char* to = static_cast<char*>(y->raw_data());
    ElementwiseState state;
    const auto run = [&](int64_t begin, int64_t end) {
      for (int64_t i = begin; i < end; i += kBlock) {
        RunBlock(from, to, args, i, std::min(kBlock, end - i), &state);
      }
    };
    if (static_cast<double>(n) * cost_ < kInlineNs) {
      run(0, n);
    } else {
      CancellableLoops cancellable(ctx);
      ctx->ParallelFor(n, cost_, run);
    }
    if (!state.failed) return;
    for (const Step& step : steps_) {
      const auto error = step.unary ? step.unary->error : step.binary->error;
      if (error != nullptr) ctx->SetStatus(error());
    }
  }

 private:
  // Elements per block. With one operand, a block fits a cache of 32 KiB.
  static constexpr int64_t kBlock = 1024;
  // Rows shorter than this are laid out one after the other.
  static constexpr int64_t kShortRow = 256;
  // Less work than this, in ns, runs on one thread.
  static constexpr double kInlineNs = 20000;

  // Element i of the operand is data[i % period].
  struct Arg {
    const char* data;
    int64_t period;
  };

  Status FindArgs(OpKernelContext* ctx, std::vector<Arg>* args,
                  Tensor* laid_out) const {
    const Tensor& x = ctx->input(0);
    int64_t short_rows = 0;
    for (size_t k = 0; k < args->size(); ++k) {
      const Tensor& t = ctx->input(static_cast<int>(k) + 1);
      if (!IsRowOf(t.shape(), x.shape())) {
        return errors::InvalidArgument(
            "args[", k, "] must have one element or a shape that x's shape ",
            x.shape().DebugString(), " ends with, got ",
            t.shape().DebugString());
      }
      const int64_t period = t.NumElements();
      (*args)[k] = {static_cast<const char*>(t.raw_data()), period};
      if (period > 1 && period < kShortRow) ++short_rows;
    }
    if (short_rows == 0 || x.NumElements() == 0) return OkStatus();
    // So that a block can start at any element i % period.
    constexpr int64_t kLaidOut = kBlock + kShortRow;
    HR_RETURN_IF_ERROR(ctx->allocate_temp(x.dtype(),
                                          TensorShape({short_rows, kLaidOut}),
                                          laid_out, Tensor::kHeap));
    char* to = static_cast<char*>(laid_out->raw_data());
    for (Arg& arg : *args) {
      if (arg.period <= 1 || arg.period >= kShortRow) continue;
      for (int64_t i = 0; i < kLaidOut; i += arg.period) {
        std::memcpy(to + i * size_, arg.data,
                    std::min(arg.period, kLaidOut - i) * size_);
      }
      arg.data = to;
      to += kLaidOut * size_;
    }
    return OkStatus();
  }

  static bool IsRowOf(const TensorShape& row, const TensorShape& x) {
    if (row.dims() > x.dims()) return false;
    int d = 0;
    while (d < row.dims() && row.dim_size(d) == 1) ++d;
    for (; d < row.dims(); ++d) {
      if (row.dim_size(d) != x.dim_size(x.dims() - row.dims() + d)) {
        return false;
      }
    }
    return true;
  }

  void RunBlock(const char* x, char* y, absl::Span<const Arg> args, int64_t at,
                int64_t n, ElementwiseState* state) const {
    char* const to = y + at * size_;
    const char* from = x + at * size_;
    auto arg = args.begin();
    for (const Step& step : steps_) {
      if (step.unary != nullptr) {
        step.unary->run(from, to, n, state);
      } else {
        RunBinary(step, from, *arg++, to, at, n, state);
      }
      from = to;
    }
  }

  void RunBinary(const Step& step, const char* x, const Arg& arg, char* y,
                 int64_t at, int64_t n, ElementwiseState* state) const {
    const bool first = step.side == kArgFirst;
    if (arg.period == 1) {
      step.binary->run(
          first ? arg.data : x, first ? x : arg.data, y, n,
          first ? LoopShape::kFirstScalar : LoopShape::kSecondScalar, state);
      return;
    }
    int64_t in_row = at % arg.period;
    const int64_t row =
        arg.period < kShortRow ? kBlock + kShortRow : arg.period;
    for (int64_t i = 0; i < n;) {
      const int64_t m = std::min(n - i, row - in_row);
      const char* a = arg.data + in_row * size_;
      const char* b = x + i * size_;
      step.binary->run(first ? a : b, first ? b : a, y + i * size_, m,
                       LoopShape::kBoth, state);
      i += m;
      in_row = 0;
    }
  }

  std::vector<Step> steps_;
  double cost_ = 0;
  int64_t size_ = 0;
};
REGISTER_KERNEL_BUILDER(
    Name("_FusedElementwise").Device(DEVICE_CPU).TypeConstraint<float>("T"),
    FusedElementwiseOp);
REGISTER_KERNEL_BUILDER(
    Name("_FusedElementwise").Device(DEVICE_CPU).TypeConstraint<double>("T"),
    FusedElementwiseOp);

}  // namespace
}  // namespace headrace
