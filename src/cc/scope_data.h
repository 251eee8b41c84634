// What is behind a Scope. Thread-compatible.
#ifndef HEADRACE_CC_SCOPE_DATA_H_
#define HEADRACE_CC_SCOPE_DATA_H_

#include <memory>
#include <string>
#include <unordered_map>
#include <unordered_set>
#include <vector>

#include "headrace/cc/scope.h"

namespace headrace::internal {

// What the scopes of a graph share. It holds nodes and no Outputs, which would
// own it in a circle.
struct ScopeGraph {
  struct VariableNodes {
    Node* variable;
    Node* assign;
    Node* read;
    Endpoint initial_value;
    bool trainable;
  };

  std::shared_ptr<Graph> graph;
  Status status;
  // Names of scopes, and of nodes that are about to be added.
  std::unordered_set<std::string> taken;
  std::unordered_map<std::string, int> next_number;
  std::vector<VariableNodes> variables;

  // Takes the first free name of `name`, name_1, ...
  std::string Unique(const std::string& name);
};

struct ScopeData {
  std::shared_ptr<ScopeGraph> shared;
  std::string prefix;   // "" or "a/b/"
  std::string op_name;  // "": the op's
  std::string device;
  std::string colocation;  // "" or "loc:@node"
  std::vector<Node*> controls;
};

// The scope for what is added beside its ops: their names do not follow
// WithOpName, and they wait for nothing.
Scope Plain(const std::shared_ptr<const ScopeData>& data);
// The scope whose name prefix is `prefix`, whatever the scope's own is.
Scope WithPrefix(const Scope& scope, std::string prefix);

// `from` as a tensor of another type; InvalidArgument if a value does not fit.
Status ConvertLiteral(const Tensor& from, DataType dtype, Tensor* to);

}  // namespace headrace::internal

#endif  // HEADRACE_CC_SCOPE_DATA_H_
