// Control-flow analysis: which loop frame each node runs in, and which frame
// its outputs belong to.
#ifndef HEADRACE_GRAPH_CONTROL_FLOW_H_
#define HEADRACE_GRAPH_CONTROL_FLOW_H_

#include <string>
#include <vector>

#include "headrace/graph.h"

namespace headrace {

struct LoopFrame {
  std::string name;  // "" for the top level, which is frame 0
  int parent = -1;
  int depth = 0;
  int num_enters = 0;
  int64_t parallel_iterations = 10;
};

struct ControlFlow {
  std::vector<LoopFrame> frames;
  // By node id. An Enter runs in the outer frame and puts out into the inner
  // one; an Exit the other way round; every other node stays in its frame.
  std::vector<int> runs_in;
  std::vector<int> puts_out_to;
};

// Loops inside loops: a frame's name tells all around it.
constexpr int kMaxLoopDepth = 200;

// An Enter whose value comes into every iteration: a loop invariant.
bool IsConstantEnter(const Node& n);

// InvalidArgument, naming nodes and frames, for a node whose inputs come from
// different frames, a Merge of NextIterations alone, an Exit or NextIteration
// outside any frame, a frame entered from two places, Enters of one frame that
// disagree, and loops that nest deeper than kMaxLoopDepth. If it is OK, every
// edge leads from the frame that its source puts out to into the frame that its
// destination runs in. An outer frame comes before those inside it.
Status AnalyzeControlFlow(const Graph& graph, ControlFlow* out);

}  // namespace headrace

#endif  // HEADRACE_GRAPH_CONTROL_FLOW_H_
