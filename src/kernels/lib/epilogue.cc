#include "kernels/lib/epilogue.h"

#include <string>
#include <type_traits>
#include <vector>

#include "absl/strings/str_join.h"
#include "kernels/lib/narrow_float.h"
#include "kernels/lib/nn_math.h"
#include "kernels/lib/simd_width.h"
#include "kernels/lib/vector_tail.h"
#include "kernels/lib/visit_type.h"

namespace headrace {
namespace {

// NaN passes through every activation: comparisons keep it.
template <Activation kActivation, typename T>
inline T Activate(T x, T alpha) {
  if constexpr (kActivation == Activation::kRelu) {
    return x < T(0) ? T(0) : x;
  } else if constexpr (kActivation == Activation::kRelu6) {
    const T y = x < T(0) ? T(0) : x;
    return y > T(6) ? T(6) : y;
  } else if constexpr (kActivation == Activation::kElu) {
    return x < T(0) ? vec::Expm1(x) : x;
  } else if constexpr (kActivation == Activation::kLeakyRelu) {
    const T scaled = alpha * x;
    return x > T(0) ? x : scaled;
  } else if constexpr (kActivation == Activation::kSigmoid) {
    return vec::Sigmoid(x);
  } else {
    static_assert(kActivation == Activation::kTanh);
    return vec::Tanh(x);
  }
}

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

template <Activation kActivation, typename T>
void ActivateAll(const Epilogue& e, const EpilogueBlock& b, T* result) {
  const T alpha = static_cast<T>(e.leaky_alpha);
  RunSimd([&] {
    for (int64_t r = 0; r < b.rows; ++r) {
      T* y = result + (b.row + r) * b.row_size + b.channel;
      for (int64_t c = 0; c < b.channels; ++c) {
        y[c] = Activate<kActivation>(y[c], alpha);
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

// Nanoseconds an element, roughly.
double Cost(const Epilogue& e) {
  switch (e.activation) {
    case Activation::kElu:
    case Activation::kSigmoid:
    case Activation::kTanh:
      return 1;
    default:
      return 0.2;
  }
}

struct ActivationName {
  const char* name;
  Activation activation;
};
constexpr ActivationName kActivations[] = {
    {"Relu", Activation::kRelu},       {"Relu6", Activation::kRelu6},
    {"Elu", Activation::kElu},         {"LeakyRelu", Activation::kLeakyRelu},
    {"Sigmoid", Activation::kSigmoid}, {"Tanh", Activation::kTanh}};

}  // namespace

template <typename T>
void ApplyEpilogue(const Epilogue& e, const EpilogueBlock& b, T* result) {
  if constexpr (std::is_same_v<T, float>) {
    const VectorTail tail(e);
    if (tail.rest.empty()) return ApplyTail(tail, b, result);
  }
  ScaleAndAdd(e, b, result);
  if constexpr (!std::is_integral_v<T>) {
    switch (e.activation) {
      case Activation::kNone:
        return;
      case Activation::kRelu:
        return ActivateAll<Activation::kRelu>(e, b, result);
      case Activation::kRelu6:
        return ActivateAll<Activation::kRelu6>(e, b, result);
      case Activation::kElu:
        return ActivateAll<Activation::kElu>(e, b, result);
      case Activation::kLeakyRelu:
        return ActivateAll<Activation::kLeakyRelu>(e, b, result);
      case Activation::kSigmoid:
        return ActivateAll<Activation::kSigmoid>(e, b, result);
      case Activation::kTanh:
        return ActivateAll<Activation::kTanh>(e, b, result);
    }
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
  types.activates = activation != Activation::kNone;
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
  for (const ActivationName& a : kActivations) {
    if (take(a.name)) {
      out->activation = a.activation;
      break;
    }
  }
  if (ops.empty() || at < ops.size()) {
    return errors::Unimplemented(
        "fused_ops: got [", absl::StrJoin(ops, ", "),
        "], wanted [Mul] [BiasAdd | FusedBatchNorm] [Add] [Relu | Relu6 | Elu "
        "| "
        "LeakyRelu | Sigmoid | Tanh], at least one of them");
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
  return OkStatus();
}

}  // namespace headrace
