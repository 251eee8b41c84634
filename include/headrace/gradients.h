// Symbolic gradients: nodes that compute the derivatives of some outputs of a
// graph, and the registry of the functions that make them.
//
//   REGISTER_GRADIENT("Tanh", [](GradientContext& g) {
//     g.SetDx(0, g.Op("TanhGrad", {g.y(), g.dy()}));
//   });
//   REGISTER_NO_GRADIENT("Equal", "its output is boolean");
//
// A library of custom ops registers its gradient functions in the same way.
// docs/design/0014-gradients.md has the reasons.
#ifndef HEADRACE_GRADIENTS_H_
#define HEADRACE_GRADIENTS_H_

#include <functional>
#include <initializer_list>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "headrace/graph.h"

namespace headrace {

class GradientContext;
class GradientLoop;  // gradients/loop.h

// The gradient of a tensor: the whole of it, or slices along its first
// dimension. Slices at the same index add up; the other slices are zero.
struct Gradient {
  Endpoint dense;
  Endpoint values, indices, dense_shape;  // unused if `dense` is set

  bool IsNone() const { return dense.node == nullptr && !IsSparse(); }
  bool IsSparse() const { return values.node != nullptr; }
};

// Where a node of the gradient of a loop lies.
struct GradientPlace {
  // Inside of a loop on the way, or of its gradient.
  bool in_loop = false;
  // Else: beside the loop that this Enter goes into. Null: where the gradient
  // is taken. An Exit lies where its output is.
  const Node* beside = nullptr;
};

struct GradientOptions {
  // The gradients of ys. Empty: ones. An entry that is none also means ones.
  std::vector<Gradient> grad_ys;
  // The traversal does not go beyond these.
  std::vector<Endpoint> stop_gradients;
  // Gives zeros for an x that no y depends on; else its gradient is none.
  bool zero_if_unconnected = false;
  // InvalidArgument for an x that no y depends on.
  bool must_be_connected = false;
  // New nodes get the device and the colocation of the node that they are the
  // gradient of.
  bool colocate = false;
  // The gradients of one node's inputs are used when all are computed.
  bool gate = false;
  // All names of new nodes begin with "scope/". The scope must be unused.
  std::string scope = "gradients";

  // Adds a node of the preferred name def.name, with another number if that is
  // taken. `forward` is the node that is differentiated, or null. Takes the
  // graph's lock itself. Not set: Graph::AddNode. The client's scopes hold for
  // nodes whose place is the one where the gradient is taken.
  std::function<StatusOr<Node*>(NodeDef def, absl::Span<const Endpoint> inputs,
                                absl::Span<Node* const> control_inputs,
                                const Node* forward,
                                const GradientPlace& place)>
      add_node;
  // If set, called first for each node, also of the bodies of functions on the
  // way. Sets *handled to false to leave a node to the registry. `scope` is the
  // name scope for the node's gradient. In the body of a loop
  // (context.in_loop()) new nodes need context.IntoLoop.
  std::function<Status(GradientContext& context, Node* node,
                       const std::string& scope, absl::Span<const Gradient> dys,
                       std::vector<Gradient>* dxs, bool* handled)>
      custom;
  // Set by the library where the gradient of a function is built: the graph of
  // its body. `custom` may keep it.
  std::shared_ptr<Graph> function_body;
  // Gradients are added in the order in which they come, two at a time.
  bool add_in_turn = false;
};

// Adds nodes that compute, for each x, the sum of the derivatives of all ys by
// x. (*dxs)[i] is none if no y depends on xs[i].
//
// InvalidArgument if a gradient of ys does not fit, NotFound if an op on the
// way has no gradient, Unimplemented if a gradient on the way has a limit: the
// second derivative of a loop, or a function that cannot run twice.
// Nodes that were added before an error stay. The caller holds graph->mu()
// unless options.add_node is set.
Status AddSymbolicGradients(Graph* graph, absl::Span<const Endpoint> ys,
                            absl::Span<const Endpoint> xs,
                            const GradientOptions& options,
                            std::vector<Gradient>* dxs);

// The sum of slices as one tensor, in new nodes.
StatusOr<Endpoint> DensifyGradient(Graph* graph, const GradientOptions& options,
                                   const Gradient& slices);

// True if tensors of this type have gradients.
bool IsTrainable(DataType dtype);

// A tensor that a gradient function computes with; arithmetic adds nodes. An
// empty Expr is no tensor, and the result of arithmetic with one is empty.
class Expr {
 public:
  Expr() = default;
  Expr(GradientContext* context, Endpoint e) : context_(context), e_(e) {}

  explicit operator bool() const { return e_.node != nullptr; }
  const Endpoint& endpoint() const { return e_; }
  GradientContext* context() const { return context_; }
  DataType dtype() const;
  // Unknown for an empty Expr.
  const PartialTensorShape& shape() const;
  int rank() const { return shape().dims(); }
  // Another output of the same node.
  Expr out(int index) const;

 private:
  GradientContext* context_ = nullptr;
  Endpoint e_;
};

Expr operator+(const Expr& a, const Expr& b);
Expr operator-(const Expr& a, const Expr& b);
Expr operator*(const Expr& a, const Expr& b);
Expr operator/(const Expr& a, const Expr& b);
Expr operator-(const Expr& a);
Expr operator+(const Expr& a, double b);
Expr operator-(const Expr& a, double b);
Expr operator*(const Expr& a, double b);
Expr operator/(const Expr& a, double b);
Expr operator-(double a, const Expr& b);
Expr operator/(double a, const Expr& b);

// What a gradient function works with: the node that it differentiates, the
// gradients of the node's outputs, and ways to add nodes. The first error is
// kept; calls after it do nothing and return empty Exprs. An input or output
// that the node does not have is such an error.
// Used by one thread, during one call of the function.
class GradientContext {
 public:
  const Node& node() const { return *node_; }
  int num_inputs() const { return node_->num_inputs(); }
  int num_outputs() const { return node_->num_outputs(); }

  Expr x(int i = 0);
  Expr y(int i = 0);
  // Inputs [begin, end).
  std::vector<Expr> Inputs(int begin, int end);
  // The gradient of output i as one tensor. Zeros if the output has none but
  // may have; empty if its type has no gradients.
  Expr dy(int i = 0);
  bool HasDy(int i = 0) const { return !raw_dy(i).IsNone(); }
  // As it is: dense, slices or none.
  const Gradient& raw_dy(int i = 0) const;

  // False if nobody needs the gradient of input i.
  bool Needs(int i) const { return i < num_inputs() && needs_[i]; }
  // Sets the gradient of input i; an empty one is none.
  void SetDx(int i, const Expr& dx);
  void SetDx(int i, Gradient dx);
  // `values` [n, ...] at `indices` [n] of input i.
  void SetSlices(int i, const Expr& values, const Expr& indices,
                 const Expr& dense_shape);
  // For an op that adds, multiplies...: sums `da` and `db`, which have the
  // shape of the output, to the shapes of inputs i and j, and sets them.
  void SetBroadcast(int i, const Expr& da, int j, const Expr& db);

  // Adds a node of `op` and returns its output 0. Types and numbers of
  // arguments follow from the inputs. `name`, if given, is its name.
  Expr Op(const char* op, std::initializer_list<Expr> inputs,
          AttrMap attrs = {}, const char* name = nullptr);
  Expr Op(const char* op, const std::vector<Expr>& inputs, AttrMap attrs = {},
          const char* name = nullptr);
  // As Op, with those attrs of the differentiated node that `op` has, too, and
  // that do not follow from the inputs.
  Expr Like(const char* op, std::initializer_list<Expr> inputs,
            AttrMap attrs = {});
  Expr Like(const char* op, const std::vector<Expr>& inputs,
            AttrMap attrs = {});

  Expr Const(Tensor value, const char* name = "Const");
  Expr Int(int32_t value);
  Expr Ints(absl::Span<const int32_t> values);
  // A scalar of type `dtype`.
  Expr Scalar(DataType dtype, double value, const char* name = "Const");
  // The shape of `t` as int32: a constant if it is known.
  Expr Shape(const Expr& t, DataType out_type = DT_INT32);
  Expr Size(const Expr& t);
  Expr Rank(const Expr& t);
  Expr ZerosLike(const Expr& t) { return Op("ZerosLike", {t}); }
  Expr Reshape(const Expr& t, const Expr& shape) {
    return Op("Reshape", {t, shape});
  }
  Expr Sum(const Expr& t, const Expr& axes, bool keep_dims = false);
  Expr Cast(const Expr& t, DataType dtype);
  Expr Transpose(const Expr& t, const Expr& permutation) {
    return Op("Transpose", {t, permutation});
  }
  // The transposes of the last two dimensions, conjugate if complex.
  Expr Adjoint(const Expr& t);
  Expr MatMul(const Expr& a, const Expr& b, bool adjoint_a = false,
              bool adjoint_b = false);
  // Complex conjugate; of a real tensor the tensor itself.
  Expr Conj(const Expr& t);
  Expr Concat(const std::vector<Expr>& parts, int axis = 0);
  Expr Slice(const Expr& t, const Expr& begin, const Expr& size) {
    return Op("Slice", {t, begin, size});
  }
  // `t`, when `first` has been computed.
  Expr After(const Expr& t, const Expr& first, const char* name);
  const GradientOptions& options() const { return *options_; }
  // The scope of all gradients of this call.
  const std::string& scope_name() const { return options_->scope; }
  // True if new nodes belong to the backward loop of a loop's gradient.
  bool in_loop() const { return loop_ != nullptr; }
  // For a node that is not added by this context, but in a backward loop: its
  // inputs as they are known there, and control inputs that it needs. Then
  // Adopt the new node.
  Status IntoLoop(absl::Span<const Endpoint> inputs,
                  std::vector<Endpoint>* mapped, std::vector<Node*>* control);
  void Adopt(const Node* n);
  // Input i of the node as a constant; null if its value is not known.
  bool ConstantInput(int i, Tensor* value);
  // The sum of slices as one tensor.
  Expr Densify(const Gradient& slices);

  // The attr of the differentiated node. It must have it.
  template <typename T>
  T Attr(const char* name) {
    T value{};
    Fail(node_->attrs().Get(name, &value));
    return value;
  }

  void Fail(const Status& s) {
    if (status_.ok() && !s.ok()) status_ = s;
  }
  const Status& status() const { return status_; }
  Graph* graph() const { return graph_; }

 private:
  friend class GradientBuilder;
  friend class GradientLoop;
  GradientContext(Graph* graph, const GradientOptions* options)
      : graph_(graph), options_(options) {}
  StatusOr<Node*> Add(NodeDef def, absl::Span<const Endpoint> inputs,
                      absl::Span<Node* const> control = {});
  // The same outside loops.
  StatusOr<Node*> AddAsIs(NodeDef def, absl::Span<const Endpoint> inputs,
                          absl::Span<Node* const> control,
                          const GradientPlace& place);
  template <typename List>
  Expr AddOp(const char* op, const List& inputs, AttrMap attrs,
             const char* name);
  void CopyAttrs(const char* op, AttrMap* attrs);
  Status NotThere(const char* what, int i) const;

  Graph* const graph_;
  const GradientOptions* const options_;
  std::string scope_;             // "gradients/tanh_grad/"
  GradientLoop* loop_ = nullptr;  // new nodes belong to its backward loop
  Node* node_ = nullptr;
  absl::Span<const Gradient> dys_;
  std::vector<Expr> dense_dys_;  // made by dy()
  std::vector<bool> needs_;
  std::vector<Gradient>* dxs_ = nullptr;
  Status status_;
};

using GradientFn = void (*)(GradientContext&);

// The gradient function of an op, or the reason why it has none.
struct GradientEntry {
  GradientFn fn = nullptr;
  const char* reason = nullptr;  // set if fn is null
};

// Thread-safe once the static objects, which register, have been made.
class GradientRegistry {
 public:
  // Null if nothing is registered.
  static const GradientEntry* Find(absl::string_view op);
  // The names of all ops with an entry, sorted.
  static std::vector<std::string> All();
};

class GradientRegistrar {
 public:
  GradientRegistrar(std::initializer_list<const char*> ops, GradientFn fn,
                    const char* reason = nullptr);
};

// REGISTER_GRADIENT("Op", fn) and, for several ops with one function,
// REGISTER_GRADIENTS(fn, "Op", "OpV2").
#define REGISTER_GRADIENT(op, ...) \
  HR_GRADIENT_UNIQ(__COUNTER__)({op}, __VA_ARGS__)
#define REGISTER_GRADIENTS(fn, ...) \
  HR_GRADIENT_UNIQ(__COUNTER__)({__VA_ARGS__}, fn)
#define REGISTER_NO_GRADIENT(op, reason) \
  HR_GRADIENT_UNIQ(__COUNTER__)({op}, nullptr, reason)
#define REGISTER_NO_GRADIENTS(reason, ...) \
  HR_GRADIENT_UNIQ(__COUNTER__)({__VA_ARGS__}, nullptr, reason)
#define HR_GRADIENT_UNIQ(ctr) HR_GRADIENT_UNIQ2(ctr)
#define HR_GRADIENT_UNIQ2(ctr) \
  static const ::headrace::GradientRegistrar hr_gradient_##ctr [[maybe_unused]]

}  // namespace headrace

#endif  // HEADRACE_GRADIENTS_H_
