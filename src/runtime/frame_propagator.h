// FramePropagator: the state of one step over a plan with control flow, with
// the rules of TensorFlow 1.x.
//
// A *frame* is one execution of a loop, opened by the first Enter that reaches
// it in a given iteration of the outer frame. It has *iterations*, each with
// entries and pending counts of its own for the nodes of the frame; at most
// parallel_iterations of them exist at once, and a NextIteration beyond waits.
// A value may be *dead*: the branch that a Switch did not take. A node with a
// dead input, data or control, does not run and puts out dead values, but for a
// ControlTrigger; a Merge fires with the first live input, and is dead when all
// its inputs are or a dead Enter comes first. It fires once in an iteration. A
// dead NextIteration stops: so a loop ends. A dead Exit waits for the frame's
// end and is delivered then if no live one came.
//
// An iteration ends when nothing of it runs or is ready, no inner frame of it
// is left, and the iteration before it has ended (the first: when every Enter
// has arrived). A frame ends with its last iteration. Both are kept for the
// next one of their kind.
//
// Thread-safe as SimplePropagator: one mutex guards the frames; kernels run
// outside it.
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
  // A node that is ready in an iteration, perhaps only to pass on death.
  struct Item {
    Item() = default;
    Item(int32_t n, bool dead, Iteration* i)
        : node(n), is_dead(dead), iteration(i) {}
    // Part by part, as it was written: to read it as one word would have to
    // wait for the parts.
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
  // Of its loop and of all loops around it: this happens once in a step.
  static bool IsFirstIteration(const Item& i) {
    return i.iteration->index == 0 && i.iteration->frame->in_first;
  }

  // As SimplePropagator's. After it the item's iteration may be gone.
  Status Propagate(const Item& i, const PlanNode& n, const Outputs& outputs,
                   bool alone, ReadyList* ready) {
    if (alone) {
      mu_.AssertHeld();  // nobody else is there
      return PutOut(i, n, outputs, ready);
    }
    MutexLock lock(&mu_);
    return PutOut(i, n, outputs, ready);
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
  // A delivery to all nodes that read the output of an Enter or NextIteration,
  // kept for later.
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
    std::vector<Saved> deferred;    // for the iteration that may not begin yet
    // Exits that put out something dead, and that put out something live.
    std::vector<int32_t> dead_exits, live_exits;
  };

  // All of these run under mu_, or alone.
  Status PutOut(const Item& i, const PlanNode& n, const Outputs& outputs,
                ReadyList* ready) REQUIRES(mu_);
  Frame* NewFrame(int plan_frame, Iteration* parent) REQUIRES(mu_);
  Iteration* NewIteration(Frame* f, ReadyList* ready) REQUIRES(mu_);
  Frame* FindOrEnterFrame(const PlanNode& n, Iteration* from) REQUIRES(mu_);
  Status Fan(int32_t node, bool dead, const Outputs& outputs, bool keep,
             Iteration* to, ReadyList* ready) REQUIRES(mu_);
  void FanSaved(Saved* s, bool keep, Iteration* to, ReadyList* ready)
      REQUIRES(mu_);
  void ArriveAtMerge(const PlanEdge& e, OutputSlot* out, bool move,
                     bool from_dead_enter, Iteration* to, ReadyList* ready)
      REQUIRES(mu_);
  // If nothing is left to wait for.
  void FireMerge(int32_t node, Iteration* to, ReadyList* ready) REQUIRES(mu_);
  void ArriveControl(int32_t dst, bool dead, Iteration* to, ReadyList* ready)
      REQUIRES(mu_);
  void Ready(int32_t node, bool dead, Iteration* to, ReadyList* ready)
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
  // What has ended, by plan frame.
  std::vector<std::vector<std::unique_ptr<Iteration>>> spare_iterations_
      GUARDED_BY(mu_);
  std::vector<std::vector<std::unique_ptr<Frame>>> spare_frames_
      GUARDED_BY(mu_);
};

}  // namespace headrace

#endif  // HEADRACE_RUNTIME_FRAME_PROPAGATOR_H_
