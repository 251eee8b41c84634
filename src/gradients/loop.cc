#include "gradients/loop.h"

#include "gradients/conditional.h"
#include "graph/constant_eval.h"

namespace headrace {

bool GradientLoop::InBody(const Node* n) const {
  if (n->id() >= static_cast<int>(flow_->runs_in.size())) return false;
  int frame = flow_->runs_in[n->id()];
  if (frame == frame_) return !n->IsExit() && !n->IsNextIteration();
  while (frame > frame_) frame = flow_->frames[frame].parent;
  return frame == frame_;
}

bool GradientLoop::IsForward(const Endpoint& e) const {
  const int id = e.node->id();
  return forward_.contains(id) ||
         (id < static_cast<int>(flow_->puts_out_to.size()) &&
          flow_->puts_out_to[id] == frame_);
}

Status GradientLoop::Find() {
  for (size_t id = 0; id < flow_->runs_in.size(); ++id) {
    Node* const n = graph_->node(static_cast<int>(id));
    if (n == nullptr) continue;
    if (flow_->puts_out_to[id] == frame_ && IsConstantEnter(*n)) {
      constants_.push_back(n);
    }
    if (flow_->runs_in[id] != frame_) continue;
    if (n->IsLoopCond()) cond_ = n;
    if (!n->IsSwitch() || !n->input_edge(1)->src()->IsLoopCond()) continue;
    Variable v{.branch = n};
    v.merge = n->input_edge(0)->src();
    if (v.merge->IsMerge()) {
      for (const Edge* e : v.merge->data_inputs()) {
        if (e->src()->IsEnter()) v.enter = e->src();
        if (e->src()->IsNextIteration()) v.next = e->src();
      }
    }
    for (const Edge* e : n->out_edges()) {
      if (!e->IsControlEdge() && e->src_output() == 0 && e->dst()->IsExit()) {
        v.exit = e->dst();
      }
    }
    if (v.enter == nullptr || v.next == nullptr) {
      return errors::Unimplemented(
          "gradients through loop '", name(), "': Switch '", n->name(),
          "' does not read a Merge of an Enter and a NextIteration");
    }
    variables_.push_back(v);
  }
  if (cond_ == nullptr) {
    return errors::Unimplemented("gradients through loop '", name(),
                                 "', which has no LoopCond");
  }
  return OkStatus();
}

StatusOr<Node*> GradientLoop::AddAt(const GradientPlace& place, const char* op,
                                    const char* name,
                                    absl::Span<const Endpoint> inputs,
                                    AttrMap attrs,
                                    absl::Span<Node* const> control) {
  NodeDef def;
  def.op = op;
  def.name = StrCat(outer_->scope_, name);
  def.attrs = std::move(attrs);
  return outer_->AddAsIs(std::move(def), inputs, control, place);
}

StatusOr<Node*> GradientLoop::Enter(const Endpoint& e, bool backward,
                                    bool constant) {
  const std::string frame =
      backward ? StrCat(outer_->scope_name(), "/", name()) : name();
  HR_ASSIGN_OR_RETURN(
      Node* const n,
      AddAt(Around(backward), "Enter", backward ? "b_enter" : "f_enter", {e},
            {{"frame_name", frame},
             {"is_constant", constant},
             {"parallel_iterations",
              flow_->frames[frame_].parallel_iterations}}));
  if (backward) Adopt(n);
  return n;
}

StatusOr<Endpoint> GradientLoop::EnterForward(const Endpoint& e) {
  Endpoint from = e;
  if (around_ != nullptr) {
    HR_ASSIGN_OR_RETURN(from, around_->EnterForward(e));
  }
  HR_ASSIGN_OR_RETURN(Node* const n, Enter(from, false, true));
  return Endpoint{n, 0};
}

void GradientLoop::Wait(Node* first, Node* then) {
  if (outer_->options_->add_node) {
    MutexLock lock(&graph_->mu());
    graph_->AddControlEdge(first, then);
  } else {
    graph_->AddControlEdge(first, then);
  }
}

Status GradientLoop::Sync(Node* first, const char* name, Node* next,
                          Node** sync) {
  if (*sync != nullptr) {
    Wait(first, *sync);
    return OkStatus();
  }
  HR_ASSIGN_OR_RETURN(*sync, Add("ControlTrigger", name, {}, {}, {first}));
  Wait(*sync, next);
  return OkStatus();
}

Status GradientLoop::Replace(Node* merge, const Endpoint& next) {
  if (!outer_->options_->add_node) return graph_->ReplaceInput(merge, 1, next);
  MutexLock lock(&graph_->mu());
  return graph_->ReplaceInput(merge, 1, next);
}

Status GradientLoop::Begin() {
  const auto constant = [&](int value, Node* after) {
    const absl::Span<Node* const> wait(&after, after == nullptr ? 0 : 1);
    return AddAt(
        Around(false), "Const", "Const", {},
        {{"dtype", DT_INT32}, {"value", Tensor::Scalar<int32_t>(value)}}, wait);
  };
  // In a loop the counter begins again whenever this loop does, after the
  // pushes of the outer loop's iteration before.
  Node* begin = nullptr;
  if (around_ != nullptr) {
    const Edge* const first = variables_[0].enter->input_edge(0);
    HR_ASSIGN_OR_RETURN(
        begin, Add("Identity", "f_begin", {{first->src(), first->src_output()}},
                   {}, {around_->forward_pivot_}));
  }
  HR_ASSIGN_OR_RETURN(Node* const zero, constant(0, begin));
  HR_ASSIGN_OR_RETURN(Node * one, constant(1, begin));
  Endpoint count;
  {
    HR_ASSIGN_OR_RETURN(Node* const enter, Enter({zero, 0}, false, false));
    HR_ASSIGN_OR_RETURN(Node* const step, Enter({one, 0}, false, true));
    HR_ASSIGN_OR_RETURN(Node* const merge,
                        Add("Merge", "f_count", {{enter, 0}, {enter, 0}}));
    HR_ASSIGN_OR_RETURN(Node* const branch,
                        Add("Switch", "Switch", {{merge, 0}, {cond_, 0}}));
    HR_ASSIGN_OR_RETURN(forward_pivot_,
                        Add("Identity", "f_pivot", {{branch, 1}}));
    HR_ASSIGN_OR_RETURN(Node* const add,
                        Add("AddV2", "Add", {{forward_pivot_, 0}, {step, 0}}));
    HR_ASSIGN_OR_RETURN(forward_next_,
                        Add("NextIteration", "NextIteration", {{add, 0}}));
    HR_RETURN_IF_ERROR(Replace(merge, {forward_next_, 0}));
    HR_ASSIGN_OR_RETURN(Node* const exit,
                        AddAt(Around(false), "Exit", "f_count", {{branch, 0}}));
    count = {exit, 0};
  }
  if (around_ != nullptr) {
    around_->forward_.insert(count.node->id());
    HR_ASSIGN_OR_RETURN(count, around_->Map(count));
    HR_ASSIGN_OR_RETURN(one, constant(1, around_->pivot_));
  }
  HR_ASSIGN_OR_RETURN(Node* const enter, Enter(count, true, false));
  HR_ASSIGN_OR_RETURN(Node* const step, Enter({one, 0}, true, true));
  HR_ASSIGN_OR_RETURN(Node* const merge,
                      Add("Merge", "b_count", {{enter, 0}, {enter, 0}}));
  HR_ASSIGN_OR_RETURN(Node* const more, Add("GreaterEqual", "GreaterEqual",
                                            {{merge, 0}, {step, 0}}));
  HR_ASSIGN_OR_RETURN(cond_backward_, Add("LoopCond", "b_count", {{more, 0}}));
  HR_ASSIGN_OR_RETURN(
      Node* const branch,
      Add("Switch", "Switch", {{merge, 0}, {cond_backward_, 0}}));
  HR_ASSIGN_OR_RETURN(pivot_, Add("Identity", "b_pivot", {{branch, 1}}));
  HR_ASSIGN_OR_RETURN(Node* const sub,
                      Add("Sub", "Sub", {{pivot_, 0}, {step, 0}}));
  HR_ASSIGN_OR_RETURN(next_, Add("NextIteration", "NextIteration", {{sub, 0}}));
  HR_RETURN_IF_ERROR(Replace(merge, {next_, 0}));
  if (around_ == nullptr) return OkStatus();
  HR_ASSIGN_OR_RETURN(Node* const done, Add("Exit", "b_count", {{branch, 0}}));
  return around_->Sync(done, "b_sync", around_->next_, &around_->sync_);
}

Status GradientLoop::AddVariable(const Endpoint& initial, Backward* out) {
  HR_ASSIGN_OR_RETURN(Node* const enter, Enter(initial, true, false));
  HR_ASSIGN_OR_RETURN(out->merge,
                      Add("Merge", "b_merge", {{enter, 0}, {enter, 0}}));
  HR_ASSIGN_OR_RETURN(
      Node* const branch,
      Add("Switch", "b_switch", {{out->merge, 0}, {cond_backward_, 0}}));
  HR_ASSIGN_OR_RETURN(Node* const value,
                      Add("Identity", "b_value", {{branch, 1}}));
  HR_ASSIGN_OR_RETURN(out->exit,
                      AddAt(Around(true), "Exit", "b_exit", {{branch, 0}}));
  Adopt(value);
  if (around_ != nullptr) around_->Adopt(out->exit);
  out->value = {value, 0};
  return OkStatus();
}

Status GradientLoop::SetNext(const Backward& v, const Endpoint& next) {
  HR_ASSIGN_OR_RETURN(const Endpoint value, Map(next));
  HR_ASSIGN_OR_RETURN(Node* const n,
                      Add("NextIteration", "NextIteration", {value}));
  return Replace(v.merge, {n, 0});
}

StatusOr<Endpoint> GradientLoop::Save(const Endpoint& e) {
  const DataType dtype = BaseType(e.node->output_type(e.index));
  HR_ASSIGN_OR_RETURN(
      Node* const unlimited,
      AddAt(AroundAll(), "Const", "Const", {},
            {{"dtype", DT_INT32}, {"value", Tensor::Scalar<int32_t>(-1)}}));
  HR_ASSIGN_OR_RETURN(Node* const stack,
                      AddAt(AroundAll(), "StackV2", "f_acc", {{unlimited, 0}},
                            {{"elem_type", dtype}}));
  HR_ASSIGN_OR_RETURN(const Endpoint forward, EnterForward({stack, 0}));
  HR_ASSIGN_OR_RETURN(
      Node* const push,
      Add("StackPushV2", "StackPushV2", {forward, e}, {}, {forward_pivot_}));
  HR_RETURN_IF_ERROR(Sync(push, "f_sync", forward_next_, &forward_sync_));
  HR_ASSIGN_OR_RETURN(Endpoint handle, Map({stack, 0}));
  if (const Branch branch = BranchOf(e); branch.pred.node != nullptr) {
    HR_ASSIGN_OR_RETURN(const Endpoint pred, Map(branch.pred));
    HR_ASSIGN_OR_RETURN(Node* const n, Add("Switch", "Switch", {handle, pred}));
    handle = {n, branch.branch};
  }
  HR_ASSIGN_OR_RETURN(Node* const pop, Add("StackPopV2", "StackPopV2", {handle},
                                           {{"elem_type", dtype}}, {pivot_}));
  HR_RETURN_IF_ERROR(Sync(pop, "b_sync", next_, &sync_));
  graph_->SetOutputShape(pop, 0, e.node->output_shape(e.index));
  Adopt(pop);
  return Endpoint{pop, 0};
}

StatusOr<Endpoint> GradientLoop::Map(const Endpoint& e) {
  const int id = e.node->id();
  if (backward_.contains(id)) return e;
  if (const auto it = known_.find(e); it != known_.end()) return it->second;
  Endpoint found;
  if (!IsForward(e)) {
    Endpoint from = e;
    if (around_ != nullptr) {
      HR_ASSIGN_OR_RETURN(from, around_->Map(e));
    }
    HR_ASSIGN_OR_RETURN(Node* const n, Enter(from, true, true));
    found = {n, 0};
  } else if (IsConstantEnter(*e.node)) {
    const Edge* const from = e.node->input_edge(0);
    HR_ASSIGN_OR_RETURN(found, Map({from->src(), from->src_output()}));
  } else if (e.node->IsConstant()) {
    HR_ASSIGN_OR_RETURN(Node* const n,
                        Add("Const", "Const", {},
                            {{"dtype", *e.node->attrs().Find("dtype")},
                             {"value", *e.node->attrs().Find("value")}},
                            {pivot_}));
    Adopt(n);
    found = {n, 0};
  } else if (e.node->IsSwitch() &&
             !e.node->input_edge(1)->src()->IsLoopCond()) {
    // A value as it enters a branch: the same again.
    const Edge* const data = e.node->input_edge(0);
    const Edge* const by = e.node->input_edge(1);
    HR_ASSIGN_OR_RETURN(const Endpoint value,
                        Map({data->src(), data->src_output()}));
    HR_ASSIGN_OR_RETURN(const Endpoint pred,
                        Map({by->src(), by->src_output()}));
    HR_ASSIGN_OR_RETURN(Node* const n, Add("Switch", "Switch", {value, pred}));
    Adopt(n);
    found = {n, e.index};
  } else {
    HR_ASSIGN_OR_RETURN(found, Save(e));
  }
  known_[e] = found;
  return found;
}

Status GradientLoop::Prepare(absl::Span<const Endpoint> inputs,
                             absl::InlinedVector<Endpoint, 6>* mapped,
                             std::vector<Node*>* control) {
  bool bound = !control->empty();
  for (const Endpoint& e : inputs) {
    HR_ASSIGN_OR_RETURN(const Endpoint m, Map(e));
    mapped->push_back(m);
    bound = bound || !IsConstantEnter(*m.node);
  }
  if (!bound) control->push_back(pivot_);
  return OkStatus();
}

}  // namespace headrace
