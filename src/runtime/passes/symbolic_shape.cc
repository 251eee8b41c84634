#include "runtime/passes/symbolic_shape.h"

#include "graph/algorithm.h"
#include "runtime/passes/rewrite.h"

namespace headrace {

class SymbolicShapes::Context final : public SymbolicShapeContext {
 public:
  Context(SymbolicShapes* shapes, const Node& n) : shapes_(shapes), n_(n) {}

  int num_inputs() const override { return n_.num_inputs(); }
  const AttrMap& attrs() const override { return n_.attrs(); }
  const Dims* input(int i) const override {
    if (i >= n_.num_inputs() || n_.input_edge(i) == nullptr) return nullptr;
    const Edge& e = *n_.input_edge(i);
    const Shape* s = shapes_->ShapeOf({e.src(), e.src_output()});
    return s != nullptr && s->known_rank ? &s->dims : nullptr;
  }
  const Tensor* constant_input(int i) const override {
    return i < n_.num_inputs() ? ConstantInput(n_, i) : nullptr;
  }
  int64_t NewName() override { return shapes_->next_name_--; }
  int64_t NameOf(const char* what, std::vector<int64_t> arguments) override {
    const auto [it, added] = shapes_->named_.try_emplace(
        {what, std::move(arguments)}, shapes_->next_name_);
    if (added) --shapes_->next_name_;
    return it->second;
  }

 private:
  SymbolicShapes* const shapes_;
  const Node& n_;
};

Status SymbolicShapes::Make(const Graph& graph, SymbolicShapes* out) {
  std::vector<Node*> order;
  HR_RETURN_IF_ERROR(TopologicalOrder(graph, &order));
  *out = SymbolicShapes();
  out->shapes_.resize(graph.num_node_ids());
  for (const Node* n : order) out->Infer(*n);
  return OkStatus();
}

bool SymbolicShapes::SurelyEqual(const Endpoint& a, const Endpoint& b) const {
  const Shape* const x = ShapeOf(a);
  const Shape* const y = ShapeOf(b);
  return x != nullptr && y != nullptr && x->known_rank && y->known_rank &&
         x->dims == y->dims;
}

void SymbolicShapes::SetEqual(int id, int like) {
  if (static_cast<size_t>(like) >= shapes_.size()) return;
  std::vector<Shape> copy = shapes_[like];
  if (static_cast<size_t>(id) >= shapes_.size()) shapes_.resize(id + 1);
  shapes_[id] = std::move(copy);
}

const SymbolicShapes::Shape* SymbolicShapes::ShapeOf(const Endpoint& e) const {
  const size_t id = e.node->id();
  if (id >= shapes_.size()) return nullptr;
  const size_t output = e.index;
  return output < shapes_[id].size() ? &shapes_[id][output] : nullptr;
}

void SymbolicShapes::Infer(const Node& n) {
  std::vector<Shape>& out = shapes_[n.id()];
  out.resize(n.num_outputs());
  const SymbolicShapeFn fn = n.traits().symbolic_shape_fn;
  Context context(this, n);
  // Values that come around a loop are others in the next iteration.
  const bool told = n.num_outputs() > 0 && fn != nullptr &&
                    !n.IsControlFlow() && fn(&context);
  for (int i = 0; i < n.num_outputs(); ++i) {
    const PartialTensorShape& shape = n.output_shape(i);
    Shape& s = out[i];
    const bool use = i == 0 && told &&
                     (shape.unknown_rank() ||
                      shape.dims() == static_cast<int>(context.output.size()));
    if (use) {
      s.dims = context.output;
    } else if (!shape.unknown_rank()) {
      for (int d = 0; d < shape.dims(); ++d) {
        s.dims.push_back(context.NewName());
      }
    }
    s.known_rank = use || !shape.unknown_rank();
    for (int d = 0; d < shape.dims(); ++d) {
      if (shape.dim_size(d) >= 0) s.dims[d] = shape.dim_size(d);
    }
  }
}

}  // namespace headrace
