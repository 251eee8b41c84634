// SharedKernels: the kernels with state of one session. All steps, or
// registered graphs, that have a node with state use one kernel for it, because
// the state is in the kernel (a random generator, the handle of a queue).
#ifndef HEADRACE_RUNTIME_SHARED_KERNELS_H_
#define HEADRACE_RUNTIME_SHARED_KERNELS_H_

#include <memory>
#include <string>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "headrace/graph.h"
#include "headrace/mutex.h"
#include "headrace/op_kernel.h"

namespace headrace {

// Thread-safe.
class SharedKernels {
 public:
  // The kernel of `n` on `device`. A node with state gets the kernel that the
  // same node got before: the same name, op, types and attrs. Passes, functions
  // and masters may give a name to different nodes in different steps; each of
  // these nodes gets a kernel of its own. Attrs whose names begin with "_" do
  // not count, except "_kernel". Any other node gets a new kernel. Errors:
  // those of CreateNodeKernel.
  Status FindOrCreate(Device* device, const Node& n,
                      std::shared_ptr<OpKernel>* kernel);

  // Drops this object's references. Call it when no step is compiled any more.
  void Clear();

 private:
  struct Entry {
    std::shared_ptr<const NodeDef> def;
    DataTypeVector input_types, output_types;
    std::shared_ptr<OpKernel> kernel;
  };
  static bool Serves(const Entry& e, const Node& n);
  std::shared_ptr<OpKernel> Find(const std::string& key, const Node& n) const
      REQUIRES(mu_);

  mutable Mutex mu_;  // not held while a kernel is made
  // By device and node name.
  absl::flat_hash_map<std::string, std::vector<Entry>> kernels_ GUARDED_BY(mu_);
};

}  // namespace headrace

#endif  // HEADRACE_RUNTIME_SHARED_KERNELS_H_
