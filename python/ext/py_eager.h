// Eager execution for Python: EagerTensor, the context in which ops are
// executed, and the tapes that record them.
//
// A thread executes eagerly while its default graph is one whose `eager` is
// set: that graph holds the scopes (devices, names), and never has a node.
//
// Call everything here with the GIL held.
#ifndef HEADRACE_PYTHON_EXT_PY_EAGER_H_
#define HEADRACE_PYTHON_EXT_PY_EAGER_H_

#include <nanobind/nanobind.h>

#include <memory>
#include <vector>

#include "eager/context.h"
#include "py_graph.h"

namespace headrace::python {

namespace nb = nanobind;

// A value that is there. As a PyTensor it has no operation.
struct PyEagerTensor : PyTensor {
  RefPtr<TensorHandle> handle;
  int64_t id = 0;
  // A handle of a variable that tapes watch when it is used.
  bool is_trainable = false;
  // The resource goes with the tensor.
  bool owns_resource = false;
  // Of a dataset: the op that made it.
  std::shared_ptr<const EagerCall> made_by;
  std::vector<nb::object> made_from;

  ~PyEagerTensor();
};

// The name by which an op makes a resource that nobody else has.
inline constexpr char kAnonymousName[] = "cd2c89b7-88b7-44c8-ad83-06c2a9158347";

// Null if `o` is none. Never raises.
PyEagerTensor* AsEager(nb::handle o);
nb::object EagerTensorObject(RefPtr<TensorHandle> handle);
nb::object EagerTensorObject(Tensor value);

// Executes the op and tells the tapes of this thread. `inputs` are
// EagerTensors. Raises the error of the op, with `name` if that is not empty.
std::vector<nb::object> ExecuteEagerly(const std::shared_ptr<EagerCall>& call,
                                       const std::string& device,
                                       const std::string& name,
                                       const std::vector<nb::object>& inputs);

// Raises RuntimeError: a graph that is not of a function takes no values.
[[noreturn]] void RefuseEagerTensor();

void RegisterEager(nb::module_& m);

}  // namespace headrace::python

#endif  // HEADRACE_PYTHON_EXT_PY_EAGER_H_
