// What all binding files share: errors, functions registered by the Python
// package, and the user's source line. Call with the GIL held.
#ifndef HEADRACE_PYTHON_EXT_PY_SUPPORT_H_
#define HEADRACE_PYTHON_EXT_PY_SUPPORT_H_

#include <nanobind/nanobind.h>

#include <string>

#include "gil.h"
#include "headrace/status.h"
#include "headrace/types.h"

namespace headrace::python {

namespace nb = nanobind;

// A function of the Python package.
class Hook {
 public:
  Hook& operator=(nb::object function) {
    function_ = std::move(function);
    return *this;
  }
  template <typename... Args>
  nb::object operator()(Args&&... args) const {
    return CallPython([&] { return function_(std::forward<Args>(args)...); });
  }

 private:
  nb::object function_;
};

// Functions and objects of the Python package that the bindings call.
// headrace/__init__.py sets them once with set_hooks(**hooks).
struct Hooks {
  Hook make_error;          // (code, message, graph) -> exception
  Hook global_graph;        // () -> the global default graph
  Hook eager_graph;         // () -> the eager graph of this thread
  Hook convert_to_tensor;   // (value, dtype, name, preferred, as_ref)
  Hook to_array;            // (value, numpy dtype or None) -> ndarray
  Hook feed_to_array;       // the same with the rules for feeds
  Hook as_dtype;            // (anything) -> DType
  Hook as_shape_list;       // (anything) -> list of int, or None
  Hook bfloat16;            // () -> numpy dtype
  Hook make_result_type;    // (op name, output names) -> namedtuple type
  Hook expand_fetch;        // (object) -> (fetches, function) or None
  Hook dispatch;            // (op name, args, kwargs) -> result, or
                            // NotImplemented if no value has one of its own
  Hook expand_feed;         // (key, value) -> [(tensor, value)] or None
  nb::list dtypes;          // DType by enum, references included
  std::string package_dir;  // stack frames in this folder are not the user's
};
Hooks& hooks();

[[noreturn]] void RaiseTypeError(const std::string& message);
[[noreturn]] void RaiseValueError(const std::string& message);
// Raises the tf.errors class for the code. `graph` (or None) is used to find
// the operation that the message names.
[[noreturn]] void RaiseStatus(const Status& status, nb::handle graph);
inline void Check(const Status& status) {
  if (!status.ok()) [[unlikely]]
    RaiseStatus(status, nb::none());
}
// As TF 1.x does while a graph is built: InvalidArgument becomes ValueError.
[[noreturn]] void RaiseBuildError(const Status& status);

nb::object DTypeObject(DataType t);
// Accepts a DType, a NumPy type, a name or an enum number. Raises TypeError for
// anything else.
DataType ToDataType(nb::handle o);

// Accepts str (as UTF-8) or bytes. Raises TypeError for anything else.
std::string ToString(nb::handle o, const char* what);

// "train.py:12 in build_model": the innermost stack frame outside this package.
// "" if there is none.
std::string UserSourceLine();

void RegisterSupport(nb::module_& m);

}  // namespace headrace::python

#endif  // HEADRACE_PYTHON_EXT_PY_SUPPORT_H_
