#include "kernels/lib/variant_math.h"

#include <type_traits>

#include "kernels/lib/element.h"

namespace headrace {
namespace {

// Lists of lists: what stands on one stack.
constexpr int kMaxDepth = 64;

const VariantMathRegistrar* registered = nullptr;

Status CheckDepth(int depth) {
  if (depth < kMaxDepth) return OkStatus();
  return errors::ResourceExhausted("variants inside each other more than ",
                                   kMaxDepth, " deep");
}

template <typename T>
void Add(const Tensor& a, const Tensor& b, Tensor* out) {
  const T* const x = a.data<T>();
  const T* const y = b.data<T>();
  T* const z = out->data<T>();
  for (int64_t i = 0; i < out->NumElements(); ++i) {
    if constexpr (std::is_integral_v<T>) {
      using U = std::make_unsigned_t<T>;
      z[i] = static_cast<T>(
          static_cast<U>(static_cast<U>(x[i]) + static_cast<U>(y[i])));
    } else {
      z[i] = static_cast<T>(x[i] + y[i]);
    }
  }
}

}  // namespace

VariantMathRegistrar::VariantMathRegistrar(const char* type_name,
                                           const VariantMath& math)
    : type_name_(type_name), math_(math), next_(registered) {
  registered = this;
}

// Null if values of the type have no zeros and sums.
const VariantMath* FindVariantMath(const Variant& v) {
  for (const auto* r = registered; r != nullptr; r = r->next_) {
    if (v.TypeName() == r->type_name_) return &r->math_;
  }
  return nullptr;
}

Status ZerosLikeTensor(const Tensor& t, int depth, Tensor* out) {
  HR_RETURN_IF_ERROR(
      Tensor::Allocate(CpuAllocator(), t.dtype(), t.shape(), out));
  if (t.dtype() != DT_VARIANT) {
    if (DataTypeCanUseMemcpy(t.dtype())) ZeroElements(out);
    return OkStatus();
  }
  for (int64_t i = 0; i < t.NumElements(); ++i) {
    HR_RETURN_IF_ERROR(ZerosLikeVariant(t.data<Variant>()[i], depth,
                                        &out->data<Variant>()[i]));
  }
  return OkStatus();
}

Status ZerosLikeVariant(const Variant& v, int depth, Variant* out) {
  HR_RETURN_IF_ERROR(CheckDepth(depth));
  *out = Variant();
  const VariantMath* const math = FindVariantMath(v);
  return math == nullptr ? OkStatus() : math->zeros_like(v, depth + 1, out);
}

Status AddTensors(const Tensor& a, const Tensor& b, int depth, Tensor* out) {
  if (a.dtype() != b.dtype()) {
    return errors::InvalidArgument("Trying to add two tensors of types ",
                                   DataTypeString(a.dtype()), " and ",
                                   DataTypeString(b.dtype()));
  }
  if (a.shape() != b.shape()) {
    return errors::InvalidArgument(
        "Trying to add two tensors with incompatible element shapes. One is ",
        a.shape().DebugString(), " and the other is ", b.shape().DebugString());
  }
  Tensor sum;
  HR_RETURN_IF_ERROR(
      Tensor::Allocate(CpuAllocator(), a.dtype(), a.shape(), &sum));
  switch (a.dtype()) {
#define HR_CASE(T)               \
  case DataTypeToEnum<T>::value: \
    Add<T>(a, b, &sum);          \
    break;
    HR_CALL_NUMBER_TYPES(HR_CASE)
#undef HR_CASE
    case DT_VARIANT:
      for (int64_t i = 0; i < a.NumElements(); ++i) {
        HR_RETURN_IF_ERROR(AddVariants(a.data<Variant>()[i],
                                       b.data<Variant>()[i], depth,
                                       &sum.data<Variant>()[i]));
      }
      break;
    default:
      return errors::InvalidArgument(
          "tensors of type ", DataTypeString(a.dtype()), " cannot be added");
  }
  *out = std::move(sum);
  return OkStatus();
}

Status AddVariants(const Variant& a, const Variant& b, int depth,
                   Variant* out) {
  HR_RETURN_IF_ERROR(CheckDepth(depth));
  if (a.is_empty() || b.is_empty()) {
    *out = a.is_empty() ? b : a;
    return OkStatus();
  }
  if (a.TypeName() != b.TypeName()) {
    return errors::InvalidArgument("Trying to add variants of types '",
                                   a.TypeName(), "' and '", b.TypeName(), "'");
  }
  const VariantMath* const math = FindVariantMath(a);
  if (math == nullptr) {
    return errors::InvalidArgument("variants of type '", a.TypeName(),
                                   "' cannot be added");
  }
  return math->add(a, b, depth + 1, out);
}

}  // namespace headrace
