// Tensors in messages: values that stand for more, contents of a wrong size.
#include "framework/op/tensor_proto.h"

#include "fuzz_target.h"

namespace headrace {
FUZZ_TARGET(tensor_proto) {
  pb::TensorProto proto;
  if (!proto.ParseFromArray(bytes.data(), static_cast<int>(bytes.size()))) {
    return;
  }
  // A few bytes may stand for many elements; that is not what is tested here.
  int64_t elements = 1;
  for (const auto& d : proto.tensor_shape().dim()) {
    elements = MultiplyWithoutOverflow(elements, d.size());
    if (elements > 1 << 20) return;
  }
  Tensor t;
  if (!TensorFromProto(proto, &t).ok()) return;
  pb::TensorProto back;
  TensorToProto(t, &back);
}
}  // namespace headrace
