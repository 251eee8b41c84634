// Between our own types and their protobuf messages; formats.md, section 2.
#ifndef HEADRACE_FRAMEWORK_OP_TENSOR_PROTO_H_
#define HEADRACE_FRAMEWORK_OP_TENSOR_PROTO_H_

#include "headrace/attr_value.h"
#include "headrace/graph.pb.h"
#include "headrace/node_def.h"
#include "headrace/op_def.h"
#include "headrace/resource_handle.h"
#include "headrace/tensor.h"

namespace headrace {

// Refuses contents shorter or longer than the shape, dims that are negative or
// overflow, unknown types.
Status TensorFromProto(const pb::TensorProto& proto, Tensor* out);
// A tensor from its tensor_content, which need not be in a message: a view into
// a file.
Status TensorFromContent(DataType dtype, const pb::TensorShapeProto& shape,
                         absl::string_view content, Tensor* out);
// A view of `content`, which lies in `owner`, where the type's elements stand
// in memory as they do in the content; otherwise a copy.
Status TensorOverContent(DataType dtype, const pb::TensorShapeProto& shape,
                         absl::string_view content,
                         const RefPtr<TensorBuffer>& owner, Tensor* out);
// Plain data as tensor_content, strings as string_val.
void TensorToProto(const Tensor& t, pb::TensorProto* proto);
// The same for the value of an attr, where TensorFlow writes a single element
// in the field of its type: a scalar int32 as int_val.
void TensorToAttrProto(const Tensor& t, pb::TensorProto* proto);

// A ResourceHandleProto in bytes: how the C API hands a resource to a client.
std::string ResourceHandleToBytes(const ResourceHandle& handle);
// InvalidArgument if they are none.
Status ResourceHandleFromBytes(absl::string_view bytes, ResourceHandle* out);

Status ShapeFromProto(const pb::TensorShapeProto& proto,
                      PartialTensorShape* out);
void ShapeToProto(const PartialTensorShape& s, pb::TensorShapeProto* proto);

Status AttrValueFromProto(const pb::AttrValue& proto, AttrValue* out);
void AttrValueToProto(const AttrValue& v, pb::AttrValue* proto);

Status NodeDefFromProto(const pb::NodeDef& proto, NodeDef* out);
void NodeDefToProto(const NodeDef& node, pb::NodeDef* proto);

void OpDefToProto(const OpDef& def, pb::OpDef* proto);
Status OpDefFromProto(const pb::OpDef& proto, OpDef* out);

}  // namespace headrace

#endif  // HEADRACE_FRAMEWORK_OP_TENSOR_PROTO_H_
