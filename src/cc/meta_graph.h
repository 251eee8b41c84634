// The graph of a Scope as a MetaGraphDef.
#ifndef HEADRACE_CC_META_GRAPH_H_
#define HEADRACE_CC_META_GRAPH_H_

#include "headrace/cc/scope.h"
#include "headrace/meta_graph.pb.h"

namespace headrace::internal {

// The graph, its ops and variables. Attrs with their defaults are left out, so
// that other versions of TensorFlow, which do not know all of them, can read
// it.
Status MakeMetaGraph(const Scope& scope, pb::MetaGraphDef* meta_graph);

}  // namespace headrace::internal

#endif  // HEADRACE_CC_META_GRAPH_H_
