// The gradient of a loop of Enter, Merge, Switch, NextIteration and Exit: a
// loop in the other direction, of as many iterations.
//
// The forward loop gets a counter. Each value of its body that the gradients
// need is pushed on a stack in every iteration, and popped in the backward
// loop. A push waits for the counter of its iteration, and the next counter
// waits for it, so that pushes are in order; pops likewise. What lies in a
// branch is pushed when that is taken, and popped if it was.
#ifndef HEADRACE_GRADIENTS_LOOP_H_
#define HEADRACE_GRADIENTS_LOOP_H_

#include <string>
#include <vector>

#include "absl/container/flat_hash_set.h"
#include "graph/control_flow.h"
#include "headrace/gradients.h"

namespace headrace {

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

  // `frame` is the forward loop, which no other loop is around.
  GradientLoop(Graph* graph, const ControlFlow* flow, int frame,
               GradientContext* outer)
      : graph_(graph), flow_(flow), frame_(frame), outer_(outer) {}

  const std::string& name() const { return flow_->frames[frame_].name; }
  // Finds the parts of the forward loop. Unimplemented if its form is unusual.
  Status Find();
  const std::vector<Variable>& variables() const { return variables_; }
  // Those of constant Enters.
  const std::vector<Node*>& constants() const { return constants_; }
  // True for nodes of the body: nodes in the frame but for NextIterations and
  // Exits.
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

 private:
  StatusOr<Endpoint> Map(const Endpoint& e);
  StatusOr<Endpoint> Save(const Endpoint& e);
  StatusOr<Node*> Add(const char* op, const char* name,
                      absl::Span<const Endpoint> inputs, AttrMap attrs = {},
                      absl::Span<Node* const> control = {});
  StatusOr<Node*> Enter(const Endpoint& e, bool backward, bool constant);
  void Wait(Node* first, Node* then);
  Status Sync(Node* first, const char* name, Node* next, Node** sync);
  Status Replace(Node* merge, const Endpoint& next);

  Graph* const graph_;
  const ControlFlow* const flow_;
  const int frame_;
  GradientContext* const outer_;
  std::vector<Variable> variables_;
  std::vector<Node*> constants_;
  Node* cond_ = nullptr;
  Node *forward_pivot_ = nullptr, *forward_next_ = nullptr;
  // ControlTriggers between the pushes and pops of an iteration, of which some
  // may be dead, and the next iteration.
  Node *forward_sync_ = nullptr, *sync_ = nullptr;
  Node *cond_backward_ = nullptr, *pivot_ = nullptr, *next_ = nullptr;
  absl::flat_hash_set<int> backward_;  // ids of the backward loop's nodes
  absl::flat_hash_map<Endpoint, Endpoint> known_;  // by what Map was given
};

}  // namespace headrace

#endif  // HEADRACE_GRADIENTS_LOOP_H_
