// SavedVariant: what a Variant holds that messages and checkpoints can carry.
// Only the places of iterators are carried (kernels/data/iterator_state.h).
#ifndef HEADRACE_FRAMEWORK_OP_SAVED_VARIANT_H_
#define HEADRACE_FRAMEWORK_OP_SAVED_VARIANT_H_

#include <memory>

#include "framework/tensor/variant.h"
#include "headrace/status.h"
#include "headrace/tensor.pb.h"

namespace headrace {

using SavedVariant = std::shared_ptr<const pb::VariantTensorDataProto>;
// The name of its type.
inline constexpr char kIteratorStateName[] = "tensorflow::Iterator";

// Unimplemented for a type that is not carried. Without a name, *out is empty.
Status VariantFromProto(const pb::VariantTensorDataProto& proto, Variant* out);

}  // namespace headrace

#endif  // HEADRACE_FRAMEWORK_OP_SAVED_VARIANT_H_
