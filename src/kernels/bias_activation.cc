// As in activation_ops.cc: both sides of a conditional may be computed, which
// lets its loop become vector code.
#pragma GCC optimize("no-trapping-math")

#include "kernels/bias_activation.h"

#include <vector>

#include "absl/strings/str_join.h"
#include "kernels/nn_math.h"
#include "kernels/simd.h"

namespace headrace {
namespace {

template <typename T, typename F>
void Rows(T* x, int64_t rows, int64_t n, int64_t stride, const T* bias,
          const F& f) {
  using C = ComputeType<T>;
  const auto body = [=] {
    for (int64_t r = 0; r < rows; ++r) {
      T* row = x + r * stride;
      if (bias == nullptr) {
#pragma GCC ivdep
        for (int64_t i = 0; i < n; ++i) {
          row[i] = static_cast<T>(f(static_cast<C>(row[i])));
        }
      } else {
#pragma GCC ivdep
        for (int64_t i = 0; i < n; ++i) {
          row[i] = static_cast<T>(
              f(static_cast<C>(row[i]) + static_cast<C>(bias[i])));
        }
      }
    }
  };
  if constexpr (std::is_same_v<T, float> || std::is_same_v<T, double>) {
    RunSimd(body);
  } else {
    body();
  }
}

}  // namespace

bool ParseActivation(const std::string& op, Activation* activation) {
  static constexpr struct {
    const char* name;
    Activation activation;
  } kNames[] = {
      {"Relu", Activation::kRelu},       {"Relu6", Activation::kRelu6},
      {"Elu", Activation::kElu},         {"LeakyRelu", Activation::kLeakyRelu},
      {"Sigmoid", Activation::kSigmoid}, {"Tanh", Activation::kTanh}};
  for (const auto& entry : kNames) {
    if (op != entry.name) continue;
    *activation = entry.activation;
    return true;
  }
  return false;
}

Status GetBiasActivation(OpKernelConstruction* ctx, Activation* activation,
                         float* leakyrelu_alpha) {
  std::vector<std::string> ops;
  HR_RETURN_IF_ERROR(ctx->GetAttr("fused_ops", &ops));
  HR_RETURN_IF_ERROR(ctx->GetAttr("leakyrelu_alpha", leakyrelu_alpha));
  *activation = Activation::kNone;
  const bool known = !ops.empty() && ops.size() <= 2 && ops[0] == "BiasAdd" &&
                     (ops.size() == 1 || ParseActivation(ops[1], activation));
  if (!known) {
    return errors::Unimplemented(
        "fused_ops [", absl::StrJoin(ops, ", "),
        "] is not supported; it must be BiasAdd, or BiasAdd followed by one of "
        "Relu, Relu6, Elu, LeakyRelu, Sigmoid, Tanh");
  }
  return OkStatus();
}

template <typename T>
void ApplyBiasActivation(T* x, int64_t rows, int64_t n, int64_t stride,
                         const T* bias, Activation activation,
                         float leakyrelu_alpha) {
  using C = ComputeType<T>;
  switch (activation) {
    case Activation::kNone:
      if (bias == nullptr) return;
      return Rows(x, rows, n, stride, bias, [](C v) { return v; });
    case Activation::kRelu:
      return Rows(x, rows, n, stride, bias,
                  [](C v) { return v < C(0) ? C(0) : v; });
    case Activation::kRelu6:
      return Rows(x, rows, n, stride, bias, [](C v) {
        const C y = v < C(0) ? C(0) : v;
        return y > C(6) ? C(6) : y;
      });
    case Activation::kElu:
      return Rows(x, rows, n, stride, bias,
                  [](C v) { return v < C(0) ? vec::Expm1(v) : v; });
    case Activation::kLeakyRelu: {
      const C alpha = static_cast<C>(static_cast<T>(leakyrelu_alpha));
      return Rows(x, rows, n, stride, bias, [alpha](C v) {
        const C scaled = alpha * v;
        return v > C(0) ? v : scaled;
      });
    }
    case Activation::kSigmoid:
      return Rows(x, rows, n, stride, bias,
                  [](C v) { return vec::Sigmoid(v); });
    case Activation::kTanh:
      return Rows(x, rows, n, stride, bias, [](C v) { return vec::Tanh(v); });
  }
}

#define HR_INSTANTIATE(T)                                             \
  template void ApplyBiasActivation<T>(T*, int64_t, int64_t, int64_t, \
                                       const T*, Activation, float);
HR_CALL_FLOAT_TYPES(HR_INSTANTIATE)
#undef HR_INSTANTIATE

}  // namespace headrace
