// The C++ API for building graphs: Scope, and what ops are made of.
//
//   Scope root = Scope::NewRootScope();
//   Output a = ops::Placeholder(root.WithOpName("a"), DT_FLOAT);
//   Output y = a * a + 1;
//   ClientSession session(root);
//   std::vector<Tensor> out;
//   Status s = session.Run({{a, {1.f, 2.f, 3.f}}}, {y}, &out);
//
// headrace/cc/standard_ops.h has a class for each op. The first error stays in
// the scope: later calls add nothing and return empty values, and running the
// graph returns the error. So a program may check once.
//
// Thread-compatible. Scopes of one graph may be used by one thread at a time.
#ifndef HEADRACE_CC_SCOPE_H_
#define HEADRACE_CC_SCOPE_H_

#include <concepts>
#include <initializer_list>
#include <memory>
#include <string>
#include <type_traits>
#include <vector>

#include "headrace/graph.h"

namespace headrace {

namespace pb {
class GraphDef;
}

class Output;
class Scope;

namespace internal {
struct ScopeGraph;  // what all scopes of a graph share
struct ScopeData;   // a scope; immutable
}  // namespace internal

// A node. Empty after an error. A value type; it keeps the graph alive.
class Operation {
 public:
  Operation() = default;
  Operation(const Output& output);  // NOLINT: the node of an output
  Operation(Node* node, std::shared_ptr<const internal::ScopeData> scope)
      : node_(node), scope_(std::move(scope)) {}

  bool empty() const { return node_ == nullptr; }
  Node* node() const { return node_; }
  // "" if empty.
  std::string name() const { return empty() ? "" : node_->name(); }
  const std::shared_ptr<const internal::ScopeData>& scope_data() const {
    return scope_;
  }

 private:
  Node* node_ = nullptr;
  std::shared_ptr<const internal::ScopeData> scope_;
};

// An output of a node. Arithmetic with outputs and numbers adds nodes to the
// scope of the (left) output. A value type.
class Output {
 public:
  Output() = default;
  explicit Output(const Operation& op, int index = 0)
      : op_(op), index_(index) {}

  bool empty() const { return op_.empty(); }
  const Operation& op() const { return op_; }
  Node* node() const { return op_.node(); }
  int index() const { return index_; }
  Endpoint endpoint() const { return {node(), index_}; }
  // "node:0"; "" if empty.
  std::string name() const;
  // The type of values, without "reference"; DT_INVALID if empty.
  DataType type() const;
  // The static shape; unknown if empty.
  PartialTensorShape shape() const;

  friend bool operator==(const Output& a, const Output& b) {
    return a.endpoint() == b.endpoint();
  }
  template <typename H>
  friend H AbslHashValue(H h, const Output& o) {
    return H::combine(std::move(h), o.endpoint());
  }

 private:
  Operation op_;
  int index_ = 0;
};

inline Operation::Operation(const Output& output) : Operation(output.op()) {}

using OutputList = std::vector<Output>;

// An argument of an op: an Output, or a value that becomes a constant. A number
// or list of numbers takes the type that the op wants there, if it has the
// value; a Tensor keeps its type.
class Input {
 public:
  // A number, string, tensor, or (nested) list of such. A ragged list is an
  // error, which the op that gets it reports.
  class Initializer {
   public:
    template <typename T>
    requires(std::is_arithmetic_v<T> || std::same_as<T, half> ||
             std::same_as<T, bfloat16> || std::same_as<T, complex64> ||
             std::same_as<T, complex128>) Initializer(T v)  // NOLINT
        : tensor(Tensor::Scalar(Stored(v))), is_literal(true) {}
    Initializer(const char* v);         // NOLINT
    Initializer(const std::string& v);  // NOLINT
    Initializer(absl::string_view v);   // NOLINT
    Initializer(Tensor v);              // NOLINT
    Initializer(std::initializer_list<Initializer> list);
    template <typename T>
    requires(std::is_arithmetic_v<T> || std::same_as<T, std::string>)
        Initializer(const std::vector<T>& v)  // NOLINT
        : tensor(FromVector(v)), is_literal(true) {}
    // `v` repeated, or as many values as `shape` has, in this shape.
    Initializer(const Initializer& v, const TensorShape& shape);

    Tensor tensor;
    bool is_literal = false;  // takes the type that is wanted
    Status status;

   private:
    // int64_t for long long, int8_t for char...
    template <typename T>
    static auto Stored(T v) {
      if constexpr (std::same_as<T, bool> || !std::is_integral_v<T>) {
        if constexpr (std::same_as<T, long double>) {
          return static_cast<double>(v);
        } else {
          return v;
        }
      } else if constexpr (std::is_signed_v<T>) {
        if constexpr (sizeof(T) == 1) return static_cast<int8_t>(v);
        if constexpr (sizeof(T) == 2) return static_cast<int16_t>(v);
        if constexpr (sizeof(T) == 4) return static_cast<int32_t>(v);
        if constexpr (sizeof(T) == 8) return static_cast<int64_t>(v);
      } else {
        if constexpr (sizeof(T) == 1) return static_cast<uint8_t>(v);
        if constexpr (sizeof(T) == 2) return static_cast<uint16_t>(v);
        if constexpr (sizeof(T) == 4) return static_cast<uint32_t>(v);
        if constexpr (sizeof(T) == 8) return static_cast<uint64_t>(v);
      }
    }
    template <typename T>
    static Tensor FromVector(const std::vector<T>& v) {
      if constexpr (std::same_as<T, std::string>) {
        return FromStrings(v);
      } else {
        using S = decltype(Stored(T()));
        Tensor t(DataTypeToEnum<S>::value,
                 TensorShape({static_cast<int64_t>(v.size())}));
        for (size_t i = 0; i < v.size(); ++i) t.data<S>()[i] = v[i];
        return t;
      }
    }
    static Tensor FromStrings(const std::vector<std::string>& v);
  };

  Input(const Output& output) : output_(output) {}  // NOLINT
  Input(const Initializer& value)                   // NOLINT
      : is_value_(true), value_(std::make_shared<Initializer>(value)) {}
  Input(std::initializer_list<Initializer> list)  // NOLINT
      : Input(Initializer(list)) {}
  template <typename T>
  requires(std::convertible_to<T, Initializer> &&
           !std::derived_from<T, Output> &&
           !std::same_as<std::remove_cvref_t<T>, Initializer>)
      Input(const T& value)
      : Input(Initializer(value)) {}  // NOLINT

  bool is_value() const { return is_value_; }
  // Empty if it is a value.
  const Output& output() const { return output_; }
  // Only if it is a value.
  const Initializer& value() const { return *value_; }

 private:
  Output output_;
  bool is_value_ = false;
  std::shared_ptr<const Initializer> value_;
};

// A list argument of an op.
class InputList {
 public:
  InputList(std::initializer_list<Input> list) : inputs_(list) {}  // NOLINT
  InputList(const std::vector<Output>& list)                       // NOLINT
      : inputs_(list.begin(), list.end()) {}
  InputList(std::vector<Input> list) : inputs_(std::move(list)) {}  // NOLINT
  const std::vector<Input>& inputs() const { return inputs_; }

 private:
  std::vector<Input> inputs_;
};

Output operator+(const Output& a, const Output& b);
Output operator-(const Output& a, const Output& b);
Output operator*(const Output& a, const Output& b);
Output operator/(const Output& a, const Output& b);
Output operator+(const Output& a, const Input& b);
Output operator-(const Output& a, const Input& b);
Output operator*(const Output& a, const Input& b);
Output operator/(const Output& a, const Input& b);
Output operator+(const Input& a, const Output& b);
Output operator-(const Input& a, const Output& b);
Output operator*(const Input& a, const Output& b);
Output operator/(const Input& a, const Output& b);
Output operator-(const Output& a);

// Where new nodes go: the graph, the prefix of their names, device, control
// dependencies. A copy is the same scope; With... returns a changed one.
class Scope {
 public:
  // A scope of a new graph.
  static Scope NewRootScope();
  // A scope of a graph that exists, say an imported one. Null is
  // InvalidArgument, in status().
  static Scope OfGraph(std::shared_ptr<Graph> graph);
  explicit Scope(std::shared_ptr<const internal::ScopeData> data)
      : data_(std::move(data)) {}

  // Names begin with "name/"; a number makes a name unique.
  Scope NewSubScope(absl::string_view name) const;
  // The name of the next op; a number makes it unique.
  template <typename... Pieces>
  Scope WithOpName(const Pieces&... pieces) const {
    return WithOpNameImpl(StrCat(pieces...));
  }
  Scope WithControlDependencies(const std::vector<Operation>& ops) const;
  Scope WithControlDependencies(const Operation& op) const {
    return WithControlDependencies(std::vector<Operation>(1, op));
  }
  Scope WithNoControlDependencies() const;
  Scope WithDevice(absl::string_view device) const;
  // Nodes go to the device of `op`.
  Scope ColocateWith(const Operation& op) const;
  Scope ClearColocation() const;

  bool ok() const { return status().ok(); }
  // The first error in any scope of this graph.
  const Status& status() const;
  // Keeps `s` if it is the first error.
  void UpdateStatus(const Status& s) const;

  const std::shared_ptr<Graph>& graph() const;
  // The graph as a message; or the error.
  Status ToGraphDef(pb::GraphDef* def) const;
  // What a node of the preferred name gets.
  std::string GetUniqueNameForOp(absl::string_view default_name) const;
  // An output by name, "a:0" or "a". An unknown name is NotFound, in status().
  Output FindOutput(absl::string_view name) const;
  Operation FindOperation(absl::string_view name) const;

  const std::shared_ptr<const internal::ScopeData>& data() const {
    return data_;
  }

 private:
  Scope WithOpNameImpl(std::string name) const;

  std::shared_ptr<const internal::ScopeData> data_;
};

namespace ops {

// A constant. The second form has the type T, the third the shape `shape`.
Output Const(const Scope& scope, const Input::Initializer& value);
template <typename T>
Output Const(const Scope& scope, const Input::Initializer& value);
Output Const(const Scope& scope, const Input::Initializer& value,
             const TensorShape& shape);
Output ConstOfType(const Scope& scope, DataType dtype,
                   const Input::Initializer& value);
template <typename T>
Output Const(const Scope& scope, const Input::Initializer& value) {
  return ConstOfType(scope, DataTypeToEnum<T>::value, value);
}

}  // namespace ops
}  // namespace headrace

#endif  // HEADRACE_CC_SCOPE_H_
