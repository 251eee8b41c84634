// EagerKernel: the kernel of an op with its attrs and input types on a device.
// KernelCache: those of a context, so that an op that is executed again makes
// no kernel.
#ifndef HEADRACE_EAGER_KERNEL_CACHE_H_
#define HEADRACE_EAGER_KERNEL_CACHE_H_

#include <atomic>
#include <memory>
#include <string>

#include "absl/container/flat_hash_map.h"
#include "absl/container/inlined_vector.h"
#include "graph/function_library.h"
#include "headrace/device.h"
#include "headrace/mutex.h"
#include "headrace/op_kernel.h"
#include "headrace/ref_count.h"

namespace headrace {

// What is executed, as its client described it.
struct EagerCall {
  std::string name;  // of an op or a function
  std::shared_ptr<const OpDef> op_def;
  AttrMap attrs;  // without those that follow from the inputs
  absl::InlinedVector<DataType, 4> input_types;
  // The number of inputs of each argument. Empty if the client did not say.
  absl::InlinedVector<int, 4> arg_sizes;
};

// Immutable, except the kernel's own state, which the kernel guards.
struct EagerKernel : RefCounted {
  Device* device = nullptr;
  std::unique_ptr<OpKernel> kernel;
  AsyncOpKernel* async = nullptr;  // null for a synchronous kernel
  bool calls_functions = false;
  bool transfers = false;  // sends or receives through the rendezvous
  // An output may have no value: of a Switch, the one not taken.
  bool may_leave_unset = false;
  // Dropping the kernel would change later results: it has state.
  bool keeps_state = false;
  bool names_functions = false;  // in its attrs
  // When it was last looked up, in look-ups of its cache.
  std::atomic<int64_t> last_use{0};
};

// Fills in attrs that follow from the inputs, and defaults; drops attrs that
// the op does not have, as TensorFlow does. InvalidArgument if an attr is
// missing or has another type, or if inputs and arguments do not fit.
Status CompleteAttrs(const EagerCall& call, AttrMap* attrs);

// Makes the kernel. `functions` are those that an op may name.
Status MakeEagerKernel(const EagerCall& call, Device* device,
                       const std::shared_ptr<FunctionLibrary>& functions,
                       RefPtr<EagerKernel>* out);

// Writes all that decides which kernel a call gets, except the device. False
// if an attr is too large to compare at each call.
bool AppendKernelKey(const EagerCall& call, std::string* key);

// Thread-safe. Bounded: of kernels without state it keeps those that were used
// last.
class KernelCache {
 public:
  RefPtr<EagerKernel> Find(absl::string_view key);
  // Another thread may have been first; then its kernel stays and is returned.
  RefPtr<EagerKernel> Insert(absl::string_view key, RefPtr<EagerKernel> made);
  void Clear();
  // Drops the kernels that name a function.
  void DropFunctionUsers();
  size_t size() const;

 private:
  using Map = absl::flat_hash_map<std::string, RefPtr<EagerKernel>>;
  // Moves the half of the stateless kernels that was not used for longest into
  // `dropped`.
  void Shrink(Map* dropped) REQUIRES(mu_);

  mutable Mutex mu_;
  Map kernels_ GUARDED_BY(mu_);
  int64_t lookups_ GUARDED_BY(mu_) = 0;
  size_t limit_ GUARDED_BY(mu_) = 4096;
};

}  // namespace headrace

#endif  // HEADRACE_EAGER_KERNEL_CACHE_H_
