#include "session/session_handles.h"

#include <string>
#include <utility>

#include "headrace/resource_handle.h"

namespace headrace {

bool IsSessionHandle(const Endpoint& e) {
  return e.node->node_class() == OpClass::kSessionHandle;
}

void KeepSessionTensor(const Tensor& handle, ResourceMgr* step,
                       SessionTensors* session) {
  const std::string name = handle.dtype() == DT_RESOURCE
                               ? handle.scalar<ResourceHandle>().name
                               : std::string(handle.scalar<tstring>());
  RefPtr<SessionTensors> from;
  Tensor value;
  if (step->Lookup<SessionTensors>(SessionTensors::kContainer,
                                   SessionTensors::kName, &from)
          .ok() &&
      from->Get(name, &value).ok()) {
    session->Put(name, std::move(value));
  }
}

}  // namespace headrace
