// SessionTensors: what GetSessionHandle keeps and GetSessionTensor reads. A
// tensor is known by its handle, "<node>;<id>;<device>". A step puts what it
// keeps into one of its own; the session takes over what was fetched, so that
// a handle that nobody got keeps nothing alive.
//
// A session gives all its devices the same one, under kContainer and kName.
// Thread-safe.
#ifndef HEADRACE_FRAMEWORK_KERNEL_SESSION_TENSORS_H_
#define HEADRACE_FRAMEWORK_KERNEL_SESSION_TENSORS_H_

#include <string>
#include <utility>

#include "absl/container/flat_hash_map.h"
#include "absl/strings/str_cat.h"
#include "headrace/mutex.h"
#include "headrace/resource_handle.h"
#include "headrace/tensor.h"

namespace headrace {

class SessionTensors : public ResourceBase {
 public:
  static constexpr char kContainer[] = "_session";
  static constexpr char kName[] = "tensors";

  std::string DebugString() const override { return "tensors of a session"; }

  std::string NewHandle(const std::string& node, const std::string& device) {
    MutexLock lock(&mu_);
    return absl::StrCat(node, ";", next_id_++, ";", device);
  }
  void Put(const std::string& handle, Tensor value) {
    MutexLock lock(&mu_);
    values_.insert_or_assign(handle, std::move(value));
  }
  // InvalidArgument if there is none.
  Status Get(const std::string& handle, Tensor* value) const {
    MutexLock lock(&mu_);
    auto it = values_.find(handle);
    if (it == values_.end()) return NotThere(handle);
    *value = it->second;
    return OkStatus();
  }
  Status Delete(const std::string& handle) {
    Tensor gone;  // after the lock
    MutexLock lock(&mu_);
    auto it = values_.find(handle);
    if (it == values_.end()) return NotThere(handle);
    gone = std::move(it->second);
    values_.erase(it);
    return OkStatus();
  }

 private:
  static Status NotThere(const std::string& handle) {
    return errors::InvalidArgument("The tensor with handle '", handle,
                                   "' is not in the session store.");
  }

  mutable Mutex mu_;
  int64_t next_id_ GUARDED_BY(mu_) = 0;
  absl::flat_hash_map<std::string, Tensor> values_ GUARDED_BY(mu_);
};

}  // namespace headrace

#endif  // HEADRACE_FRAMEWORK_KERNEL_SESSION_TENSORS_H_
