// Counts which kernels ran, for the page on what the tests cover
// (tools/coverage.py).
//
// A process counts if HEADRACE_COUNT_KERNELS names a file when the library is
// loaded, and appends its counts to that file when it exits. Each line has,
// between tabs: the program, the op, the type of the device, the class of the
// kernel, the types that the node's attrs name ("T=float Tidx=int32"), the
// algorithm that the kernel chose (empty for most), the number of calls.
//
// Calls that fail are not counted: they say nothing about values.
#ifndef HEADRACE_FRAMEWORK_KERNEL_KERNEL_COUNTS_H_
#define HEADRACE_FRAMEWORK_KERNEL_KERNEL_COUNTS_H_

#include <cstdint>
#include <string>

#include "absl/container/flat_hash_map.h"
#include "headrace/mutex.h"
#include "headrace/status.h"

namespace headrace {

class OpKernel;
class OpKernelContext;

// Thread-safe.
class KernelCounts {
 public:
  // Those of this process. Null, from its start to its end, if it does not
  // count.
  static KernelCounts* OfProcess() { return of_process_; }

  explicit KernelCounts(std::string file);
  ~KernelCounts();
  KernelCounts(const KernelCounts&) = delete;
  KernelCounts& operator=(const KernelCounts&) = delete;

  // Before the kernel is called: `ctx` still names the algorithm of the call
  // before it.
  static void Begin(OpKernelContext* ctx);
  // After the call. One that finds no memory is not counted.
  void Add(const OpKernel& kernel, const OpKernelContext& ctx) noexcept;

  // Appends the counts to the file and starts again from zero.
  Status Write();
  // Write, then `file` takes what follows.
  Status ContinueIn(std::string file);

 private:
  static KernelCounts* Start();
  // The child of a fork does not report what its parent counted.
  void ForgetParents() REQUIRES(mu_);
  Status WriteLocked() REQUIRES(mu_);

  static KernelCounts* const of_process_;
  Mutex mu_;
  std::string file_ GUARDED_BY(mu_);
  uint32_t generation_ GUARDED_BY(mu_);  // see ForkGeneration
  // By the line without the program and the number.
  absl::flat_hash_map<std::string, int64_t> counts_ GUARDED_BY(mu_);
};

}  // namespace headrace

#endif  // HEADRACE_FRAMEWORK_KERNEL_KERNEL_COUNTS_H_
