#include "device/gpu/activation.h"

#include <cmath>

#include "device/gpu/launch.h"

namespace headrace::gpu {
namespace {

template <typename T>
struct ActivationName;
template <>
struct ActivationName<float> {
  static constexpr const char* kName = "Activation<float>";
};
template <>
struct ActivationName<double> {
  static constexpr const char* kName = "Activation<double>";
};
template <>
struct ActivationName<half> {
  static constexpr const char* kName = "Activation<half>";
};
template <>
struct ActivationName<bfloat16> {
  static constexpr const char* kName = "Activation<bfloat16>";
};

template <typename T, typename S>
struct ActivationBody {
  static constexpr const char* kName = ActivationName<T>::kName;
  T* x;
  GpuActivation activation;
  HR_GPU_BODY void operator()(int64_t i) const {
    S v = static_cast<S>(x[i]);
    switch (activation) {
      case GpuActivation::kNone:
        break;
      case GpuActivation::kRelu:  // NaN stays
        v = v < S(0) ? S(0) : v;
        break;
      case GpuActivation::kRelu6:
        v = v < S(0) ? S(0) : v > S(6) ? S(6) : v;
        break;
      case GpuActivation::kElu:
        v = v < S(0) ? std::expm1(v) : v;
        break;
      case GpuActivation::kTanh:
        v = std::tanh(v);
        break;
      case GpuActivation::kSigmoid:
        v = S(1) / (S(1) + std::exp(-v));
        break;
    }
    x[i] = static_cast<T>(v);
  }
};

template <typename T, typename S>
Status LaunchFor(Stream* stream, GpuActivation activation, DeviceMemoryBase x,
                 int64_t elements) {
  return LaunchElements(
      stream, elements,
      ActivationBody<T, S>{static_cast<T*>(x.opaque), activation});
}

}  // namespace

Status LaunchActivation(Stream* stream, DataType type, GpuActivation activation,
                        DeviceMemoryBase x, int64_t elements) {
  if (activation == GpuActivation::kNone) return OkStatus();
  if (elements < 0 ||
      x.size / DataTypeObjectSize(type) < static_cast<uint64_t>(elements)) {
    return errors::InvalidArgument(GpuActivationName(activation), " of ",
                                   elements, " elements in ", x.size, " bytes");
  }
  switch (type) {
    case DT_FLOAT:
      return LaunchFor<float, float>(stream, activation, x, elements);
    case DT_DOUBLE:
      return LaunchFor<double, double>(stream, activation, x, elements);
    case DT_HALF:
      return LaunchFor<half, float>(stream, activation, x, elements);
    case DT_BFLOAT16:
      return LaunchFor<bfloat16, float>(stream, activation, x, elements);
    default:
      return errors::InvalidArgument(GpuActivationName(activation), " of ",
                                     DataTypeString(type));
  }
}

}  // namespace headrace::gpu
