#include "distributed/strip_defaults.h"

#include "absl/container/flat_hash_set.h"
#include "framework/op/tensor_proto.h"
#include "headrace/op.h"

namespace headrace {
namespace {

// Attrs that ops of TensorFlow 1.15 got later. Of these names no op of 1.15 has
// an attr.
bool IsNewName(absl::string_view attr) {
  static const auto* const names = new absl::flat_hash_set<absl::string_view>{
      "Tk",
      "Tsegmentids",
      "allow_missing_files",
      "allowed_devices",
      "auto_shard_policy",
      "bad_indices_policy",
      "blank_index",
      "buffer_size_min",
      "debug_name",
      "ensure_minimum_range",
      "exponential_avg_factor",
      "force_synchronous",
      "grad_a",
      "grad_b",
      "grad_x",
      "grad_y",
      "is_files",
      "log_warning",
      "metadata",
      "multiply_linear_by_lr",
      "offset",
      "perturb_singular",
      "ragged_keys",
      "ragged_split_types",
      "ragged_value_types",
      "replicate_on_split",
      "resize_if_index_out_of_bounds",
      "sparse_gradient",
      "stop_on_empty_dataset",
      "timeout_seconds",
      "use_default_device"};
  return names->contains(attr);
}

// The others.
bool IsNewFor(absl::string_view op, absl::string_view attr) {
  constexpr struct {
    absl::string_view op, attr;
  } kNew[] = {
      {"AssignVariableOp", "validate_shape"},
      {"ConcatOffset", "shape_type"},
      {"DepthwiseConv2dNative", "explicit_paddings"},
      {"DepthwiseConv2dNativeBackpropFilter", "explicit_paddings"},
      {"DepthwiseConv2dNativeBackpropInput", "explicit_paddings"},
      {"Dequantize", "axis"},
      {"Dequantize", "dtype"},
      {"Dequantize", "narrow_range"},
      {"MaxPoolGrad", "explicit_paddings"},
      {"QuantizeAndDequantizeV2", "axis"},
      {"QuantizeAndDequantizeV3", "axis"},
      {"QuantizeV2", "axis"},
      {"QuantizeV2", "narrow_range"},
      {"SlidingWindowDataset", "drop_remainder"},
      {"TopKV2", "index_type"},
  };
  for (const auto& n : kNew) {
    if (n.op == op && n.attr == attr) return true;
  }
  return IsNewName(attr);
}

void StripNode(bool only_new, pb::NodeDef* node) {
  const OpDef* const op = OpRegistry::Global()->Find(node->op());
  if (op == nullptr) return;
  for (const OpDef::Attr& attr : op->attrs) {
    if (!attr.default_value.has_value()) continue;
    if (only_new && !IsNewFor(op->name, attr.name)) continue;
    const auto it = node->attr().find(attr.name);
    if (it == node->attr().end()) continue;
    AttrValue value;
    // A placeholder of a function's attr is no value.
    if (AttrValueFromProto(it->second, &value).ok() &&
        value == *attr.default_value) {
      node->mutable_attr()->erase(attr.name);
    }
  }
}

void Strip(bool only_new, pb::GraphDef* graph) {
  for (pb::NodeDef& node : *graph->mutable_node()) StripNode(only_new, &node);
  for (pb::FunctionDef& f : *graph->mutable_library()->mutable_function()) {
    for (pb::NodeDef& node : *f.mutable_node_def()) StripNode(only_new, &node);
  }
}

}  // namespace

void StripDefaultAttrs(pb::GraphDef* graph) { Strip(false, graph); }
void StripNewDefaultAttrs(pb::GraphDef* graph) { Strip(true, graph); }

}  // namespace headrace
