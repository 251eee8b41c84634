// The optimizers of tf.train: their names, defaults, formulas, and the names of
// their variables.
//
//   AdamOptimizer optimizer(1e-3);
//   Operation train = optimizer.Minimize(scope, loss);
//
// Numbers may be tensors: a learning rate that decays, say.
//
// Thread-compatible.
#ifndef HEADRACE_CC_OPTIMIZERS_H_
#define HEADRACE_CC_OPTIMIZERS_H_

#include <map>
#include <string>
#include <utility>
#include <vector>

#include "headrace/cc/gradients.h"
#include "headrace/cc/variable.h"

namespace headrace {

class Optimizer {
 public:
  using GradientAndVariable = std::pair<GradientOutput, Variable>;

  virtual ~Optimizer() = default;

  // A step of training: computes the gradients of `loss` by `variables` (if
  // empty, by all trainable ones), updates them, and adds 1 to `global_step` if
  // it is given. Errors are the scope's: InvalidArgument if there is no
  // variable, none has a gradient, or a number of the optimizer makes no sense.
  Operation Minimize(const Scope& scope, const Output& loss,
                     const Variable& global_step = {},
                     std::vector<Variable> variables = {});
  // The two parts of Minimize. A variable that `loss` does not depend on has no
  // gradient; it is passed over when gradients are applied.
  std::vector<GradientAndVariable> ComputeGradients(
      const Scope& scope, const Output& loss,
      std::vector<Variable> variables = {});
  Operation ApplyGradients(const Scope& scope,
                           const std::vector<GradientAndVariable>& gradients,
                           const Variable& global_step = {});

  const std::string& name() const { return name_; }
  // The variable that the optimizer keeps beside `variable`, empty if none.
  Variable GetSlot(const Variable& variable, const std::string& slot) const;

 protected:
  // `op` is X of ApplyX and SparseApplyX.
  Optimizer(std::string name, const char* op)
      : name_(std::move(name)), op_(op) {}

  struct Slot {
    const char* input;  // of the op
    const char* slot;
    double initial;
    std::string name;  // of the variable: "w/<name>"
  };
  struct Number {
    const char* input;  // of the op
    const char* name;   // of the node
    Input value;
  };
  using NamedInputs = std::map<std::string, Output>;

  // Adds to `slots_`, `numbers_` and `attrs_` in the constructor.
  void AddSlot(const char* input, const char* slot, double initial,
               std::string name = "") {
    slots_.push_back({input, slot, initial, name.empty() ? name_ : name});
  }
  void AddNumber(const char* input, const char* name, const Input& value) {
    numbers_.push_back({input, name, value});
  }
  // Refuses every use of the optimizer.
  void Refuse(const Status& s) {
    if (status_.ok()) status_ = s;
  }

  // Makes variables that belong to no other.
  virtual void Prepare(const Scope&, const std::vector<Variable>&) {}
  // Adds further inputs of the op.
  virtual void AddInputs(const Scope&, const Variable&, NamedInputs*) {}
  // Updates a variable by slices whose indices are distinct, or, if
  // TakesDuplicates, by any.
  virtual Operation ApplySparse(const Scope& scope, const Variable& variable,
                                const GradientOutput& gradient);
  virtual bool TakesDuplicates() const { return false; }
  // Operations that end a step, after `updates`.
  virtual std::vector<Operation> Finish(const Scope&,
                                        const std::vector<Operation>&) {
    return {};
  }

  // A number as a tensor of the type of `variable`.
  Output NumberFor(const Scope& scope, const char* input,
                   const Variable& variable) const;
  // The inputs of the op except variable and gradient.
  NamedInputs InputsFor(const Scope& scope, const Variable& variable);
  // Calls ApplyX or SparseApplyX with inputs by name.
  Operation CallOp(const Scope& scope, const std::string& op,
                   const NamedInputs& inputs) const;

  const std::string name_;
  const char* op_;
  std::vector<Slot> slots_;
  std::vector<Number> numbers_;
  AttrMap attrs_;
  Status status_;

 private:
  Status Check(const std::vector<GradientAndVariable>& gradients) const;
  void MakeSlots(const Scope& scope, const std::vector<Variable>& variables);
  void MakeNumbers(const Scope& scope);

  std::map<std::pair<const Node*, std::string>, Variable> made_slots_;
  std::map<std::string, Output> made_numbers_;  // by the op's input
};

class GradientDescentOptimizer : public Optimizer {
 public:
  explicit GradientDescentOptimizer(const Input& learning_rate,
                                    std::string name = "GradientDescent");

 protected:
  Operation ApplySparse(const Scope& scope, const Variable& variable,
                        const GradientOutput& gradient) override;
  bool TakesDuplicates() const override { return true; }
};

class MomentumOptimizer : public Optimizer {
 public:
  MomentumOptimizer(const Input& learning_rate, const Input& momentum,
                    bool use_nesterov = false, std::string name = "Momentum");
};

class AdagradOptimizer : public Optimizer {
 public:
  explicit AdagradOptimizer(const Input& learning_rate,
                            double initial_accumulator_value = 0.1,
                            std::string name = "Adagrad");
};

class AdagradDAOptimizer : public Optimizer {
 public:
  AdagradDAOptimizer(const Input& learning_rate, const Variable& global_step,
                     double initial_gradient_squared_accumulator_value = 0.1,
                     double l1_regularization_strength = 0,
                     double l2_regularization_strength = 0,
                     std::string name = "AdagradDA");

 protected:
  void AddInputs(const Scope& scope, const Variable& variable,
                 NamedInputs* inputs) override;

 private:
  const Variable global_step_;
};

class AdadeltaOptimizer : public Optimizer {
 public:
  explicit AdadeltaOptimizer(const Input& learning_rate = 0.001,
                             const Input& rho = 0.95,
                             const Input& epsilon = 1e-8,
                             std::string name = "Adadelta");
};

class AdamOptimizer : public Optimizer {
 public:
  explicit AdamOptimizer(const Input& learning_rate = 0.001, double beta1 = 0.9,
                         double beta2 = 0.999, const Input& epsilon = 1e-8,
                         std::string name = "Adam");

 protected:
  void Prepare(const Scope& scope,
               const std::vector<Variable>& variables) override;
  void AddInputs(const Scope& scope, const Variable& variable,
                 NamedInputs* inputs) override;
  Operation ApplySparse(const Scope& scope, const Variable& variable,
                        const GradientOutput& gradient) override;
  std::vector<Operation> Finish(const Scope& scope,
                                const std::vector<Operation>& updates) override;

 private:
  const double beta1_, beta2_;
  Variable beta1_power_, beta2_power_;
};

class RMSPropOptimizer : public Optimizer {
 public:
  explicit RMSPropOptimizer(const Input& learning_rate,
                            const Input& decay = 0.9,
                            const Input& momentum = 0.0,
                            const Input& epsilon = 1e-10, bool centered = false,
                            std::string name = "RMSProp");
};

class FtrlOptimizer : public Optimizer {
 public:
  explicit FtrlOptimizer(const Input& learning_rate,
                         double learning_rate_power = -0.5,
                         double initial_accumulator_value = 0.1,
                         double l1_regularization_strength = 0,
                         double l2_regularization_strength = 0,
                         std::string name = "Ftrl",
                         double l2_shrinkage_regularization_strength = 0);
};

class ProximalGradientDescentOptimizer : public Optimizer {
 public:
  explicit ProximalGradientDescentOptimizer(
      const Input& learning_rate, double l1_regularization_strength = 0,
      double l2_regularization_strength = 0,
      std::string name = "ProximalGradientDescent");
};

class ProximalAdagradOptimizer : public Optimizer {
 public:
  explicit ProximalAdagradOptimizer(const Input& learning_rate,
                                    double initial_accumulator_value = 0.1,
                                    double l1_regularization_strength = 0,
                                    double l2_regularization_strength = 0,
                                    std::string name = "ProximalAdagrad");
};

}  // namespace headrace

#endif  // HEADRACE_CC_OPTIMIZERS_H_
