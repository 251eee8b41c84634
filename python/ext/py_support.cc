#include "py_support.h"

#include <frameobject.h>
#include <nanobind/stl/string.h>

#include <exception>
#include <typeinfo>

#include "framework/kernel/kernel_counts.h"
#include "headrace/strings.h"

namespace headrace::python {

Hooks& hooks() {
  static Hooks* const h = new Hooks;  // outlives the interpreter
  return *h;
}

void RaiseTypeError(const std::string& message) {
  PyErr_SetString(PyExc_TypeError, message.c_str());
  throw nb::python_error();
}

void RaiseValueError(const std::string& message) {
  PyErr_SetString(PyExc_ValueError, message.c_str());
  throw nb::python_error();
}

void RaiseStatus(const Status& status, nb::handle graph) {
  const std::string message(status.message());
  nb::object text = nb::steal(PyUnicode_DecodeUTF8(
      message.data(), static_cast<Py_ssize_t>(message.size()), "replace"));
  nb::object error =
      hooks().make_error(static_cast<int>(status.code()), text, graph);
  PyErr_SetObject(reinterpret_cast<PyObject*>(Py_TYPE(error.ptr())),
                  error.ptr());
  throw nb::python_error();
}

void RaiseBuildError(const Status& status) {
  if (errors::IsInvalidArgument(status)) {
    RaiseValueError(std::string(status.message()));
  }
  if (errors::IsUnimplemented(status)) {  // an op that was removed
    const std::string message(status.message());
    PyErr_SetString(PyExc_NotImplementedError, message.c_str());
    throw nb::python_error();
  }
  RaiseStatus(status, nb::none());
}

nb::object DTypeObject(DataType t) {
  PyObject* list = hooks().dtypes.ptr();
  if (t < 0 || t >= PyList_GET_SIZE(list)) return nb::none();
  return nb::borrow(PyList_GET_ITEM(list, t));
}

DataType ToDataType(nb::handle o) {
  static PyObject* const kEnum = PyUnicode_InternFromString("_enum");
  static PyObject* kType = nullptr;
  if (kType == nullptr) {
    kType = reinterpret_cast<PyObject*>(
        Py_TYPE(PyList_GET_ITEM(hooks().dtypes.ptr(), DT_FLOAT)));
  }
  nb::object dtype = nb::borrow(o);
  if (reinterpret_cast<PyObject*>(Py_TYPE(o.ptr())) != kType) {
    dtype = hooks().as_dtype(o);
  }
  nb::object number = nb::steal(PyObject_GetAttr(dtype.ptr(), kEnum));
  if (!number.is_valid()) throw nb::python_error();
  return static_cast<DataType>(PyLong_AsLong(number.ptr()));
}

std::string ToString(nb::handle o, const char* what) {
  if (PyUnicode_Check(o.ptr())) {
    Py_ssize_t n;
    const char* s = PyUnicode_AsUTF8AndSize(o.ptr(), &n);
    if (s == nullptr) throw nb::python_error();
    return std::string(s, n);
  }
  if (PyBytes_Check(o.ptr())) {
    return std::string(PyBytes_AS_STRING(o.ptr()), PyBytes_GET_SIZE(o.ptr()));
  }
  RaiseTypeError(StrCat("Expected string for ", what, ", got ",
                        nb::repr(o).c_str(), " of type '",
                        Py_TYPE(o.ptr())->tp_name, "' instead."));
}

std::string UserSourceLine() {
  const std::string& package = hooks().package_dir;
  PyFrameObject* frame = PyEval_GetFrame();
  Py_XINCREF(frame);
  while (frame != nullptr) {
    PyCodeObject* code = PyFrame_GetCode(frame);
    Py_ssize_t n = 0;
    const char* file = PyUnicode_AsUTF8AndSize(code->co_filename, &n);
    if (file == nullptr) {
      PyErr_Clear();
    } else if (package.empty() || static_cast<size_t>(n) <= package.size() ||
               package.compare(0, package.size(), file, package.size()) != 0) {
      absl::string_view name(file, n);
      const size_t slash = name.rfind('/');
      if (slash != absl::string_view::npos) name.remove_prefix(slash + 1);
      const char* function = PyUnicode_AsUTF8(code->co_name);
      if (function == nullptr) PyErr_Clear();
      std::string line = StrCat(name, ":", PyFrame_GetLineNumber(frame), " in ",
                                function == nullptr ? "?" : function);
      Py_DECREF(code);
      Py_DECREF(frame);
      return line;
    }
    PyFrameObject* back = PyFrame_GetBack(frame);
    Py_DECREF(code);
    Py_DECREF(frame);
    frame = back;
  }
  return "";
}

void RegisterSupport(nb::module_& m) {
  // A failed conversion without an error of its own: raise TypeError, as for
  // any argument of a wrong type. The default would be RuntimeError.
  nb::register_exception_translator(
      [](const std::exception_ptr& p, void* /*payload*/) {
        // No exception: Python has ended this thread in a call of ours.
        if (p == nullptr) ParkThread();
        try {
          std::rethrow_exception(p);
        } catch (const std::bad_cast&) {
          PyErr_SetString(PyExc_TypeError,
                          "an argument, or a part of one, is of a type that "
                          "is not taken here");
        }
      });
  // For tests: where the counts of the kernels that run from now on go, in a
  // process that counts them.
  m.def("count_kernels_in", [](const std::string& file) {
    if (KernelCounts* const counts = KernelCounts::OfProcess()) {
      Check(counts->ContinueIn(file));
    }
  });
  m.def("set_hooks", [](nb::kwargs given) {
    Hooks& h = hooks();
    h.make_error = nb::object(given["make_error"]);
    h.global_graph = nb::object(given["global_graph"]);
    h.eager_graph = nb::object(given["eager_graph"]);
    h.convert_to_tensor = nb::object(given["convert_to_tensor"]);
    h.to_array = nb::object(given["to_array"]);
    h.feed_to_array = nb::object(given["feed_to_array"]);
    h.as_dtype = nb::object(given["as_dtype"]);
    h.as_shape_list = nb::object(given["as_shape_list"]);
    h.bfloat16 = nb::object(given["bfloat16"]);
    h.make_result_type = nb::object(given["make_result_type"]);
    h.dispatch = nb::object(given["dispatch"]);
    h.expand_fetch = nb::object(given["expand_fetch"]);
    h.expand_feed = nb::object(given["expand_feed"]);
    h.dtypes = nb::cast<nb::list>(given["dtypes"]);
    h.package_dir = nb::cast<std::string>(given["package_dir"]);
  });
}

}  // namespace headrace::python
