// Barriers.
#include "framework/shape_fns/common_shape_fns.h"
#include "headrace/op.h"
#include "headrace/shape_inference.h"

namespace headrace {
namespace {

using Shape = PartialTensorShape;
using shape_inference::NoOutputs;
using shape_inference::ScalarShape;

REGISTER_OP("Barrier")
    .Output("handle: Ref(string)")
    .Attr("component_types: list(type) >= 1")
    .Attr("shapes: list(shape) >= 0 = []")
    .Attr("capacity: int = -1")
    .Attr("container: string = ''")
    .Attr("shared_name: string = ''")
    .SetIsStateful()
    .SetShapeFn([](InferenceContext* c) -> Status {
      c->set_output(0, c->Vector(2));
      return OkStatus();
    })
    .WritesState();
REGISTER_OP("BarrierInsertMany")
    .Input("handle: Ref(string)")
    .Input("keys: string")
    .Input("values: T")
    .Attr("T: type")
    .Attr("component_index: int")
    .SetShapeFn([](InferenceContext* c) -> Status {
      Shape keys, values;
      int64_t n = -1;
      HR_RETURN_IF_ERROR(c->WithRank(c->input(1), 1, &keys));
      HR_RETURN_IF_ERROR(c->WithRankAtLeast(c->input(2), 1, &values));
      return c->MergeDims(c->Dim(keys, 0), c->Dim(values, 0), &n);
    })
    .WritesState();
REGISTER_OP("BarrierTakeMany")
    .Input("handle: Ref(string)")
    .Input("num_elements: int32")
    .Output("indices: int64")
    .Output("keys: string")
    .Output("values: component_types")
    .Attr("component_types: list(type) >= 1")
    .Attr("allow_small_batch: bool = false")
    .Attr("wait_for_incomplete: bool = false")
    .Attr("timeout_ms: int = -1")
    .SetShapeFn([](InferenceContext* c) -> Status {
      Shape unused;
      HR_RETURN_IF_ERROR(c->WithRank(c->input(1), 0, &unused));
      c->set_output(0, c->Vector(-1));
      c->set_output(1, c->Vector(-1));
      for (int i = 2; i < c->num_outputs(); ++i) c->set_output(i, Shape());
      return OkStatus();
    })
    .WritesState();
REGISTER_OP("BarrierClose")
    .Input("handle: Ref(string)")
    .Attr("cancel_pending_enqueues: bool = false")
    .SetShapeFn(NoOutputs)
    .WritesState();
REGISTER_OP("BarrierReadySize")
    .Input("handle: Ref(string)")
    .Output("size: int32")
    .SetShapeFn(ScalarShape)
    .ReadsState();
REGISTER_OP("BarrierIncompleteSize")
    .Input("handle: Ref(string)")
    .Output("size: int32")
    .SetShapeFn(ScalarShape)
    .ReadsState();

}  // namespace
}  // namespace headrace
