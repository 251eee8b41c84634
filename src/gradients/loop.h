// The gradient of a loop of Enter, Merge, Switch, NextIteration and Exit: a
// loop in the other direction, of as many iterations.
//
// The forward loop gets a counter. Each value of its body that the gradients
// need is pushed on a stack in every iteration, and popped in the backward
// loop. A push waits for the counter of its iteration, and the next counter
// waits for it, so that pushes are in order; pops likewise. What lies in a
// branch is pushed when that is taken, and popped if it was.
//
// The gradient of a loop inside another lies in the backward loop of that one.
// Its stacks last for all iterations of the outer loop, whose next iteration
// waits until the inner loop has pushed, or popped, its values. The number of
// its iterations is a value of the outer loop's body like any other.
#ifndef HEADRACE_GRADIENTS_LOOP_H_
#define HEADRACE_GRADIENTS_LOOP_H_

#include <string>
#include <vector>

#include "absl/container/flat_hash_set.h"
#include "graph/control_flow.h"
#include "headrace/gradients.h"

namespace headrace {

// Used by one thread, while it adds the gradients of one graph.
class GradientLoop {
 public:
  // A variable of the forward loop. There is no exit if nobody reads it.
  struct Variable {
    Node *enter, *merge, *branch, *exit, *next;
  };
  // A variable of the backward loop, whose value in an iteration is `value`.
  struct Backward {
    Node *merge = nullptr, *exit = nullptr;
    Endpoint value;
  };

  // `frame` is the forward loop; `around` the gradient of the loop that it is
  // inside. Null: what is around the loop is where the gradient is taken, which
  // may be the body of another loop.
  GradientLoop(Graph* graph, const ControlFlow* flow, int frame,
               GradientContext* outer, GradientLoop* around)
      : graph_(graph),
        flow_(flow),
        frame_(frame),
        outer_(outer),
        around_(around) {}

  const ControlFlow& flow() const { return *flow_; }
  int frame() const { return frame_; }
  const std::string& name() const { return flow_->frames[frame_].name; }
  // Finds the parts of the forward loop. Unimplemented if its form is unusual.
  Status Find();
  const std::vector<Variable>& variables() const { return variables_; }
  // Those of constant Enters.
  const std::vector<Node*>& constants() const { return constants_; }
  // True for nodes of the body: nodes in the frame and in loops inside it, but
  // for the frame's own NextIterations and Exits.
  bool InBody(const Node* n) const;

  // Adds the counters of both loops.
  Status Begin();
  // Adds a variable of the backward loop that begins with `initial`.
  Status AddVariable(const Endpoint& initial, Backward* out);
  // Sets what the variable is in the next iteration: a node of the loop.
  Status SetNext(const Backward& v, const Endpoint& next);

  // For nodes of the backward loop: the inputs as they are known there, and
  // control inputs that bind the node to an iteration.
  Status Prepare(absl::Span<const Endpoint> inputs,
                 absl::InlinedVector<Endpoint, 6>* mapped,
                 std::vector<Node*>* control);
  void Adopt(const Node* n) { backward_.insert(n->id()); }
  // A value of the forward loop, or from outside, as it is known in the
  // backward loop.
  StatusOr<Endpoint> Map(const Endpoint& e);

 private:
  StatusOr<Endpoint> Save(const Endpoint& e);
  // Inside of the loops.
  StatusOr<Node*> Add(const char* op, const char* name,
                      absl::Span<const Endpoint> inputs, AttrMap attrs = {},
                      absl::Span<Node* const> control = {}) {
    return AddAt({.in_loop = true}, op, name, inputs, std::move(attrs),
                 control);
  }
  StatusOr<Node*> AddAt(const GradientPlace& place, const char* op,
                        const char* name, absl::Span<const Endpoint> inputs,
                        AttrMap attrs = {},
                        absl::Span<Node* const> control = {});
  // The place around the forward loop, or around the backward loop.
  GradientPlace Around(bool backward) const {
    return {.in_loop = around_ != nullptr,
            .beside = backward ? nullptr : variables_[0].enter};
  }
  // The place around the outermost forward loop.
  GradientPlace AroundAll() const {
    return around_ == nullptr ? Around(false) : around_->AroundAll();
  }
  StatusOr<Node*> Enter(const Endpoint& e, bool backward, bool constant);
  // A value from outside all loops, in the forward loop.
  StatusOr<Endpoint> EnterForward(const Endpoint& e);
  // True for a value of the forward loop.
  bool IsForward(const Endpoint& e) const;
  void Wait(Node* first, Node* then);
  Status Sync(Node* first, const char* name, Node* next, Node** sync);
  Status Replace(Node* merge, const Endpoint& next);

  Graph* const graph_;
  const ControlFlow* const flow_;
  const int frame_;
  GradientContext* const outer_;
  GradientLoop* const around_;
  std::vector<Variable> variables_;
  std::vector<Node*> constants_;
  Node* cond_ = nullptr;
  Node *forward_pivot_ = nullptr, *forward_next_ = nullptr;
  // ControlTriggers between the pushes and pops of an iteration, of which some
  // may be dead, and the next iteration.
  Node *forward_sync_ = nullptr, *sync_ = nullptr;
  Node *cond_backward_ = nullptr, *pivot_ = nullptr, *next_ = nullptr;
  absl::flat_hash_set<int> backward_;  // ids of the backward loop's nodes
  absl::flat_hash_set<int> forward_;   // ids of new nodes of the forward loop
  absl::flat_hash_map<Endpoint, Endpoint> known_;  // by what Map was given
};

}  // namespace headrace

#endif  // HEADRACE_GRADIENTS_LOOP_H_
