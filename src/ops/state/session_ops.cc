// Tensors that a session keeps from one step to the next.
#include "framework/shape_fns/common_shape_fns.h"
#include "headrace/op.h"
#include "headrace/shape_inference.h"

namespace headrace {
namespace {

using shape_inference::NoOutputs;
using shape_inference::ScalarShape;

Status HandleIsScalar(InferenceContext* c) {
  PartialTensorShape unused;
  return c->WithRank(c->input(0), 0, &unused);
}

REGISTER_OP("GetSessionHandle")
    .Input("value: T")
    .Output("handle: string")
    .Attr("T: type")
    .SetIsStateful()
    .SetShapeFn(ScalarShape)
    .Class(OpClass::kSessionHandle)
    .WritesState();
REGISTER_OP("GetSessionHandleV2")
    .Input("value: T")
    .Output("handle: resource")
    .Attr("T: type")
    .SetIsStateful()
    .SetShapeFn(ScalarShape)
    .Class(OpClass::kSessionHandle)
    .WritesState();
REGISTER_OP("GetSessionTensor")
    .Input("handle: string")
    .Output("value: dtype")
    .Attr("dtype: type")
    .SetIsStateful()
    .SetShapeFn([](InferenceContext* c) -> Status {
      HR_RETURN_IF_ERROR(HandleIsScalar(c));
      return shape_inference::UnknownShape(c);
    })
    .Outputs(OutputBuffer::kStored)
    .ReadsState();
REGISTER_OP("DeleteSessionTensor")
    .Input("handle: string")
    .SetIsStateful()
    .SetShapeFn(HandleIsScalar)
    .WritesState();

}  // namespace
}  // namespace headrace
