// The costs of a step's nodes as a message.
#ifndef HEADRACE_RUNTIME_COST_GRAPH_H_
#define HEADRACE_RUNTIME_COST_GRAPH_H_

#include "headrace/cost_graph.pb.h"
#include "headrace/graph.h"
#include "headrace/step_stats.pb.h"

namespace headrace {

// Appends the nodes of a partition with what `stats` say of them: time, sizes
// and shapes of outputs. A node that ran more than once has the sum of its
// times; one that did not run is marked inaccurate.
void AddCosts(const Graph& partition, const std::string& device,
              const pb::StepStats& stats, pb::CostGraphDef* out);

}  // namespace headrace

#endif  // HEADRACE_RUNTIME_COST_GRAPH_H_
