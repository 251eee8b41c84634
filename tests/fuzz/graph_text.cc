// The text parser, and the importer behind it.
#include "fuzz_target.h"
#include "headrace/importer.h"

namespace headrace {
FUZZ_TARGET(graph_text) {
  pb::GraphDef def;
  (void)IsGraphDefText(bytes);
  if (!ParseGraphDef(bytes, &def).ok()) return;
  Graph graph;
  (void)ImportGraphDef({.prefix = "p"}, def, &graph);
}
}  // namespace headrace
