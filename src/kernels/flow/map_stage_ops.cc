// Staging maps: tuples of tensors put in and taken out by key, whole or in
// parts. A tuple can be taken when all its components have come; it is gone
// when all have been taken. MapStage waits for room, which incomplete tuples do
// not take up; the others wait for a key, MapUnstageNoKey for any: of an
// ordered map the smallest.
#include <map>
#include <unordered_map>

#include "framework/tensor/borrowed_buffer.h"
#include "kernels/flow/staging.h"

namespace headrace {
namespace {

// A component that has not come, or is gone, is not initialized.
using Tuple = std::vector<Tensor>;

// Thread-safe.
template <bool kOrdered>
class StagingMap : public WaitingResource {
 public:
  StagingMap(std::string name, StagingLimits limits, const DataTypeVector&)
      : name_(std::move(name)), limits_(limits) {}

  std::string DebugString() const override {
    return absl::StrCat("staging area '", name_, "'");
  }
  // Only MapStage nodes know all types: they are not compared between nodes.
  DataTypeVector dtypes() const { return {}; }
  int64_t size() {
    MutexLock lock(&mu_);
    return static_cast<int64_t>(complete_.size());
  }
  int64_t incomplete_size() {
    MutexLock lock(&mu_);
    return static_cast<int64_t>(incomplete_.size());
  }

  // `parts` are the components `indices` of a tuple of `dtypes`.
  void Put(OpKernelContext* ctx, int64_t key, DimVector indices, Tuple parts,
           const DataTypeVector& dtypes, AsyncOpKernel::DoneCallback done) {
    Run(
        ctx,
        [=, this, indices = std::move(indices), parts = std::move(parts)]()
            REQUIRES(mu_) mutable {
              bool waits = false;
              const Status s = TryPut(key, indices, parts, dtypes, &waits);
              if (!s.ok()) ctx->CtxFailure(s);
              return !waits;
            },
        std::move(done));
  }

  // Outputs from `first` on get the components `indices`, which stay if `peek`.
  void Get(OpKernelContext* ctx, int64_t key, DimVector indices, bool peek,
           AsyncOpKernel::DoneCallback done) {
    Run(
        ctx,
        [=, this, indices = std::move(indices)]() REQUIRES(mu_) {
          auto it = complete_.find(key);
          if (it == complete_.end()) return false;
          const Status s = TakeParts(ctx, 0, it, indices, peek);
          if (!s.ok()) ctx->CtxFailure(s);
          return true;
        },
        std::move(done));
  }
  void GetAny(OpKernelContext* ctx, DimVector indices,
              AsyncOpKernel::DoneCallback done) {
    Run(
        ctx,
        [=, this, indices = std::move(indices)]() REQUIRES(mu_) {
          auto it = complete_.begin();
          if (it == complete_.end()) return false;
          ctx->set_output(0, Tensor::Scalar<int64_t>(it->first));
          const Status s = TakeParts(ctx, 1, it, indices, false);
          if (!s.ok()) ctx->CtxFailure(s);
          return true;
        },
        std::move(done));
  }
  void Clear(OpKernelContext* ctx, AsyncOpKernel::DoneCallback done) {
    Run(
        ctx,
        [this]() REQUIRES(mu_) {
          complete_.clear();
          incomplete_.clear();
          bytes_ = 0;
          return true;
        },
        std::move(done));
  }

 private:
  using Map = std::conditional_t<kOrdered, std::map<int64_t, Tuple>,
                                 std::unordered_map<int64_t, Tuple>>;

  // Nothing has changed if *waits or on error.
  Status TryPut(int64_t key, const DimVector& indices, const Tuple& parts,
                const DataTypeVector& dtypes, bool* waits) REQUIRES(mu_) {
    auto it = incomplete_.find(key);
    Tuple tuple(dtypes.size());
    if (it != incomplete_.end()) tuple = it->second;
    if (tuple.size() != dtypes.size()) {
      return errors::InvalidArgument(
          "key '", key, "' of ", DebugString(), " has a tuple of ",
          tuple.size(), " components, this node's has ", dtypes.size());
    }
    for (size_t i = 0; i < indices.size(); ++i) {
      if (indices[i] < 0 || indices[i] >= static_cast<int64_t>(tuple.size())) {
        return OutOfBounds(key, indices[i], tuple.size());
      }
      const size_t index = static_cast<size_t>(indices[i]);
      if (parts[i].dtype() != dtypes[index]) {
        return errors::InvalidArgument("component ", index, " of ",
                                       DebugString(), " is ",
                                       DataTypeString(dtypes[index]), ", got ",
                                       DataTypeString(parts[i].dtype()));
      }
      if (tuple[index].IsInitialized()) {
        return errors::InvalidArgument(
            "The tensor for index '", index, "' for key '", key,
            "' was already initialized '", dtypes.size(), "'.");
      }
      tuple[index] = parts[i];
    }
    for (const Tensor& t : tuple) {
      if (t.IsInitialized()) continue;
      incomplete_.insert_or_assign(key, std::move(tuple));
      return OkStatus();
    }
    const int64_t bytes = BytesOf(tuple);
    HR_RETURN_IF_ERROR(limits_.CheckSize(bytes));
    // A key that is there already keeps what it has, as in TensorFlow.
    if (complete_.find(key) != complete_.end()) return OkStatus();
    if (!limits_.HasRoom(static_cast<int64_t>(complete_.size()), bytes_,
                         bytes)) {
      *waits = true;
      return OkStatus();
    }
    if (it != incomplete_.end()) incomplete_.erase(it);
    complete_.emplace(key, std::move(tuple));
    bytes_ += bytes;
    return OkStatus();
  }

  Status TakeParts(OpKernelContext* ctx, int first,
                   typename Map::iterator entry, const DimVector& indices,
                   bool peek) REQUIRES(mu_) {
    const int64_t key = entry->first;
    Tuple& tuple = entry->second;
    if (first + static_cast<int>(indices.size()) != ctx->num_outputs()) {
      return errors::InvalidArgument(indices.size(), " indices for ",
                                     ctx->num_outputs() - first, " outputs");
    }
    for (size_t i = 0; i < indices.size(); ++i) {
      if (indices[i] < 0 || indices[i] >= static_cast<int64_t>(tuple.size())) {
        return OutOfBounds(key, indices[i], tuple.size());
      }
      const Tensor& t = tuple[static_cast<size_t>(indices[i])];
      if (!t.IsInitialized()) {
        return errors::InvalidArgument("Tensor at index '", indices[i],
                                       "' for key '", key,
                                       "' has already been removed.");
      }
      const int output = first + static_cast<int>(i);
      if (t.dtype() != ctx->expected_output_dtype(output)) {
        return errors::InvalidArgument(
            "component ", indices[i], " of key '", key, "' is ",
            DataTypeString(t.dtype()), ", this node wants ",
            DataTypeString(ctx->expected_output_dtype(output)));
      }
    }
    for (size_t i = 0; i < indices.size(); ++i) {
      Tensor& t = tuple[static_cast<size_t>(indices[i])];
      ctx->set_output(first + static_cast<int>(i), t);
      if (peek) continue;
      bytes_ -= static_cast<int64_t>(t.TotalBytes());
      t = Tensor();
    }
    bool empty = true;
    for (const Tensor& t : tuple) empty &= !t.IsInitialized();
    if (empty) complete_.erase(entry);
    return OkStatus();
  }

  static Status OutOfBounds(int64_t key, int64_t index, size_t size) {
    return errors::InvalidArgument("Index '", index, "' for key '", key,
                                   "' was out of bounds '", size, "'.");
  }

  const std::string name_;
  const StagingLimits limits_;
  Map complete_ GUARDED_BY(mu_);
  Map incomplete_ GUARDED_BY(mu_);
  int64_t bytes_ GUARDED_BY(mu_) = 0;  // of complete_
};

// Input i: which components; each at most once, in order.
Status ReadComponents(OpKernelContext* ctx, int i, DimVector* out) {
  HR_RETURN_IF_ERROR(ReadIntegerVector(ctx->input(i), "indices", out));
  for (size_t k = 1; k < out->size(); ++k) {
    if ((*out)[k - 1] >= (*out)[k]) {
      return errors::InvalidArgument("Indices are not strictly ordered");
    }
  }
  return OkStatus();
}

template <typename Map>
class MapStageOp : public StagingOp<Map> {
 public:
  using StagingOp<Map>::StagingOp;

 protected:
  Status Start(OpKernelContext* ctx, const RefPtr<Map>& map,
               AsyncOpKernel::DoneCallback* done) override {
    int64_t key = 0;
    DimVector indices;
    HR_RETURN_IF_ERROR(ReadInteger(ctx->input(0), "key", &key));
    HR_RETURN_IF_ERROR(ReadComponents(ctx, 1, &indices));
    Tuple parts;
    for (int i = 2; i < ctx->num_inputs(); ++i) parts.push_back(ctx->input(i));
    if (parts.size() != indices.size()) {
      return errors::InvalidArgument(indices.size(), " indices for ",
                                     parts.size(), " values");
    }
    HR_RETURN_IF_ERROR(OwnBytes(&parts));
    map->Put(ctx, key, std::move(indices), std::move(parts), this->dtypes(),
             std::move(*done));
    return OkStatus();
  }
  std::string Wanted(OpKernelContext*) const override { return "room in"; }
};

template <typename Map, bool kPeek>
class MapGetOp : public StagingOp<Map> {
 public:
  using StagingOp<Map>::StagingOp;

 protected:
  Status Start(OpKernelContext* ctx, const RefPtr<Map>& map,
               AsyncOpKernel::DoneCallback* done) override {
    int64_t key = 0;
    DimVector indices;
    HR_RETURN_IF_ERROR(ReadInteger(ctx->input(0), "key", &key));
    HR_RETURN_IF_ERROR(ReadComponents(ctx, 1, &indices));
    map->Get(ctx, key, std::move(indices), kPeek, std::move(*done));
    return OkStatus();
  }
  std::string Wanted(OpKernelContext* ctx) const override {
    int64_t key = 0;
    ReadInteger(ctx->input(0), "key", &key).IgnoreError();  // Start read it
    return absl::StrCat("key '", key, "' in");
  }
};

template <typename Map>
class MapGetAnyOp : public StagingOp<Map> {
 public:
  using StagingOp<Map>::StagingOp;

 protected:
  Status Start(OpKernelContext* ctx, const RefPtr<Map>& map,
               AsyncOpKernel::DoneCallback* done) override {
    DimVector indices;
    HR_RETURN_IF_ERROR(ReadComponents(ctx, 0, &indices));
    map->GetAny(ctx, std::move(indices), std::move(*done));
    return OkStatus();
  }
};

template <typename Map, bool kIncomplete>
class MapSizeOp : public StagingOp<Map> {
 public:
  using StagingOp<Map>::StagingOp;

 protected:
  Status Start(OpKernelContext* ctx, const RefPtr<Map>& map,
               AsyncOpKernel::DoneCallback* done) override {
    const int64_t n = kIncomplete ? map->incomplete_size() : map->size();
    ctx->set_output(0, Tensor::Scalar<int32_t>(static_cast<int32_t>(n)));
    (*done)();
    return OkStatus();
  }
};

template <typename Map>
class MapClearOp : public StagingOp<Map> {
 public:
  using StagingOp<Map>::StagingOp;

 protected:
  Status Start(OpKernelContext* ctx, const RefPtr<Map>& map,
               AsyncOpKernel::DoneCallback* done) override {
    map->Clear(ctx, std::move(*done));
    return OkStatus();
  }
};

#define REGISTER(PREFIX, MAP)                                               \
  REGISTER_KERNEL_BUILDER(Name(PREFIX "Stage").Device(DEVICE_CPU),          \
                          MapStageOp<MAP>);                                 \
  REGISTER_KERNEL_BUILDER(Name(PREFIX "Peek").Device(DEVICE_CPU),           \
                          MapGetOp<MAP, true>);                             \
  REGISTER_KERNEL_BUILDER(Name(PREFIX "Unstage").Device(DEVICE_CPU),        \
                          MapGetOp<MAP, false>);                            \
  REGISTER_KERNEL_BUILDER(Name(PREFIX "UnstageNoKey").Device(DEVICE_CPU),   \
                          MapGetAnyOp<MAP>);                                \
  REGISTER_KERNEL_BUILDER(Name(PREFIX "Size").Device(DEVICE_CPU),           \
                          MapSizeOp<MAP, false>);                           \
  REGISTER_KERNEL_BUILDER(Name(PREFIX "IncompleteSize").Device(DEVICE_CPU), \
                          MapSizeOp<MAP, true>);                            \
  REGISTER_KERNEL_BUILDER(Name(PREFIX "Clear").Device(DEVICE_CPU),          \
                          MapClearOp<MAP>)
REGISTER("Map", StagingMap<false>);
REGISTER("OrderedMap", StagingMap<true>);
#undef REGISTER

}  // namespace
}  // namespace headrace
