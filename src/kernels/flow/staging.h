// Shared by the kernels of staging areas. They find their area by container and
// shared_name (or the node's name). Areas with different limits (elements,
// bytes) are distinct.
#ifndef HEADRACE_KERNELS_FLOW_STAGING_H_
#define HEADRACE_KERNELS_FLOW_STAGING_H_

#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "kernels/lib/element.h"
#include "kernels/lib/waiting_resource.h"

namespace headrace {

struct StagingLimits {
  int64_t capacity = 0;      // elements; 0: any number
  int64_t memory_limit = 0;  // bytes; 0: any number

  bool HasRoom(int64_t elements, int64_t bytes, int64_t more_bytes) const {
    return (capacity == 0 || elements < capacity) &&
           (memory_limit == 0 || bytes + more_bytes <= memory_limit);
  }
  // ResourceExhausted if `bytes` would not fit into an empty area.
  Status CheckSize(int64_t bytes) const {
    if (memory_limit == 0 || bytes <= memory_limit) return OkStatus();
    return errors::ResourceExhausted(
        "Attempted to insert tensors with combined size of '", bytes,
        "' bytes into Staging Area with a memory limit of '", memory_limit,
        "'.");
  }
};

inline int64_t BytesOf(const std::vector<Tensor>& tuple) {
  int64_t bytes = 0;
  for (const Tensor& t : tuple) bytes += static_cast<int64_t>(t.TotalBytes());
  return bytes;
}

// A kernel on an Area: a WaitingResource that is created from its name, the
// component types and the limits.
template <typename Area>
class StagingOp : public AsyncOpKernel {
 public:
  explicit StagingOp(OpKernelConstruction* ctx) : AsyncOpKernel(ctx) {
    OP_REQUIRES_OK(ctx, ctx->GetAttr("container", &container_));
    OP_REQUIRES_OK(ctx, ctx->GetAttr("shared_name", &name_));
    OP_REQUIRES_OK(ctx, ctx->GetAttr("capacity", &limits_.capacity));
    OP_REQUIRES_OK(ctx, ctx->GetAttr("memory_limit", &limits_.memory_limit));
    OP_REQUIRES_OK(ctx, ctx->GetAttr("dtypes", &dtypes_));
    if (name_.empty()) name_ = name();
    expensive_ = false;
  }

  void ComputeAsync(OpKernelContext* ctx, DoneCallback done) final {
    RefPtr<Area> area;
    Status s = Find(ctx, &area);
    if (s.ok()) s = Start(ctx, area, &done);
    OP_REQUIRES_OK_ASYNC(ctx, s, done);
  }

  std::string WaitsFor(OpKernelContext* ctx) const final {
    RefPtr<Area> area;
    if (!Find(ctx, &area).ok()) return "";
    return absl::StrCat(Wanted(ctx), " staging area '", name_, "', which has ",
                        area->size());
  }

 protected:
  // Passes *done to the area. On failure leaves *done alone.
  virtual Status Start(OpKernelContext* ctx, const RefPtr<Area>& area,
                       DoneCallback* done) = 0;
  // For messages: "an element of".
  virtual std::string Wanted(OpKernelContext*) const { return "an element of"; }
  const DataTypeVector& dtypes() const { return dtypes_; }

 private:
  Status Find(OpKernelContext* ctx, RefPtr<Area>* area) const {
    ResourceMgr* mgr = ctx->resource_manager();
    HR_RETURN_IF_ERROR(mgr->LookupOrCreate<Area>(
        container_.empty() ? mgr->default_container() : container_, name_, area,
        [this](RefPtr<Area>* made) {
          *made = MakeRef<Area>(name_, limits_, dtypes_);
          return OkStatus();
        }));
    // Nodes that only count or clear need not state the types.
    if (dtypes_.empty() || (*area)->dtypes().empty() ||
        dtypes_ == (*area)->dtypes()) {
      return OkStatus();
    }
    return errors::InvalidArgument(
        "staging area '", name_, "' has component types ",
        DataTypeSliceString((*area)->dtypes()), ", this node wants ",
        DataTypeSliceString(dtypes_));
  }

  std::string container_, name_;
  StagingLimits limits_;
  DataTypeVector dtypes_;
};

}  // namespace headrace

#endif  // HEADRACE_KERNELS_FLOW_STAGING_H_
