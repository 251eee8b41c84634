// The fetches of a run: a structure of tensors, operations and objects that
// stand for them. A run returns the same structure with values.
//
// Call with the GIL held.
#ifndef HEADRACE_PYTHON_EXT_FETCHES_H_
#define HEADRACE_PYTHON_EXT_FETCHES_H_

#include <nanobind/nanobind.h>

#include <vector>

#include "absl/container/inlined_vector.h"
#include "py_graph.h"

namespace headrace::python {

// What to do about a tensor of another graph than the session's.
inline constexpr char kOtherGraph[] =
    " The session runs another graph: make it by tf.Session(graph=...) of the "
    "tensor's graph.";

// The steps that build the fetched structure again, in order of visit. A step
// takes one value, or it builds a container from the values since its start.
struct Fetches {
  enum Kind : uint8_t {
    kTensor,
    kNothing,
    kList,
    kTuple,
    kNamed,
    kDict,
    kCall
  };
  struct Step {
    Kind kind;
    int n;           // index into `endpoints`, or the number of parts
    nb::object how;  // a type, the keys of a dict, or a function
  };
  absl::InlinedVector<Step, 4> steps;
  absl::InlinedVector<Endpoint, 4> endpoints;  // each once
  absl::InlinedVector<Node*, 2> targets;

  int Add(const Endpoint& e) {
    for (size_t i = 0; i < endpoints.size(); ++i) {
      if (endpoints[i] == e) return static_cast<int>(i);
    }
    endpoints.push_back(e);
    return static_cast<int>(endpoints.size()) - 1;
  }
  void AddTarget(Node* n) {
    for (Node* t : targets) {
      if (t == n) return;
    }
    targets.push_back(n);
  }
};

// Raises TypeError or ValueError for an object that cannot be fetched from the
// graph, and RecursionError for a structure that is nested without end.
Fetches ReadFetches(const PyGraph& graph, nb::handle fetches);

// Builds the structure with `values`, the values of the endpoints, as its
// leaves.
nb::object Assemble(const Fetches& f, const std::vector<nb::object>& values);

}  // namespace headrace::python

#endif  // HEADRACE_PYTHON_EXT_FETCHES_H_
