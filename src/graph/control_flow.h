// Control-flow analysis: finds the loop frame in which each node runs, and the
// frame of its outputs.
#ifndef HEADRACE_GRAPH_CONTROL_FLOW_H_
#define HEADRACE_GRAPH_CONTROL_FLOW_H_

#include <string>
#include <vector>

#include "headrace/graph.h"

namespace headrace {

struct LoopFrame {
  std::string name;  // "" for frame 0, the top level
  int parent = -1;
  int depth = 0;
  int num_enters = 0;
  int64_t parallel_iterations = 10;
};

struct ControlFlow {
  std::vector<LoopFrame> frames;
  // By node id. An Enter runs in the outer frame, and its output is in the
  // inner frame. An Exit does the reverse. Any other node stays in its frame.
  std::vector<int> runs_in;
  std::vector<int> puts_out_to;
};

// Limits nesting, because a frame's name contains the names of all frames
// around it.
constexpr int kMaxLoopDepth = 200;

// True for an Enter whose value is the same in every iteration: a loop
// invariant.
bool IsConstantEnter(const Node& n);

// InvalidArgument, with nodes and frames, in these cases: a node has inputs
// from different frames; a Merge has only NextIterations; an Exit or
// NextIteration is outside all frames; a frame is entered from two places;
// Enters of one frame disagree; loops nest deeper than kMaxLoopDepth. If the
// result is OK, then for every edge the output frame of its source is the frame
// in which its destination runs. An outer frame comes before the frames inside
// it.
Status AnalyzeControlFlow(const Graph& graph, ControlFlow* out);

}  // namespace headrace

#endif  // HEADRACE_GRAPH_CONTROL_FLOW_H_
