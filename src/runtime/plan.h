// Plan: a partition's graph, compiled for execution. Immutable.
//
// Every data input of every node has a slot; a step keeps one Entry a slot, or,
// in a loop, one for each iteration. Inputs that a constant feeds are bound to
// its tensor here.
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
  DataType dtype;      // what the source declares, no reference
  uint8_t element_size;
  bool last_use;  // no later edge of the source takes the same output
};

// How the executor runs a node. What only hands a value on it does itself; a
// traced step calls every kernel.
enum class PlanAction : uint8_t {
  kCompute,
  kNothing,   // NoOp
  kConstant,  // a Const that cannot be bound
  kPass,      // its input: Identity, Enter, Exit, NextIteration
  kLoopCond,  // the same, if it is a scalar
  kSwitch,
  kMerge,
};

struct PlanNode {
  OpKernel* kernel = nullptr;
  AsyncOpKernel* async = nullptr;  // null for a synchronous kernel
  PlanAction action = PlanAction::kCompute;
  bool expensive = false;
  bool reads_refs = false;  // an input may be a reference
  bool allows_uninitialized = false;
  bool is_retval = false;
  int32_t first_input = 0;  // of Plan::bound and Plan::sources
  int32_t first_slot = 0;
  int32_t num_inputs = 0;
  // Inputs that a step must deliver: data and control; of a Merge, control.
  int32_t pending = 0;
  // Data edges [edges_begin, edges_end), then control edges up to control_end,
  // in Plan::edges and Plan::control_edges.
  int32_t edges_begin = 0, edges_end = 0;
  int32_t control_begin = 0, control_end = 0;

  // Control flow. `frame_index` numbers the nodes of the frame in which the
  // node runs, as first_slot its slots; `out_frame` is where an Enter leads.
  int32_t frame_index = 0, out_frame = 0;
  bool is_merge = false;
  bool is_enter = false, is_constant_enter = false;
  bool is_exit = false, is_next_iteration = false;
  bool is_recv = false;
  bool is_control_trigger = false;  // runs whatever is dead
  bool handles_dead = false;        // runs on a dead input: _Send
  bool may_leave_unset = false;     // an unset output is dead: Switch, _Recv
};

// What a node of one iteration still waits for. A Merge counts control inputs
// alone in `waiting`.
struct PendingInputs {
  int32_t waiting = 0;
  int32_t dead = 0;  // dead inputs that have come
  bool merge_live = false;
};

// A loop, or the top level (frame 0).
struct PlanFrame {
  std::string name;
  int num_enters = 0;
  int64_t parallel_iterations = 1;
  std::vector<PendingInputs> pending;  // as an iteration begins
  int32_t num_slots = 0;
};

struct Plan {
  Device* device = nullptr;
  std::vector<PlanNode> nodes;
  std::vector<PlanEdge> edges;
  std::vector<int32_t> control_edges;  // destination nodes
  std::vector<int32_t> roots;          // nodes that wait for nothing
  std::vector<int32_t> pending;        // by node
  std::vector<PlanFrame> frames;       // empty without control flow
  std::vector<const Tensor*> bound;    // by input; null: delivered by the step
  std::vector<const OpKernel*> sources;  // by input: the producer
  int32_t num_slots = 0;                 // without control flow
  int32_t max_inputs = 0;                // of one node
  bool needs_rendezvous = false;
  bool may_run_long = false;  // see Executor

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
