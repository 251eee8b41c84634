// Gradients of functions: for the function of a call, or of a branch or body of
// a functional If or While, another function that computes its gradients.
//
// It takes the function's arguments and the gradients of some of its results,
// and computes again what it needs of the function. Of a call that is inlined,
// common subexpression elimination makes one of both computations. A function
// whose values would be others when it runs again, because it draws random
// numbers or changes state on the way, is refused.
#ifndef HEADRACE_GRADIENTS_FUNCTION_H_
#define HEADRACE_GRADIENTS_FUNCTION_H_

#include <memory>
#include <string>
#include <vector>

#include "graph/function_body.h"
#include "headrace/gradients.h"

namespace headrace {

// Constant after Build. Not thread-safe: it belongs to the thread that builds
// the gradients.
class GradientFunction {
 public:
  // Builds the gradients in a graph of their own. `needs`: the arguments whose
  // gradients are wanted; `has_dy`: the results that have one. `shapes`, if not
  // empty, are those of the arguments. Of `outer` it takes what is called for
  // each node.
  static StatusOr<GradientFunction> Build(
      const std::shared_ptr<FunctionLibrary>& library, const NameAttrList& f,
      const GraphVersions& versions, const std::vector<bool>& needs,
      const std::vector<bool>& has_dy, const GradientOptions& outer,
      absl::Span<const PartialTensorShape> shapes = {});

  // False: no result with a gradient depends on argument i.
  bool Depends(int i) const { return !dxs_[i].IsNone(); }
  // The type of the gradient of argument i: that of the variable, if it is one
  // and Depends(i). DT_INVALID if it is not known.
  DataType dtype(int i) const;
  // Result i is argument i, unchanged.
  bool Passes(int i) const;

  // Adds the function to the library, with the gradients of these arguments as
  // results, of these types; zeros for those that nothing depends on. Its
  // arguments are those of f, and then the gradients of results. Call it once.
  StatusOr<NameAttrList> Finish(const std::vector<int>& arguments,
                                const DataTypeVector& types);
  // True if the function should not be called more or less often than asked.
  // Known after Finish.
  bool is_stateful() const { return is_stateful_; }

 private:
  std::shared_ptr<FunctionLibrary> library_;
  std::string function_;
  FunctionBody body_;
  std::shared_ptr<Graph> graph_;  // the body's
  int forward_ids_ = 0;           // nodes from here on belong to the gradients
  std::vector<Node*> dys_;
  std::vector<Gradient> dxs_;  // by argument
  bool is_stateful_ = false;
};

// Adds a function of these nodes, named `name` or that and a number.
StatusOr<NameAttrList> AddFunction(FunctionLibrary* library,
                                   const std::string& name,
                                   absl::Span<const Endpoint> inputs,
                                   absl::Span<const Endpoint> outputs,
                                   const Graph& graph, bool* is_stateful);

// The gradient of a node that calls a function of the library by its name.
void FunctionCallGradient(GradientContext& g);

// The gradients of all arguments of `f` as a function of its arguments and the
// gradients of all its results: what the op SymbolicGradient calls. The one
// that the library names for f, if there is one.
StatusOr<NameAttrList> SymbolicGradientOf(
    const std::shared_ptr<FunctionLibrary>& library, const NameAttrList& f,
    const GraphVersions& versions);

}  // namespace headrace

#endif  // HEADRACE_GRADIENTS_FUNCTION_H_
