#include "runtime/frame_propagator.h"

#include <algorithm>
#include <utility>

#include "absl/strings/str_cat.h"
#include "headrace/strings.h"

namespace headrace {

namespace {
constexpr size_t kMaxSpare = 32;

// False if it is there already.
bool AddOnce(int32_t v, std::vector<int32_t>* to) {
  if (std::find(to->begin(), to->end(), v) != to->end()) return false;
  to->push_back(v);
  return true;
}
}  // namespace

FramePropagator::FramePropagator(const Plan& plan)
    : plan_(plan),
      spare_iterations_(plan.frames.size()),
      spare_frames_(plan.frames.size()) {}

// Frames nest as deep as loops in the graph may, kMaxLoopDepth: destructors do
// not recurse far.
FramePropagator::~FramePropagator() = default;

void FramePropagator::Start(ReadyList* ready) {
  MutexLock lock(&mu_);
  ready->clear();
  // After an error, or where something waited in vain, much is left over.
  if (root_ == nullptr || !root_->iterations.empty()) {
    root_.reset();
    root_.reset(NewFrame(0, nullptr));
  }
  root_->first_index = 0;
  Iteration* top = NewIteration(root_.get(), ready);
  for (int32_t n : plan_.roots) MakeReady(n, false, top, ready);
}

FramePropagator::Frame* FramePropagator::NewFrame(int plan_frame,
                                                  Iteration* parent) {
  std::unique_ptr<Frame> f;
  auto& spare = spare_frames_[plan_frame];
  if (!spare.empty()) {
    f = std::move(spare.back());
    spare.pop_back();
  } else {
    f = std::make_unique<Frame>();
    f->plan_frame = plan_frame;
  }
  f->parent = parent;
  f->first_index = 0;
  if (parent != nullptr) {
    f->in_first = parent->index == 0 && parent->frame->in_first;
    f->name = absl::StrCat(parent->frame->name, ";", parent->index, ";",
                           plan_.frames[plan_frame].name);
    const std::string& loop = plan_.frames[plan_frame].name;
    f->id =
        plan_.combines_frame_ids
            ? Hash64Combine(parent->frame->id,
                            Hash64Combine(static_cast<uint64_t>(parent->index),
                                          Hash64(loop.data(), loop.size())))
            : Hash64(f->name.data(), f->name.size());
    f->enters_left = plan_.frames[plan_frame].num_enters;
  }
  return f.release();
}

FramePropagator::Iteration* FramePropagator::NewIteration(Frame* f,
                                                          ReadyList* ready) {
  const PlanFrame& p = plan_.frames[f->plan_frame];
  std::unique_ptr<Iteration> it;
  auto& spare = spare_iterations_[f->plan_frame];
  if (!spare.empty()) {
    it = std::move(spare.back());
    spare.pop_back();
  } else {
    it = std::make_unique<Iteration>();
    it->entries.resize(p.num_slots);
  }
  it->frame = f;
  it->index = f->first_index + static_cast<int64_t>(f->iterations.size());
  it->active = 0;
  it->pending = p.pending;
  Iteration* raw = it.get();
  f->iterations.push_back(std::move(it));
  // What arrives here by itself: constants of the loop, then what waited for
  // the iteration.
  for (Saved& s : f->invariants) DeliverSaved(&s, /*keep=*/true, raw, ready);
  for (Saved& s : f->deferred) DeliverSaved(&s, /*keep=*/false, raw, ready);
  f->deferred.clear();
  return raw;
}

FramePropagator::Frame* FramePropagator::FindOrEnterFrame(const PlanNode& n,
                                                          Iteration* from) {
  for (const auto& f : from->inner) {
    if (f->plan_frame == n.out_frame) return f.get();
  }
  from->inner.emplace_back(NewFrame(n.out_frame, from));
  return from->inner.back().get();
}

inline void FramePropagator::MakeReady(int32_t node, bool dead, Iteration* to,
                                       ReadyList* ready) {
  ++to->active;
  ready->emplace_back(node, dead && !plan_.nodes[node].is_control_trigger, to);
}

void FramePropagator::DeliverToMerge(const PlanEdge& e, OutputSlot* out,
                                     bool move, bool from_dead_enter,
                                     Iteration* to, ReadyList* ready) {
  const PlanNode& dst = plan_.nodes[e.dst];
  PendingInputs& p = to->pending[dst.frame_index];
  if (p.merge_fired || p.merge_live) return;  // the first one counts
  if (out != nullptr) {
    p.merge_live = true;
    Deliver(e, out, move, &to->entries[e.slot]);
  } else {
    // A loop on a branch that was not taken: its NextIteration never comes.
    p.dead = from_dead_enter ? dst.num_inputs : p.dead + 1;
  }
  FireMerge(e.dst, to, ready);
}

void FramePropagator::FireMerge(int32_t node, Iteration* to, ReadyList* ready) {
  const PlanNode& n = plan_.nodes[node];
  PendingInputs& p = to->pending[n.frame_index];
  const bool all_dead = p.dead >= n.num_inputs;
  if (p.merge_fired || p.waiting != 0 || (!p.merge_live && !all_dead)) return;
  p.merge_fired = true;
  MakeReady(node, !p.merge_live, to, ready);
}

void FramePropagator::DeliverControl(int32_t node, bool dead, Iteration* to,
                                     ReadyList* ready) {
  const PlanNode& dst = plan_.nodes[node];
  PendingInputs& p = to->pending[dst.frame_index];
  --p.waiting;
  if (dst.is_merge) {
    // Control inputs of a Merge only delay it.
    FireMerge(node, to, ready);
    return;
  }
  if (dead) ++p.dead;
  if (p.waiting == 0) MakeReady(node, p.dead > 0, to, ready);
}

Status FramePropagator::DeliverAll(int32_t node, bool dead,
                                   const Outputs& outputs, bool keep,
                                   Iteration* to, ReadyList* ready) {
  const PlanNode& n = plan_.nodes[node];
  const bool dead_enter = dead && n.is_enter;
  for (int32_t k = n.edges_begin; k < n.edges_end; ++k) {
    const PlanEdge& e = plan_.edges[k];
    OutputSlot* const out = outputs.Find(e.src_output);
    if (out == nullptr) {
      if (!dead && !n.may_leave_unset) [[unlikely]] {
        return WrongOutput(e, nullptr);
      }
    } else if (!HasRightType(e, *out)) [[unlikely]] {
      return WrongOutput(e, out);
    }
    const PlanNode& dst = plan_.nodes[e.dst];
    if (dst.is_merge) {
      DeliverToMerge(e, out, e.last_use && !keep, dead_enter, to, ready);
      continue;
    }
    PendingInputs& p = to->pending[dst.frame_index];
    if (out != nullptr) {
      Deliver(e, out, e.last_use && !keep, &to->entries[e.slot]);
    } else {
      ++p.dead;
    }
    if (--p.waiting == 0) MakeReady(e.dst, p.dead > 0, to, ready);
  }
  // A _Recv that got something dead is as dead as if it had not run.
  if (n.is_recv && outputs.Find(0) == nullptr) dead = true;
  for (int32_t k = n.control_begin; k < n.control_end; ++k) {
    DeliverControl(plan_.control_edges[k], dead, to, ready);
  }
  return OkStatus();
}

void FramePropagator::DeliverSaved(Saved* s, bool keep, Iteration* to,
                                   ReadyList* ready) {
  const Outputs outputs =
      s->is_dead ? Outputs() : Outputs(&s->value, /*first=*/0, /*count=*/1);
  // Its output is there, and was of the right type when it came.
  DeliverAll(s->node, s->is_dead, outputs, keep, to, ready).IgnoreError();
}

Status FramePropagator::Enter(const Item& i, const Outputs& outputs,
                              ReadyList* ready) {
  const PlanNode& n = plan_.nodes[i.node];
  Frame* const inner = FindOrEnterFrame(n, i.iteration);
  if (inner->iterations.empty()) NewIteration(inner, ready);
  if (n.is_constant_enter) {
    Saved s{i.node, i.is_dead, {}};
    if (OutputSlot* out = outputs.Find(0)) s.value = std::move(*out);
    for (const auto& it : inner->iterations) {
      DeliverSaved(&s, /*keep=*/true, it.get(), ready);
    }
    inner->invariants.push_back(std::move(s));
  } else if (inner->first_index == 0) {
    HR_RETURN_IF_ERROR(DeliverAll(i.node, i.is_dead, outputs, /*keep=*/false,
                                  inner->iterations.front().get(), ready));
  }
  --inner->enters_left;
  // The inner frame may have been waiting for this alone.
  EndFinishedIterations(inner, ready);
  return OkStatus();
}

Status FramePropagator::NextIteration(const Item& i, const Outputs& outputs,
                                      ReadyList* ready) {
  if (i.is_dead) return OkStatus();
  Frame* const f = i.iteration->frame;
  const size_t next = i.iteration->index + 1 - f->first_index;
  const int64_t parallel = plan_.frames[f->plan_frame].parallel_iterations;
  Iteration* to = nullptr;
  if (next < f->iterations.size()) {
    to = f->iterations[next].get();
  } else if (static_cast<int64_t>(f->iterations.size()) < parallel) {
    to = NewIteration(f, ready);
  } else {
    const PlanNode& n = plan_.nodes[i.node];
    if (n.edges_begin == n.edges_end) {  // only control edges read it
      f->deferred.push_back({i.node, false, {}});
      return OkStatus();
    }
    const PlanEdge& e = plan_.edges[n.edges_begin];
    OutputSlot* const out = outputs.Find(0);
    if (out == nullptr || !HasRightType(e, *out)) return WrongOutput(e, out);
    f->deferred.push_back({i.node, false, std::move(*out)});
    return OkStatus();
  }
  return DeliverAll(i.node, false, outputs, /*keep=*/false, to, ready);
}

Status FramePropagator::PropagateLocked(const Item& i, const PlanNode& n,
                                        const Outputs& outputs,
                                        ReadyList* ready) {
  Iteration* const here = i.iteration;
  Frame* const frame = here->frame;
  if (n.is_enter) {
    HR_RETURN_IF_ERROR(Enter(i, outputs, ready));
  } else if (n.is_next_iteration) {
    HR_RETURN_IF_ERROR(NextIteration(i, outputs, ready));
  } else if (n.is_exit) {
    // An Exit that is not behind the loop's Switch has a value in each
    // iteration. The first counts: who reads it may be running by now.
    const bool is_first =
        AddOnce(i.node, i.is_dead ? &frame->dead_exits : &frame->live_exits);
    if (is_first && !i.is_dead) {
      HR_RETURN_IF_ERROR(DeliverAll(i.node, false, outputs, /*keep=*/false,
                                    frame->parent, ready));
    }
  } else {
    HR_RETURN_IF_ERROR(
        DeliverAll(i.node, i.is_dead, outputs, /*keep=*/false, here, ready));
  }
  outputs.ClearAll();
  if (--here->active == 0) EndFinishedIterations(frame, ready);
  return OkStatus();
}

void FramePropagator::EndFinishedIterations(Frame* f, ReadyList* ready) {
  while (f != nullptr) {
    while (!f->iterations.empty()) {
      const Iteration& it = *f->iterations.front();
      if (it.active != 0 || !it.inner.empty() ||
          (it.index == 0 && f->enters_left > 0)) {
        return;
      }
      Recycle(std::move(f->iterations.front()));
      f->iterations.pop_front();
      ++f->first_index;
      if (!f->deferred.empty()) NewIteration(f, ready);
    }
    if (f->parent == nullptr) return;
    Frame* const outer = f->parent->frame;
    EndFrame(f, ready);
    f = outer;
  }
}

void FramePropagator::EndFrame(Frame* f, ReadyList* ready) {
  Iteration* const outer = f->parent;
  for (int32_t exit : f->dead_exits) {
    if (std::find(f->live_exits.begin(), f->live_exits.end(), exit) ==
        f->live_exits.end()) {
      DeliverAll(exit, true, Outputs(), /*keep=*/false, outer, ready)
          .IgnoreError();
    }
  }
  f->invariants.clear();
  f->dead_exits.clear();
  f->live_exits.clear();
  auto at = std::find_if(outer->inner.begin(), outer->inner.end(),
                         [f](const auto& inner) { return inner.get() == f; });
  auto& spare = spare_frames_[f->plan_frame];
  if (spare.size() < kMaxSpare) spare.push_back(std::move(*at));
  outer->inner.erase(at);
}

void FramePropagator::Recycle(std::unique_ptr<Iteration> it) {
  auto& spare = spare_iterations_[it->frame->plan_frame];
  if (spare.size() >= kMaxSpare) return;
  for (Entry& e : it->entries) Clear(&e);
  spare.push_back(std::move(it));
}

}  // namespace headrace
