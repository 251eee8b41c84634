// The importer, from the bytes of a GraphDef.
#include "fuzz_target.h"
#include "headrace/importer.h"

namespace headrace {
FUZZ_TARGET(graph_def) {
  Graph graph;
  ImportResults results;
  if (!ImportGraphDefBytes({}, bytes, &graph, &results).ok()) return;
  pb::GraphDef back;
  GraphToGraphDef(graph, &back);
}
}  // namespace headrace
