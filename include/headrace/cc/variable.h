// Variables of a graph that a Scope built, with the nodes and names that
// TensorFlow 1.x gives them: "w", "w/Assign", "w/read", or, for resources, "w",
// "w/Assign", "w/IsInitialized/VarIsInitializedOp", "w/Read/ReadVariableOp".
#ifndef HEADRACE_CC_VARIABLE_H_
#define HEADRACE_CC_VARIABLE_H_

#include <string>
#include <vector>

#include "headrace/cc/scope.h"

namespace headrace {

// A tensor that stays between runs. As an Output it is the value that the
// variable has. A value type.
// Thread-compatible, as its Scope is.
class Variable : public Output {
 public:
  enum Kind { kTrainable, kNotTrainable };
  // A reference is what tf.Variable makes, a resource what it makes with
  // use_resource=True. The ops of one do not take the other.
  enum Storage { kReference, kResource };

  Variable() = default;
  // Its type and shape are those of `initial_value`, whose static shape must be
  // known. The scope's op name, by default "Variable", is its name.
  Variable(const Scope& scope, const Input& initial_value,
           Kind kind = kTrainable, Storage storage = kReference);

  std::string name() const { return ref_.op().name(); }
  // The reference, or the handle of the resource, that ops change it by.
  const Output& ref() const { return ref_; }
  bool is_resource() const { return ref_.type() == DT_RESOURCE; }
  Storage storage() const { return is_resource() ? kResource : kReference; }
  const Output& value() const { return *this; }
  // Gives it the initial value.
  const Operation& initializer() const { return initializer_; }
  const Output& initial_value() const { return initial_value_; }
  bool trainable() const { return trainable_; }

 private:
  friend std::vector<Variable> VariablesOf(const Scope& scope, bool all);
  friend Variable MakeVariable(const Scope& scope, const std::string& name,
                               const Input& initial_value, Variable::Kind kind,
                               Variable::Storage storage);

  Variable(const Output& ref, const Output& value) : Output(value), ref_(ref) {}

  Output ref_, initial_value_;
  Operation initializer_;
  bool trainable_ = false;
};

// The variables of the scope's graph, in the order in which they were made.
std::vector<Variable> GlobalVariables(const Scope& scope);
std::vector<Variable> TrainableVariables(const Scope& scope);
// Initialises all variables made so far.
Operation GlobalVariablesInitializer(const Scope& scope);
// A variable of this full name, whatever the scope's prefix.
Variable MakeVariable(const Scope& scope, const std::string& name,
                      const Input& initial_value, Variable::Kind kind,
                      Variable::Storage storage = Variable::kReference);
// Adds "Assign", "AssignAdd" or "AssignSub", or what that is for a resource.
Operation CallAssign(const Scope& scope, const char* op, std::string name,
                     const Variable& variable, const Output& value);

// The variable "global_step", int64, of the scope's graph; made at the first
// call.
Variable GetOrCreateGlobalStep(const Scope& scope);

}  // namespace headrace

#endif  // HEADRACE_CC_VARIABLE_H_
