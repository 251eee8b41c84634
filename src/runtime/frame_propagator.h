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
// its inputs are. A dead NextIteration stops: so a loop ends. A dead Exit waits
// for the frame's end and is delivered then if no live one came.
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

#include <memory>
#include <vector>

#include "base/mutex.h"
#include "runtime/entry.h"
#include "runtime/plan.h"

namespace headrace {

class FramePropagator {
 public:
  struct Iteration;
  // A node that is ready in an iteration, perhaps only to pass on death.
  struct Item {
    int32_t node;
    bool is_dead;
    Iteration* iteration;
  };
  using ReadyList = std::vector<Item>;

  explicit FramePropagator(const Plan& plan);
  ~FramePropagator();

  void Start(ReadyList* ready);

  const PlanNode& node(const Item& i) const { return plan_.nodes[i.node]; }
  Entry* entries(const Item& i);
  static bool IsDead(const Item& i) { return i.is_dead; }
  static uint64_t frame_id(const Item& i);
  static int64_t frame_iter(const Item& i);

  // As SimplePropagator's. After it the item's iteration may be gone.
  Status Propagate(const Item& i, const Outputs& outputs, bool alone,
                   ReadyList* ready);

 private:
  struct Frame;
  // A delivery to all nodes that read the output of an Enter or NextIteration,
  // kept for later.
  struct Saved {
    int32_t node;
    bool is_dead;
    OutputSlot value;
  };

  // All of these run under mu_, or alone.
  Status Deliver(const Item& i, const Outputs& outputs, ReadyList* ready)
      REQUIRES(mu_);
  Frame* NewFrame(int plan_frame, Iteration* parent) REQUIRES(mu_);
  Iteration* NewIteration(Frame* f, ReadyList* ready) REQUIRES(mu_);
  Frame* FindOrEnterFrame(const PlanNode& n, Iteration* from) REQUIRES(mu_);
  Status Fan(int32_t node, bool dead, const Outputs& outputs, bool keep,
             Iteration* to, ReadyList* ready) REQUIRES(mu_);
  void FanSaved(Saved* s, bool keep, Iteration* to, ReadyList* ready)
      REQUIRES(mu_);
  void ArriveData(const PlanEdge& e, OutputSlot* out, bool move,
                  bool from_dead_enter, Iteration* to, ReadyList* ready)
      REQUIRES(mu_);
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
