#include "headrace/cc/variable.h"

#include "cc/scope_data.h"
#include "headrace/cc/op_call.h"

namespace headrace {

using internal::Plain;
using internal::ScopeGraph;

Variable MakeVariable(const Scope& scope, const std::string& name,
                      const Input& initial_value, Variable::Kind kind,
                      Variable::Storage storage) {
  if (!scope.ok()) return Variable();
  const Scope plain = Plain(scope.data());
  ScopeGraph& shared = *scope.data()->shared;
  const std::string unique = shared.Unique(name);
  shared.taken.erase(unique);  // the node takes it
  Output initial = initial_value.output();
  if (initial_value.is_value()) {
    scope.UpdateStatus(
        Annotate(initial_value.value().status,
                 StrCat(" (initial value of variable '", unique, "')")));
    const Tensor& value = initial_value.value().tensor;
    initial = OpCall(plain, "Const", unique + "/initial_value")
                  .Set("value", value)
                  .Set("dtype", value.dtype())
                  .Finish(0);
  }
  if (initial.empty()) {
    scope.UpdateStatus(errors::InvalidArgument(
        "variable '", unique, "': the initial value is an empty Output"));
    return Variable();
  }
  if (!initial.shape().IsFullyDefined()) {
    scope.UpdateStatus(errors::InvalidArgument(
        "variable '", unique, "': the shape of its initial value ",
        initial.name(), " must be known, got ", initial.shape().DebugString()));
    return Variable();
  }
  const bool resource = storage == Variable::kResource;
  OpCall make(plain, resource ? "VarHandleOp" : "VariableV2", unique);
  make.Set("dtype", initial.type()).Set("shape", initial.shape());
  if (resource) make.Set("shared_name", unique);
  const Output ref = make.Finish(0);
  if (ref.empty()) return Variable();
  const Scope beside = plain.ColocateWith(ref);
  if (resource) {
    OpCall(plain, "VarIsInitializedOp",
           unique + "/IsInitialized/VarIsInitializedOp")
        .Add(ref)
        .Finish();
  }
  OpCall assigned(resource ? plain : beside,
                  resource ? "AssignVariableOp" : "Assign", unique + "/Assign");
  const Operation assign = assigned.Add(ref).Add(initial).Finish();
  const Output value =
      resource
          ? OpCall(plain, "ReadVariableOp", unique + "/Read/ReadVariableOp")
                .Add(ref)
                .Set("dtype", initial.type())
                .Finish(0)
          : OpCall(beside, "Identity", unique + "/read").Add(ref).Finish(0);
  if (assign.empty() || value.empty()) return Variable();
  // Not the scope of the Assign: arithmetic with the value is not colocated.
  Variable v(Output(Operation(ref.node(), plain.data())),
             Output(Operation(value.node(), plain.data())));
  v.initial_value_ = initial;
  v.initializer_ = assign;
  v.trainable_ = kind == Variable::kTrainable;
  shared.variables.push_back({ref.node(), assign.node(), value.node(),
                              initial.endpoint(), v.trainable_});
  return v;
}

Operation CallAssign(const Scope& scope, const char* op, std::string name,
                     const Variable& variable, const Output& value) {
  const std::string called =
      variable.is_resource() ? StrCat(op, "VariableOp") : op;
  return OpCall(scope, called.c_str(), std::move(name))
      .Add(variable.ref())
      .Add(value)
      .Finish();
}

Variable::Variable(const Scope& scope, const Input& initial_value, Kind kind,
                   Storage storage) {
  const internal::ScopeData& data = *scope.data();
  *this = MakeVariable(
      scope, data.prefix + (data.op_name.empty() ? "Variable" : data.op_name),
      initial_value, kind, storage);
}

std::vector<Variable> VariablesOf(const Scope& scope, bool all) {
  std::vector<Variable> found;
  const std::shared_ptr<const internal::ScopeData> data =
      Plain(scope.data()).data();
  for (const ScopeGraph::VariableNodes& nodes :
       scope.data()->shared->variables) {
    if (!all && !nodes.trainable) continue;
    Variable v(Output(Operation(nodes.variable, data)),
               Output(Operation(nodes.read, data)));
    v.initializer_ = Operation(nodes.assign, data);
    v.initial_value_ = Output(Operation(nodes.initial_value.node, data),
                              nodes.initial_value.index);
    v.trainable_ = nodes.trainable;
    found.push_back(v);
  }
  return found;
}

std::vector<Variable> GlobalVariables(const Scope& scope) {
  return VariablesOf(scope, true);
}

std::vector<Variable> TrainableVariables(const Scope& scope) {
  return VariablesOf(scope, false);
}

Operation GlobalVariablesInitializer(const Scope& scope) {
  std::vector<Operation> ops;
  for (const Variable& v : GlobalVariables(scope)) {
    ops.push_back(v.initializer());
  }
  const Scope after = Plain(scope.data()).WithControlDependencies(ops);
  return OpCall(after.WithOpName("init"), "NoOp").Finish();
}

Variable GetOrCreateGlobalStep(const Scope& scope) {
  for (const Variable& v : GlobalVariables(scope)) {
    if (v.name() == "global_step") return v;
  }
  return MakeVariable(scope, "global_step", Tensor::Scalar<int64_t>(0),
                      Variable::kNotTrainable);
}

}  // namespace headrace
