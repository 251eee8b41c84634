#include "kernels/lib/elementwise_chain.h"

#include <algorithm>
#include <cstring>
#include <string>

namespace headrace {

bool IsRowOf(const TensorShape& row, const TensorShape& x) {
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

Status ElementwiseChain::Init(OpKernelConstruction* ctx, DataType type,
                              int num_args) {
  std::vector<std::string> ops;
  std::vector<int64_t> sides;
  HR_RETURN_IF_ERROR(ctx->GetAttr("ops", &ops));
  HR_RETURN_IF_ERROR(ctx->GetAttr("sides", &sides));
  if (ops.size() != sides.size()) {
    return errors::InvalidArgument("ops and sides must be equally long, got ",
                                   ops.size(), " and ", sides.size());
  }
  int wanted = 0;
  for (size_t i = 0; i < ops.size(); ++i) {
    if (sides[i] < kUnary || sides[i] > kArgFirst) {
      return errors::InvalidArgument("sides[", i, "] must be 0, 1 or 2, got ",
                                     sides[i]);
    }
    Step step = {nullptr, nullptr, static_cast<Side>(sides[i])};
    if (step.side == kUnary) {
      step.unary = FindUnaryLoop(ops[i], type);
    } else {
      step.binary = FindBinaryLoop(ops[i], type);
      ++wanted;
    }
    if (step.unary == nullptr && step.binary == nullptr) {
      return errors::InvalidArgument(
          "ops[", i, "]: ", ops[i], " is no element-wise op of ",
          step.side == kUnary ? 1 : 2, " operands of type ",
          DataTypeString(type));
    }
    cost_ += step.unary != nullptr ? step.unary->cost : step.binary->cost;
    steps_.push_back(step);
  }
  if (wanted != num_args) {
    return errors::InvalidArgument("the ops want ", wanted, " args, got ",
                                   num_args);
  }
  size_ = DataTypeSize(type);
  return OkStatus();
}

Status ElementwiseChain::FindArgs(OpKernelContext* ctx, const Tensor& x,
                                  int first, std::vector<Arg>* args,
                                  Tensor* laid_out) const {
  args->resize(ctx->num_inputs() - first);
  int64_t short_rows = 0;
  for (size_t k = 0; k < args->size(); ++k) {
    const Tensor& t = ctx->input(static_cast<int>(k) + first);
    if (!IsRowOf(t.shape(), x.shape())) {
      return errors::InvalidArgument(
          "args[", k, "] must have one element or a shape that x's shape ",
          x.shape().DebugString(), " ends with, got ", t.shape().DebugString());
    }
    const int64_t period = t.NumElements();
    (*args)[k] = {static_cast<const char*>(t.raw_data()), period};
    if (period > 1 && period < kShortRow) ++short_rows;
  }
  if (short_rows == 0 || x.NumElements() == 0) return OkStatus();
  // So that a block can start at any element i % period.
  constexpr int64_t kLaidOut = kBlock + kShortRow;
  HR_RETURN_IF_ERROR(ctx->allocate_temp(
      x.dtype(), TensorShape({short_rows, kLaidOut}), laid_out, Tensor::kHeap));
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

Status ElementwiseChain::Error() const {
  for (const Step& step : steps_) {
    const auto error = step.unary ? step.unary->error : step.binary->error;
    if (error != nullptr) return error();
  }
  return errors::Internal("a chain of element-wise ops failed");
}

void ElementwiseChain::RunBlock(const char* x, char* y,
                                absl::Span<const Arg> args, int64_t at,
                                int64_t n, ElementwiseState* state) const {
  char* const to = y;
  const char* from = x;
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

void ElementwiseChain::RunBinary(const Step& step, const char* x,
                                 const Arg& arg, char* y, int64_t at, int64_t n,
                                 ElementwiseState* state) const {
  const bool first = step.side == kArgFirst;
  if (arg.period == 1) {
    step.binary->run(first ? arg.data : x, first ? x : arg.data, y, n,
                     first ? LoopShape::kFirstScalar : LoopShape::kSecondScalar,
                     state);
    return;
  }
  int64_t in_row = at % arg.period;
  const int64_t row = arg.period < kShortRow ? kBlock + kShortRow : arg.period;
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

}  // namespace headrace
