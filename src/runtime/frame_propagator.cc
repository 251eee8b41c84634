#include "runtime/frame_propagator.h"

#include <algorithm>
#include <utility>

#include "absl/strings/str_cat.h"
#include "base/strings.h"

namespace headrace {

// What a node of one iteration still waits for. A Merge counts control inputs
// alone in `waiting`.
struct FramePropagator::Pending {
  int32_t waiting = 0;
  int32_t dead = 0;  // dead inputs that have come
  bool merge_live = false;
};

struct FramePropagator::Iteration {
  Frame* frame = nullptr;
  int64_t index = 0;
  int64_t active = 0;                         // items that are ready or running
  std::vector<std::unique_ptr<Frame>> inner;  // open frames
  std::vector<Entry> entries;                 // by slot within the frame
  std::vector<Pending> pending;               // by node within the frame
};

struct FramePropagator::Frame {
  int plan_frame = 0;
  std::string name;  // unique for the step: "outer;iteration;name"
  uint64_t id = 0;
  Iteration* parent = nullptr;  // null for the top level
  int enters_left = 0;
  int64_t first_index = 0;  // of iterations.front()
  std::deque<std::unique_ptr<Iteration>> iterations;
  std::vector<Saved> invariants;  // outputs of constant Enters
  std::vector<Saved> deferred;    // for the iteration that may not begin yet
  // Exits that put out something dead, and those that put out something live.
  std::vector<int32_t> dead_exits, live_exits;
};

namespace {
void AddOnce(int32_t v, std::vector<int32_t>* to) {
  if (std::find(to->begin(), to->end(), v) == to->end()) to->push_back(v);
}
}  // namespace

FramePropagator::FramePropagator(const Plan& plan)
    : plan_(plan), spare_(plan.frames.size()) {}

FramePropagator::~FramePropagator() {
  MutexLock lock(&mu_);
  Clear();
}

// Frames nest as deep as loops in the graph do, so destructors do not recurse
// far.
void FramePropagator::Clear() { root_.reset(); }

void FramePropagator::Start(bool, ReadyList* ready) {
  MutexLock lock(&mu_);
  Clear();
  root_.reset(NewFrame(0, nullptr));
  Iteration* top = NewIteration(root_.get(), ready);
  for (int32_t n : plan_.roots) Ready(n, false, top, ready);
}

Entry* FramePropagator::entries(const Item& i) {
  return i.iteration->entries.data() + plan_.nodes[i.node].frame_slot;
}
uint64_t FramePropagator::frame_id(const Item& i) {
  return i.iteration->frame->id;
}
int64_t FramePropagator::frame_iter(const Item& i) {
  return i.iteration->index;
}

FramePropagator::Frame* FramePropagator::NewFrame(int plan_frame,
                                                  Iteration* parent) {
  auto* f = new Frame;
  f->plan_frame = plan_frame;
  f->parent = parent;
  if (parent != nullptr) {
    f->name = absl::StrCat(parent->frame->name, ";", parent->index, ";",
                           plan_.frames[plan_frame].name);
    f->id = Hash64(f->name.data(), f->name.size());
    f->enters_left = plan_.frames[plan_frame].num_enters;
  }
  return f;
}

FramePropagator::Iteration* FramePropagator::NewIteration(Frame* f,
                                                          ReadyList* ready) {
  const PlanFrame& p = plan_.frames[f->plan_frame];
  std::unique_ptr<Iteration> it;
  auto& spare = spare_[f->plan_frame];
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
  it->pending.assign(p.nodes.size(), Pending());
  for (size_t i = 0; i < p.nodes.size(); ++i) {
    it->pending[i].waiting = plan_.nodes[p.nodes[i]].pending;
  }
  Iteration* raw = it.get();
  f->iterations.push_back(std::move(it));
  // What arrives here by itself: constants of the loop, then what waited for
  // the iteration.
  for (const Saved& s : f->invariants) FanSaved(s, raw, ready);
  std::vector<Saved> deferred;
  deferred.swap(f->deferred);
  for (const Saved& s : deferred) FanSaved(s, raw, ready);
  return raw;
}

FramePropagator::Frame* FramePropagator::EnterFrame(const PlanNode& n,
                                                    Iteration* from) {
  for (const auto& f : from->inner) {
    if (f->plan_frame == n.out_frame) return f.get();
  }
  from->inner.emplace_back(NewFrame(n.out_frame, from));
  return from->inner.back().get();
}

void FramePropagator::Ready(int32_t node, bool dead, Iteration* to,
                            ReadyList* ready) {
  ++to->active;
  ready->push_back({node, dead, to});
}

void FramePropagator::ArriveData(const PlanEdge& e, OutputSlot* out,
                                 bool last_use, bool from_dead_enter,
                                 Iteration* to, ReadyList* ready) {
  const PlanNode& dst = plan_.nodes[e.dst];
  Pending& p = to->pending[dst.frame_index];
  const bool live = out != nullptr;
  Entry* in = &to->entries[dst.frame_slot + (e.slot - dst.first_slot)];
  if (dst.is_merge) {
    if (live) {
      if (p.merge_live) return;  // the first one counts
      p.merge_live = true;
      Deliver(out, last_use, in);
      if (p.waiting == 0) Ready(e.dst, false, to, ready);
      return;
    }
    ++p.dead;
    // A loop on a branch that was not taken: its NextIteration never comes.
    const bool dead = from_dead_enter || p.dead == dst.num_inputs;
    if (from_dead_enter) p.dead = dst.num_inputs;
    if (p.waiting == 0 && dead && !p.merge_live) {
      Ready(e.dst, true, to, ready);
    }
    return;
  }
  if (live) {
    Deliver(out, last_use, in);
  } else {
    ++p.dead;
  }
  if (--p.waiting == 0) Ready(e.dst, p.dead > 0, to, ready);
}

void FramePropagator::ArriveControl(int32_t node, bool dead, Iteration* to,
                                    ReadyList* ready) {
  const PlanNode& dst = plan_.nodes[node];
  Pending& p = to->pending[dst.frame_index];
  --p.waiting;
  if (dst.is_merge) {
    // Control inputs of a Merge only delay it.
    const bool all_dead = p.dead >= dst.num_inputs;
    if (p.waiting == 0 && (p.merge_live || all_dead)) {
      Ready(node, !p.merge_live, to, ready);
    }
    return;
  }
  if (dead) ++p.dead;
  if (p.waiting == 0) Ready(node, p.dead > 0, to, ready);
}

Status FramePropagator::Fan(int32_t node, bool dead, OpKernelContext* ctx,
                            Iteration* to, ReadyList* ready) {
  const PlanNode& n = plan_.nodes[node];
  const bool dead_enter = dead && n.is_enter;
  for (int32_t k = n.edges_begin; k < n.edges_end; ++k) {
    const PlanEdge& e = plan_.edges[k];
    OutputSlot* out = nullptr;
    if (!dead) {
      out = &ctx->output_slot(e.src_output);
      if (!out->is_set) {
        if (!n.may_leave_unset) {
          return errors::Internal("Missing ", e.src_output, "-th output");
        }
        out = nullptr;
      } else {
        HR_RETURN_IF_ERROR(CheckOutput(n, e, *out));
      }
    }
    ArriveData(e, out, e.last_use, dead_enter, to, ready);
  }
  // A _Recv that got something dead is as dead as if it had not run.
  if (!dead && n.is_recv && ctx->num_outputs() == 1 &&
      !ctx->output_slot(0).is_set) {
    dead = true;
  }
  for (int32_t k = n.control_begin; k < n.control_end; ++k) {
    ArriveControl(plan_.control_edges[k], dead, to, ready);
  }
  return OkStatus();
}

// Enter and NextIteration have one output.
void FramePropagator::FanSaved(const Saved& s, Iteration* to,
                               ReadyList* ready) {
  const PlanNode& n = plan_.nodes[s.node];
  OutputSlot copy = s.value;
  for (int32_t k = n.edges_begin; k < n.edges_end; ++k) {
    ArriveData(plan_.edges[k], s.is_dead ? nullptr : &copy, false,
               s.is_dead && n.is_enter, to, ready);
  }
  for (int32_t k = n.control_begin; k < n.control_end; ++k) {
    ArriveControl(plan_.control_edges[k], s.is_dead, to, ready);
  }
}

void FramePropagator::NextIteration(const Item& i, OpKernelContext* ctx,
                                    ReadyList* ready) {
  if (i.is_dead) return;
  Frame* f = i.iteration->frame;
  const size_t next = i.iteration->index + 1 - f->first_index;
  if (next < f->iterations.size()) {
    Fan(i.node, false, ctx, f->iterations[next].get(), ready).IgnoreError();
    return;
  }
  // All that goes to an iteration that has not begun goes through `deferred`.
  f->deferred.push_back({i.node, false, std::move(ctx->output_slot(0))});
  const int64_t parallel = plan_.frames[f->plan_frame].parallel_iterations;
  if (static_cast<int64_t>(f->iterations.size()) < parallel) {
    NewIteration(f, ready);
  }
}

Status FramePropagator::Propagate(const Item& i, OpKernelContext* ctx,
                                  ReadyList* ready) {
  const PlanNode& n = plan_.nodes[i.node];
  Iteration* const here = i.iteration;
  Frame* const frame = here->frame;
  MutexLock lock(&mu_);
  if (n.is_enter) {
    Frame* inner = EnterFrame(n, here);
    if (inner->iterations.empty()) NewIteration(inner, ready);
    if (n.is_constant_enter) {
      Saved s{i.node, i.is_dead, {}};
      if (!i.is_dead) s.value = std::move(ctx->output_slot(0));
      for (const auto& it : inner->iterations) FanSaved(s, it.get(), ready);
      inner->invariants.push_back(std::move(s));
    } else if (inner->first_index == 0) {
      HR_RETURN_IF_ERROR(
          Fan(i.node, i.is_dead, ctx, inner->iterations.front().get(), ready));
    }
    --inner->enters_left;
    // The inner frame may have been waiting for this alone.
    EndFinishedIterations(inner, ready);
  } else if (n.is_next_iteration) {
    NextIteration(i, ctx, ready);
  } else if (n.is_exit) {
    AddOnce(i.node, i.is_dead ? &frame->dead_exits : &frame->live_exits);
    if (!i.is_dead) {
      HR_RETURN_IF_ERROR(Fan(i.node, false, ctx, frame->parent, ready));
    }
  } else {
    HR_RETURN_IF_ERROR(Fan(i.node, i.is_dead, ctx, here, ready));
  }
  --here->active;
  EndFinishedIterations(frame, ready);
  return OkStatus();
}

void FramePropagator::EndFinishedIterations(Frame* f, ReadyList* ready) {
  while (f != nullptr) {
    while (!f->iterations.empty()) {
      Iteration* it = f->iterations.front().get();
      const bool first = it->index == 0;
      if (it->active != 0 || !it->inner.empty() ||
          (first && f->enters_left > 0)) {
        break;
      }
      Recycle(f->iterations.front().release());
      f->iterations.pop_front();
      ++f->first_index;
      if (!f->deferred.empty()) NewIteration(f, ready);
    }
    if (!f->iterations.empty() || f->parent == nullptr) return;
    // The frame has ended.
    Iteration* const outer = f->parent;
    for (int32_t exit : f->dead_exits) {
      if (std::find(f->live_exits.begin(), f->live_exits.end(), exit) ==
          f->live_exits.end()) {
        Fan(exit, true, nullptr, outer, ready).IgnoreError();
      }
    }
    for (auto inner = outer->inner.begin(); inner != outer->inner.end();
         ++inner) {
      if (inner->get() == f) {
        outer->inner.erase(inner);
        break;
      }
    }
    f = outer->frame;
  }
}

void FramePropagator::Recycle(Iteration* it) {
  constexpr size_t kMaxSpare = 32;
  auto& spare = spare_[it->frame->plan_frame];
  std::unique_ptr<Iteration> owned(it);
  if (spare.size() >= kMaxSpare) return;
  for (Entry& e : owned->entries) e.Clear();
  owned->inner.clear();
  spare.push_back(std::move(owned));
}

}  // namespace headrace
