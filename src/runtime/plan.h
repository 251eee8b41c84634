// Plan: a partition's graph, compiled for execution. Immutable.
//
// Every data input of every node has a slot; a step keeps one Entry a slot.
// Slots that a constant feeds are bound to its tensor here.
#ifndef HEADRACE_RUNTIME_PLAN_H_
#define HEADRACE_RUNTIME_PLAN_H_

#include <memory>
#include <string>
#include <vector>

#include "framework/op_kernel.h"
#include "graph/graph.h"
#include "runtime/executor.h"

namespace headrace {

struct PlanEdge {
  int32_t dst;         // plan node
  int32_t slot;        // input slot of dst
  int32_t src_output;  // of the source
  bool last_use;       // no later edge of the source takes the same output
};

struct PlanNode {
  OpKernel* kernel = nullptr;
  AsyncOpKernel* async = nullptr;  // null for a synchronous kernel
  int32_t first_slot = 0;
  int32_t num_inputs = 0;
  int32_t num_outputs = 0;
  // Data edges [edges_begin, edges_end), then control edges up to control_end,
  // in Plan::edges and Plan::control_edges.
  int32_t edges_begin = 0, edges_end = 0;
  int32_t control_begin = 0, control_end = 0;
  // Inputs that a step must deliver: data and control; of a Merge, control.
  int32_t pending = 0;
  bool expensive = false;
  bool allows_uninitialized = false;
  bool is_retval = false;

  // Control flow. `frame_index` and `frame_slot` number the nodes and slots of
  // the frame in which the node runs; `out_frame` is where an Enter leads.
  int32_t frame_index = 0, frame_slot = 0, out_frame = 0;
  bool is_merge = false;
  bool is_enter = false, is_constant_enter = false;
  bool is_exit = false, is_next_iteration = false;
  bool is_recv = false;
  bool handles_dead = false;     // runs on a dead input: _Send
  bool may_leave_unset = false;  // an unset output is dead: Switch, _Recv
};

// A loop, or the top level (frame 0).
struct PlanFrame {
  std::string name;
  int num_enters = 0;
  int64_t parallel_iterations = 1;
  std::vector<int32_t> nodes;
  int32_t num_slots = 0;
};

struct Plan {
  Device* device = nullptr;
  std::vector<PlanNode> nodes;
  std::vector<PlanEdge> edges;
  std::vector<int32_t> control_edges;  // destination nodes
  std::vector<int32_t> roots;          // nodes that wait for nothing
  std::vector<PlanFrame> frames;       // empty without control flow
  std::vector<const Tensor*> bound;    // by slot; null: delivered by the step
  std::vector<std::string> slot_sources;  // by slot: the producer, for messages
  int32_t num_slots = 0;
  int32_t num_constants = 0;
  bool needs_rendezvous = false;

  std::vector<std::shared_ptr<OpKernel>> kernels;
  // A second reference to each bound constant, so that no kernel takes its
  // buffer for the output.
  std::vector<std::unique_ptr<Tensor>> constants;
};

// With `with_frames` the plan is one for FramePropagator.
Status BuildPlan(Device* device, const Graph& graph, bool with_frames,
                 const Executor::KernelFn& make_kernel, Plan* plan);

}  // namespace headrace

#endif  // HEADRACE_RUNTIME_PLAN_H_
