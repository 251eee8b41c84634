#include "headrace/cc/scope.h"

#include <utility>

#include "cc/scope_data.h"
#include "headrace/cc/op_call.h"
#include "headrace/importer.h"

namespace headrace {

using internal::ScopeData;
using internal::ScopeGraph;

namespace internal {

std::string ScopeGraph::Unique(const std::string& name) {
  MutexLock lock(&graph->mu());
  int& number = next_number[name];
  std::string free = number == 0 ? name : StrCat(name, "_", number);
  while (graph->FindNode(free) != nullptr || taken.contains(free)) {
    free = StrCat(name, "_", ++number);
  }
  taken.insert(free);
  return free;
}

Scope Plain(const std::shared_ptr<const ScopeData>& data) {
  auto plain = std::make_shared<ScopeData>();
  plain->shared = data->shared;
  plain->prefix = data->prefix;
  plain->device = data->device;
  return Scope(std::move(plain));
}

Scope WithPrefix(const Scope& scope, std::string prefix) {
  auto data = std::make_shared<ScopeData>(*scope.data());
  data->prefix = std::move(prefix);
  data->op_name.clear();
  return Scope(std::move(data));
}

}  // namespace internal

std::string Output::name() const {
  return empty() ? "" : StrCat(node()->name(), ":", index_);
}

DataType Output::type() const {
  return empty() ? DT_INVALID : BaseType(node()->output_type(index_));
}

PartialTensorShape Output::shape() const {
  return empty() ? PartialTensorShape::UnknownRank()
                 : node()->output_shape(index_);
}

// Scopes.

Scope Scope::OfGraph(std::shared_ptr<Graph> graph) {
  auto data = std::make_shared<ScopeData>();
  data->shared = std::make_shared<ScopeGraph>();
  if (graph == nullptr) {
    data->shared->status =
        errors::InvalidArgument("Scope::OfGraph: got no graph");
    graph = std::make_shared<Graph>();
  }
  data->shared->graph = std::move(graph);
  return Scope(std::move(data));
}

Scope Scope::NewRootScope() { return OfGraph(std::make_shared<Graph>()); }

Scope Scope::NewSubScope(absl::string_view name) const {
  auto data = std::make_shared<ScopeData>(*data_);
  data->op_name.clear();
  if (name.empty()) return Scope(std::move(data));
  if (!IsValidNodeName(name) || name.back() == '/') {
    UpdateStatus(
        errors::InvalidArgument("'", name, "' is not a valid name of a scope"));
  }
  data->prefix = data_->shared->Unique(StrCat(data_->prefix, name)) + "/";
  return Scope(std::move(data));
}

Scope Scope::WithOpNameImpl(std::string name) const {
  auto data = std::make_shared<ScopeData>(*data_);
  data->op_name = std::move(name);
  return Scope(std::move(data));
}

Scope Scope::WithControlDependencies(const std::vector<Operation>& ops) const {
  auto data = std::make_shared<ScopeData>(*data_);
  for (const Operation& op : ops) {
    if (op.empty()) {
      UpdateStatus(
          errors::InvalidArgument("WithControlDependencies: got an empty "
                                  "operation"));
    } else if (op.scope_data()->shared->graph != data->shared->graph) {
      UpdateStatus(errors::InvalidArgument("WithControlDependencies: '",
                                           op.name(),
                                           "' belongs to another graph"));
    } else {
      data->controls.push_back(op.node());
    }
  }
  return Scope(std::move(data));
}

Scope Scope::WithNoControlDependencies() const {
  auto data = std::make_shared<ScopeData>(*data_);
  data->controls.clear();
  return Scope(std::move(data));
}

Scope Scope::WithDevice(absl::string_view device) const {
  auto data = std::make_shared<ScopeData>(*data_);
  data->device = std::string(device);
  return Scope(std::move(data));
}

Scope Scope::ColocateWith(const Operation& op) const {
  auto data = std::make_shared<ScopeData>(*data_);
  if (op.empty()) {
    UpdateStatus(
        errors::InvalidArgument("ColocateWith: got an empty operation"));
  } else {
    data->colocation = "loc:@" + op.name();
  }
  return Scope(std::move(data));
}

Scope Scope::ClearColocation() const {
  auto data = std::make_shared<ScopeData>(*data_);
  data->colocation.clear();
  return Scope(std::move(data));
}

const Status& Scope::status() const { return data_->shared->status; }

void Scope::UpdateStatus(const Status& s) const {
  if (data_->shared->status.ok()) data_->shared->status = s;
}

const std::shared_ptr<Graph>& Scope::graph() const {
  return data_->shared->graph;
}

Status Scope::ToGraphDef(pb::GraphDef* def) const {
  HR_RETURN_IF_ERROR(status());
  MutexLock lock(&graph()->mu());
  GraphToGraphDef(*graph(), def);
  return OkStatus();
}

std::string Scope::GetUniqueNameForOp(absl::string_view default_name) const {
  const std::string& own = data_->op_name;
  return data_->shared->Unique(
      StrCat(data_->prefix, own.empty() ? std::string(default_name) : own));
}

Output Scope::FindOutput(absl::string_view name) const {
  std::string node;
  int index = 0;
  Status s = ParseEndpointName(name, &node, &index);
  const Operation op = s.ok() ? FindOperation(node) : Operation();
  if (s.ok() && !op.empty() &&
      (index < 0 || index >= op.node()->num_outputs())) {
    s = errors::InvalidArgument("'", node, "' has ", op.node()->num_outputs(),
                                " outputs, '", name, "' is none of them");
  }
  UpdateStatus(s);
  return s.ok() && !op.empty() ? Output(op, index) : Output();
}

Operation Scope::FindOperation(absl::string_view name) const {
  MutexLock lock(&graph()->mu());
  Node* const n = graph()->FindNode(name);
  if (n == nullptr) {
    UpdateStatus(errors::NotFound("the graph has no node '", name, "'"));
    return Operation();
  }
  return Operation(n, internal::Plain(data_).data());
}

// Arithmetic.

namespace {

Output Binary(const Output& owner, const char* op, const char* name,
              const Input& a, const Input& b) {
  if (owner.empty()) return Output();
  const Scope scope = internal::Plain(owner.op().scope_data());
  return OpCall(scope.WithOpName(name), op).Add(a).Add(b).Finish(0);
}

// The output whose scope and type count.
const Output& Owner(const Input& a, const Input& b) {
  return a.is_value() ? b.output() : a.output();
}

Output Sum(const Input& a, const Input& b) {
  const Output& owner = Owner(a, b);
  const bool text = owner.type() == DT_STRING;
  return Binary(owner, text ? "Add" : "AddV2", "add", a, b);
}
Output Difference(const Input& a, const Input& b) {
  return Binary(Owner(a, b), "Sub", "sub", a, b);
}
Output Product(const Input& a, const Input& b) {
  return Binary(Owner(a, b), "Mul", "mul", a, b);
}
// Integers are divided as C++ does.
Output Quotient(const Input& a, const Input& b) {
  const Output& owner = Owner(a, b);
  return DataTypeIsInteger(owner.type())
             ? Binary(owner, "TruncateDiv", "div", a, b)
             : Binary(owner, "RealDiv", "truediv", a, b);
}

}  // namespace

#define HR_DEFINE_OPERATOR(symbol, Function)                 \
  Output operator symbol(const Output& a, const Output& b) { \
    return Function(Input(a), Input(b));                     \
  }                                                          \
  Output operator symbol(const Output& a, const Input& b) {  \
    return Function(Input(a), b);                            \
  }                                                          \
  Output operator symbol(const Input& a, const Output& b) {  \
    return Function(a, Input(b));                            \
  }
HR_DEFINE_OPERATOR(+, Sum)
HR_DEFINE_OPERATOR(-, Difference)
HR_DEFINE_OPERATOR(*, Product)
HR_DEFINE_OPERATOR(/, Quotient)
#undef HR_DEFINE_OPERATOR

Output operator-(const Output& a) {
  if (a.empty()) return Output();
  const Scope scope = internal::Plain(a.op().scope_data());
  return OpCall(scope.WithOpName("Neg"), "Neg").Add(a).Finish(0);
}

namespace ops {
namespace {

Output AddConst(const Scope& scope, const Input::Initializer& value,
                const Tensor& tensor) {
  scope.UpdateStatus(value.status);
  return OpCall(scope, "Const")
      .Set("value", tensor)
      .Set("dtype", tensor.dtype())
      .Finish(0);
}

}  // namespace

Output Const(const Scope& scope, const Input::Initializer& value) {
  return AddConst(scope, value, value.tensor);
}

Output Const(const Scope& scope, const Input::Initializer& value,
             const TensorShape& shape) {
  return Const(scope, Input::Initializer(value, shape));
}

Output ConstOfType(const Scope& scope, DataType dtype,
                   const Input::Initializer& value) {
  Tensor converted;
  if (value.status.ok()) {
    scope.UpdateStatus(Annotate(
        internal::ConvertLiteral(value.tensor, dtype, &converted), " (Const)"));
  }
  return AddConst(scope, value, converted);
}

}  // namespace ops
}  // namespace headrace
