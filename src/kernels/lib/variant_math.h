// Zeros and sums of what variants hold, by the type held: lists, maps and
// optionals are made of tensors and add up tensor by tensor.
#ifndef HEADRACE_KERNELS_LIB_VARIANT_MATH_H_
#define HEADRACE_KERNELS_LIB_VARIANT_MATH_H_

#include "framework/tensor/variant.h"
#include "headrace/status.h"
#include "headrace/tensor.h"

namespace headrace {

// The same shape and type, all zeros: "" for strings, an empty variant for one
// that has no zero. `depth`: how many variants are around it.
Status ZerosLikeTensor(const Tensor& t, int depth, Tensor* out);
// InvalidArgument unless shapes and types are the same and can be added.
Status AddTensors(const Tensor& a, const Tensor& b, int depth, Tensor* out);

// The zero of an empty variant is itself.
Status ZerosLikeVariant(const Variant& v, int depth, Variant* out);
// An empty variant is a zero of any type.
Status AddVariants(const Variant& a, const Variant& b, int depth, Variant* out);

struct VariantMath {
  Status (*zeros_like)(const Variant& v, int depth, Variant* out);
  // Both hold a value of the type.
  Status (*add)(const Variant& a, const Variant& b, int depth, Variant* out);
};

// As a static object: what to do with values whose type is called `type_name`.
class VariantMathRegistrar {
 public:
  VariantMathRegistrar(const char* type_name, const VariantMath& math);

 private:
  friend const VariantMath* FindVariantMath(const Variant& v);
  const char* const type_name_;
  const VariantMath math_;
  const VariantMathRegistrar* const next_;
};

}  // namespace headrace

#endif  // HEADRACE_KERNELS_LIB_VARIANT_MATH_H_
