#include "kernels/lib/constant_forms.h"

#include <atomic>
#include <tuple>
#include <utility>

#include "absl/container/flat_hash_map.h"
#include "base/fork.h"
#include "framework/memory/lasting_allocator.h"
#include "framework/tensor/mapped_buffer.h"

namespace headrace {
namespace {

std::atomic<int64_t> bytes_in_use{0};

// All data that a form depends on. The address represents the bytes, because a
// form keeps the constant's buffer alive.
struct Key {
  const void* constant;
  const void* kind;
  std::vector<int64_t> sizes;

  bool Is(const void* other_kind, absl::Span<const int64_t> other) const {
    return kind == other_kind && absl::MakeConstSpan(sizes) == other;
  }
  auto Fields() const { return std::tie(constant, kind, sizes); }
  bool operator==(const Key& o) const { return Fields() == o.Fields(); }
  template <typename H>
  friend H AbslHashValue(H h, const Key& k) {
    return H::combine(std::move(h), k.Fields());
  }
};

}  // namespace

// The bytes for one key. The first user computes them under `mu_`.
class ConstantForm {
 public:
  ConstantForm(Key key, const Tensor& constant)
      : key_(std::move(key)), constant_(constant) {}
  ~ConstantForm();

  const Key& key() const { return key_; }

  const void* Get(int64_t bytes, ConstantForms::Maker make) {
    MutexLock lock(&mu_);
    if (!form_.IsInitialized()) Make(bytes, make);
    return form_.IsInitialized() ? form_.raw_data() : nullptr;
  }

 private:
  void Make(int64_t bytes, ConstantForms::Maker make) REQUIRES(mu_) {
    Tensor form;
    if (!Tensor::Allocate(LastingAllocator(), DT_UINT8, TensorShape({bytes}),
                          &form, Tensor::kHeap)
             .ok() ||
        !make(constant_, form.raw_data())) {
      return;
    }
    bytes_in_use.fetch_add(bytes);
    form_ = form;
    ReleasePages(constant_);
  }

  const Key key_;
  const Tensor constant_;
  Mutex mu_;
  Tensor form_ GUARDED_BY(mu_);
};

namespace {

// Finds forms that somebody holds. Never destroyed.
class AllForms {
 public:
  AllForms() { HoldDuringFork(&mu_); }
  static AllForms* Global() {
    static AllForms* const all = new AllForms;
    return all;
  }
  std::shared_ptr<ConstantForm> Find(const Key& key, const Tensor& constant) {
    MutexLock lock(&mu_);
    std::weak_ptr<ConstantForm>& slot = by_key_[key];
    std::shared_ptr<ConstantForm> found = slot.lock();
    if (found == nullptr) {
      found = std::make_shared<ConstantForm>(key, constant);
      slot = found;
    }
    return found;
  }
  void Forget(const Key& key) {
    MutexLock lock(&mu_);
    const auto at = by_key_.find(key);
    // Another form for the same key may exist by now.
    if (at != by_key_.end() && at->second.expired()) by_key_.erase(at);
  }

 private:
  Mutex mu_;
  absl::flat_hash_map<Key, std::weak_ptr<ConstantForm>> by_key_ GUARDED_BY(mu_);
};

}  // namespace

ConstantForm::~ConstantForm() {
  AllForms::Global()->Forget(key_);
  if (form_.IsInitialized()) bytes_in_use.fetch_sub(form_.TotalBytes());
}

const void* ConstantForms::Get(const void* kind,
                               absl::Span<const int64_t> sizes, int64_t bytes,
                               Maker make) {
  // Inline tensors have no address of their own.
  if (!constant_.IsInitialized() || constant_.IsInline()) return nullptr;
  std::shared_ptr<ConstantForm> form;
  {
    MutexLock lock(&mu_);
    for (const auto& held : held_) {
      if (held->key().Is(kind, sizes)) form = held;
    }
    if (form == nullptr) {
      form = AllForms::Global()->Find(
          {constant_.raw_data(), kind, {sizes.begin(), sizes.end()}},
          constant_);
      held_.push_back(form);
    }
  }
  return form->Get(bytes, make);
}

int64_t ConstantFormBytesInUse() { return bytes_in_use.load(); }

}  // namespace headrace
