// ResourceHandle: the element of a DT_RESOURCE tensor; names a resource in a
// device's ResourceMgr, or holds one directly (a ref-counting handle).
#ifndef HEADRACE_RESOURCE_HANDLE_H_
#define HEADRACE_RESOURCE_HANDLE_H_

#include <string>
#include <typeinfo>
#include <utility>
#include <vector>

#include "headrace/ref_count.h"
#include "headrace/tensor_shape.h"
#include "headrace/types.h"

namespace headrace {

// State that outlives a step: a variable, a queue, a table. Reference counted;
// subclasses say how they are synchronised.
class ResourceBase : public RefCounted {
 public:
  virtual std::string DebugString() const = 0;
  virtual int64_t MemoryUsed() const { return 0; }
};

struct DtypeAndShape {
  DataType dtype = DT_INVALID;
  PartialTensorShape shape;
};

class ResourceHandle {
 public:
  std::string device;
  std::string container;
  std::string name;
  uint64_t hash_code = 0;       // of the C++ type of the resource
  std::string maybe_type_name;  // for messages
  std::vector<DtypeAndShape> dtypes_and_shapes;
  // Set for a handle that owns its resource instead of naming it.
  RefPtr<ResourceBase> resource;

  std::string DebugString() const {
    return absl::StrCat("ResourceHandle(device=\"", device, "\", container=\"",
                        container, "\", name=\"", name, "\", type=\"",
                        maybe_type_name, "\")");
  }
};

}  // namespace headrace

#endif  // HEADRACE_RESOURCE_HANDLE_H_
