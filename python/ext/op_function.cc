// OpFunction: an op of the registry as a Python function. Parameters are the
// op's inputs, then its attributes (those without a default first), then
// `name`; attributes that the inputs determine may be given by keyword. Values
// that are no tensors become constants, named after the argument inside the
// new node's scope and of the type that the other inputs settle: what
// TensorFlow's op definition library does, in its order.
#include <nanobind/stl/string.h>

#include <algorithm>
#include <set>
#include <utility>

#include "absl/cleanup/cleanup.h"
#include "absl/strings/ascii.h"
#include "attr_convert.h"
#include "framework/op/library.h"
#include "gil.h"
#include "headrace/op.h"
#include "numpy_convert.h"
#include "py_eager.h"
#include "py_graph.h"
#include "py_support.h"

namespace headrace::python {
namespace {

PyObject* Interned(const std::string& s) {
  return PyUnicode_InternFromString(s.c_str());
}

// The maximum bytes of a value's text in a message.
constexpr size_t kLongestValue = 200;

class OpFunction {
 public:
  explicit OpFunction(const std::string& name);

  nb::object Call(nb::args args, nb::kwargs kwargs) const;
  const std::string& op_name() const { return def_->name; }
  // (name, "input" or the attr's type, has a default, default).
  nb::list Parameters() const;
  std::string Doc() const { return def_->DebugString(); }

 private:
  struct Parameter {
    PyObject* name;  // interned
    int index;       // into the inputs, or the attrs
    bool is_input;
  };
  class Application;

  const OpDef* def_;
  std::vector<Parameter> positional_;
  std::vector<Parameter> keyword_only_;
  mutable PyObject* result_type_ = nullptr;  // for several outputs
};

// While inputs of a node are converted: its scope, and its graph as default.
class ConversionScope {
 public:
  ConversionScope(nb::handle graph, PyGraph* core, const std::string& scope)
      : core_(core), saved_(core->name_scope()) {
    core->name_scope() = scope;
    PushDefaultGraph(graph);
  }
  ~ConversionScope() {
    core_->name_scope() = saved_;
    PopDefaultGraph();
  }

 private:
  PyGraph* const core_;
  const std::string saved_;
};

// While a node with inputs that are references is made: it goes where these
// are, and no scope's device holds for it.
class ColocationScope {
 public:
  ColocationScope(PyGraph* core, const std::vector<const Node*>& refs)
      : core_(refs.empty() ? nullptr : core) {
    if (core_ == nullptr) return;
    std::set<std::string> groups(core->colocation.begin(),
                                 core->colocation.end());
    std::string colocated_device = core->colocated_device;
    for (const Node* n : refs) {
      for (std::string& g : ColocationGroups(*n)) groups.insert(std::move(g));
      if (colocated_device.empty()) colocated_device = n->requested_device();
    }
    colocation_ = std::exchange(core->colocation, {});
    core->colocation.assign(groups.begin(), groups.end());
    colocated_device_ =
        std::exchange(core->colocated_device, std::move(colocated_device));
    device_ = std::exchange(core->device, "");
    has_device_functions_ = std::exchange(core->has_device_functions, false);
  }
  ~ColocationScope() {
    if (core_ == nullptr) return;
    core_->colocation = std::move(colocation_);
    core_->colocated_device = std::move(colocated_device_);
    core_->device = std::move(device_);
    core_->has_device_functions = has_device_functions_;
  }
  ColocationScope(const ColocationScope&) = delete;
  ColocationScope& operator=(const ColocationScope&) = delete;

 private:
  PyGraph* const core_;  // null: nothing was changed
  std::vector<std::string> colocation_;
  std::string colocated_device_;
  std::string device_;
  bool has_device_functions_ = false;
};

// One call: values are bound to parameters, converted, and become a node.
class OpFunction::Application {
 public:
  Application(const OpFunction& function, nb::args args, nb::kwargs kwargs)
      : function_(function),
        def_(*function.def_),
        inputs_(def_.inputs.size()),
        attrs_(def_.attrs.size()) {
    Bind(args, kwargs);
    FindGraph();
    if (!is_eager_) name_ = core_->NodeName(name_);
  }

  nb::object Run() {
    node_def_.op = def_.name;
    for (size_t i = 0; i < attrs_.size(); ++i) {
      if (attrs_[i].ptr() == nullptr) continue;
      const OpDef::Attr& attr = def_.attrs[i];
      if (attrs_[i].is_none() &&
          (attr.default_value.has_value() || attr.type != AttrType::kShape)) {
        continue;
      }
      node_def_.attrs.Set(attr.name, ToAttrValue(def_, attr, attrs_[i]));
    }
    bool has_list = false;
    for (size_t i = 0; i < def_.inputs.size(); ++i) {
      const OpDef::Arg& arg = def_.inputs[i];
      const size_t before = types_.size();
      if (arg.number_attr >= 0 || arg.type_list_attr >= 0) {
        has_list = true;
        ConvertList(arg, inputs_[i]);
      } else {
        ConvertOne(arg, inputs_[i]);
      }
      arg_sizes_.push_back(static_cast<int>(types_.size() - before));
    }
    for (size_t i = 0; i < def_.attrs.size(); ++i) {
      const OpDef::Attr& attr = def_.attrs[i];
      if (!attr.default_value.has_value() && !Determined(i) &&
          node_def_.attrs.Find(attr.name) == nullptr) {
        RaiseTypeError(StrCat(def_.name, "() missing required argument: '",
                              attr.name, "'"));
      }
    }
    if (is_eager_) return Execute();
    node_def_.name = std::move(name_);
    const ColocationScope scope(core_, RefInputs());
    Node* n = AddNode(
        graph_, core_, std::move(node_def_), endpoints_,
        has_list ? absl::MakeConstSpan(arg_sizes_) : absl::Span<const int>());
    return Result(n);
  }

 private:
  void Bind(nb::args args, nb::kwargs kwargs) {
    const size_t n = args.size();
    const auto& parameters = function_.positional_;
    if (n > parameters.size() + 1) {
      RaiseTypeError(StrCat(def_.name, "() takes at most ",
                            parameters.size() + 1, " arguments (", n,
                            " given)"));
    }
    nb::handle name;
    for (size_t i = 0; i < n; ++i) {
      if (i == parameters.size()) {
        name = args[i];
      } else {
        Slot(parameters[i]) = args[i];
      }
    }
    static PyObject* const kName = Interned("name");
    for (auto [key, value] : kwargs) {
      if (key.ptr() == kName || nb::handle(kName).equal(key)) {
        name = value;
        continue;
      }
      nb::handle& slot = Find(key);
      if (slot.ptr() != nullptr) {
        RaiseTypeError(StrCat(def_.name,
                              "() got multiple values for argument '",
                              nb::str(key).c_str(), "'"));
      }
      slot = value;
    }
    for (size_t i = 0; i < inputs_.size(); ++i) {
      if (inputs_[i].ptr() == nullptr) {
        RaiseTypeError(StrCat(def_.name, "() missing required argument: '",
                              def_.inputs[i].name, "'"));
      }
    }
    name_ = name.ptr() == nullptr || name.is_none() ? def_.name
                                                    : ToString(name, "name");
    if (name_.empty()) name_ = def_.name;
    is_named_ = name.ptr() != nullptr && !name.is_none();
  }

  nb::handle& Slot(const Parameter& p) {
    return p.is_input ? inputs_[p.index] : attrs_[p.index];
  }

  nb::handle& Find(nb::handle key) {
    for (const auto* list :
         {&function_.positional_, &function_.keyword_only_}) {
      for (const Parameter& p : *list) {
        if (p.name == key.ptr()) return Slot(p);
      }
    }
    for (const auto* list :
         {&function_.positional_, &function_.keyword_only_}) {
      for (const Parameter& p : *list) {
        if (nb::handle(p.name).equal(key)) return Slot(p);
      }
    }
    RaiseTypeError(StrCat(def_.name, "() got an unexpected keyword argument '",
                          nb::str(key).c_str(), "'"));
  }

  // The function that is being traced; else the graph of the first input that
  // has one, else the default graph. The latter may be that of a thread that
  // executes eagerly.
  void FindGraph() {
    const nb::object current = DefaultGraph();
    if (nb::inst_ptr<PyGraph>(current)->captures) {
      graph_ = current;
      core_ = nb::inst_ptr<PyGraph>(current);
      return;
    }
    for (nb::handle v : inputs_) {
      PyTensor* t = AsTensor(v);
      if (t == nullptr && PyList_CheckExact(v.ptr())) {
        for (Py_ssize_t i = 0; i < PyList_GET_SIZE(v.ptr()); ++i) {
          t = AsTensor(PyList_GET_ITEM(v.ptr(), i));
          if (t != nullptr) break;
        }
      }
      if (t != nullptr) {
        graph_ = t->op->graph;
        core_ = t->op->core;
        return;
      }
    }
    graph_ = current;
    core_ = nb::inst_ptr<PyGraph>(graph_);
    is_eager_ = core_->eager;
  }

  nb::object Execute() {
    for (const auto* args : {&def_.inputs, &def_.outputs}) {
      for (const OpDef::Arg& a : *args) {
        if (a.is_ref) RefuseReference(a);
      }
    }
    auto call = std::make_shared<EagerCall>();
    call->name = def_.name;
    call->op_def =
        std::shared_ptr<const OpDef>(std::shared_ptr<const void>(), &def_);
    call->attrs = std::move(node_def_.attrs);
    call->input_types.assign(types_.begin(), types_.end());
    call->arg_sizes.assign(arg_sizes_.begin(), arg_sizes_.end());
    const std::vector<nb::object> inputs(keep_.begin(), keep_.end());
    const bool owns = NameResource(&call->attrs);
    if (owns) {
      const std::vector<nb::object> outputs =
          ExecuteEagerly(call, core_->device, std::string(), inputs);
      AsEager(outputs[0])->owns_resource = true;
      return EagerResult(*call, outputs);
    }
    return EagerResult(
        *call, ExecuteEagerly(call, core_->device,
                              is_named_ ? name_ : std::string(), inputs));
  }

  // Each execution of an op that makes a resource without a name makes another
  // one. True if the attrs were changed.
  bool NameResource(AttrMap* attrs) const {
    if (def_.outputs.empty() || def_.outputs[0].type != DT_RESOURCE) {
      return false;
    }
    if (def_.FindAttr("shared_name") < 0) return false;
    const AttrValue* given = attrs->Find("shared_name");
    const std::string* name =
        given == nullptr ? nullptr : given->Get<std::string>();
    if (name != nullptr && !name->empty()) return false;
    attrs->Set("shared_name", std::string(kAnonymousName));
    return true;
  }

  [[noreturn]] void RefuseReference(const OpDef::Arg& arg) const {
    std::string name;  // the op as Python's functions are named
    for (size_t i = 0; i < def_.name.size(); ++i) {
      const char c = def_.name[i];
      if (i > 0 && absl::ascii_isupper(c)) name.push_back('_');
      name.push_back(absl::ascii_tolower(c));
    }
    PyErr_SetString(PyExc_RuntimeError,
                    StrCat(name, " op does not support eager execution. Arg '",
                           arg.name, "' is a ref.")
                        .c_str());
    throw nb::python_error();
  }

  // True if the inputs say what the attr is.
  bool Determined(size_t attr) const {
    for (const OpDef::Arg& a : def_.inputs) {
      const int i = static_cast<int>(attr);
      if (a.type_attr == i || a.number_attr == i || a.type_list_attr == i) {
        return true;
      }
    }
    return false;
  }

  DataType Known(int type_attr) const {
    if (type_attr < 0) return DT_INVALID;
    const AttrValue* v = node_def_.attrs.Find(def_.attrs[type_attr].name);
    const DataType* t = v == nullptr ? nullptr : v->Get<DataType>();
    return t == nullptr ? DT_INVALID : *t;
  }
  DataType Preferred(int type_attr) const {
    if (type_attr < 0) return DT_INVALID;
    const auto& d = def_.attrs[type_attr].default_value;
    const DataType* t = d.has_value() ? d->Get<DataType>() : nullptr;
    return t == nullptr ? DT_INVALID : *t;
  }

  // Raises the error of a conversion again, with what it was for.
  [[noreturn]] void RefuseValue(const std::string& name, nb::handle value,
                                DataType want, const nb::python_error& error) {
    const std::string why = nb::str(error.value()).c_str();
    if (error.matches(PyExc_TypeError) && want != DT_INVALID) {
      std::string text = nb::repr(value).c_str();
      if (text.size() > kLongestValue) {
        text = StrCat(text.substr(0, kLongestValue), "...");
      }
      RaiseTypeError(StrCat("Expected ", Name(want), " passed to parameter '",
                            name, "' of op '", def_.name, "', got ", text,
                            " of type '", Py_TYPE(value.ptr())->tp_name,
                            "' instead. Error: ", why));
    }
    if (error.matches(PyExc_TypeError)) {
      RaiseTypeError(
          StrCat(why, " (argument '", name, "' of op '", def_.name, "')"));
    }
    if (error.matches(PyExc_ValueError)) {
      RaiseValueError(StrCat(
          "Tried to convert '", name, "' to a tensor and failed. Error: ", why,
          " (argument '", name, "' of op '", def_.name, "')"));
    }
    throw;
  }

  // Appends the value, converted, to the inputs.
  void Convert(const OpDef::Arg& arg, const std::string& name, nb::handle value,
               DataType want, DataType preferred) {
    nb::object o;
    if (AsTensor(value) != nullptr || AsEager(value) != nullptr) {
      o = nb::borrow(value);
    } else {
      Tensor t;
      if (!arg.is_ref &&
          PlainValueToTensor(value, want != DT_INVALID ? want : preferred,
                             &t)) {
        if (is_eager_) {
          types_.push_back(t.dtype());
          keep_.push_back(EagerTensorObject(std::move(t)));
          return;
        }
        std::swap(core_->name_scope(), name_);
        const auto restore =
            absl::MakeCleanup([&] { std::swap(core_->name_scope(), name_); });
        o = AddConstant(graph_, core_, std::move(t), name);
      } else {
        ConversionScope scope(graph_, core_, name_);
        try {
          o = hooks().convert_to_tensor(
              value, want == DT_INVALID ? nb::none() : DTypeObject(want), name,
              preferred == DT_INVALID ? nb::none() : DTypeObject(preferred),
              arg.is_ref);
        } catch (nb::python_error& error) {
          // A value of another type is refused by its type: below, of a
          // variable, or by the op that is executed.
          const bool has_type =
              (error.matches(PyExc_ValueError) &&
               nb::hasattr(value, "_as_tensor")) ||
              (is_eager_ && !arg.is_ref && error.matches(PyExc_TypeError) &&
               HasType(value));
          if (want == DT_INVALID || !has_type) {
            RefuseValue(name, value, want, error);
          }
          o = hooks().convert_to_tensor(value, nb::none(), name, nb::none(),
                                        arg.is_ref);
        }
      }
    }
    if (PyEagerTensor* e = AsEager(o)) {
      if (is_eager_) {
        types_.push_back(e->handle->dtype());
        keep_.push_back(std::move(o));
        return;
      }
      if (!core_->captures) RefuseEagerTensor();
      o = graph_.attr("_capture")(o);
    } else if (is_eager_) {
      PyErr_SetString(PyExc_RuntimeError,
                      StrCat("input '", arg.name, "' of op ", def_.name,
                             " is a tensor of a graph: ", nb::repr(o).c_str(),
                             ". It has no value while ops are executed "
                             "eagerly.")
                          .c_str());
      throw nb::python_error();
    }
    PyTensor* t = AsTensor(o);
    if (t == nullptr) RaiseTypeError("conversion did not give a Tensor");
    if (t->op->core != core_ && core_->captures) {
      o = graph_.attr("_capture")(o);
      t = AsTensor(o);
      if (t == nullptr) RaiseTypeError("a capture did not give a Tensor");
    }
    if (t->op->core != core_) {
      RaiseValueError(StrCat("Tensor ", EndpointName(t->endpoint()),
                             ", input '", arg.name, "' of op ", def_.name,
                             ", must be from the same graph as the other "
                             "inputs. Make all of them inside of one 'with "
                             "graph.as_default():'."));
    }
    if (arg.is_ref && !IsRefType(t->dtype())) {
      RaiseTypeError(StrCat("'", def_.name, "' Op requires that input '",
                            arg.name,
                            "' be a mutable tensor (e.g.: a tf.Variable)"));
    }
    endpoints_.push_back(t->endpoint());
    types_.push_back(BaseType(t->dtype()));
    keep_.push_back(std::move(o));
  }

  void CheckType(const OpDef::Arg& arg, size_t at) {
    const DataType got = types_[at];
    if (arg.type != DT_INVALID) {
      // What is executed says so itself.
      if (got != BaseType(arg.type) && !is_eager_) {
        RaiseTypeError(StrCat("Input '", arg.name, "' of '", def_.name,
                              "' Op has type ", Name(got),
                              " that does not match expected type of ",
                              Name(BaseType(arg.type)), "."));
      }
      return;
    }
    if (arg.type_attr < 0) return;
    const OpDef::Attr& attr = def_.attrs[arg.type_attr];
    const DataType known = Known(arg.type_attr);
    if (known != DT_INVALID && is_eager_) return;
    if (known == DT_INVALID) {
      if (!attr.allowed_types.empty() &&
          std::find(attr.allowed_types.begin(), attr.allowed_types.end(),
                    got) == attr.allowed_types.end()) {
        std::string allowed;
        for (DataType t : attr.allowed_types) {
          StrAppend(&allowed, allowed.empty() ? "" : ", ", Name(t));
        }
        RaiseTypeError(StrCat("Value passed to parameter '", arg.name,
                              "' has DataType ", Name(got),
                              " not in list of allowed values: ", allowed,
                              " (op ", def_.name, ")"));
      }
      node_def_.attrs.Set(attr.name, got);
      decided_by_.emplace_back(arg.type_attr, &arg);
      return;
    }
    if (got == known) return;
    for (const auto& [index, by] : decided_by_) {
      if (index != arg.type_attr) continue;
      RaiseTypeError(StrCat("Input '", arg.name, "' of '", def_.name,
                            "' Op has type ", Name(got),
                            " that does not match type ", Name(known),
                            " of argument '", by->name, "'."));
    }
    RaiseTypeError(StrCat(
        "Input '", arg.name, "' of '", def_.name, "' Op has type ", Name(got),
        " that does not match attr ", attr.name, "=", Name(known), "."));
  }

  static std::string Name(DataType t) {
    switch (t) {
      case DT_FLOAT:
        return "float32";
      case DT_DOUBLE:
        return "float64";
      case DT_HALF:
        return "float16";
      default:
        return DataTypeString(t);
    }
  }

  // The nodes that give the inputs that must be references.
  std::vector<const Node*> RefInputs() const {
    std::vector<const Node*> refs;
    size_t at = 0;
    for (size_t i = 0; i < def_.inputs.size(); ++i) {
      for (int k = 0; k < arg_sizes_[i]; ++k, ++at) {
        if (def_.inputs[i].is_ref) refs.push_back(endpoints_[at].node);
      }
    }
    return refs;
  }

  void ConvertOne(const OpDef::Arg& arg, nb::handle value) {
    const DataType want =
        arg.type != DT_INVALID ? BaseType(arg.type) : Known(arg.type_attr);
    Convert(arg, arg.name, value, want, Preferred(arg.type_attr));
    CheckType(arg, types_.size() - 1);
  }

  void ConvertList(const OpDef::Arg& arg, nb::handle value) {
    if (!PyList_Check(value.ptr()) && !PyTuple_Check(value.ptr())) {
      RaiseTypeError(StrCat("Expected list for '", arg.name, "' argument to '",
                            def_.name, "' Op, not ", nb::repr(value).c_str(),
                            "."));
    }
    const Py_ssize_t n = PySequence_Fast_GET_SIZE(value.ptr());
    PyObject** items = PySequence_Fast_ITEMS(value.ptr());
    const int size_attr =
        arg.number_attr >= 0 ? arg.number_attr : arg.type_list_attr;
    const OpDef::Attr& attr = def_.attrs[size_attr];
    if (attr.has_minimum && n < attr.minimum) {
      RaiseValueError(StrCat(
          "List argument '", arg.name, "' to '", def_.name, "' Op with length ",
          n, " shorter than minimum length ", attr.minimum, "."));
    }
    if (arg.number_attr >= 0) {
      if (const AttrValue* v = node_def_.attrs.Find(attr.name)) {
        const int64_t* wanted = v->Get<int64_t>();
        if (wanted != nullptr && *wanted != n) {
          RaiseValueError(StrCat("List argument '", arg.name, "' to '",
                                 def_.name, "' Op with length ", n,
                                 " must match length ", *wanted, " of attr ",
                                 attr.name, "."));
        }
      }
    }
    DataType want =
        arg.type != DT_INVALID ? BaseType(arg.type) : Known(arg.type_attr);
    if (want == DT_INVALID && arg.type_attr >= 0) {
      for (Py_ssize_t i = 0; i < n; ++i) {
        if (PyTensor* t = AsTensor(items[i])) {
          want = BaseType(t->dtype());
          break;
        }
        if (PyEagerTensor* e = AsEager(items[i])) {
          want = e->handle->dtype();
          break;
        }
      }
    }
    const std::vector<DataType>* types = nullptr;
    std::vector<DataType> given;
    if (arg.type_list_attr >= 0) {
      if (const AttrValue* v = node_def_.attrs.Find(attr.name)) {
        if (const auto* l = v->GetList<DataType>()) given = *l;
        types = &given;
      }
    }
    // Decided before, not by this list.
    const DataType known = Known(arg.type_attr);
    try {
      for (Py_ssize_t i = 0; i < n; ++i) {
        if (types != nullptr && static_cast<size_t>(i) < types->size()) {
          want = (*types)[i];
        }
        Convert(arg, StrCat(arg.name, "_", i), items[i], want,
                Preferred(arg.type_attr));
        if (arg.type_list_attr < 0) CheckType(arg, types_.size() - 1);
      }
    } catch (nb::python_error& error) {
      if (!error.matches(PyExc_TypeError) && !error.matches(PyExc_ValueError)) {
        throw;
      }
      RefuseList(arg, absl::MakeConstSpan(items, n), known);
      throw;
    }
  }

  // Raises TypeError if the types of the values are why they were refused.
  void RefuseList(const OpDef::Arg& arg, absl::Span<PyObject* const> values,
                  DataType known) const {
    if (arg.type_list_attr >= 0) return;  // each has a type of its own
    if (arg.type != DT_INVALID) known = BaseType(arg.type);
    std::string names;
    bool differ = false;
    DataType first = known;
    for (PyObject* value : values) {
      DataType type = DT_INVALID;
      try {
        type = TypeOf(value);
      } catch (nb::python_error&) {  // cannot be a tensor at all
      }
      if (first == DT_INVALID) first = type;
      differ |= type != first || type == DT_INVALID;
      if (names.size() > kLongestValue) continue;
      StrAppend(
          &names, names.empty() ? "" : ", ",
          type == DT_INVALID ? "<NOT CONVERTIBLE TO TENSOR>" : Name(type));
      if (names.size() > kLongestValue) StrAppend(&names, ", ...");
    }
    if (!differ) return;
    const std::string what =
        StrCat("Tensors in list passed to '", arg.name, "' of '", def_.name,
               "' Op have types [", names, "]");
    if (arg.type != DT_INVALID) {
      RaiseTypeError(
          StrCat(what, " that do not match expected type ", Name(known), "."));
    }
    if (known != DT_INVALID) {
      RaiseTypeError(StrCat(what, " that do not match type ", Name(known),
                            " inferred from earlier arguments."));
    }
    RaiseTypeError(StrCat(what, " that don't all match."));
  }

  // Whether a value is of some DataType by itself.
  static bool HasType(nb::handle value) {
    try {
      return TypeOf(value) != DT_INVALID;
    } catch (nb::python_error&) {
      return false;
    }
  }

  // The DataType of a value by itself. Raises if it has none.
  static DataType TypeOf(nb::handle value) {
    if (PyTensor* t = AsTensor(value)) return BaseType(t->dtype());
    if (PyEagerTensor* e = AsEager(value)) return e->handle->dtype();
    if (nb::hasattr(value, "_as_tensor") && nb::hasattr(value, "dtype")) {
      return BaseType(ToDataType(nb::object(value.attr("dtype"))));
    }
    return ToTensor(value, DT_INVALID, Sharing::kCopy).dtype();
  }

  nb::object Result(Node* n) const {
    nb::object op = OperationObject(graph_, core_, n);
    if (n->num_outputs() == 0) return op;
    return Arrange(n->attrs(), [&](int i) { return TensorObject(op, i); });
  }

  nb::object EagerResult(const EagerCall& call,
                         const std::vector<nb::object>& outputs) const {
    if (outputs.empty() && def_.outputs.empty()) return nb::none();
    if (def_.outputs.size() == 1 && !HasList()) return outputs[0];
    AttrMap attrs;  // with those that follow from the inputs
    Check(CompleteAttrs(call, &attrs));
    return Arrange(attrs, [&](int i) { return outputs[i]; });
  }

  bool HasList() const {
    bool has_list = false;
    for (const OpDef::Arg& a : def_.outputs) {
      has_list |= a.number_attr >= 0 || a.type_list_attr >= 0;
    }
    return has_list;
  }

  // The outputs in the structure of the op's signature.
  template <typename F>
  nb::object Arrange(const AttrMap& attrs, const F& output) const {
    if (!HasList() && def_.outputs.size() == 1) return output(0);
    std::vector<ArgRange> ranges;
    Check(ArgRanges(def_.outputs, def_, attrs, &ranges));
    nb::list values;
    for (size_t i = 0; i < ranges.size(); ++i) {
      const OpDef::Arg& a = def_.outputs[i];
      if (a.number_attr < 0 && a.type_list_attr < 0) {
        values.append(output(ranges[i].begin));
        continue;
      }
      nb::list list;
      for (int k = ranges[i].begin; k < ranges[i].end; ++k) {
        list.append(output(k));
      }
      values.append(list);
    }
    if (values.size() == 1) return values[0];
    if (function_.result_type_ == nullptr) {
      nb::list names;
      for (const OpDef::Arg& a : def_.outputs) names.append(a.name.c_str());
      function_.result_type_ =
          hooks().make_result_type(def_.name, names).release().ptr();
    }
    return nb::handle(function_.result_type_)(*values);
  }

  const OpFunction& function_;
  const OpDef& def_;
  absl::InlinedVector<nb::handle, 8> inputs_, attrs_;
  nb::object graph_;
  PyGraph* core_ = nullptr;
  std::string name_;
  NodeDef node_def_;
  bool is_eager_ = false;
  bool is_named_ = false;
  absl::InlinedVector<Endpoint, 4> endpoints_;  // empty if eager
  absl::InlinedVector<DataType, 4> types_;      // of the inputs so far
  absl::InlinedVector<int, 4> arg_sizes_;
  absl::InlinedVector<nb::object, 4> keep_;
  absl::InlinedVector<std::pair<int, const OpDef::Arg*>, 2> decided_by_;
};

OpFunction::OpFunction(const std::string& name) {
  if (Status s = OpRegistry::Global()->LookUp(name, &def_); !s.ok()) {
    PyErr_SetString(PyExc_AttributeError, std::string(s.message()).c_str());
    throw nb::python_error();
  }
  for (size_t i = 0; i < def_->inputs.size(); ++i) {
    positional_.push_back(
        {Interned(def_->inputs[i].name), static_cast<int>(i), true});
  }
  for (const bool with_default : {false, true}) {
    for (size_t i = 0; i < def_->attrs.size(); ++i) {
      const OpDef::Attr& attr = def_->attrs[i];
      bool determined = false;
      for (const OpDef::Arg& a : def_->inputs) {
        const int k = static_cast<int>(i);
        determined |=
            a.type_attr == k || a.number_attr == k || a.type_list_attr == k;
      }
      const Parameter p{Interned(attr.name), static_cast<int>(i), false};
      if (determined) {
        if (with_default) keyword_only_.push_back(p);
      } else if (attr.default_value.has_value() == with_default) {
        positional_.push_back(p);
      }
    }
  }
}

nb::object OpFunction::Call(nb::args args, nb::kwargs kwargs) const {
  try {
    return Application(*this, args, kwargs).Run();
  } catch (nb::python_error& error) {
    if (!error.matches(PyExc_TypeError) && !error.matches(PyExc_ValueError)) {
      throw;
    }
    // A value that is no tensor may know what the op is for it.
    nb::object result = hooks().dispatch(def_->name, args, kwargs);
    if (result.is(nb::handle(Py_NotImplemented))) throw;
    return result;
  }
}

nb::list OpFunction::Parameters() const {
  nb::list out;
  for (const Parameter& p : positional_) {
    if (p.is_input) {
      out.append(
          nb::make_tuple(nb::handle(p.name), "input", false, nb::none()));
      continue;
    }
    const OpDef::Attr& attr = def_->attrs[p.index];
    const bool has_default = attr.default_value.has_value();
    out.append(nb::make_tuple(
        nb::handle(p.name), AttrTypeName(attr.type), has_default,
        has_default ? FromAttrValue(*attr.default_value) : nb::none()));
  }
  return out;
}

}  // namespace

void RegisterOpFunction(nb::module_& m) {
  nb::class_<OpFunction>(m, "OpFunction")
      .def(nb::init<const std::string&>(), nb::arg("op_type"))
      .def("__call__", &OpFunction::Call)
      .def_prop_ro("op_type", &OpFunction::op_name)
      .def_prop_ro("signature_text", &OpFunction::Doc)
      .def("parameters", &OpFunction::Parameters);
  m.def("op_names", [] {
    nb::list names;
    for (const OpDef* d : OpRegistry::Global()->All()) {
      names.append(d->name.c_str());
    }
    return names;
  });
  // Loads a library of ops and kernels; the names of the ops that it added.
  m.def("load_library", [](const std::string& path) {
    const StatusOr<const OpLibrary*> library = [&] {
      const GilRelease unlocked;
      return LoadOpLibrary(path);
    }();
    if (!library.ok()) RaiseStatus(library.status(), nb::none());
    nb::list names;
    for (const OpDef* d : (*library)->ops) names.append(d->name.c_str());
    return names;
  });
}

}  // namespace headrace::python
