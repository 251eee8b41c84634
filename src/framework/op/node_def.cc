// How nodes are named in messages.
#include "headrace/node_def.h"

#include "absl/strings/str_join.h"

namespace headrace {

std::string NodeErrorSuffix(const NodeDef& node) {
  std::string s = StrCat("{{node ", node.name, "}}");
  // Set by graph passes: the client knows the nodes that were merged.
  std::vector<std::string> merged;
  if (node.attrs.Get("_merged_nodes", &merged).ok()) {
    StrAppend(&s, " (fused from ", absl::StrJoin(merged, ", "), ")");
  }
  if (!node.source.empty()) StrAppend(&s, " made at ", node.source);
  return s;
}

std::string SummarizeNodeDef(const NodeDef& node) {
  std::string s = StrCat("[op=", node.op);
  for (const auto& [name, value] : node.attrs) {
    StrAppend(&s, ", ", name, "=", value.DebugString());
  }
  if (!node.device.empty()) StrAppend(&s, ", device=", node.device);
  return s + "]";
}

}  // namespace headrace
