// Which sizes will be equal at run though nobody knows them before: most graphs
// leave the batch open, and many the size of the images. Every size that is not
// known gets a number, and sizes that must come out equal get the same one.
//
// Thread-compatible. Describes a graph as it was when this was made.
#ifndef HEADRACE_RUNTIME_PASSES_SYMBOLIC_SHAPE_H_
#define HEADRACE_RUNTIME_PASSES_SYMBOLIC_SHAPE_H_

#include <vector>

#include "absl/container/flat_hash_map.h"
#include "graph/graph.h"

namespace headrace {

class SymbolicShapes {
 public:
  static Status Make(const Graph& graph, SymbolicShapes* out);

  // True if both certainly have the same shape in every run. Nothing is known
  // of nodes added since, but for SetEqual.
  bool SurelyEqual(const Endpoint& a, const Endpoint& b) const;
  // Outputs of the new node `id` have the shapes of those of `like`, which may
  // be gone.
  void SetEqual(int id, int like);

 private:
  // A size, or below 0 the number of one that is not known.
  using Dims = absl::InlinedVector<int64_t, 4>;
  struct Shape {
    bool known_rank = false;
    Dims dims;
  };

  void Infer(const Node& n);
  // What the op tells; false if nothing.
  bool InferOp(const Node& n, Dims* out);
  bool InferWindow(const Node& n, Dims* out);
  bool InferPad(const Node& n, Dims* out);
  bool InferBroadcast(const Node& n, Dims* out);
  bool InferTranspose(const Node& n, Dims* out);
  bool InferConcat(const Node& n, Dims* out);
  const Shape* ShapeOf(const Endpoint& e) const;
  const Shape* InputShape(const Node& n, int i) const;
  // The number of what `key` computes, always the same for one key.
  int64_t Named(std::vector<int64_t> key);
  int64_t Fresh() { return next_--; }

  std::vector<std::vector<Shape>> shapes_;  // by node id and output
  absl::flat_hash_map<std::vector<int64_t>, int64_t> named_;
  int64_t next_ = -1;
};

}  // namespace headrace

#endif  // HEADRACE_RUNTIME_PASSES_SYMBOLIC_SHAPE_H_
