// Optionals: one element or nothing, in a DT_VARIANT scalar.
#ifndef HEADRACE_KERNELS_DATA_OPTIONAL_H_
#define HEADRACE_KERNELS_DATA_OPTIONAL_H_

#include <memory>

#include "kernels/data/dataset.h"

namespace headrace {

struct OptionalValue {
  std::shared_ptr<const TensorTuple> components;  // null: nothing
};

Tensor OptionalTensor(OptionalValue value);
Status OptionalFromTensor(const Tensor& t, OptionalValue* out);

}  // namespace headrace

#endif  // HEADRACE_KERNELS_DATA_OPTIONAL_H_
