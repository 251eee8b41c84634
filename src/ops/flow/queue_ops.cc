// Queues. The types and shapes of a queue's components travel with its
// resource handle, so that what is dequeued has shapes at build time; behind a
// handle of strings nothing is known.
#include "framework/shape_fns/common_shape_fns.h"
#include "headrace/op.h"
#include "headrace/shape_inference.h"

namespace headrace {
namespace {

using Shape = PartialTensorShape;
using shape_inference::NoOutputs;
using shape_inference::ScalarShape;
using shape_inference::StringHandleShape;

Status FakeQueueShape(InferenceContext* c) {
  Shape unused;
  HR_RETURN_IF_ERROR(c->WithRank(c->input(0), 0, &unused));
  return StringHandleShape(c);
}

Status ResourceQueueShape(InferenceContext* c, bool has_priority) {
  std::vector<DataType> types;
  std::vector<Shape> shapes;
  HR_RETURN_IF_ERROR(c->GetAttr("component_types", &types));
  HR_RETURN_IF_ERROR(c->GetAttr("shapes", &shapes));
  std::vector<DtypeAndShape> components;
  if (has_priority) components.push_back({DT_INT64, Shape::Scalar()});
  for (size_t i = 0; i < types.size(); ++i) {
    components.push_back(
        {types[i], shapes.size() == types.size() ? shapes[i] : Shape()});
  }
  c->set_output(0, c->Scalar());
  c->set_output_handle(0, std::move(components));
  return OkStatus();
}
Status QueueShape(InferenceContext* c) { return ResourceQueueShape(c, false); }
Status PriorityQueueShape(InferenceContext* c) {
  return ResourceQueueShape(c, true);
}

Status EnqueueShape(InferenceContext* c) { return NoOutputs(c); }

Status EnqueueManyShape(InferenceContext* c) {
  int64_t n = -1;
  for (int i = 1; i < c->num_inputs(); ++i) {
    Shape component;
    HR_RETURN_IF_ERROR(c->WithRankAtLeast(c->input(i), 1, &component));
    HR_RETURN_IF_ERROR(c->MergeDims(n, c->Dim(component, 0), &n));
  }
  return OkStatus();
}

// The components, each with `prefix` before it.
Status Components(InferenceContext* c, const Shape& prefix) {
  const std::vector<DtypeAndShape>* h = c->input_handle(0);
  for (int i = 0; i < c->num_outputs(); ++i) {
    if (h == nullptr || h->size() != static_cast<size_t>(c->num_outputs())) {
      c->set_output(i, c->UnknownShape());
      continue;
    }
    Shape s;
    HR_RETURN_IF_ERROR(c->Concatenate(prefix, (*h)[i].shape, &s));
    c->set_output(i, s);
  }
  return OkStatus();
}

Status DequeueShape(InferenceContext* c) {
  return Components(c, Shape::Scalar());
}

Status DequeueManyShape(InferenceContext* c) {
  Shape unused;
  HR_RETURN_IF_ERROR(c->WithRank(c->input(1), 0, &unused));
  int64_t n = -1;
  HR_RETURN_IF_ERROR(c->MakeDimForScalarInput(1, &n));
  return Components(c, c->Vector(n));
}

Status DequeueUpToShape(InferenceContext* c) {
  Shape unused;
  HR_RETURN_IF_ERROR(c->WithRank(c->input(1), 0, &unused));
  return Components(c, c->Vector(-1));
}

REGISTER_OP("FIFOQueue")
    .Output("handle: Ref(string)")
    .Attr("component_types: list(type) >= 1")
    .Attr("shapes: list(shape) >= 0 = []")
    .Attr("capacity: int = -1")
    .Attr("container: string = ''")
    .Attr("shared_name: string = ''")
    .SetIsStateful()
    .SetShapeFn(StringHandleShape)
    .WritesState();
REGISTER_OP("FIFOQueueV2")
    .Output("handle: resource")
    .Attr("component_types: list(type) >= 1")
    .Attr("shapes: list(shape) >= 0 = []")
    .Attr("capacity: int = -1")
    .Attr("container: string = ''")
    .Attr("shared_name: string = ''")
    .SetIsStateful()
    .SetShapeFn(QueueShape)
    .WritesState();
REGISTER_OP("PaddingFIFOQueue")
    .Output("handle: Ref(string)")
    .Attr("component_types: list(type) >= 1")
    .Attr("shapes: list(shape) >= 0 = []")
    .Attr("capacity: int = -1")
    .Attr("container: string = ''")
    .Attr("shared_name: string = ''")
    .SetIsStateful()
    .SetShapeFn(StringHandleShape)
    .WritesState();
REGISTER_OP("PaddingFIFOQueueV2")
    .Output("handle: resource")
    .Attr("component_types: list(type) >= 1")
    .Attr("shapes: list(shape) >= 0 = []")
    .Attr("capacity: int = -1")
    .Attr("container: string = ''")
    .Attr("shared_name: string = ''")
    .SetIsStateful()
    .SetShapeFn(QueueShape)
    .WritesState();
REGISTER_OP("RandomShuffleQueue")
    .Output("handle: Ref(string)")
    .Attr("component_types: list(type) >= 1")
    .Attr("shapes: list(shape) >= 0 = []")
    .Attr("capacity: int = -1")
    .Attr("min_after_dequeue: int = 0")
    .Attr("seed: int = 0")
    .Attr("seed2: int = 0")
    .Attr("container: string = ''")
    .Attr("shared_name: string = ''")
    .SetIsStateful()
    .SetShapeFn(StringHandleShape)
    .WritesState();
REGISTER_OP("RandomShuffleQueueV2")
    .Output("handle: resource")
    .Attr("component_types: list(type) >= 1")
    .Attr("shapes: list(shape) >= 0 = []")
    .Attr("capacity: int = -1")
    .Attr("min_after_dequeue: int = 0")
    .Attr("seed: int = 0")
    .Attr("seed2: int = 0")
    .Attr("container: string = ''")
    .Attr("shared_name: string = ''")
    .SetIsStateful()
    .SetShapeFn(QueueShape)
    .WritesState();
REGISTER_OP("PriorityQueue")
    .Output("handle: Ref(string)")
    .Attr("component_types: list(type) >= 0 = []")
    .Attr("shapes: list(shape) >= 0")
    .Attr("capacity: int = -1")
    .Attr("container: string = ''")
    .Attr("shared_name: string = ''")
    .SetIsStateful()
    .SetShapeFn(StringHandleShape)
    .WritesState();
REGISTER_OP("PriorityQueueV2")
    .Output("handle: resource")
    .Attr("component_types: list(type) >= 0 = []")
    .Attr("shapes: list(shape) >= 0")
    .Attr("capacity: int = -1")
    .Attr("container: string = ''")
    .Attr("shared_name: string = ''")
    .SetIsStateful()
    .SetShapeFn(PriorityQueueShape)
    .WritesState();
REGISTER_OP("FakeQueue")
    .Input("resource: resource")
    .Output("handle: Ref(string)")
    .SetIsStateful()
    .SetShapeFn(FakeQueueShape)
    .ReadsState();
REGISTER_OP("QueueEnqueue")
    .Input("handle: Ref(string)")
    .Input("components: Tcomponents")
    .Attr("Tcomponents: list(type) >= 1")
    .Attr("timeout_ms: int = -1")
    .SetShapeFn(EnqueueShape)
    .WritesState();
REGISTER_OP("QueueEnqueueMany")
    .Input("handle: Ref(string)")
    .Input("components: Tcomponents")
    .Attr("Tcomponents: list(type) >= 1")
    .Attr("timeout_ms: int = -1")
    .SetShapeFn(EnqueueManyShape)
    .WritesState();
REGISTER_OP("QueueDequeue")
    .Input("handle: Ref(string)")
    .Output("components: component_types")
    .Attr("component_types: list(type) >= 1")
    .Attr("timeout_ms: int = -1")
    .SetShapeFn(DequeueShape)
    .WritesState();
REGISTER_OP("QueueDequeueMany")
    .Input("handle: Ref(string)")
    .Input("n: int32")
    .Output("components: component_types")
    .Attr("component_types: list(type) >= 1")
    .Attr("timeout_ms: int = -1")
    .SetShapeFn(DequeueManyShape)
    .WritesState();
REGISTER_OP("QueueDequeueUpTo")
    .Input("handle: Ref(string)")
    .Input("n: int32")
    .Output("components: component_types")
    .Attr("component_types: list(type) >= 1")
    .Attr("timeout_ms: int = -1")
    .SetShapeFn(DequeueUpToShape)
    .WritesState();
REGISTER_OP("QueueClose")
    .Input("handle: Ref(string)")
    .Attr("cancel_pending_enqueues: bool = false")
    .SetShapeFn(NoOutputs)
    .WritesState();
REGISTER_OP("QueueSize")
    .Input("handle: Ref(string)")
    .Output("size: int32")
    .SetShapeFn(ScalarShape)
    .ReadsState();
REGISTER_OP("QueueIsClosed")
    .Input("handle: Ref(string)")
    .Output("is_closed: bool")
    .SetShapeFn(ScalarShape)
    .ReadsState();
REGISTER_OP("QueueEnqueueV2")
    .Input("handle: resource")
    .Input("components: Tcomponents")
    .Attr("Tcomponents: list(type) >= 1")
    .Attr("timeout_ms: int = -1")
    .SetIsStateful()
    .SetShapeFn(EnqueueShape)
    .WritesState();
REGISTER_OP("QueueEnqueueManyV2")
    .Input("handle: resource")
    .Input("components: Tcomponents")
    .Attr("Tcomponents: list(type) >= 1")
    .Attr("timeout_ms: int = -1")
    .SetIsStateful()
    .SetShapeFn(EnqueueManyShape)
    .WritesState();
REGISTER_OP("QueueDequeueV2")
    .Input("handle: resource")
    .Output("components: component_types")
    .Attr("component_types: list(type) >= 1")
    .Attr("timeout_ms: int = -1")
    .SetIsStateful()
    .SetShapeFn(DequeueShape)
    .WritesState();
REGISTER_OP("QueueDequeueManyV2")
    .Input("handle: resource")
    .Input("n: int32")
    .Output("components: component_types")
    .Attr("component_types: list(type) >= 1")
    .Attr("timeout_ms: int = -1")
    .SetIsStateful()
    .SetShapeFn(DequeueManyShape)
    .WritesState();
REGISTER_OP("QueueDequeueUpToV2")
    .Input("handle: resource")
    .Input("n: int32")
    .Output("components: component_types")
    .Attr("component_types: list(type) >= 1")
    .Attr("timeout_ms: int = -1")
    .SetIsStateful()
    .SetShapeFn(DequeueUpToShape)
    .WritesState();
REGISTER_OP("QueueCloseV2")
    .Input("handle: resource")
    .Attr("cancel_pending_enqueues: bool = false")
    .SetIsStateful()
    .SetShapeFn(NoOutputs)
    .WritesState();
REGISTER_OP("QueueSizeV2")
    .Input("handle: resource")
    .Output("size: int32")
    .SetIsStateful()
    .SetShapeFn(ScalarShape)
    .ReadsState();
REGISTER_OP("QueueIsClosedV2")
    .Input("handle: resource")
    .Output("is_closed: bool")
    .SetIsStateful()
    .SetShapeFn(ScalarShape)
    .ReadsState();

}  // namespace
}  // namespace headrace
