#include "runtime/plan.h"

#include <algorithm>

#include "absl/strings/str_cat.h"
#include "base/interrupt.h"
#include "framework/tensor/stored_constant.h"
#include "graph/algorithm.h"
#include "graph/control_flow.h"
#include "runtime/plan_inputs.h"

namespace headrace {
namespace {

// The tensor of a Const that only a StoredConstantReader can read; else null.
const Tensor* UnalignedConstant(const OpKernel& kernel) {
  const StoredConstant* const stored = kernel.traits().stored_constant;
  return stored == nullptr || IsAligned(stored->stored_tensor())
             ? nullptr
             : &stored->stored_tensor();
}

bool TakesStoredConstant(const OpKernel& kernel, int input) {
  const StoredConstantReader* const reader =
      kernel.traits().stored_constant_reader;
  return reader != nullptr && reader->TakesStoredConstant(input);
}

Status NoMemoryFor(const Node& constant) {
  return errors::ResourceExhausted("no memory for an aligned copy of constant ",
                                   constant.name());
}

PlanAction ActionOf(const Node& n, const OpKernel& kernel) {
  switch (n.node_class()) {
    case Node::Class::kSwitch:
      return PlanAction::kSwitch;
    case Node::Class::kMerge:
      // Somebody who wants to know which input came is seldom there.
      for (const Edge* e : n.out_edges()) {
        if (e->src_output() == 1) return PlanAction::kCompute;
      }
      return PlanAction::kMerge;
    case Node::Class::kEnter:
    case Node::Class::kExit:
    case Node::Class::kNextIteration:
      return PlanAction::kPass;
    case Node::Class::kLoopCond:
      return PlanAction::kLoopCond;
    case Node::Class::kControlTrigger:
      return PlanAction::kNothing;
    case Node::Class::kIdentity:
      return PlanAction::kPass;
    case Node::Class::kNoOp:
      return PlanAction::kNothing;
    default:
      if (kernel.const_tensor() != nullptr) return PlanAction::kConstant;
      return PlanAction::kCompute;
  }
}

// A Merge must see its inputs arrive.
bool CanBindArg(const Node& n, const PlanInputs& inputs) {
  bool can = n.control_inputs().empty();
  inputs.ForEachOutEdge(
      n, [&](const Edge& e, int) { can &= !e.dst()->IsMerge(); });
  return can;
}

void DescribeControlFlow(const Node& n, const ControlFlow& flow, Plan* plan,
                         PlanNode* p) {
  PlanFrame& frame = plan->frames[flow.runs_in[n.id()]];
  p->frame_index = static_cast<int32_t>(frame.pending.size());
  p->first_slot = frame.num_slots;
  frame.pending.push_back({p->pending});
  frame.num_slots += p->num_inputs;
  p->out_frame = flow.puts_out_to[n.id()];
  p->is_merge = n.IsMerge();
  p->is_enter = n.IsEnter();
  p->is_constant_enter = IsConstantEnter(n);
  p->is_exit = n.IsExit();
  p->is_next_iteration = n.IsNextIteration();
  p->is_recv = n.IsRecv();
  p->is_control_trigger = n.node_class() == Node::Class::kControlTrigger;
  p->handles_dead = n.IsSend();
  p->may_leave_unset = n.IsSwitch() || n.IsRecv();
}

}  // namespace

Status BuildPlan(Device* device, const Graph& graph,
                 const Executor::Options& options,
                 const Executor::KernelFn& make_kernel, Plan* plan) {
  const bool with_frames = options.control_flow;
  plan->device = device;
  plan->combines_frame_ids = options.combines_frame_ids;
  std::vector<Node*> order;
  HR_RETURN_IF_ERROR(TopologicalOrder(graph, &order));

  ControlFlow flow;
  if (with_frames) {
    HR_RETURN_IF_ERROR(AnalyzeControlFlow(graph, &flow));
    for (const LoopFrame& f : flow.frames) {
      plan->frames.push_back(
          {f.name, f.num_enters, f.parallel_iterations, {}, 0});
    }
  }

  for (const Node* n : order) {
    for (int k = 0; k < n->num_inputs(); ++k) {
      if (n->input_edge(k) != nullptr) continue;
      return errors::Internal("input ", k, " of node ",
                              NodeErrorSuffix(n->def()), " is not connected");
    }
  }
  const PlanInputs inputs(graph, order);

  std::vector<std::shared_ptr<OpKernel>> kernels(graph.num_node_ids());
  std::vector<int32_t> index(graph.num_node_ids(), -1);
  std::vector<const Tensor*> bound(graph.num_node_ids(), nullptr);
  std::vector<int32_t> arg(graph.num_node_ids(), -1);
  std::vector<const Node*> run;
  for (const Node* n : order) {
    HR_RETURN_IF_ERROR(CheckInterrupt());
    std::shared_ptr<OpKernel>& kernel = kernels[n->id()];
    HR_RETURN_IF_ERROR(make_kernel(*n, &kernel));
    plan->kernels.push_back(kernel);
    plan->needs_rendezvous |= n->IsSend() || n->IsRecv();
    if (inputs.IsBound(*n)) {
      const Tensor* value = UnalignedConstant(*kernel);
      if (value == nullptr) value = kernel->const_tensor();
      if (value == nullptr) return NoMemoryFor(*n);
      plan->constants.push_back(std::make_unique<Tensor>(*value));
      bound[n->id()] = plan->constants.back().get();
    } else if (options.args_are_kept && n->IsArg() &&
               kernel->AsAsync() == nullptr && CanBindArg(*n, inputs)) {
      arg[n->id()] = static_cast<int32_t>(plan->args.size());
      plan->args.push_back(kernel.get());
    } else if (n->IsEnter() && inputs.IsPassedBy(*n)) {
      --plan->frames[flow.puts_out_to[n->id()]].num_enters;
    } else if (inputs.IsRun(*n)) {
      index[n->id()] = static_cast<int32_t>(run.size());
      run.push_back(n);
    }
  }

  plan->nodes.resize(run.size());
  for (size_t i = 0; i < run.size(); ++i) {
    const Node* n = run[i];
    HR_RETURN_IF_ERROR(CheckInterrupt());
    PlanNode& p = plan->nodes[i];
    p.kernel = kernels[n->id()].get();
    p.async = p.kernel->AsAsync();
    // Other asynchronous kernels return at once.
    p.expensive = p.async == nullptr ? p.kernel->traits().is_expensive
                                     : p.kernel->traits().calls_functions;
    // A function that is called may hold anything.
    plan->may_run_long |= p.expensive;
    p.action = ActionOf(*n, *p.kernel);
    p.allows_uninitialized = n->op_def().allows_uninitialized_input;
    p.first_input = static_cast<int32_t>(plan->bound.size());
    p.num_inputs = n->num_inputs();
    p.is_retval = n->IsRetval();
    plan->max_inputs = std::max(plan->max_inputs, p.num_inputs);
    for (int k = 0; k < n->num_inputs(); ++k) {
      const Endpoint from = inputs.Source(*n->input_edge(k));
      const Tensor* value = bound[from.node->id()];
      if (value != nullptr && !IsAligned(*value) &&
          !TakesStoredConstant(*p.kernel, k)) {
        value = kernels[from.node->id()]->const_tensor();
        if (value == nullptr) return NoMemoryFor(*from.node);
        plan->constants.push_back(std::make_unique<Tensor>(*value));
        value = plan->constants.back().get();
      }
      if (value != nullptr) {
        p.kernel->SetConstantInput(k, *value);
      } else if (arg[from.node->id()] >= 0) {
        plan->arg_inputs.push_back(
            {static_cast<int32_t>(plan->bound.size()), arg[from.node->id()]});
      } else if (!n->IsMerge()) {
        ++p.pending;
      }
      plan->bound.push_back(value);
      plan->sources.push_back(kernels[from.node->id()].get());
      p.special_inputs |= IsRefType(from.node->output_type(from.index));
    }
    // References are the kernels' business.
    if (p.special_inputs) p.action = PlanAction::kCompute;
    p.special_inputs |= n->IsMerge();
    for (const Edge* e : n->control_inputs()) {
      if (index[e->src()->id()] >= 0) ++p.pending;
    }
    if (p.pending == 0 && !n->IsMerge()) {
      // A root is started at the top level.
      if (with_frames && flow.runs_in[n->id()] != 0) {
        return errors::Internal("node ", NodeErrorSuffix(n->def()),
                                " of a loop waits for nothing");
      }
      plan->roots.push_back(static_cast<int32_t>(i));
    }
    plan->pending.push_back(p.pending);
    if (with_frames) {
      DescribeControlFlow(*n, flow, plan, &p);
    } else {
      p.first_slot = plan->num_slots;
      plan->num_slots += p.num_inputs;
    }
  }
  std::vector<PlanEdge> data;
  for (size_t i = 0; i < run.size(); ++i) {
    PlanNode& p = plan->nodes[i];
    p.edges_begin = static_cast<int32_t>(plan->edges.size());
    p.control_begin = static_cast<int32_t>(plan->control_edges.size());
    data.clear();
    bool in_frame = true;
    inputs.ForEachOutEdge(*run[i], [&](const Edge& e, int output) {
      const int32_t dst = index[e.dst()->id()];
      in_frame &= !with_frames ||
                  flow.puts_out_to[run[i]->id()] == flow.runs_in[e.dst()->id()];
      if (e.IsControlEdge()) {
        plan->control_edges.push_back(dst);
        return;
      }
      const DataType t = BaseType(run[i]->output_type(output));
      const PlanNode& to = plan->nodes[dst];
      data.push_back(
          {.dst = dst,
           .slot = to.first_slot + e.dst_input(),
           .src_output = output,
           .dtype = t,
           .element_size = static_cast<uint8_t>(DataTypeObjectSize(t)),
           .awaited_alone = to.pending == 1 && !e.dst()->IsMerge()});
    });
    if (!in_frame) {
      return errors::Internal("node ", NodeErrorSuffix(run[i]->def()),
                              " puts out into a frame that a reader is not in");
    }
    const auto by_output = [](const PlanEdge& a, const PlanEdge& b) {
      return a.src_output < b.src_output;
    };
    if (!std::is_sorted(data.begin(), data.end(), by_output)) {
      std::stable_sort(data.begin(), data.end(), by_output);
    }
    for (size_t k = 0; k + 1 < data.size(); ++k) {
      data[k].last_use = data[k].src_output != data[k + 1].src_output;
    }
    plan->edges.insert(plan->edges.end(), data.begin(), data.end());
    p.edges_end = static_cast<int32_t>(plan->edges.size());
    p.control_end = static_cast<int32_t>(plan->control_edges.size());
  }
  return OkStatus();
}

}  // namespace headrace
