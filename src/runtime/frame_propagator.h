// FramePropagator: the state of one step over a plan with control flow. It
// follows the rules of TensorFlow 1.x.
//
// A *frame* is one execution of a loop. The first Enter that reaches the loop
// in an iteration of the outer frame opens it. The top level is a frame, too.
//
// A frame has *iterations*. Each has its own entries and pending counts for the
// nodes of the frame. At most parallel_iterations of them exist at once; what a
// NextIteration delivers beyond that waits.
//
// A value may be *dead*: it comes from the branch that a Switch did not take.
//   - A node with a dead input, data or control, does not run, and all its
//     outputs are dead. A ControlTrigger runs nevertheless.
//   - A Merge fires once in an iteration, with its first live input. Its output
//     is dead if all its inputs are dead, or if a dead Enter comes first.
//   - A dead NextIteration delivers nothing. So a loop ends.
//   - A dead Exit waits for the end of the frame. If no live one has come by
//     then, its consumers get a dead value.
//
// An iteration ends when none of its nodes runs or is ready, it has no inner
// frame, and the iteration before it has ended; the first one when every Enter
// of the frame has come. A frame ends with its last iteration. Frames and
// iterations that have ended are used again.
//
// Thread-safe as SimplePropagator is. One mutex guards the frames; no kernel
// runs under it.
#ifndef HEADRACE_RUNTIME_FRAME_PROPAGATOR_H_
#define HEADRACE_RUNTIME_FRAME_PROPAGATOR_H_

#include <deque>
#include <memory>
#include <string>
#include <vector>

#include "headrace/mutex.h"
#include "runtime/entry.h"
#include "runtime/plan.h"

namespace headrace {

class FramePropagator {
  struct Frame;
  struct Iteration;

 public:
  // A node that is ready in an iteration. If it is dead, it does not run, and
  // its consumers get dead values.
  struct Item {
    Item() = default;
    Item(int32_t n, bool dead, Iteration* i)
        : node(n), is_dead(dead), iteration(i) {}
    // Copies member by member, as an item was written. A wider read would
    // stall, because the processor cannot forward the narrower stores.
    Item(const Item& o)
        : node(o.node), is_dead(o.is_dead), iteration(o.iteration) {}
    Item& operator=(const Item& o) {
      node = o.node;
      is_dead = o.is_dead;
      iteration = o.iteration;
      return *this;
    }

    int32_t node = 0;
    bool is_dead = false;
    Iteration* iteration = nullptr;
  };
  using ReadyList = std::vector<Item>;

  explicit FramePropagator(const Plan& plan);
  ~FramePropagator();

  void Start(ReadyList* ready);

  const PlanNode& node(const Item& i) const { return plan_.nodes[i.node]; }
  Entry* entries(const Item& i, const PlanNode& n) {
    return i.iteration->entries.data() + n.first_slot;
  }
  static constexpr bool kHasFrames = true;
  static bool IsDead(const Item& i) { return i.is_dead; }
  static uint64_t frame_id(const Item& i) { return i.iteration->frame->id; }
  static int64_t frame_iter(const Item& i) { return i.iteration->index; }
  // True in the first iteration of the loop and of all loops around it: once in
  // a step.
  static bool IsFirstIteration(const Item& i) {
    return i.iteration->index == 0 && i.iteration->frame->in_first;
  }

  // As SimplePropagator's. Afterwards the item's iteration may have ended: the
  // item is not used again.
  Status Propagate(const Item& i, const PlanNode& n, const Outputs& outputs,
                   bool alone, ReadyList* ready) {
    if (alone) {
      mu_.AssertHeld();  // no other thread is there
      return PropagateLocked(i, n, outputs, ready);
    }
    MutexLock lock(&mu_);
    return PropagateLocked(i, n, outputs, ready);
  }

 private:
  struct Iteration {
    Frame* frame = nullptr;
    int64_t index = 0;
    int64_t active = 0;                  // items that are ready or running
    std::vector<Entry> entries;          // by slot within the frame
    std::vector<PendingInputs> pending;  // by node within the frame
    std::vector<std::unique_ptr<Frame>> inner;  // open frames
  };
  // An output of an Enter or NextIteration, to be delivered later to all nodes
  // that read it.
  struct Saved {
    int32_t node;
    bool is_dead;
    OutputSlot value;
  };
  struct Frame {
    int plan_frame = 0;
    std::string name;  // unique for the step: "outer;iteration;name"
    uint64_t id = 0;
    Iteration* parent = nullptr;  // null for the top level
    bool in_first = true;  // all loops around it are in their first iteration
    int enters_left = 0;
    int64_t first_index = 0;  // of iterations.front()
    std::deque<std::unique_ptr<Iteration>> iterations;
    std::vector<Saved> invariants;  // outputs of constant Enters
    std::vector<Saved> deferred;    // for an iteration that may not begin yet
    // Exits that had a dead value, and those that had a live one.
    std::vector<int32_t> dead_exits, live_exits;
  };

  // All of these run under mu_, or in the only thread of the step. Those that
  // take `ready` append the items that become ready.
  //
  // Delivers the outputs of an item, and counts the item as ended.
  Status PropagateLocked(const Item& i, const PlanNode& n,
                         const Outputs& outputs, ReadyList* ready)
      REQUIRES(mu_);
  Frame* NewFrame(int plan_frame, Iteration* parent) REQUIRES(mu_);
  Iteration* NewIteration(Frame* f, ReadyList* ready) REQUIRES(mu_);
  Frame* FindOrEnterFrame(const PlanNode& n, Iteration* from) REQUIRES(mu_);
  // Delivers outputs to all their consumers in iteration `to`. With `keep` they
  // are copied, for later iterations read them, too.
  Status DeliverAll(int32_t node, bool dead, const Outputs& outputs, bool keep,
                    Iteration* to, ReadyList* ready) REQUIRES(mu_);
  void DeliverSaved(Saved* s, bool keep, Iteration* to, ReadyList* ready)
      REQUIRES(mu_);
  void DeliverToMerge(const PlanEdge& e, OutputSlot* out, bool move,
                      bool from_dead_enter, Iteration* to, ReadyList* ready)
      REQUIRES(mu_);
  // Makes a Merge ready if it waits for nothing any more.
  void FireMerge(int32_t node, Iteration* to, ReadyList* ready) REQUIRES(mu_);
  // Delivers one control input.
  void DeliverControl(int32_t dst, bool dead, Iteration* to, ReadyList* ready)
      REQUIRES(mu_);
  void MakeReady(int32_t node, bool dead, Iteration* to, ReadyList* ready)
      REQUIRES(mu_);
  Status Enter(const Item& i, const Outputs& outputs, ReadyList* ready)
      REQUIRES(mu_);
  Status NextIteration(const Item& i, const Outputs& outputs, ReadyList* ready)
      REQUIRES(mu_);
  void EndFinishedIterations(Frame* f, ReadyList* ready) REQUIRES(mu_);
  void EndFrame(Frame* f, ReadyList* ready) REQUIRES(mu_);
  void Recycle(std::unique_ptr<Iteration> it) REQUIRES(mu_);

  const Plan& plan_;
  Mutex mu_;
  std::unique_ptr<Frame> root_ GUARDED_BY(mu_);
  // Iterations and frames that have ended, by plan frame.
  std::vector<std::vector<std::unique_ptr<Iteration>>> spare_iterations_
      GUARDED_BY(mu_);
  std::vector<std::vector<std::unique_ptr<Frame>>> spare_frames_
      GUARDED_BY(mu_);
};

}  // namespace headrace

#endif  // HEADRACE_RUNTIME_FRAME_PROPAGATOR_H_
