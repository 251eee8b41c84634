// _FusedElementwiseGroup: element-wise ops that read each other's results, run
// over one block of the tensors after another. Results that are no outputs live
// in scratch blocks, which stay in the first level cache. The loops are those
// of the ops, so every bit is what the ops one by one would give.
//
// An output may be written over an input that no later op of the block reads.
#include <algorithm>
#include <cstdint>
#include <string>
#include <vector>

#include "headrace/elementwise_loops.h"
#include "headrace/op_kernel.h"
#include "kernels/lib/cancellable_loops.h"
#include "kernels/lib/elementwise_chain.h"

namespace headrace {
namespace {

class FusedElementwiseGroupOp : public OpKernel {
 public:
  explicit FusedElementwiseGroupOp(OpKernelConstruction* ctx) : OpKernel(ctx) {
    expensive_ = false;
    OP_REQUIRES_OK(ctx, Init(ctx));
    PlaceResults();
  }

  void Compute(OpKernelContext* ctx) override {
    const TensorShape& shape = ctx->input(0).shape();
    Blocks b;
    for (int i = 0; i < num_inputs(); ++i) {
      Operand x;
      OP_REQUIRES_OK(ctx, Classify(ctx->input(i), shape, i, &x));
      b.inputs.push_back(x);
    }
    for (size_t k = 0; k < results_.size(); ++k) {
      // Written over what only earlier ops read.
      std::vector<int> candidates;
      for (int i = 0; i < num_inputs(); ++i) {
        if (b.inputs[i].kind == Kind::kWhole &&
            last_reader_[i] <= results_[k]) {
          candidates.push_back(i);
        }
      }
      Tensor* y = nullptr;
      OP_REQUIRES_OK(ctx, ctx->forward_input_or_allocate_output(
                              candidates, static_cast<int>(k), shape, &y));
      b.outputs.push_back(static_cast<char*>(y->raw_data()));
    }
    const int64_t n = shape.num_elements();
    const auto run = [&](int64_t begin, int64_t end) {
      alignas(64) char scratch[kScratchBytes];
      const int64_t block = block_bytes_ / size_;
      for (int64_t i = begin; i < end; i += block) {
        RunBlock(b, i, std::min(block, end - i), scratch);
      }
    };
    if (static_cast<double>(n) * cost_ < kInlineNs) {
      run(0, n);
    } else {
      CancellableLoops cancellable(ctx);
      ctx->ParallelFor(n, cost_, run);
    }
    if (b.state.failed) ctx->SetStatus(Error());
  }

 private:
  static constexpr int64_t kMaxBlockBytes = 4096;
  // On the stack, which may be a small one, and in the first level cache.
  static constexpr int64_t kScratchBytes = 32768;
  static constexpr int64_t kMaxOps = 48;
  // Less work than this, in ns, runs on one thread.
  static constexpr double kInlineNs = 60000;

  enum class Kind { kWhole, kScalar, kRow, kColumn };
  struct Operand {
    const char* data = nullptr;
    Kind kind = Kind::kWhole;
    int64_t period = 1;  // elements of a row; a column's elements are repeated
  };
  struct Step {
    const UnaryLoop* unary = nullptr;  // one of the two
    const BinaryLoop* binary = nullptr;
    int64_t a = 0, b = -1;
    int output = -1;
    int place = -1;  // in scratch, if it is no output
  };
  struct Blocks {
    std::vector<Operand> inputs;
    std::vector<char*> outputs;
    ElementwiseState state;
  };

  Status Init(OpKernelConstruction* ctx) {
    std::vector<std::string> ops;
    std::vector<int64_t> operands;
    HR_RETURN_IF_ERROR(ctx->GetAttr("ops", &ops));
    HR_RETURN_IF_ERROR(ctx->GetAttr("operands", &operands));
    HR_RETURN_IF_ERROR(ctx->GetAttr("results", &results_));
    const auto count = static_cast<int64_t>(ops.size());
    const DataType type = input_type(0);
    size_ = DataTypeSize(type);
    if (count < 1 || count > kMaxOps ||
        static_cast<int64_t>(operands.size()) != 2 * count) {
      return errors::InvalidArgument("ops: wanted 1 to ", kMaxOps,
                                     " and two operands for each, got ", count,
                                     " and ", operands.size());
    }
    for (int64_t i = 0; i < count; ++i) {
      Step step = {.a = operands[2 * i], .b = operands[2 * i + 1]};
      const int64_t known = num_inputs() + i;
      if (step.a < 0 || step.a >= known || step.b < -1 || step.b >= known) {
        return errors::InvalidArgument(
            "operands of ops[", i, "] must be of the ", known,
            " values before it, got ", step.a, " and ", step.b);
      }
      if (step.b < 0) {
        step.unary = FindUnaryLoop(ops[i], type);
      } else {
        step.binary = FindBinaryLoop(ops[i], type);
      }
      if (step.unary == nullptr && step.binary == nullptr) {
        return errors::InvalidArgument(
            "ops[", i, "]: ", ops[i], " is no element-wise op of ",
            step.b < 0 ? 1 : 2, " operands of type ", DataTypeString(type));
      }
      cost_ += step.unary != nullptr ? step.unary->cost : step.binary->cost;
      steps_.push_back(step);
    }
    if (static_cast<int>(results_.size()) != num_outputs()) {
      return errors::InvalidArgument("results: wanted ", num_outputs(),
                                     ", got ", results_.size());
    }
    for (size_t k = 0; k < results_.size(); ++k) {
      if (results_[k] < 0 || results_[k] >= count ||
          steps_[results_[k]].output >= 0) {
        return errors::InvalidArgument("results[", k,
                                       "] must be another of the ", count,
                                       " ops, got ", results_[k]);
      }
      steps_[results_[k]].output = static_cast<int>(k);
    }
    last_reader_.assign(num_inputs() + count, -1);
    for (int64_t i = 0; i < count; ++i) {
      last_reader_[steps_[i].a] = i;
      if (steps_[i].b >= 0) last_reader_[steps_[i].b] = i;
    }
    return OkStatus();
  }

  // Gives results in scratch their places, one after the last reader of another
  // if there is such a place.
  void PlaceResults() {
    std::vector<int64_t> free_from;  // the op from which on a place is free
    for (int64_t i = 0; i < static_cast<int64_t>(steps_.size()); ++i) {
      Step& step = steps_[i];
      if (step.output >= 0) continue;
      size_t at = 0;
      while (at < free_from.size() && free_from[at] > i) ++at;
      if (at == free_from.size()) free_from.push_back(0);
      step.place = static_cast<int>(at);
      free_from[at] = std::max(last_reader_[num_inputs() + i], i + 1);
    }
    const auto places = static_cast<int64_t>(free_from.size());
    block_bytes_ =
        std::min(kMaxBlockBytes, kScratchBytes / std::max<int64_t>(places, 1));
    block_bytes_ -= block_bytes_ % 64;
  }

  Status Classify(const Tensor& t, const TensorShape& shape, int i,
                  Operand* x) const {
    x->data = static_cast<const char*>(t.raw_data());
    if (t.shape() == shape) return OkStatus();
    const int last = shape.dims() - 1;
    if (t.NumElements() == 1 && t.dims() <= shape.dims()) {
      x->kind = Kind::kScalar;
      return OkStatus();
    }
    if (IsRowOf(t.shape(), shape)) {
      x->kind = Kind::kRow;
      x->period = std::max<int64_t>(1, t.NumElements());
      return OkStatus();
    }
    bool is_column =
        last >= 0 && t.dims() == shape.dims() && t.dim_size(last) == 1;
    for (int d = 0; is_column && d < last; ++d) {
      is_column = t.dim_size(d) == shape.dim_size(d);
    }
    if (!is_column) {
      return errors::InvalidArgument(
          "inputs[", i,
          "] must have one element, or be a row or a column of "
          "inputs[0], whose shape is ",
          shape.DebugString(), ", got ", t.shape().DebugString());
    }
    x->kind = Kind::kColumn;
    x->period = std::max<int64_t>(1, shape.dim_size(last));
    return OkStatus();
  }

  void RunBlock(Blocks& b, int64_t at, int64_t n, char* scratch) const {
    for (size_t i = 0; i < steps_.size(); ++i) {
      const Step& step = steps_[i];
      char* const y = Result(b, step, at, scratch);
      const Operand x = Find(b, step.a, at, scratch);
      const Operand z = step.b < 0 ? Operand() : Find(b, step.b, at, scratch);
      // Up to the end of a row at a time, if there are rows.
      for (int64_t j = 0; j < n;) {
        int64_t m = n - j;
        const char* const p = At(x, at, j, &m);
        const char* const q = step.b < 0 ? nullptr : At(z, at, j, &m);
        RunStep(step, p, IsRepeated(x), q, IsRepeated(z), y + j * size_, m,
                &b.state);
        j += m;
      }
    }
  }

  static bool IsRepeated(const Operand& x) {
    return x.kind == Kind::kScalar || x.kind == Kind::kColumn;
  }

  char* Result(const Blocks& b, const Step& step, int64_t at,
               char* scratch) const {
    return step.output >= 0 ? b.outputs[step.output] + at * size_
                            : scratch + step.place * block_bytes_;
  }

  // The value, from the element `at` on where it is whole.
  Operand Find(const Blocks& b, int64_t value, int64_t at,
               char* scratch) const {
    if (value >= num_inputs()) {
      return {Result(b, steps_[value - num_inputs()], at, scratch)};
    }
    Operand x = b.inputs[value];
    if (x.kind == Kind::kWhole) x.data += at * size_;
    return x;
  }

  // The element at + j of the operand; lessens *m to what lies in its row.
  const char* At(const Operand& x, int64_t at, int64_t j, int64_t* m) const {
    switch (x.kind) {
      case Kind::kWhole:
        return x.data + j * size_;
      case Kind::kScalar:
        break;
      case Kind::kRow: {
        const int64_t in_row = (at + j) % x.period;
        *m = std::min(*m, x.period - in_row);
        return x.data + in_row * size_;
      }
      case Kind::kColumn:
        *m = std::min(*m, x.period - (at + j) % x.period);
        return x.data + (at + j) / x.period * size_;
    }
    return x.data;
  }

  void RunStep(const Step& step, const char* x, bool repeats_x, const char* z,
               bool repeats_z, char* y, int64_t n,
               ElementwiseState* state) const {
    const bool is_one = repeats_x && (z == nullptr || repeats_z);
    const int64_t count = is_one ? 1 : n;
    if (z == nullptr) {
      step.unary->run(x, y, count, state);
    } else {
      step.binary->run(x, z, y, count,
                       is_one || (!repeats_x && !repeats_z) ? LoopShape::kBoth
                       : repeats_x ? LoopShape::kFirstScalar
                                   : LoopShape::kSecondScalar,
                       state);
    }
    if (count == n) return;
    if (size_ == sizeof(float)) {
      Repeat<float>(y, n);
    } else {
      Repeat<double>(y, n);
    }
  }

  template <typename T>
  static void Repeat(char* y, int64_t n) {
    T* const to = reinterpret_cast<T*>(y);
    std::fill_n(to, n, *to);
  }

  Status Error() const {
    for (const Step& step : steps_) {
      const auto error = step.unary ? step.unary->error : step.binary->error;
      if (error != nullptr) return error();
    }
    return errors::Internal("a group of element-wise ops failed");
  }

  std::vector<Step> steps_;
  std::vector<int64_t> results_;
  std::vector<int64_t> last_reader_;  // the op, by value; -1: none
  int64_t size_ = 0;
  int64_t block_bytes_ = 0;  // of a result in scratch
  double cost_ = 0;
};
REGISTER_KERNEL_BUILDER(Name("_FusedElementwiseGroup")
                            .Device(DEVICE_CPU)
                            .TypeConstraint<float>("T"),
                        FusedElementwiseGroupOp);
REGISTER_KERNEL_BUILDER(Name("_FusedElementwiseGroup")
                            .Device(DEVICE_CPU)
                            .TypeConstraint<double>("T"),
                        FusedElementwiseGroupOp);

}  // namespace
}  // namespace headrace
