// EdgeKey: the rendezvous key of an edge, as its _Send and its _Recv make it
// from their attrs. Thread-safe after Init.
#ifndef HEADRACE_FRAMEWORK_KERNEL_EDGE_KEY_H_
#define HEADRACE_FRAMEWORK_KERNEL_EDGE_KEY_H_

#include <string>

#include "absl/strings/str_cat.h"
#include "framework/kernel/rendezvous.h"
#include "headrace/op_kernel.h"

namespace headrace {

// The key without frame and iteration, which only a call knows; for the
// outermost frame it is complete.
class EdgeKey {
 public:
  Status Init(OpKernelConstruction* ctx) {
    HR_RETURN_IF_ERROR(ctx->GetAttr("send_device", &send_device_));
    HR_RETURN_IF_ERROR(ctx->GetAttr("recv_device", &recv_device_));
    HR_RETURN_IF_ERROR(ctx->GetAttr("tensor_name", &tensor_name_));
    int64_t incarnation;
    HR_RETURN_IF_ERROR(ctx->GetAttr("send_device_incarnation", &incarnation));
    incarnation_ = static_cast<uint64_t>(incarnation);
    root_key_ = Rendezvous::CreateKey(send_device_, incarnation_, recv_device_,
                                      tensor_name_, 0, 0);
    return OkStatus();
  }
  std::string Key(const OpKernelContext* ctx) const {
    const uint64_t frame = ctx->params().frame_id;
    const int64_t iter = ctx->params().frame_iter;
    if (frame == 0 && iter == 0) return root_key_;
    return Rendezvous::CreateKey(send_device_, incarnation_, recv_device_,
                                 tensor_name_, frame, iter);
  }
  std::string Describe() const {
    return absl::StrCat("tensor '", tensor_name_, "' from ", send_device_);
  }

 private:
  std::string send_device_, recv_device_, tensor_name_, root_key_;
  uint64_t incarnation_ = 0;
};

}  // namespace headrace

#endif  // HEADRACE_FRAMEWORK_KERNEL_EDGE_KEY_H_
