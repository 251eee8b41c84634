// Plan: a partition's graph, compiled for execution. Immutable.
//
// Every data input of every node has a slot; a step keeps one Entry a slot, or,
// in a loop, one for each iteration. Inputs that a constant feeds are bound to
// its tensor here; those that an argument of the step feeds, by each step.
#ifndef HEADRACE_RUNTIME_PLAN_H_
#define HEADRACE_RUNTIME_PLAN_H_

#include <memory>
#include <string>
#include <vector>

#include "headrace/graph.h"
#include "headrace/op_kernel.h"
#include "runtime/executor.h"

namespace headrace {

struct PlanEdge {
  int32_t dst;         // plan node
  int32_t slot;        // input slot of dst
  int32_t src_output;  // of the source
  DataType dtype;      // what the source declares, no reference
  uint8_t element_size;
  bool last_use = true;  // no later edge of the source takes the same output
  bool awaited_alone = false;  // dst waits for nothing else
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

// One cache line.
struct alignas(64) PlanNode {
  OpKernel* kernel = nullptr;
  AsyncOpKernel* async = nullptr;  // null for a synchronous kernel
  PlanAction action = PlanAction::kCompute;
  bool expensive = false;
  bool special_inputs = false;  // a Merge, or an input may be a reference
  bool is_retval : 1 = false;
  bool allows_uninitialized : 1 = false;

  // Control flow.
  bool is_merge : 1 = false;
  bool is_enter : 1 = false, is_constant_enter : 1 = false;
  bool is_exit : 1 = false, is_next_iteration : 1 = false;
  bool is_recv : 1 = false;
  bool is_control_trigger : 1 = false;  // runs whatever is dead
  bool handles_dead : 1 = false;        // runs on a dead input: _Send
  bool may_leave_unset : 1 = false;  // an unset output is dead: Switch, _Recv
  // Numbers the nodes of the frame in which the node runs, as first_slot its
  // slots.
  int32_t frame_index = 0;
  int32_t out_frame = 0;  // where an Enter leads

  int32_t first_input = 0;  // of Plan::bound and Plan::sources
  int32_t first_slot = 0;
  int32_t num_inputs = 0;
  // Inputs that a step must deliver: data and control; of a Merge, control.
  int32_t pending = 0;
  // Data edges [edges_begin, edges_end), then control edges up to control_end,
  // in Plan::edges and Plan::control_edges.
  int32_t edges_begin = 0, edges_end = 0;
  int32_t control_begin = 0, control_end = 0;
};
static_assert(sizeof(PlanNode) == 64);

// What a node of one iteration still waits for. A Merge counts control inputs
// alone in `waiting`.
struct PendingInputs {
  int32_t waiting = 0;
  int32_t dead = 0;  // dead inputs that have come
  bool merge_live = false;
  bool merge_fired = false;  // it is ready or has run: later inputs are dropped
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
  // By input; null: delivered by the step or bound to an argument.
  std::vector<const Tensor*> bound;
  std::vector<OpKernel*> args;  // the _Arg kernels that begin a step
  struct ArgInput {
    int32_t input, arg;
  };
  std::vector<ArgInput> arg_inputs;
  std::vector<const OpKernel*> sources;  // by input: the producer
  int32_t num_slots = 0;                 // without control flow
  int32_t max_inputs = 0;                // of one node
  bool needs_rendezvous = false;
  bool may_run_long = false;        // see Executor
  bool combines_frame_ids = false;  // see Executor::Options

  std::vector<std::shared_ptr<OpKernel>> kernels;
  // A second reference to each bound constant, so that no kernel takes its
  // buffer for the output.
  std::vector<std::unique_ptr<Tensor>> constants;
};

// With options.control_flow the plan is one for FramePropagator.
Status BuildPlan(Device* device, const Graph& graph,
                 const Executor::Options& options,
                 const Executor::KernelFn& make_kernel, Plan* plan);

}  // namespace headrace

#endif  // HEADRACE_RUNTIME_PLAN_H_
