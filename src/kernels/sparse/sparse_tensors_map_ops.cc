// AddSparseToTensorsMap, AddManySparseToTensorsMap and
// TakeManySparseFromTensorsMap: keep sparse tensors outside of the graph under
// int64 handles, so that queues can carry them. Taking a tensor removes it.
#include <string>
#include <vector>

#include "framework/tensor/borrowed_buffer.h"
#include "kernels/lib/growing_table.h"
#include "kernels/sparse/sparse_batch.h"

namespace headrace {
namespace {

// Thread-safe.
class SparseTensorsMap : public ResourceBase {
 public:
  using Entry = std::shared_ptr<const SparseTriple>;

  explicit SparseTensorsMap(std::string name) : name_(std::move(name)) {}
  std::string DebugString() const override {
    return StrCat("A SparseTensorsMap named ", name_);
  }

  int64_t Add(Entry entry) {
    MutexLock lock(&mu_);
    InsertIntoMap(&entries_, true, next_, std::move(entry));
    return next_++;
  }
  // All of them, or InvalidArgument and none.
  Status Take(absl::Span<const int64_t> handles, std::vector<Entry>* out) {
    MutexLock lock(&mu_);
    for (int64_t h : handles) {
      const auto at = entries_.find(h);
      if (at == entries_.end()) {
        return errors::InvalidArgument("Unable to find SparseTensor: ", h,
                                       " in map: ", name_);
      }
      out->push_back(at->second);
    }
    for (int64_t h : handles) entries_.erase(h);
    return OkStatus();
  }

 private:
  const std::string name_;
  Mutex mu_;
  int64_t next_ GUARDED_BY(mu_) = 0;
  GrowingMap<int64_t, Entry> entries_ GUARDED_BY(mu_);
};

class TensorsMapOp : public OpKernel {
 public:
  explicit TensorsMapOp(OpKernelConstruction* ctx) : OpKernel(ctx) {
    OP_REQUIRES_OK(ctx, ctx->GetAttr("container", &container_));
    OP_REQUIRES_OK(ctx, ctx->GetAttr("shared_name", &shared_name_));
  }

 protected:
  Status GetMap(OpKernelContext* ctx, RefPtr<SparseTensorsMap>* map) {
    ResourceMgr* mgr = ctx->resource_manager();
    const std::string& container =
        container_.empty() ? mgr->default_container() : container_;
    const std::string& map_name = shared_name_.empty() ? name() : shared_name_;
    return mgr->LookupOrCreate<SparseTensorsMap>(
        container, map_name, map, [&](RefPtr<SparseTensorsMap>* made) {
          *made = MakeRef<SparseTensorsMap>(map_name);
          return OkStatus();
        });
  }

 private:
  std::string container_, shared_name_;
};

class AddSparseToTensorsMapOp : public TensorsMapOp {
 public:
  using TensorsMapOp::TensorsMapOp;
  void Compute(OpKernelContext* ctx) override {
    SparseView s;  // for its checks
    OP_REQUIRES_OK(ctx, ReadSparseInputs(*ctx, 0, "sparse", &s));
    RefPtr<SparseTensorsMap> map;
    OP_REQUIRES_OK(ctx, GetMap(ctx, &map));
    auto entry = std::make_shared<SparseTriple>(
        SparseTriple{ctx->input(0), ctx->input(1), ctx->input(2)});
    for (Tensor* t : {&entry->indices, &entry->values, &entry->shape}) {
      OP_REQUIRES_OK(ctx, OwnBytes(t));
    }
    Tensor* out = nullptr;
    OP_REQUIRES_OK(ctx, ctx->allocate_output(0, TensorShape(), &out));
    out->scalar<int64_t>() = map->Add(std::move(entry));
  }
};
REGISTER_KERNEL_BUILDER(Name("AddSparseToTensorsMap").Device(DEVICE_CPU),
                        AddSparseToTensorsMapOp);

class AddManySparseToTensorsMapOp : public TensorsMapOp {
 public:
  using TensorsMapOp::TensorsMapOp;
  void Compute(OpKernelContext* ctx) override {
    SparseView s;
    OP_REQUIRES_OK(ctx, ReadSparseInputs(*ctx, 0, "sparse", &s));
    const int64_t rows = s.rank > 0 ? s.dims[0] : 0;
    // The map needs about this much for an entry: refuse what cannot fit
    // before adding any.
    constexpr int64_t kEntryBytes = 64;
    Tensor room;
    OP_REQUIRES_OK(ctx,
                   ctx->allocate_temp(DT_UINT8, {rows, kEntryBytes}, &room));
    room = Tensor();
    Tensor* out = nullptr;
    OP_REQUIRES_OK(ctx, ctx->allocate_output(0, {rows}, &out));
    RefPtr<SparseTensorsMap> map;
    OP_REQUIRES_OK(ctx, GetMap(ctx, &map));
    OP_REQUIRES_OK(
        ctx,
        UnbatchSparse(
            ctx, s,
            [&](int64_t row, const std::shared_ptr<const SparseTriple>& part) {
              out->data<int64_t>()[row] = map->Add(part);
              return OkStatus();
            }));
  }
};
REGISTER_KERNEL_BUILDER(Name("AddManySparseToTensorsMap").Device(DEVICE_CPU),
                        AddManySparseToTensorsMapOp);

class TakeManySparseFromTensorsMapOp : public TensorsMapOp {
 public:
  explicit TakeManySparseFromTensorsMapOp(OpKernelConstruction* ctx)
      : TensorsMapOp(ctx) {
    OP_REQUIRES_OK(ctx, ctx->GetAttr("dtype", &dtype_));
  }
  void Compute(OpKernelContext* ctx) override {
    const Tensor& handles = ctx->input(0);
    OP_REQUIRES(ctx, handles.dims() == 1,
                errors::InvalidArgument(
                    "sparse_handles should be a vector but received shape ",
                    handles.shape().DebugString()));
    RefPtr<SparseTensorsMap> map;
    OP_REQUIRES_OK(ctx, GetMap(ctx, &map));
    std::vector<SparseTensorsMap::Entry> entries;
    OP_REQUIRES_OK(ctx, map->Take(handles.span<int64_t>(), &entries));
    OP_REQUIRES_OK(ctx,
                   BatchSparse(ctx, {handles.NumElements()}, entries, dtype_));
  }

 private:
  DataType dtype_ = DT_INVALID;
};
REGISTER_KERNEL_BUILDER(Name("TakeManySparseFromTensorsMap").Device(DEVICE_CPU),
                        TakeManySparseFromTensorsMapOp);

}  // namespace
}  // namespace headrace
