// Resource variables. Shape and type of a variable travel with its handle
// (input_handle), so that reads have shapes at build time and a wrong type is
// refused there.
#include "framework/shape_fns/common_shape_fns.h"
#include "headrace/op.h"
#include "headrace/shape_inference.h"

namespace headrace {
namespace {

using Shape = PartialTensorShape;

// What is known of the variable behind input i: its shape, after its type was
// compared with the attr that says what the op takes it for.
Status HandleShape(InferenceContext* c, int i, const char* dtype_attr,
                   Shape* shape) {
  Shape unused;
  HR_RETURN_IF_ERROR(c->WithRank(c->input(i), 0, &unused));
  *shape = c->UnknownShape();
  const std::vector<DtypeAndShape>* known = c->input_handle(i);
  if (known == nullptr || known->empty()) return OkStatus();
  *shape = known->front().shape;
  if (dtype_attr == nullptr) return OkStatus();
  DataType want = DT_INVALID;
  HR_RETURN_IF_ERROR(c->GetAttr(dtype_attr, &want));
  if (known->front().dtype != want && known->front().dtype != DT_INVALID) {
    return errors::InvalidArgument(
        "Trying to access a variable with wrong "
        "dtype. Expected ",
        DataTypeString(known->front().dtype), " got ", DataTypeString(want));
  }
  return OkStatus();
}

Status VarHandleShape(InferenceContext* c) {
  DtypeAndShape h;
  HR_RETURN_IF_ERROR(c->GetAttr("dtype", &h.dtype));
  HR_RETURN_IF_ERROR(c->GetAttr("shape", &h.shape));
  c->set_output(0, c->Scalar());
  c->set_output_handle(0, {h});
  return OkStatus();
}

Status VarHandlesShape(InferenceContext* c) {
  std::vector<DataType> dtypes;
  std::vector<Shape> shapes;
  HR_RETURN_IF_ERROR(c->GetAttr("dtypes", &dtypes));
  HR_RETURN_IF_ERROR(c->GetAttr("shapes", &shapes));
  const size_t n = c->num_outputs();
  if (dtypes.size() != n || shapes.size() != n) {
    return errors::InvalidArgument("dtypes and shapes must each have ", n,
                                   " entries, got ", dtypes.size(), " and ",
                                   shapes.size());
  }
  for (size_t i = 0; i < n; ++i) {
    c->set_output(static_cast<int>(i), c->Scalar());
    c->set_output_handle(static_cast<int>(i), {{dtypes[i], shapes[i]}});
  }
  return OkStatus();
}

Status ReadVariableShape(InferenceContext* c) {
  Shape s;
  HR_RETURN_IF_ERROR(HandleShape(c, 0, "dtype", &s));
  c->set_output(0, s);
  return OkStatus();
}

Status ReadVariablesShape(InferenceContext* c) {
  if (c->num_inputs() != c->num_outputs()) {
    return errors::InvalidArgument("dtypes must have N = ", c->num_inputs(),
                                   " entries, got ", c->num_outputs());
  }
  for (int i = 0; i < c->num_inputs(); ++i) {
    Shape s;
    HR_RETURN_IF_ERROR(HandleShape(c, i, nullptr, &s));
    c->set_output(i, s);
  }
  return OkStatus();
}

Status AssignVariableShape(InferenceContext* c) {
  Shape s, unused;
  HR_RETURN_IF_ERROR(HandleShape(c, 0, "dtype", &s));
  return c->Merge(s, c->input(1), &unused);
}

Status VariableShapeShape(InferenceContext* c) {
  Shape s;
  HR_RETURN_IF_ERROR(HandleShape(c, 0, nullptr, &s));
  c->set_output(0, c->Vector(c->RankKnown(s) ? s.dims() : -1));
  return OkStatus();
}

Status ResourceGatherShape(InferenceContext* c) {
  Shape params, rest, out;
  HR_RETURN_IF_ERROR(HandleShape(c, 0, "dtype", &params));
  int64_t batch_dims = 0;
  HR_RETURN_IF_ERROR(c->GetAttr("batch_dims", &batch_dims));
  const Shape& indices = c->input(1);
  if (!c->RankKnown(indices) || !c->RankKnown(params)) {
    if (batch_dims == 0)
      HR_RETURN_IF_ERROR(c->WithRankAtLeast(params, 1, &out));
    c->set_output(0, c->UnknownShape());
    return OkStatus();
  }
  if (batch_dims < 0) batch_dims += indices.dims();
  if (batch_dims < 0 || batch_dims > indices.dims()) {
    return errors::InvalidArgument("batch_dims must be in [", -indices.dims(),
                                   ", ", indices.dims(), "]");
  }
  HR_RETURN_IF_ERROR(
      c->WithRankAtLeast(params, static_cast<int>(batch_dims) + 1, &params));
  Shape batch, index_batch;
  HR_RETURN_IF_ERROR(c->Subshape(params, 0, batch_dims, &batch));
  HR_RETURN_IF_ERROR(c->Subshape(indices, 0, batch_dims, &index_batch));
  HR_RETURN_IF_ERROR(c->Merge(batch, index_batch, &batch));
  HR_RETURN_IF_ERROR(c->Subshape(params, batch_dims + 1, &rest));
  HR_RETURN_IF_ERROR(c->Subshape(indices, batch_dims, &index_batch));
  HR_RETURN_IF_ERROR(c->Concatenate(batch, index_batch, &out));
  HR_RETURN_IF_ERROR(c->Concatenate(out, rest, &out));
  c->set_output(0, out);
  return OkStatus();
}

Status ResourceGatherNdShape(InferenceContext* c) {
  Shape params, indices, outer, inner, out;
  HR_RETURN_IF_ERROR(HandleShape(c, 0, "dtype", &params));
  HR_RETURN_IF_ERROR(c->WithRankAtLeast(c->input(1), 1, &indices));
  const int64_t depth = c->Dim(indices, -1);
  if (!c->RankKnown(params) || depth < 0) {
    c->set_output(0, c->UnknownShape());
    return OkStatus();
  }
  if (depth > params.dims()) {
    return errors::InvalidArgument(
        "indices.shape[-1] must be <= params.rank, but saw indices shape: ",
        indices.DebugString(), " and params shape: ", params.DebugString());
  }
  HR_RETURN_IF_ERROR(c->Subshape(indices, 0, -1, &outer));
  HR_RETURN_IF_ERROR(c->Subshape(params, depth, &inner));
  HR_RETURN_IF_ERROR(c->Concatenate(outer, inner, &out));
  c->set_output(0, out);
  return OkStatus();
}

Status ResourceScatterShape(InferenceContext* c) {
  Shape params, rest, want, unused;
  HR_RETURN_IF_ERROR(HandleShape(c, 0, "dtype", &params));
  HR_RETURN_IF_ERROR(c->WithRankAtLeast(params, 1, &params));
  HR_RETURN_IF_ERROR(c->Subshape(params, 1, &rest));
  HR_RETURN_IF_ERROR(c->Concatenate(c->input(1), rest, &want));
  if (c->Rank(c->input(2)) == 0) return OkStatus();
  return c->Merge(c->input(2), want, &unused);
}

Status ResourceScatterNdShape(InferenceContext* c) {
  Shape params, indices, outer, inner, want, unused;
  HR_RETURN_IF_ERROR(HandleShape(c, 0, "T", &params));
  HR_RETURN_IF_ERROR(c->WithRankAtLeast(params, 1, &params));
  HR_RETURN_IF_ERROR(c->WithRankAtLeast(c->input(1), 1, &indices));
  const int64_t depth = c->Dim(indices, -1);
  if (!c->RankKnown(params) || depth < 0) return OkStatus();
  if (depth > params.dims()) {
    return errors::InvalidArgument("the last dimension of indices, ", depth,
                                   ", is more than the rank of the variable, ",
                                   params.DebugString());
  }
  HR_RETURN_IF_ERROR(c->Subshape(indices, 0, -1, &outer));
  HR_RETURN_IF_ERROR(c->Subshape(params, depth, &inner));
  HR_RETURN_IF_ERROR(c->Concatenate(outer, inner, &want));
  return c->Merge(c->input(2), want, &unused);
}

REGISTER_OP("VarHandleOp")
    .Output("resource: resource")
    .Attr("container: string = ''")
    .Attr("shared_name: string = ''")
    .Attr("debug_name: string = ''")
    .Attr("dtype: type")
    .Attr("shape: shape")
    .Attr("allowed_devices: list(string) = []")
    .SetIsStateful()
    .SetShapeFn(VarHandleShape)
    .Variable(VariableUse::kHolds)
    .ReadsState();

REGISTER_OP("_VarHandlesOp")
    .Output("resources: N * resource")
    .Attr("containers: list(string)")
    .Attr("shared_names: list(string)")
    .Attr("N: int >= 0")
    .Attr("dtypes: list(type)")
    .Attr("shapes: list(shape)")
    .SetIsStateful()
    .SetShapeFn(VarHandlesShape)
    .ReadsState();

REGISTER_OP("ReadVariableOp")
    .Input("resource: resource")
    .Output("value: dtype")
    .Attr("dtype: type")
    .SetIsStateful()
    .SetShapeFn(ReadVariableShape)
    .Outputs(OutputBuffer::kStored)
    .ReadsState();

REGISTER_OP("_ReadVariablesOp")
    .Input("resources: N * resource")
    .Output("values: dtypes")
    .Attr("N: int >= 0")
    .Attr("dtypes: list(type) >= 1")
    .SetIsStateful()
    .SetShapeFn(ReadVariablesShape)
    .ReadsState();

REGISTER_OP("DisableCopyOnRead")
    .Input("resource: resource")
    .SetIsStateful()
    .SetShapeFn(shape_inference::NoOutputs)
    .WritesState();

REGISTER_OP("DestroyResourceOp")
    .Input("resource: resource")
    .Attr("ignore_lookup_error: bool = true")
    .SetIsStateful()
    .SetShapeFn(shape_inference::NoOutputs)
    .Variable(VariableUse::kNeedsNoValue)
    .WritesState();

REGISTER_OP("AssignVariableOp")
    .Input("resource: resource")
    .Input("value: dtype")
    .Attr("dtype: type")
    .Attr("validate_shape: bool = false")
    .SetIsStateful()
    .SetShapeFn(AssignVariableShape)
    .Variable(VariableUse::kInitializes)
    .WritesState();

REGISTER_OP("AssignAddVariableOp")
    .Input("resource: resource")
    .Input("value: dtype")
    .Attr("dtype: type")
    .SetIsStateful()
    .SetShapeFn(AssignVariableShape)
    .WritesState();

REGISTER_OP("AssignSubVariableOp")
    .Input("resource: resource")
    .Input("value: dtype")
    .Attr("dtype: type")
    .SetIsStateful()
    .SetShapeFn(AssignVariableShape)
    .WritesState();

REGISTER_OP("VarIsInitializedOp")
    .Input("resource: resource")
    .Output("is_initialized: bool")
    .SetIsStateful()
    .SetShapeFn(shape_inference::ScalarShape)
    .Variable(VariableUse::kNeedsNoValue)
    .ReadsState();

REGISTER_OP("VariableShape")
    .Input("input: resource")
    .Output("output: out_type")
    .Attr("out_type: {int32, int64} = DT_INT32")
    .SetIsStateful()
    .SetShapeFn(VariableShapeShape)
    .ReadsState();

REGISTER_OP("ResourceGather")
    .Input("resource: resource")
    .Input("indices: Tindices")
    .Output("output: dtype")
    .Attr("batch_dims: int = 0")
    .Attr("validate_indices: bool = true")
    .Attr("dtype: type")
    .Attr("Tindices: {int32, int64}")
    .SetIsStateful()
    .SetShapeFn(ResourceGatherShape)
    .ReadsState();

REGISTER_OP("ResourceGatherNd")
    .Input("resource: resource")
    .Input("indices: Tindices")
    .Output("output: dtype")
    .Attr("dtype: type")
    .Attr("Tindices: {int32, int64}")
    .SetIsStateful()
    .SetShapeFn(ResourceGatherNdShape)
    .ReadsState();

#define RESOURCE_SCATTER_OP(NAME, TYPES) \
  REGISTER_OP(NAME)                      \
      .Input("resource: resource")       \
      .Input("indices: Tindices")        \
      .Input("updates: dtype")           \
      .Attr("dtype: " TYPES)             \
      .Attr("Tindices: {int32, int64}")  \
      .SetIsStateful()                   \
      .SetShapeFn(ResourceScatterShape)
RESOURCE_SCATTER_OP("ResourceScatterUpdate", "type").WritesState();
RESOURCE_SCATTER_OP("ResourceScatterAdd", "numbertype").WritesState();
RESOURCE_SCATTER_OP("ResourceScatterSub", "numbertype").WritesState();
RESOURCE_SCATTER_OP("ResourceScatterMul", "numbertype").WritesState();
RESOURCE_SCATTER_OP("ResourceScatterDiv", "numbertype").WritesState();
RESOURCE_SCATTER_OP("ResourceScatterMin", "numbertype").WritesState();
RESOURCE_SCATTER_OP("ResourceScatterMax", "numbertype").WritesState();

#define RESOURCE_SCATTER_ND_OP(NAME)           \
  REGISTER_OP(NAME)                            \
      .Input("ref: resource")                  \
      .Input("indices: Tindices")              \
      .Input("updates: T")                     \
      .Attr("T: type")                         \
      .Attr("Tindices: {int32, int64}")        \
      .Attr("use_locking: bool = true")        \
      .Attr("bad_indices_policy: string = ''") \
      .SetIsStateful()                         \
      .SetShapeFn(ResourceScatterNdShape)
RESOURCE_SCATTER_ND_OP("ResourceScatterNdUpdate").WritesState();
RESOURCE_SCATTER_ND_OP("ResourceScatterNdAdd").WritesState();
RESOURCE_SCATTER_ND_OP("ResourceScatterNdSub").WritesState();
RESOURCE_SCATTER_ND_OP("ResourceScatterNdMin").WritesState();
RESOURCE_SCATTER_ND_OP("ResourceScatterNdMax").WritesState();
#undef RESOURCE_SCATTER_OP
#undef RESOURCE_SCATTER_ND_OP

}  // namespace
}  // namespace headrace
