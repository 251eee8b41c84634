// Zeros and sums of the values in variants, by their type. Lists, maps and
// optionals consist of tensors and are added tensor by tensor.
#ifndef HEADRACE_KERNELS_LIB_VARIANT_MATH_H_
#define HEADRACE_KERNELS_LIB_VARIANT_MATH_H_

#include "framework/tensor/variant.h"
#include "headrace/status.h"
#include "headrace/tensor.h"

namespace headrace {

// Makes zeros of the same shape and type: "" for strings, an empty variant for
// a variant without a zero. `depth`: the number of enclosing variants.
Status ZerosLikeTensor(const Tensor& t, int depth, Tensor* out);
// InvalidArgument unless both have the same shape and a type that can be added.
Status AddTensors(const Tensor& a, const Tensor& b, int depth, Tensor* out);

// The zero of an empty variant is an empty variant.
Status ZerosLikeVariant(const Variant& v, int depth, Variant* out);
// An empty variant counts as zero of any type.
Status AddVariants(const Variant& a, const Variant& b, int depth, Variant* out);

struct VariantMath {
  Status (*zeros_like)(const Variant& v, int depth, Variant* out);
  // Both arguments hold a value of this type.
  Status (*add)(const Variant& a, const Variant& b, int depth, Variant* out);
};

// Use as a static object: registers the operations for values of type
// `type_name`.
// The list of registered types only grows while static objects are made; then
// it is constant.
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
