// KernelTraits: what a kernel says of itself. It is asked once, when the kernel
// is made (OpKernel::DescribeTraits), and then holds for all calls: plans and
// the executor read fields, and never ask for the class of a kernel.
#ifndef HEADRACE_KERNEL_TRAITS_H_
#define HEADRACE_KERNEL_TRAITS_H_

namespace headrace {

class StoredConstant;        // framework/tensor/stored_constant.h
class StoredConstantReader;  // framework/tensor/stored_constant.h
class TemporaryMemory;       // framework/kernel/temporary_memory.h

// The pointers are parts of the kernel and live as long as it.
struct KernelTraits {
  // A call may take longer than the hop to another thread, some microseconds.
  // The executor runs other kernels on the thread on which they became ready.
  bool is_expensive = true;
  // An AsyncOpKernel that calls functions of the graph: its ComputeAsync may
  // compute for long before it returns.
  bool calls_functions = false;
  // A call writes nothing but its outputs, so a cancelled run may return while
  // the call goes on. Unless the kernel says so itself: true if the op is not
  // stateful and no input is a reference or a resource.
  bool may_outlast_run = false;
  // Null: a call takes no memory that counts beside inputs and outputs.
  TemporaryMemory* temporary_memory = nullptr;
  // Null: not a Const.
  const StoredConstant* stored_constant = nullptr;
  // Null: constants that the kernel reads have to be aligned.
  const StoredConstantReader* stored_constant_reader = nullptr;
};

}  // namespace headrace

#endif  // HEADRACE_KERNEL_TRAITS_H_
