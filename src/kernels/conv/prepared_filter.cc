#include "kernels/conv/prepared_filter.h"

#include <atomic>
#include <tuple>
#include <utility>

#include "absl/container/flat_hash_map.h"
#include "framework/mapped_buffer.h"
#include "kernels/conv/layout.h"

namespace headrace {
namespace {

std::atomic<int64_t> bytes_in_use{0};

// Everything that a form depends on. The address stands for the bytes, since a
// form keeps the filter's buffer alive.
struct Key {
  const void* filter;
  const ConvImplementation* impl;
  DataType dtype;  // of the form
  ConvSizes::Dims taps;
  int64_t in_channels, out_channels, groups;

  auto Fields() const {
    return std::tie(filter, impl, dtype, taps, in_channels, out_channels,
                    groups);
  }
  bool operator==(const Key& o) const { return Fields() == o.Fields(); }
  template <typename H>
  friend H AbslHashValue(H h, const Key& k) {
    return H::combine(std::move(h), k.Fields());
  }
};

}  // namespace

// The bytes for one key. Made under `mu_` by whoever comes first.
class PreparedFilter {
 public:
  PreparedFilter(const Key& key, const Tensor& filter)
      : key_(key), filter_(filter) {}
  ~PreparedFilter();

  const Key& key() const { return key_; }

  const void* Get(ThreadPool* pool, const ConvParams& p) {
    MutexLock lock(&mu_);
    if (!form_.IsInitialized()) Make(pool, p);
    return form_.IsInitialized() ? form_.raw_data() : nullptr;
  }

 private:
  void Make(ThreadPool* pool, const ConvParams& p) REQUIRES(mu_) {
    const int64_t bytes = key_.impl->PreparedFilterBytes(p);
    Tensor wide, form;
    const Tensor* from = &filter_;
    if (filter_.dtype() != p.dtype) {
      if (!Tensor::Allocate(CpuAllocator(), p.dtype, filter_.shape(), &wide)
               .ok()) {
        return;
      }
      Widen(pool, filter_, &wide);
      from = &wide;
    }
    if (!Tensor::Allocate(CpuAllocator(), DT_UINT8, TensorShape({bytes}), &form,
                          Tensor::kHeap)
             .ok()) {
      return;
    }
    key_.impl->PrepareFilter(pool, p, from->raw_data(), form.raw_data());
    bytes_in_use.fetch_add(bytes);
    form_ = form;
    ReleasePages(filter_);
  }

  const Key key_;
  const Tensor filter_;
  Mutex mu_;
  Tensor form_ GUARDED_BY(mu_);
};

namespace {

// Finds forms that somebody holds. Never destroyed.
class Forms {
 public:
  static Forms* Global() {
    static Forms* const all = new Forms;
    return all;
  }
  std::shared_ptr<PreparedFilter> Find(const Key& key, const Tensor& filter) {
    MutexLock lock(&mu_);
    std::weak_ptr<PreparedFilter>& slot = by_key_[key];
    std::shared_ptr<PreparedFilter> found = slot.lock();
    if (found == nullptr) {
      found = std::make_shared<PreparedFilter>(key, filter);
      slot = found;
    }
    return found;
  }
  void Forget(const Key& key) {
    MutexLock lock(&mu_);
    const auto at = by_key_.find(key);
    // Another may have been made for the same key meanwhile.
    if (at != by_key_.end() && at->second.expired()) by_key_.erase(at);
  }

 private:
  Mutex mu_;
  absl::flat_hash_map<Key, std::weak_ptr<PreparedFilter>> by_key_
      GUARDED_BY(mu_);
};

}  // namespace

PreparedFilter::~PreparedFilter() {
  Forms::Global()->Forget(key_);
  if (form_.IsInitialized()) bytes_in_use.fetch_sub(form_.TotalBytes());
}

const void* ConstantFilter::Get(ThreadPool* pool,
                                const ConvImplementation& impl,
                                const ConvParams& p) {
  // Inline tensors have no address of their own.
  if (!filter_.IsInitialized() || filter_.IsInline()) return nullptr;
  const Key key = {filter_.raw_data(), &impl,          p.dtype, p.filter,
                   p.in_channels,      p.out_channels, p.groups};
  std::shared_ptr<PreparedFilter> form;
  {
    MutexLock lock(&mu_);
    for (const auto& held : held_) {
      if (held->key() == key) form = held;
    }
    if (form == nullptr) {
      form = Forms::Global()->Find(key, filter_);
      held_.push_back(form);
    }
  }
  return form->Get(pool, p);
}

int64_t PreparedFilterBytesInUse() { return bytes_in_use.load(); }

}  // namespace headrace
