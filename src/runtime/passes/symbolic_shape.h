// Which sizes will be equal at run though nobody knows them before: most graphs
// leave the batch open, and many the size of the images. Every size that is not
// known gets a name, and sizes that must come out equal get the same one. What
// an op does with sizes, its schema says
// (framework/shape_fns/symbolic_shape_fns.h).
//
// Thread-compatible. Describes a graph as it was when this was made.
#ifndef HEADRACE_RUNTIME_PASSES_SYMBOLIC_SHAPE_H_
#define HEADRACE_RUNTIME_PASSES_SYMBOLIC_SHAPE_H_

#include <string>
#include <utility>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "framework/shape_fns/symbolic_shape_fns.h"
#include "headrace/graph.h"

namespace headrace {

class SymbolicShapes {
 public:
  static Status Make(const Graph& graph, SymbolicShapes* out);

  // True if both certainly have the same shape in every run. Nothing is known
  // of nodes added since, except SetEqual.
  bool SurelyEqual(const Endpoint& a, const Endpoint& b) const;
  // Outputs of the new node `id` have the shapes of those of `like`, which may
  // be gone.
  void SetEqual(int id, int like);

 private:
  using Dims = SymbolicShapeContext::Dims;
  struct Shape {
    bool known_rank = false;
    Dims dims;
  };
  class Context;

  void Infer(const Node& n);
  const Shape* ShapeOf(const Endpoint& e) const;

  std::vector<std::vector<Shape>> shapes_;  // by node id and output
  // Names by what they are the result of.
  absl::flat_hash_map<std::pair<std::string, std::vector<int64_t>>, int64_t>
      named_;
  int64_t next_name_ = -1;
};

}  // namespace headrace

#endif  // HEADRACE_RUNTIME_PASSES_SYMBOLIC_SHAPE_H_
