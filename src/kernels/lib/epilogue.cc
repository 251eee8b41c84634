#include "kernels/lib/epilogue.h"

#include <atomic>
#include <limits>
#include <string>
#include <type_traits>
#include <vector>

#include "absl/strings/str_join.h"
#include "base/thread_pool.h"
#include "headrace/mutex.h"
#include "headrace/op.h"
#include "kernels/lib/elementwise.h"
#include "kernels/lib/narrow_float.h"
#include "kernels/lib/simd_width.h"
#include "kernels/lib/vector_tail.h"
#include "kernels/lib/visit_type.h"

namespace headrace {
namespace {

template <typename T>
inline T Add(T a, T b) {
  if constexpr (std::is_integral_v<T>) {
    using U = std::make_unsigned_t<T>;
    return static_cast<T>(static_cast<U>(a) + static_cast<U>(b));
  } else {
    return a + b;
  }
}

template <typename T>
const T* DataOf(const Tensor* t) {
  return t == nullptr ? nullptr : static_cast<const T*>(t->raw_data());
}

template <typename T>
void ScaleAndAdd(const Epilogue& e, const EpilogueBlock& b, T* result) {
  const T* const scale = DataOf<T>(e.scale);
  const T* const bias = DataOf<T>(e.bias);
  const T* const addend = DataOf<T>(e.addend);
  RunSimd([&] {
    for (int64_t r = 0; r < b.rows; ++r) {
      const int64_t first = (b.row + r) * b.row_size + b.channel;
      T* y = result + first;
      if constexpr (std::is_floating_point_v<T>) {
        for (int64_t c = 0; scale != nullptr && c < b.channels; ++c) {
          y[c] *= scale[b.channel + c];
        }
      }
      for (int64_t c = 0; bias != nullptr && c < b.channels; ++c) {
        y[c] = Add(y[c], bias[b.channel + c]);
      }
      for (int64_t c = 0; addend != nullptr && c < b.channels; ++c) {
        y[c] = Add(y[c], addend[first + c]);
      }
    }
  });
}

// A function's loops, by what its Activation exceeds kFirstFunction by. They
// are added and never change.
struct ActivationLoops {
  std::atomic<const UnaryLoop*> of_float{nullptr}, of_double{nullptr};
};
constexpr int kMaxFunctions =
    256 - static_cast<int>(Activation::kFirstFunction);
constinit ActivationLoops g_functions[kMaxFunctions];

bool IsFunction(Activation a) { return a >= Activation::kFirstFunction; }
const ActivationLoops& LoopsOf(Activation a) {
  return g_functions[static_cast<int>(a) -
                     static_cast<int>(Activation::kFirstFunction)];
}

Status AddFunction(absl::string_view op, Activation* out) {
  static Mutex mu;
  const UnaryLoop* const of_float = FindUnaryLoop(op, DT_FLOAT);
  const UnaryLoop* const of_double = FindUnaryLoop(op, DT_DOUBLE);
  if (of_float == nullptr || of_double == nullptr) {
    return errors::NotFound("activation ", op,
                            " has no element-wise loops for float and double");
  }
  MutexLock lock(&mu);
  for (int i = 0; i < kMaxFunctions; ++i) {
    ActivationLoops& loops = g_functions[i];
    const UnaryLoop* const there = loops.of_float.load();
    if (there != nullptr && there != of_float) continue;
    loops.of_double.store(of_double);
    loops.of_float.store(of_float);
    *out = static_cast<Activation>(
        i + static_cast<int>(Activation::kFirstFunction));
    return OkStatus();
  }
  return errors::ResourceExhausted("activation ", op, ": at most ",
                                   kMaxFunctions, " functions are supported");
}

template <typename T>
void ActivateByFunction(const Epilogue& e, const EpilogueBlock& b, T* result) {
  const ActivationLoops& loops = LoopsOf(e.activation);
  const UnaryLoop& loop = std::is_same_v<T, float> ? *loops.of_float.load()
                                                   : *loops.of_double.load();
  ElementwiseState state;
  state.param = e.leaky_alpha;
  const auto run = [&](int64_t first, int64_t count) {
    loop.run(result + first, result + first, count, &state);
  };
  if (b.channels == b.row_size) {
    return run(b.row * b.row_size, b.rows * b.row_size);
  }
  for (int64_t r = b.row; r < b.row + b.rows; ++r) {
    run(r * b.row_size + b.channel, b.channels);
  }
}

template <typename T>
void Bound(T high, const EpilogueBlock& b, T* result) {
  RunSimd([&] {
    for (int64_t r = 0; r < b.rows; ++r) {
      T* y = result + (b.row + r) * b.row_size + b.channel;
      for (int64_t c = 0; c < b.channels; ++c) {
        // Comparisons that keep NaN.
        const T x = y[c] < T(0) ? T(0) : y[c];
        y[c] = x > high ? high : x;
      }
    }
  });
}

void RoundToSteps(const FakeQuantRange& range, const EpilogueBlock& b,
                  float* result) {
  RunSimd([range, b, result] {
    const float min = range.min, max = range.max, scale = range.scale,
                inverse = range.inverse;
    for (int64_t r = 0; r < b.rows; ++r) {
      float* const y = result + (b.row + r) * b.row_size + b.channel;
      for (int64_t c = 0; c < b.channels; ++c) {
        y[c] = FakeQuantCode(y[c], min, max, inverse) * scale + min;
      }
    }
  });
}

// All in one pass, which is what most convolutions need.
void ApplyTail(const VectorTail& tail, const EpilogueBlock& b, float* result) {
  RunSimdWide([&](auto bytes) {
    using Vector = VectorOf<decltype(bytes)::value>;
    const int64_t end = b.channel + b.channels;
    for (int64_t r = b.row; r < b.row + b.rows; ++r) {
      int64_t c = b.channel;
      for (; c + Vector::kLanes <= end; c += Vector::kLanes) {
        const int64_t at = r * b.row_size + c;
        tail.Store<Vector>(Vector::At(result + at), {tail, c}, at, result);
      }
      if (c < end) {
        const int64_t at = r * b.row_size + c;
        tail.StorePart(result + at, end - c, c, at, result);
      }
    }
  });
}

constexpr absl::string_view kFusedSteps = "FakeQuantWithMinMaxArgs";

Status ReadSteps(const OpKernelConstruction& ctx, DataType dtype,
                 FakeQuantRange* out) {
  std::vector<float> steps;
  HR_RETURN_IF_ERROR(ctx.GetAttr("_result_steps", &steps));
  // Written so that a NaN is refused.
  if (dtype != DT_FLOAT || steps.size() != 4 || !(steps[0] < steps[1]) ||
      !(steps[2] < steps[3])) {
    return errors::InvalidArgument(
        "_result_steps: got [", absl::StrJoin(steps, ", "),
        "], wanted two levels and two ends of a range, the lower before the "
        "higher; and type float, got ",
        DataTypeString(dtype));
  }
  *out = FakeQuantRange(steps[2], steps[3], {steps[0], steps[1]});
  return OkStatus();
}

// Nanoseconds an element, roughly.
double Cost(const Epilogue& e) {
  constexpr double kBounds = 0.2;
  constexpr double kSteps = 0.3;
  return (IsFunction(e.activation) ? LoopsOf(e.activation).of_float.load()->cost
                                   : kBounds) +
         (e.steps != nullptr ? kSteps : 0);
}

}  // namespace

Status FindActivation(absl::string_view op, Activation* out) {
  const OpDef* const def = OpRegistry::Global()->Find(op);
  *out = Activation::kNone;
  switch (def == nullptr ? ActivationTraits::kNone
                         : def->traits->activation.kind) {
    case ActivationTraits::kNone:
      break;
    case ActivationTraits::kRelu:
      *out = Activation::kRelu;
      return OkStatus();
    case ActivationTraits::kRelu6:
      *out = Activation::kRelu6;
      return OkStatus();
    case ActivationTraits::kFunction:
      return AddFunction(op, out);
  }
  return errors::NotFound("op ", op, " is no activation");
}

template <typename T>
void ApplyEpilogue(const Epilogue& e, const EpilogueBlock& b, T* result) {
  if constexpr (std::is_same_v<T, float>) {
    const VectorTail tail(e);
    if (tail.rest.empty()) return ApplyTail(tail, b, result);
  }
  ScaleAndAdd(e, b, result);
  if constexpr (!std::is_integral_v<T>) {
    if (IsFunction(e.activation)) {
      ActivateByFunction(e, b, result);
    } else if (e.activation == Activation::kRelu) {
      Bound(std::numeric_limits<T>::infinity(), b, result);
    } else if (e.activation == Activation::kRelu6) {
      Bound(T(6), b, result);
    }
  }
  if constexpr (std::is_same_v<T, float>) {
    if (e.steps != nullptr) RoundToSteps(*e.steps, b, result);
  }
}
template void ApplyEpilogue(const Epilogue&, const EpilogueBlock&, float*);
template void ApplyEpilogue(const Epilogue&, const EpilogueBlock&, double*);
template void ApplyEpilogue(const Epilogue&, const EpilogueBlock&, int32_t*);

void ApplyEpilogue(ThreadPool* pool, DataType dtype, const Epilogue& e,
                   int64_t rows, int64_t channels, void* result) {
  if (e.empty()) return;
  pool->ParallelForCost(
      rows, 2 + Cost(e) * channels, [&](int64_t begin, int64_t end) {
        const EpilogueBlock block = {.row = begin,
                                     .rows = end - begin,
                                     .channels = channels,
                                     .row_size = channels};
        VisitType<float, double, int32_t>(dtype, [&]<typename T>(T) {
          ApplyEpilogue(e, block, static_cast<T*>(result));
        });
      });
}

EpilogueTypes FusedOps::Types(DataType dtype) const {
  const DataType made = IsNarrowFloat(dtype) ? DT_FLOAT : dtype;
  EpilogueTypes types;
  if (mul) types.scale = dtype;
  if (bias) types.bias = dtype;
  if (batch_norm) types.scale = types.bias = made;
  if (add) types.addend = dtype;
  types.activates = activation != Activation::kNone || rounds;
  return types;
}

Status FusedOps::Parse(absl::Span<const std::string> ops, FusedOps* out) {
  size_t at = 0;
  const auto take = [&](const char* name) {
    if (at == ops.size() || ops[at] != name) return false;
    ++at;
    return true;
  };
  out->mul = take("Mul");
  out->bias = take("BiasAdd");
  out->batch_norm = !out->bias && take("FusedBatchNorm");
  out->add = take("Add");
  std::string why;
  out->rounds = ops.size() > at && ops.back() == kFusedSteps;
  const size_t end = ops.size() - (out->rounds ? 1 : 0);
  if (at + 1 == end) {
    const Status found = FindActivation(ops[at], &out->activation);
    if (found.ok()) {
      ++at;
    } else {
      why = absl::StrCat(": ", found.message());
    }
  }
  if (ops.empty() || at < end) {
    return errors::Unimplemented(
        "fused_ops: got [", absl::StrJoin(ops, ", "),
        "], wanted [Mul] [BiasAdd | FusedBatchNorm] [Add] [an activation] [",
        kFusedSteps, "], at least one of them", why);
  }
  return OkStatus();
}

Status FusedOps::Read(const OpKernelConstruction& ctx, int first_arg,
                      FusedOps* out) {
  std::vector<std::string> ops;
  int64_t num_args = 0;
  DataType dtype;
  HR_RETURN_IF_ERROR(ctx.GetAttr("fused_ops", &ops));
  HR_RETURN_IF_ERROR(ctx.GetAttr("num_args", &num_args));
  HR_RETURN_IF_ERROR(ctx.GetAttr("epsilon", &out->epsilon));
  HR_RETURN_IF_ERROR(ctx.GetAttr("leakyrelu_alpha", &out->leaky_alpha));
  HR_RETURN_IF_ERROR(ctx.GetAttr("T", &dtype));
  HR_RETURN_IF_ERROR(Parse(ops, out));
  if (num_args != out->num_args() ||
      ctx.num_inputs() - first_arg != out->num_args()) {
    return errors::InvalidArgument(
        "args: fused_ops [", absl::StrJoin(ops, ", "), "] take ",
        out->num_args(), " arguments, got num_args = ", num_args, " and ",
        ctx.num_inputs() - first_arg, " inputs");
  }
  for (int i = first_arg; i < ctx.num_inputs(); ++i) {
    if (ctx.input_type(i) != dtype) {
      return errors::InvalidArgument("args: argument ", i - first_arg,
                                     " has type ",
                                     DataTypeString(ctx.input_type(i)),
                                     ", wanted ", DataTypeString(dtype));
    }
  }
  return out->rounds ? ReadSteps(ctx, dtype, &out->steps) : OkStatus();
}

Status FusedOps::ReadOfProduct(const OpKernelConstruction& ctx, int first_arg,
                               FusedOps* out) {
  HR_RETURN_IF_ERROR(Read(ctx, first_arg, out));
  if (!out->mul && !out->batch_norm && !out->add && !out->rounds) {
    return OkStatus();
  }
  return errors::Unimplemented("fused_ops of ", ctx.def().op,
                               " must be BiasAdd, an activation, or "
                               "one and then the other");
}

}  // namespace headrace
