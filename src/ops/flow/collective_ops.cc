// Collective ops: one op on each device of a group. All of them run in the same
// step, each with its part.
#include "framework/shape_fns/common_shape_fns.h"
#include "headrace/op.h"
#include "headrace/shape_inference.h"

namespace headrace {
namespace {

using Shape = PartialTensorShape;
using shape_inference::UnchangedShape;

// The parts of all members, one after the other in dimension 0.
Status GatheredShape(InferenceContext* c, int64_t group_size) {
  Shape in, rest, first;
  HR_RETURN_IF_ERROR(c->WithRankAtLeast(c->input(0), 1, &in));
  if (in.unknown_rank()) {
    c->set_output(0, Shape());
    return OkStatus();
  }
  std::vector<int64_t> dims;
  for (int i = 0; i < in.dims(); ++i) dims.push_back(in.dim_size(i));
  if (group_size < 0) dims[0] = -1;
  if (dims[0] >= 0) {
    HR_RETURN_IF_ERROR(c->Multiply(dims[0], group_size, &dims[0]));
  }
  c->set_output(0, Shape(dims));
  return OkStatus();
}

Status ShapeAttr(InferenceContext* c) {
  Shape shape;
  HR_RETURN_IF_ERROR(c->GetAttr("shape", &shape));
  c->set_output(0, shape);
  return OkStatus();
}

REGISTER_OP("CollectiveReduce")
    .Input("input: T")
    .Output("data: T")
    .Attr("T: {bfloat16, float, half, double, int32, int64}")
    .Attr("group_size: int")
    .Attr("group_key: int")
    .Attr("instance_key: int")
    .Attr("merge_op: {'Min', 'Max', 'Mul', 'Add'}")
    .Attr("final_op: {'Id', 'Div'}")
    .Attr("subdiv_offsets: list(int)")
    .Attr("wait_for: list(int) = []")
    .Attr("communication_hint: string = 'auto'")
    .Attr("timeout_seconds: float = 0")
    .SetIsStateful()
    .SetShapeFn(UnchangedShape)
    .Transfers();

REGISTER_OP("CollectiveGather")
    .Input("input: T")
    .Output("data: T")
    .Attr("T: {float, half, double, int32, int64}")
    .Attr("group_size: int")
    .Attr("group_key: int")
    .Attr("instance_key: int")
    .Attr("shape: shape")
    .Attr("communication_hint: string = 'auto'")
    .Attr("timeout_seconds: float = 0")
    .SetIsStateful()
    .SetShapeFn([](InferenceContext* c) -> Status {
      int64_t size = 0;
      HR_RETURN_IF_ERROR(c->GetAttr("group_size", &size));
      return GatheredShape(c, size);
    })
    .Transfers();

REGISTER_OP("CollectiveBcastSend")
    .Input("input: T")
    .Output("data: T")
    .Attr("T: {bool, float, half, double, int32, int64}")
    .Attr("group_size: int")
    .Attr("group_key: int")
    .Attr("instance_key: int")
    .Attr("shape: shape")
    .Attr("communication_hint: string = 'auto'")
    .Attr("timeout_seconds: float = 0")
    .SetIsStateful()
    .SetShapeFn(ShapeAttr)
    .Transfers();

REGISTER_OP("CollectiveBcastRecv")
    .Output("data: T")
    .Attr("T: {bool, float, half, double, int32, int64}")
    .Attr("group_size: int")
    .Attr("group_key: int")
    .Attr("instance_key: int")
    .Attr("shape: shape")
    .Attr("communication_hint: string = 'auto'")
    .Attr("timeout_seconds: float = 0")
    .SetIsStateful()
    .SetShapeFn(ShapeAttr)
    .Transfers();

REGISTER_OP("CollectiveReduceV2")
    .Input("input: T")
    .Input("group_size: int32")
    .Input("group_key: int32")
    .Input("instance_key: int32")
    .Input("ordering_token: Nordering_token * resource")
    .Output("data: T")
    .Attr("T: {bfloat16, float, half, double, int32, int64}")
    .Attr("merge_op: {'Min', 'Max', 'Mul', 'Add'}")
    .Attr("final_op: {'Id', 'Div'}")
    .Attr("communication_hint: string = 'auto'")
    .Attr("timeout_seconds: float = 0")
    .Attr("is_stateless: bool = false")
    .Attr("Nordering_token: int >= 0 = 0")
    .Attr("max_subdivs_per_device: int = -1")
    .SetIsStateful()
    .SetShapeFn(UnchangedShape)
    .Transfers();

REGISTER_OP("CollectiveReduceScatterV2")
    .Input("input: T")
    .Input("group_size: int32")
    .Input("group_key: int32")
    .Input("instance_key: int32")
    .Input("ordering_token: Nordering_token * resource")
    .Output("data: T")
    .Attr("T: {bfloat16, float, half, double, int32, int64}")
    .Attr("merge_op: {'Min', 'Max', 'Mul', 'Add'}")
    .Attr("final_op: {'Id', 'Div'}")
    .Attr("communication_hint: string = 'auto'")
    .Attr("timeout_seconds: float = 0")
    .Attr("is_stateless: bool = false")
    .Attr("Nordering_token: int >= 0 = 0")
    .Attr("max_subdivs_per_device: int = -1")
    .SetIsStateful()
    .SetShapeFn([](InferenceContext* c) { return GatheredShape(c, -1); })
    .Transfers();

REGISTER_OP("CollectiveGatherV2")
    .Input("input: T")
    .Input("group_size: int32")
    .Input("group_key: int32")
    .Input("instance_key: int32")
    .Input("ordering_token: Nordering_token * resource")
    .Output("data: T")
    .Attr("T: {float, half, double, int32, int64}")
    .Attr("communication_hint: string = 'auto'")
    .Attr("timeout_seconds: float = 0")
    .Attr("is_stateless: bool = false")
    .Attr("Nordering_token: int >= 0 = 0")
    .SetIsStateful()
    .SetShapeFn([](InferenceContext* c) { return GatheredShape(c, -1); })
    .Transfers();

REGISTER_OP("CollectiveAllToAllV2")
    .Input("input: T")
    .Input("group_size: int32")
    .Input("group_key: int32")
    .Input("instance_key: int32")
    .Input("ordering_token: Nordering_token * resource")
    .Output("data: T")
    .Attr("T: {bfloat16, float, half, double, int32, int64}")
    .Attr("communication_hint: string = 'auto'")
    .Attr("timeout_seconds: float = 0")
    .Attr("is_stateless: bool = false")
    .Attr("Nordering_token: int >= 0 = 0")
    .SetIsStateful()
    .SetShapeFn(UnchangedShape)
    .Transfers();

REGISTER_OP("CollectiveBcastSendV2")
    .Input("input: T")
    .Input("group_size: int32")
    .Input("group_key: int32")
    .Input("instance_key: int32")
    .Output("data: T")
    .Attr("T: {bool, float, half, double, int32, int64}")
    .Attr("communication_hint: string = 'auto'")
    .Attr("timeout_seconds: float = 0")
    .SetIsStateful()
    .SetShapeFn(UnchangedShape)
    .Transfers();

REGISTER_OP("CollectiveBcastRecvV2")
    .Input("group_size: int32")
    .Input("group_key: int32")
    .Input("instance_key: int32")
    .Input("shape: Tshape")
    .Output("data: T")
    .Attr("T: {bool, float, half, double, int32, int64}")
    .Attr("Tshape: {int32, int64} = DT_INT32")
    .Attr("communication_hint: string = 'auto'")
    .Attr("timeout_seconds: float = 0")
    .SetIsStateful()
    .SetShapeFn([](InferenceContext* c) -> Status {
      Shape shape;
      HR_RETURN_IF_ERROR(c->MakeShapeFromInput(3, &shape));
      c->set_output(0, shape);
      return OkStatus();
    })
    .Transfers();

}  // namespace
}  // namespace headrace
