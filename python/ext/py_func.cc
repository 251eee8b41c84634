// PyFunc and PyFuncStateless: a kernel that calls back into Python, with the
// GIL, which the client's run has let go. The package finds the function by the
// node's token and checks what it returns; an exception becomes the status that
// TensorFlow gives for it, the traceback in its message.
#include "py_func.h"

#include <nanobind/nanobind.h>

#include "absl/cleanup/cleanup.h"
#include "base/mutex.h"
#include "framework/common_shape_fns.h"
#include "framework/op.h"
#include "framework/op_kernel.h"
#include "numpy_convert.h"
#include "py_support.h"

namespace headrace::python {
namespace {

PyObject* caller = nullptr;  // (token, arrays) -> arrays; lives for ever

// The calls in progress. Threads of the library may still make some when Python
// ends, and a thread that asks for the GIL then is lost.
class Calls {
 public:
  bool Enter() {
    MutexLock lock(&mu_);
    if (!ended_) ++count_;
    return !ended_;
  }
  void Leave() {
    MutexLock lock(&mu_);
    --count_;
    left_.SignalAll();
  }
  // Waits, but not for ever, for those that are in Python.
  void End() {
    nb::gil_scoped_release unlocked;
    const absl::Time latest = absl::Now() + absl::Seconds(10);
    MutexLock lock(&mu_);
    ended_ = true;
    while (count_ > 0 && !left_.WaitWithDeadline(&mu_, latest)) {
    }
  }

 private:
  Mutex mu_;
  CondVar left_;
  int count_ GUARDED_BY(mu_) = 0;
  bool ended_ GUARDED_BY(mu_) = false;
};
// Never destroyed: threads may outlive main.
Calls& calls = *new Calls;

REGISTER_OP("PyFunc")
    .Input("input: Tin")
    .Output("output: Tout")
    .Attr("token: string")
    .Attr("Tin: list(type) >= 0")
    .Attr("Tout: list(type) >= 0")
    .SetIsStateful()
    .SetShapeFn(shape_inference::UnknownShape);
REGISTER_OP("PyFuncStateless")
    .Input("input: Tin")
    .Output("output: Tout")
    .Attr("token: string")
    .Attr("Tin: list(type) >= 0")
    .Attr("Tout: list(type) >= 0")
    .SetShapeFn(shape_inference::UnknownShape);

// "ValueError: what\nTraceback ..." and its code.
Status StatusOf(nb::python_error& error) {
  std::string text = nb::type_name(error.type()).c_str();
  absl::StrAppend(&text, ": ", nb::str(error.value()).c_str(), "\n",
                  error.what());
  if (error.matches(PyExc_ValueError) || error.matches(PyExc_TypeError)) {
    return errors::InvalidArgument(text);
  }
  if (error.matches(PyExc_StopIteration)) return errors::OutOfRange(text);
  if (error.matches(PyExc_MemoryError)) return errors::ResourceExhausted(text);
  if (error.matches(PyExc_NotImplementedError)) {
    return errors::Unimplemented(text);
  }
  return errors::Unknown(text);
}

class PyFuncOp : public OpKernel {
 public:
  explicit PyFuncOp(OpKernelConstruction* ctx) : OpKernel(ctx) {
    OP_REQUIRES_OK(ctx, ctx->GetAttr("token", &token_));
    OP_REQUIRES_OK(ctx, ctx->GetAttr("Tout", &types_));
  }

  void Compute(OpKernelContext* ctx) override {
    OP_REQUIRES(ctx, caller != nullptr && calls.Enter(),
                errors::FailedPrecondition("Python is not there"));
    const auto leave = absl::MakeCleanup([] { calls.Leave(); });
    nb::gil_scoped_acquire locked;
    try {
      nb::list arguments;
      for (int i = 0; i < ctx->num_inputs(); ++i) {
        arguments.append(ToNumpy(ctx->input(i)));
      }
      nb::object results = nb::handle(caller)(token_.c_str(), arguments);
      size_t i = 0;
      for (nb::handle array : results) {
        if (i == types_.size()) break;
        ctx->set_output(static_cast<int>(i),
                        ToTensor(array, types_[i], Sharing::kCopy));
        ++i;
      }
    } catch (nb::python_error& error) {
      ctx->CtxFailure(StatusOf(error));
    } catch (const std::exception& error) {
      ctx->CtxFailure(errors::Unknown(error.what()));
    }
  }

 private:
  std::string token_;
  DataTypeVector types_;
};
REGISTER_KERNEL_BUILDER(Name("PyFunc").Device(DEVICE_CPU), PyFuncOp);
REGISTER_KERNEL_BUILDER(Name("PyFuncStateless").Device(DEVICE_CPU), PyFuncOp);

}  // namespace

void RegisterPyFunc(nb::module_& m) {
  m.def("end_py_functions", [] { calls.End(); });
  m.def("set_py_function_caller",
        [](nb::object function) { caller = function.release().ptr(); });
}

}  // namespace headrace::python
