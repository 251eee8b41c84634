#include "runtime/plan.h"

#include <algorithm>

#include "absl/strings/str_cat.h"
#include "framework/function_runtime.h"
#include "graph/algorithm.h"
#include "graph/control_flow.h"

namespace headrace {
namespace {

// A constant is bound, not run, unless control edges say when it may be read,
// or a Merge must see it arrive.
bool IsBound(const Node& n, const OpKernel& kernel) {
  if (kernel.const_tensor() == nullptr || !n.control_inputs().empty()) {
    return false;
  }
  for (const Edge* e : n.out_edges()) {
    if (e->dst()->IsMerge()) return false;
  }
  return true;
}

void DescribeControlFlow(const Node& n, const ControlFlow& flow, Plan* plan,
                         int32_t index) {
  PlanNode& p = plan->nodes[index];
  PlanFrame& frame = plan->frames[flow.runs_in[n.id()]];
  p.frame_index = static_cast<int32_t>(frame.nodes.size());
  p.frame_slot = frame.num_slots;
  frame.nodes.push_back(index);
  frame.num_slots += p.num_inputs;
  p.out_frame = flow.puts_out_to[n.id()];
  p.is_merge = n.IsMerge();
  p.is_enter = n.IsEnter();
  p.is_constant_enter = p.is_enter &&
                        n.attrs().Find("is_constant") != nullptr &&
                        *n.attrs().Find("is_constant") == AttrValue(true);
  p.is_exit = n.IsExit();
  p.is_next_iteration = n.IsNextIteration();
  p.is_recv = n.IsRecv();
  p.handles_dead = n.IsSend();
  p.may_leave_unset = n.IsSwitch() || n.IsRecv();
}

}  // namespace

Status BuildPlan(Device* device, const Graph& graph, bool with_frames,
                 const Executor::KernelFn& make_kernel, Plan* plan) {
  plan->device = device;
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

  std::vector<std::shared_ptr<OpKernel>> kernels(graph.num_node_ids());
  std::vector<int32_t> index(graph.num_node_ids(), -1);
  std::vector<const Tensor*> bound(graph.num_node_ids(), nullptr);
  std::vector<const Node*> run;
  for (const Node* n : order) {
    std::shared_ptr<OpKernel>& kernel = kernels[n->id()];
    HR_RETURN_IF_ERROR(make_kernel(*n, &kernel));
    plan->kernels.push_back(kernel);
    plan->needs_rendezvous |= n->IsSend() || n->IsRecv();
    if (IsBound(*n, *kernel)) {
      plan->constants.push_back(
          std::make_unique<Tensor>(*kernel->const_tensor()));
      bound[n->id()] = plan->constants.back().get();
      ++plan->num_constants;
    } else {
      index[n->id()] = static_cast<int32_t>(run.size());
      run.push_back(n);
    }
  }

  plan->nodes.resize(run.size());
  for (size_t i = 0; i < run.size(); ++i) {
    const Node* n = run[i];
    PlanNode& p = plan->nodes[i];
    p.kernel = kernels[n->id()].get();
    p.async = p.kernel->AsAsync();
    // Other asynchronous kernels return at once.
    p.expensive = p.async == nullptr
                      ? p.kernel->IsExpensive()
                      : dynamic_cast<FunctionCallKernel*>(p.async) != nullptr;
    p.allows_uninitialized = n->op_def().allows_uninitialized_input;
    p.first_slot = plan->num_slots;
    p.num_inputs = n->num_inputs();
    p.num_outputs = n->num_outputs();
    p.is_retval = n->IsRetval();
    plan->num_slots += p.num_inputs;
    if (with_frames) {
      DescribeControlFlow(*n, flow, plan, static_cast<int32_t>(i));
    }
    for (int k = 0; k < n->num_inputs(); ++k) {
      const Edge* e = n->input_edge(k);
      if (e == nullptr) {
        return errors::Internal("input ", k, " of node ",
                                NodeErrorSuffix(n->def()), " is not connected");
      }
      plan->bound.push_back(bound[e->src()->id()]);
      if (plan->bound.back() != nullptr) {
        p.kernel->SetConstantInput(k, *plan->bound.back());
      }
      plan->slot_sources.push_back(e->src()->name());
      if (plan->bound.back() == nullptr && !p.is_merge) ++p.pending;
    }
    for (const Edge* e : n->control_inputs()) {
      if (bound[e->src()->id()] == nullptr) ++p.pending;
    }
    if (p.pending == 0 && !p.is_merge)
      plan->roots.push_back(static_cast<int32_t>(i));
  }
  for (size_t i = 0; i < run.size(); ++i) {
    PlanNode& p = plan->nodes[i];
    p.edges_begin = static_cast<int32_t>(plan->edges.size());
    p.control_begin = static_cast<int32_t>(plan->control_edges.size());
    std::vector<PlanEdge> data;
    for (const Edge* e : run[i]->out_edges()) {
      const int32_t dst = index[e->dst()->id()];
      if (e->IsControlEdge()) {
        plan->control_edges.push_back(dst);
      } else {
        data.push_back({dst, plan->nodes[dst].first_slot + e->dst_input(),
                        e->src_output(), true});
      }
    }
    std::stable_sort(data.begin(), data.end(),
                     [](const PlanEdge& a, const PlanEdge& b) {
                       return a.src_output < b.src_output;
                     });
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
