// Graphs for other processes, whose ops may be of another age: an attr that has
// its default value is left out, so that one who does not know the attr takes
// the node, and the others fill it in.
#ifndef HEADRACE_DISTRIBUTED_STRIP_DEFAULTS_H_
#define HEADRACE_DISTRIBUTED_STRIP_DEFAULTS_H_

#include "headrace/graph.pb.h"

namespace headrace {

// Also in the functions of the library. Nodes of unknown ops stay as they are.
// For masters, which fill in what is missing.
void StripDefaultAttrs(pb::GraphDef* graph);
// The same for the attrs that TensorFlow 1.15 does not know. For workers:
// TensorFlow's fill in nothing.
void StripNewDefaultAttrs(pb::GraphDef* graph);

}  // namespace headrace

#endif  // HEADRACE_DISTRIBUTED_STRIP_DEFAULTS_H_
