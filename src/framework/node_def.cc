// How nodes are named in messages.
#include "framework/node_def.h"

namespace headrace {

std::string NodeErrorSuffix(const NodeDef& node) {
  return node.source.empty()
             ? StrCat("{{node ", node.name, "}}")
             : StrCat("{{node ", node.name, "}} made at ", node.source);
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
