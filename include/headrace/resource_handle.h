// ResourceHandle: the element of a DT_RESOURCE tensor. It names a resource in a
// device's ResourceMgr, or owns a resource directly.
//
// A value type, thread-compatible.
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

// State that outlives a step: a variable, a queue, a table. Reference counted.
// Each subclass states how it is synchronised.
class ResourceBase : public RefCounted {
 public:
  virtual std::string DebugString() const = 0;
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
  uint64_t hash_code = 0;       // of the resource's C++ type
  std::string maybe_type_name;  // for messages
  std::vector<DtypeAndShape> dtypes_and_shapes;
  // Set if the handle owns its resource. Null if it names the resource.
  RefPtr<ResourceBase> resource;

  std::string DebugString() const {
    return absl::StrCat("ResourceHandle(device=\"", device, "\", container=\"",
                        container, "\", name=\"", name, "\", type=\"",
                        maybe_type_name, "\")");
  }
};

}  // namespace headrace

#endif  // HEADRACE_RESOURCE_HANDLE_H_
