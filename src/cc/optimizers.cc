#include "headrace/cc/optimizers.h"

#include <algorithm>
#include <cmath>

#include "cc/scope_data.h"
#include "headrace/cc/op_call.h"
#include "headrace/op.h"

namespace headrace {

using internal::Plain;

namespace {

Output Cast(const Scope& scope, const Output& x, DataType dtype) {
  if (x.empty() || x.type() == dtype) return x;
  return OpCall(scope, "Cast").Add(x).Set("DstT", dtype).Finish(0);
}

Operation Group(const Scope& scope, const std::vector<Operation>& ops,
                std::string name) {
  return OpCall(scope.WithNoControlDependencies().WithControlDependencies(ops),
                "NoOp", std::move(name))
      .Finish();
}

// A tensor of `shape` that holds `value` throughout, under the name of `slot`.
Output Filled(const Scope& scope, const std::string& slot, DataType dtype,
              const PartialTensorShape& shape, double value) {
  const std::string base = slot + "/Initializer/";
  Tensor scalar;
  scope.UpdateStatus(
      internal::ConvertLiteral(Tensor::Scalar<double>(value), dtype, &scalar));
  const Output dims =
      OpCall(scope, "Const", base + "shape_as_tensor")
          .Set("dtype", DT_INT64)
          .Set("value", Tensor::Vector<int64_t>(shape.dim_sizes()))
          .Finish(0);
  const Output fill = OpCall(scope, "Const", base + "Const")
                          .Set("dtype", dtype)
                          .Set("value", scalar)
                          .Finish(0);
  return OpCall(scope, "Fill", base + (value == 0 ? "zeros" : "fill"))
      .Add(dims)
      .Add(fill)
      .Finish(0);
}

// The values at the same index, added up: TensorFlow's order of nodes.
GradientOutput WithoutDuplicates(const Scope& scope, const GradientOutput& g) {
  const Operation unique =
      OpCall(scope.WithOpName("Unique"), "Unique").Add(g.indices).Finish();
  if (unique.empty()) return {};
  const Output indices(unique, 0), positions(unique, 1);
  const Output count =
      OpCall(scope.WithOpName("Size"), "Size").Add(indices).Finish(0);
  GradientOutput out;
  out.values =
      OpCall(scope.WithOpName("UnsortedSegmentSum"), "UnsortedSegmentSum")
          .Add(g.values)
          .Add(positions)
          .Add(count)
          .Finish(0);
  out.indices = indices;
  out.dense_shape = g.dense_shape;
  return out;
}

// What the names of the ops that update a variable begin with.
const char* Prefix(const Variable& v) {
  return v.is_resource() ? "Resource" : "";
}

bool IsFinite(const Input& value) {
  if (!value.is_value() || !value.value().status.ok()) return true;
  Tensor as_double;
  if (!internal::ConvertLiteral(value.value().tensor, DT_DOUBLE, &as_double)
           .ok()) {
    return true;
  }
  for (const double v : as_double.span<double>()) {
    if (!std::isfinite(v)) return false;
  }
  return true;
}

}  // namespace

Operation Optimizer::Minimize(const Scope& scope, const Output& loss,
                              const Variable& global_step,
                              std::vector<Variable> variables) {
  return ApplyGradients(
      scope, ComputeGradients(scope, loss, std::move(variables)), global_step);
}

std::vector<Optimizer::GradientAndVariable> Optimizer::ComputeGradients(
    const Scope& scope, const Output& loss, std::vector<Variable> variables) {
  if (!scope.ok()) return {};
  if (variables.empty()) variables = TrainableVariables(scope);
  if (variables.empty()) {
    scope.UpdateStatus(errors::InvalidArgument(
        name_, ": the graph has no trainable variable"));
    return {};
  }
  std::vector<Output> xs;
  for (const Variable& v : variables) xs.push_back(v.ref());
  std::vector<GradientOutput> gradients;
  const Status s =
      AddSymbolicGradients(scope, {loss}, xs, {}, &gradients, /*gate=*/true);
  if (!s.ok()) {
    scope.UpdateStatus(Annotate(s, StrCat(" (", name_, ")")));
    return {};
  }
  std::vector<GradientAndVariable> pairs;
  for (size_t i = 0; i < variables.size(); ++i) {
    pairs.emplace_back(gradients[i], variables[i]);
  }
  return pairs;
}

Status Optimizer::Check(
    const std::vector<GradientAndVariable>& gradients) const {
  HR_RETURN_IF_ERROR(status_);
  for (const Number& n : numbers_) {
    if (!IsFinite(n.value)) {
      return errors::InvalidArgument(name_, ": ", n.name, " is not finite");
    }
  }
  bool any = false;
  for (const auto& [gradient, variable] : gradients) {
    if (variable.empty()) {
      return errors::InvalidArgument(name_, ": got an empty Variable");
    }
    any |= !gradient.IsNone();
  }
  if (any) return OkStatus();
  std::string names;
  for (const auto& [gradient, variable] : gradients) {
    StrAppend(&names, names.empty() ? "" : ", ", variable.name());
  }
  return errors::InvalidArgument(
      name_, ": the loss depends on none of the variables [", names, "]");
}

Operation Optimizer::ApplyGradients(
    const Scope& outer, const std::vector<GradientAndVariable>& gradients,
    const Variable& global_step) {
  if (!outer.ok()) return Operation();
  if (const Status s = Check(gradients); !s.ok()) {
    outer.UpdateStatus(s);
    return Operation();
  }
  std::vector<Variable> variables;
  for (const auto& [gradient, variable] : gradients) {
    if (!gradient.IsNone()) variables.push_back(variable);
  }
  const Scope plain = Plain(outer.data());
  MakeSlots(plain, variables);
  Prepare(plain, variables);
  const Scope scope = plain.NewSubScope(name_);
  const std::string& prefix = scope.data()->prefix;
  const std::string whole = prefix.substr(0, prefix.size() - 1);
  MakeNumbers(scope);

  std::vector<Operation> updates;
  for (const auto& [gradient, variable] : gradients) {
    if (gradient.IsNone()) continue;
    const Scope one = scope.NewSubScope("update_" + variable.name())
                          .ColocateWith(variable.ref());
    if (gradient.IsSparse()) {
      updates.push_back(ApplySparse(
          one, variable,
          TakesDuplicates() ? gradient : WithoutDuplicates(one, gradient)));
    } else {
      NamedInputs inputs = InputsFor(one, variable);
      inputs["grad"] = inputs["delta"] = gradient.dense;
      updates.push_back(
          CallOp(one, StrCat(Prefix(variable), "Apply", op_), inputs));
    }
    if (updates.back().empty()) return Operation();
  }
  for (const Operation& op : Finish(scope, updates)) {
    if (op.empty()) return Operation();
    updates.push_back(op);
  }
  // The step's own node has the name of the scope.
  outer.data()->shared->taken.erase(whole);
  if (global_step.empty()) return Group(plain, updates, whole);
  const Operation update = Group(scope, updates, prefix + "update");
  if (update.empty()) return Operation();
  Tensor one;
  scope.UpdateStatus(internal::ConvertLiteral(Tensor::Scalar<int32_t>(1),
                                              global_step.type(), &one));
  const Output value = OpCall(scope, "Const", prefix + "value")
                           .Set("value", one)
                           .Set("dtype", one.dtype())
                           .Finish(0);
  return CallAssign(
      plain.WithControlDependencies({update}).ColocateWith(global_step.ref()),
      "AssignAdd", whole, global_step, value);
}

void Optimizer::MakeSlots(const Scope& scope,
                          const std::vector<Variable>& variables) {
  for (const Slot& slot : slots_) {
    for (const Variable& v : variables) {
      Variable& made = made_slots_[{v.ref().node(), slot.slot}];
      if (!made.empty()) continue;
      internal::ScopeGraph& shared = *scope.data()->shared;
      const std::string name = shared.Unique(v.name() + "/" + slot.name);
      shared.taken.erase(name);
      const Scope beside = scope.ColocateWith(v.ref());
      made = MakeVariable(
          beside, name, Filled(beside, name, v.type(), v.shape(), slot.initial),
          Variable::kNotTrainable, v.storage());
    }
  }
}

void Optimizer::MakeNumbers(const Scope& scope) {
  for (const Number& n : numbers_) {
    if (n.value.is_value()) {
      made_numbers_[n.input] =
          ops::ConstOfType(scope.WithOpName(n.name), DT_FLOAT, n.value.value());
    } else {
      made_numbers_[n.input] = n.value.output();
    }
  }
}

Variable Optimizer::GetSlot(const Variable& variable,
                            const std::string& slot) const {
  const auto at = made_slots_.find({variable.ref().node(), slot});
  return at == made_slots_.end() ? Variable() : at->second;
}

Output Optimizer::NumberFor(const Scope& scope, const char* input,
                            const Variable& variable) const {
  const auto at = made_numbers_.find(input);
  if (at == made_numbers_.end()) return Output();
  return Cast(scope, at->second, variable.type());
}

Optimizer::NamedInputs Optimizer::InputsFor(const Scope& scope,
                                            const Variable& variable) {
  NamedInputs inputs;
  inputs["var"] = variable.ref();
  for (const Slot& slot : slots_) {
    inputs[slot.input] = GetSlot(variable, slot.slot).ref();
  }
  for (const Number& n : numbers_) {
    inputs[n.input] = NumberFor(scope, n.input, variable);
  }
  AddInputs(scope, variable, &inputs);
  return inputs;
}

Operation Optimizer::CallOp(const Scope& scope, const std::string& op,
                            const NamedInputs& inputs) const {
  const OpDef* def = nullptr;
  if (const Status s = OpRegistry::Global()->LookUp(op, &def); !s.ok()) {
    scope.UpdateStatus(Annotate(s, StrCat(" (", name_, ")")));
    return Operation();
  }
  OpCall call(scope, op.c_str());
  for (const OpDef::Arg& arg : def->inputs) {
    const auto at = inputs.find(arg.name);
    call.Add(at == inputs.end() ? Output() : at->second);
  }
  for (const auto& [name, value] : attrs_) call.Set(name.c_str(), value);
  return call.Finish();
}

Operation Optimizer::ApplySparse(const Scope& scope, const Variable& variable,
                                 const GradientOutput& gradient) {
  NamedInputs inputs = InputsFor(scope, variable);
  inputs["grad"] = gradient.values;
  inputs["indices"] = gradient.indices;
  return CallOp(scope, StrCat(Prefix(variable), "SparseApply", op_), inputs);
}

namespace {

std::string NotPositive(const char* name, double value) {
  return StrCat(name, " must be positive, got ", value);
}

}  // namespace

GradientDescentOptimizer::GradientDescentOptimizer(const Input& learning_rate,
                                                   std::string name)
    : Optimizer(std::move(name), "GradientDescent") {
  AddNumber("alpha", "learning_rate", learning_rate);
}

Operation GradientDescentOptimizer::ApplySparse(
    const Scope& scope, const Variable& variable,
    const GradientOutput& gradient) {
  const Output rate = NumberFor(scope, "alpha", variable);
  const Output delta = OpCall(scope.WithOpName("mul"), "Mul")
                           .Add(gradient.values)
                           .Add(rate)
                           .Finish(0);
  return OpCall(scope,
                variable.is_resource() ? "ResourceScatterSub" : "ScatterSub")
      .Add(variable.ref())
      .Add(gradient.indices)
      .Add(delta)
      .Finish();
}

MomentumOptimizer::MomentumOptimizer(const Input& learning_rate,
                                     const Input& momentum, bool use_nesterov,
                                     std::string name)
    : Optimizer(std::move(name), "Momentum") {
  AddSlot("accum", "momentum", 0);
  AddNumber("lr", "learning_rate", learning_rate);
  AddNumber("momentum", "momentum", momentum);
  attrs_.Set("use_nesterov", use_nesterov);
}

AdagradOptimizer::AdagradOptimizer(const Input& learning_rate,
                                   double initial_accumulator_value,
                                   std::string name)
    : Optimizer(std::move(name), "Adagrad") {
  if (!(initial_accumulator_value > 0)) {
    Refuse(errors::InvalidArgument(
        name_, ": ",
        NotPositive("initial_accumulator_value", initial_accumulator_value)));
  }
  AddSlot("accum", "accumulator", initial_accumulator_value);
  AddNumber("lr", "learning_rate", learning_rate);
}

AdagradDAOptimizer::AdagradDAOptimizer(
    const Input& learning_rate, const Variable& global_step,
    double initial_gradient_squared_accumulator_value,
    double l1_regularization_strength, double l2_regularization_strength,
    std::string name)
    : Optimizer(std::move(name), "AdagradDA"), global_step_(global_step) {
  if (!(initial_gradient_squared_accumulator_value > 0)) {
    Refuse(errors::InvalidArgument(
        name_, ": ",
        NotPositive("initial_gradient_squared_accumulator_value",
                    initial_gradient_squared_accumulator_value)));
  }
  if (global_step.empty()) {
    Refuse(errors::InvalidArgument(name_, ": global_step is empty"));
  }
  AddSlot("gradient_accumulator", "gradient_accumulator", 0);
  AddSlot("gradient_squared_accumulator", "gradient_squared_accumulator",
          initial_gradient_squared_accumulator_value);
  AddNumber("lr", "learning_rate", learning_rate);
  AddNumber("l1", "l1_regularization_strength", l1_regularization_strength);
  AddNumber("l2", "l2_regularization_strength", l2_regularization_strength);
}

void AdagradDAOptimizer::AddInputs(const Scope& scope, const Variable&,
                                   NamedInputs* inputs) {
  // The op wants the number of this step.
  const Output step = OpCall(scope.WithOpName("add"), "AddV2")
                          .Add(global_step_)
                          .Add(1)
                          .Finish(0);
  (*inputs)["global_step"] = Cast(scope, step, DT_INT64);
}

AdadeltaOptimizer::AdadeltaOptimizer(const Input& learning_rate,
                                     const Input& rho, const Input& epsilon,
                                     std::string name)
    : Optimizer(std::move(name), "Adadelta") {
  AddSlot("accum", "accum", 0);
  AddSlot("accum_update", "accum_update", 0);
  AddNumber("lr", "lr", learning_rate);
  AddNumber("rho", "rho", rho);
  AddNumber("epsilon", "epsilon", epsilon);
}

AdamOptimizer::AdamOptimizer(const Input& learning_rate, double beta1,
                             double beta2, const Input& epsilon,
                             std::string name)
    : Optimizer(std::move(name), "Adam"), beta1_(beta1), beta2_(beta2) {
  AddSlot("m", "m", 0);
  AddSlot("v", "v", 0);
  AddNumber("lr", "learning_rate", learning_rate);
  AddNumber("beta1", "beta1", beta1);
  AddNumber("beta2", "beta2", beta2);
  AddNumber("epsilon", "epsilon", epsilon);
}

void AdamOptimizer::Prepare(const Scope& scope,
                            const std::vector<Variable>& variables) {
  if (!beta1_power_.empty()) return;
  const Variable& first = *std::min_element(
      variables.begin(), variables.end(),
      [](const Variable& a, const Variable& b) { return a.name() < b.name(); });
  const Scope beside = scope.ColocateWith(first.ref());
  const std::string& prefix = scope.data()->prefix;
  beta1_power_ =
      MakeVariable(beside, prefix + "beta1_power", static_cast<float>(beta1_),
                   Variable::kNotTrainable, first.storage());
  beta2_power_ =
      MakeVariable(beside, prefix + "beta2_power", static_cast<float>(beta2_),
                   Variable::kNotTrainable, first.storage());
}

void AdamOptimizer::AddInputs(const Scope& scope, const Variable& variable,
                              NamedInputs* inputs) {
  (*inputs)["beta1_power"] = Cast(scope, beta1_power_, variable.type());
  (*inputs)["beta2_power"] = Cast(scope, beta2_power_, variable.type());
}

Operation AdamOptimizer::ApplySparse(const Scope& scope,
                                     const Variable& variable,
                                     const GradientOutput& gradient) {
  const DataType type = variable.type();
  const auto in_scope = [&](const Output& o) {
    return o.empty() ? o : Output(Operation(o.node(), scope.data()), o.index());
  };
  const Output beta1_power = in_scope(Cast(scope, beta1_power_, type)),
               beta2_power = in_scope(Cast(scope, beta2_power_, type)),
               lr = in_scope(NumberFor(scope, "lr", variable)),
               beta1 = in_scope(NumberFor(scope, "beta1", variable)),
               beta2 = in_scope(NumberFor(scope, "beta2", variable)),
               epsilon = in_scope(NumberFor(scope, "epsilon", variable));
  const auto sqrt = [&](const Output& x) {
    return OpCall(scope.WithOpName("Sqrt"), "Sqrt").Add(x).Finish(0);
  };
  const Output rate = lr * sqrt(1 - beta2_power) / (1 - beta1_power);
  const auto averaged = [&](const char* slot, const Output& beta,
                            const Output& value) {
    const Variable v = GetSlot(variable, slot);
    const Output part = value * (1 - beta);
    const Operation faded = CallAssign(scope.WithOpName("Assign"), "Assign", "",
                                       v, in_scope(v) * beta);
    if (faded.empty()) return Output();
    const Operation added =
        OpCall(scope.WithOpName("ScatterAdd").WithControlDependencies(faded),
               v.is_resource() ? "ResourceScatterAdd" : "ScatterAdd")
            .Add(v.ref())
            .Add(gradient.indices)
            .Add(part)
            .Finish();
    if (added.empty()) return Output();
    if (!v.is_resource()) return Output(added, 0);
    return OpCall(scope.WithOpName("Read").WithControlDependencies(added),
                  "ReadVariableOp")
        .Add(v.ref())
        .Set("dtype", type)
        .Finish(0);
  };
  const Output values = in_scope(gradient.values);
  const Output m = averaged("m", beta1, values);
  const Output v = averaged("v", beta2, values * values);
  const Output step = rate * m / (sqrt(v) + epsilon);
  return CallAssign(scope, "AssignSub", "", variable, step);
}

std::vector<Operation> AdamOptimizer::Finish(
    const Scope& scope, const std::vector<Operation>& updates) {
  const Scope after =
      scope.WithControlDependencies(updates).ColocateWith(beta1_power_.ref());
  const auto next = [&](const Variable& power, const char* number) {
    const Output product =
        OpCall(after.WithOpName("mul"), "Mul")
            .Add(power)
            .Add(Cast(after, NumberFor(after, number, power), power.type()))
            .Finish(0);
    return CallAssign(after.WithOpName("Assign"), "Assign", "", power, product);
  };
  return {next(beta1_power_, "beta1"), next(beta2_power_, "beta2")};
}

RMSPropOptimizer::RMSPropOptimizer(const Input& learning_rate,
                                   const Input& decay, const Input& momentum,
                                   const Input& epsilon, bool centered,
                                   std::string name)
    : Optimizer(std::move(name), centered ? "CenteredRMSProp" : "RMSProp") {
  AddSlot("ms", "rms", 1);
  if (centered) AddSlot("mg", "mg", 0);
  AddSlot("mom", "momentum", 0);
  AddNumber("lr", "learning_rate", learning_rate);
  AddNumber("rho", "decay", decay);
  AddNumber("momentum", "momentum", momentum);
  AddNumber("epsilon", "epsilon", epsilon);
}

FtrlOptimizer::FtrlOptimizer(const Input& learning_rate,
                             double learning_rate_power,
                             double initial_accumulator_value,
                             double l1_regularization_strength,
                             double l2_regularization_strength,
                             std::string name,
                             double l2_shrinkage_regularization_strength)
    : Optimizer(std::move(name),
                l2_shrinkage_regularization_strength > 0 ? "FtrlV2" : "Ftrl") {
  const std::pair<const char*, double> not_negative[] = {
      {"initial_accumulator_value", initial_accumulator_value},
      {"l1_regularization_strength", l1_regularization_strength},
      {"l2_regularization_strength", l2_regularization_strength},
      {"l2_shrinkage_regularization_strength",
       l2_shrinkage_regularization_strength}};
  for (const auto& [what, value] : not_negative) {
    if (!(value >= 0)) {
      Refuse(errors::InvalidArgument(name_, ": ", what,
                                     " must be positive or zero, got ", value));
    }
  }
  if (!(learning_rate_power <= 0)) {
    Refuse(errors::InvalidArgument(
        name_, ": learning_rate_power must be negative or zero, got ",
        learning_rate_power));
  }
  AddSlot("accum", "accum", initial_accumulator_value);
  AddSlot("linear", "linear", 0);
  AddNumber("lr", "learning_rate", learning_rate);
  AddNumber("l1", "l1_regularization_strength", l1_regularization_strength);
  AddNumber("l2", "l2_regularization_strength", l2_regularization_strength);
  if (l2_shrinkage_regularization_strength > 0) {
    AddNumber("l2_shrinkage", "l2_shrinkage_regularization_strength",
              l2_shrinkage_regularization_strength);
  }
  AddNumber("lr_power", "learning_rate_power", learning_rate_power);
}

ProximalGradientDescentOptimizer::ProximalGradientDescentOptimizer(
    const Input& learning_rate, double l1_regularization_strength,
    double l2_regularization_strength, std::string name)
    : Optimizer(std::move(name), "ProximalGradientDescent") {
  AddNumber("alpha", "learning_rate", learning_rate);
  AddNumber("l1", "l1_regularization_strength", l1_regularization_strength);
  AddNumber("l2", "l2_regularization_strength", l2_regularization_strength);
}

ProximalAdagradOptimizer::ProximalAdagradOptimizer(
    const Input& learning_rate, double initial_accumulator_value,
    double l1_regularization_strength, double l2_regularization_strength,
    std::string name)
    : Optimizer(std::move(name), "ProximalAdagrad") {
  if (!(initial_accumulator_value > 0)) {
    Refuse(errors::InvalidArgument(
        name_, ": ",
        NotPositive("initial_accumulator_value", initial_accumulator_value)));
  }
  AddSlot("accum", "accumulator", initial_accumulator_value);
  AddNumber("lr", "learning_rate", learning_rate);
  AddNumber("l1", "l1_regularization_strength", l1_regularization_strength);
  AddNumber("l2", "l2_regularization_strength", l2_regularization_strength);
}

}  // namespace headrace
