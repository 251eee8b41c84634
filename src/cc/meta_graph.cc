#include "cc/meta_graph.h"

#include <map>
#include <string>

#include "framework/op/tensor_proto.h"
#include "headrace/cc/variable.h"
#include "headrace/op.h"
#include "headrace/variable.pb.h"

namespace headrace::internal {
namespace {

void DropDefaults(const pb::OpDef& op, pb::NodeDef* node) {
  for (const pb::OpDef::AttrDef& attr : op.attr()) {
    const auto at = node->attr().find(attr.name());
    if (at != node->attr().end() && attr.has_default_value() &&
        at->second.SerializeAsString() ==
            attr.default_value().SerializeAsString()) {
      node->mutable_attr()->erase(attr.name());
    }
  }
}

}  // namespace

Status MakeMetaGraph(const Scope& scope, pb::MetaGraphDef* meta_graph) {
  HR_RETURN_IF_ERROR(scope.ToGraphDef(meta_graph->mutable_graph_def()));
  pb::MetaGraphDef::MetaInfoDef& info = *meta_graph->mutable_meta_info_def();
  info.set_tensorflow_version(kTensorFlowVersion);
  info.set_stripped_default_attrs(true);
  std::map<std::string, pb::OpDef> ops;
  for (pb::NodeDef& n : *meta_graph->mutable_graph_def()->mutable_node()) {
    const OpDef* const def = OpRegistry::Global()->Find(n.op());
    if (def == nullptr) continue;  // a function
    const auto [at, is_new] = ops.try_emplace(n.op());
    if (is_new) OpDefToProto(*def, &at->second);
    DropDefaults(at->second, &n);
  }
  for (const auto& [name, op] : ops) {
    *info.mutable_stripped_op_list()->add_op() = op;
  }
  for (const Variable& v : GlobalVariables(scope)) {
    pb::VariableDef def;
    def.set_variable_name(v.ref().name());
    def.set_initial_value_name(v.initial_value().name());
    def.set_initializer_name(v.initializer().name());
    def.set_snapshot_name(v.value().name());
    def.set_trainable(v.trainable());
    def.set_is_resource(v.is_resource());
    auto& collections = *meta_graph->mutable_collection_def();
    *collections["variables"].mutable_bytes_list()->add_value() =
        def.SerializeAsString();
    if (v.trainable()) {
      *collections["trainable_variables"].mutable_bytes_list()->add_value() =
          def.SerializeAsString();
    }
  }
  return OkStatus();
}

}  // namespace headrace::internal
