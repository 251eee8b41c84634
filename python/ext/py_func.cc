// PyFunc and PyFuncStateless: a kernel that calls back into Python, with the
// GIL, which the client's run has let go. The package finds the function by the
// node's token and checks what it returns; an exception becomes the status that
// TensorFlow gives for it, the traceback in its message.
#include "py_func.h"

#include <nanobind/nanobind.h>
#include <nanobind/stl/pair.h>
#include <nanobind/stl/string.h>
#include <pthread.h>

#include <atomic>
#include <cstdint>
#include <string>
#include <utility>

#include "absl/cleanup/cleanup.h"
#include "framework/shape_fns/common_shape_fns.h"
#include "gil.h"
#include "headrace/op.h"
#include "headrace/op_kernel.h"
#include "interrupt.h"
#include "numpy_convert.h"
#include "py_support.h"

namespace headrace::python {
namespace {

PyObject* caller = nullptr;  // (token, arrays) -> arrays; lives for ever

// How many functions this thread is in, one inside the other.
thread_local int depth_here = 0;
// Runs that functions have started and wait for, of all threads: a function
// that runs itself without end may take a new thread for each run.
constexpr int kMaxNestedRuns = 256;
std::atomic<int> nested_runs{0};
// The bytes of stack that a run may need, including the functions that it
// calls.
constexpr size_t kStackReserve = 256 << 10;

// Bytes left of this thread's stack; a large number if that is not known.
size_t StackLeft() {
  thread_local const char* const end = []() -> const char* {
    pthread_attr_t attr;
    void* low = nullptr;
    size_t size = 0, guard = 0;
    if (pthread_getattr_np(pthread_self(), &attr) != 0) return nullptr;
    pthread_attr_getstack(&attr, &low, &size);
    pthread_attr_getguardsize(&attr, &guard);
    pthread_attr_destroy(&attr);
    return static_cast<const char*>(low) + guard;
  }();
  const char here = 0;
  return end == nullptr || &here < end ? SIZE_MAX
                                       : static_cast<size_t>(&here - end);
}

REGISTER_OP("PyFunc")
    .Input("input: Tin")
    .Output("output: Tout")
    .Attr("token: string")
    .Attr("Tin: list(type) >= 0")
    .Attr("Tout: list(type) >= 0")
    .SetIsStateful()
    .SetShapeFn(shape_inference::UnknownShape)
    .RunsCode();
REGISTER_OP("PyFuncStateless")
    .Input("input: Tin")
    .Output("output: Tout")
    .Attr("token: string")
    .Attr("Tin: list(type) >= 0")
    .Attr("Tout: list(type) >= 0")
    .SetShapeFn(shape_inference::UnknownShape)
    .RunsCode();

// The beginning and the end of a text that is longer than that. An error of a
// run that a function has started stands twice in the function's own.
std::string Shortened(const std::string& text) {
  constexpr size_t kHead = 12288, kTail = 4096;
  if (text.size() <= kHead + kTail) return text;
  return absl::StrCat(text.substr(0, kHead), "\n[...]\n",
                      text.substr(text.size() - kTail));
}

// "ValueError: what\nTraceback ..." and its code.
Status StatusOf(nb::python_error& error) {
  std::string text = nb::type_name(error.type()).c_str();
  absl::StrAppend(&text, ": ", Shortened(nb::str(error.value()).c_str()), "\n",
                  Shortened(error.what()));
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
    const KernelCall python(ctx->device());
    OP_REQUIRES(ctx, caller != nullptr && python.ok(),
                errors::FailedPrecondition(
                    "a Python function is called, but Python has ended"));
    ++depth_here;
    const auto leave = absl::MakeCleanup([] { --depth_here; });
    try {
      nb::list arguments;
      for (int i = 0; i < ctx->num_inputs(); ++i) {
        arguments.append(ToNumpy(ctx->input(i)));
      }
      nb::object results = CallPython(
          [&] { return nb::handle(caller)(token_.c_str(), arguments); });
      if (nb::isinstance<nb::tuple>(results)) {
        const auto [unsupported, what] =
            nb::cast<std::pair<bool, std::string>>(results);
        ctx->CtxFailure(unsupported ? errors::Internal(what)
                                    : errors::InvalidArgument(what));
        return;
      }
      size_t i = 0;
      for (nb::handle array : results) {
        if (i == types_.size()) break;
        ctx->set_output(static_cast<int>(i),
                        ToTensor(array, types_[i], Sharing::kCopy));
        ++i;
      }
    } catch (nb::python_error& error) {
      InterruptScope::Note(error);
      ctx->CtxFailure(CallPython([&] { return StatusOf(error); }));
    } catch (const std::exception& error) {
      ctx->CtxFailure(errors::Unknown(error.what()));
    }
  }

 protected:
  // Nobody can tell what the function changes, but it may also never end: a run
  // does not wait for it.
  void DescribeTraits(KernelTraits* traits) override {
    traits->may_outlast_run = true;
  }

 private:
  std::string token_;
  DataTypeVector types_;
};
REGISTER_KERNEL_BUILDER(Name("PyFunc").Device(DEVICE_CPU), PyFuncOp);
REGISTER_KERNEL_BUILDER(Name("PyFuncStateless").Device(DEVICE_CPU), PyFuncOp);

}  // namespace

NestedRun::NestedRun() : nested_(depth_here > 0) {
  if (!nested_) return;
  if (nested_runs.fetch_add(1) < kMaxNestedRuns &&
      StackLeft() > kStackReserve) {
    return;
  }
  nested_runs.fetch_sub(1);
  PyErr_SetString(PyExc_RecursionError,
                  "too many runs that Python functions in runs have started");
  throw nb::python_error();
}

NestedRun::~NestedRun() {
  if (nested_) nested_runs.fetch_sub(1);
}

void RegisterPyFunc(nb::module_& m) {
  m.def("set_py_function_caller",
        [](nb::object function) { caller = function.release().ptr(); });
}

}  // namespace headrace::python
