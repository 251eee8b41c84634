#include "framework/kernel/step_budget.h"

#include <algorithm>
#include <utility>

#include "absl/strings/str_cat.h"
#include "framework/memory/allocation_size.h"

namespace headrace {
namespace {

// The buffer of strings whose characters count.
class CountedBuffer : public TensorBuffer {
 public:
  CountedBuffer(RefPtr<TensorBuffer> strings, RefPtr<StepBudget> budget)
      : TensorBuffer(strings->data(), strings->size()),
        strings_(std::move(strings)),
        budget_(std::move(budget)) {}
  void Count(int64_t bytes) { bytes_ = bytes; }
  bool IsWritable() const override {
    return strings_->IsWritable() && strings_->RefCountIsOne();
  }

 protected:
  ~CountedBuffer() override { budget_->Release(bytes_); }

 private:
  const RefPtr<TensorBuffer> strings_;
  const RefPtr<StepBudget> budget_;
  int64_t bytes_ = 0;
};

}  // namespace

Status StepBudget::CountStrings(Tensor* t) {
  if (t->dtype() != DT_STRING || t->buffer() == nullptr ||
      t->raw_data() != t->buffer()->data() ||
      dynamic_cast<const CountedBuffer*>(t->buffer().get()) != nullptr) {
    return OkStatus();
  }
  int64_t bytes = 0;
  for (const tstring& s : t->span<tstring>()) {
    bytes += static_cast<int64_t>(s.size());
  }
  if (bytes == 0) return OkStatus();
  auto counted =
      MakeRef<CountedBuffer>(t->buffer(), RefPtr<StepBudget>::NewRef(this));
  if (!Reserve(bytes)) {
    return errors::ResourceExhausted("strings of ", bytes,
                                     " bytes are beyond the memory budget of ",
                                     bytes_, " bytes of the run");
  }
  counted->Count(bytes);
  *t = Tensor(DT_STRING, t->shape(), std::move(counted));
  return OkStatus();
}

std::string StepBudget::Name() const {
  return absl::StrCat("of the run, whose memory budget is ", bytes_, " bytes");
}

bool StepBudget::Reserve(int64_t bytes) {
  int64_t before = in_use_.load(std::memory_order_relaxed);
  do {
    if (bytes > bytes_ - before) return false;
  } while (!in_use_.compare_exchange_weak(before, before + bytes,
                                          std::memory_order_relaxed));
  int64_t peak = peak_.load(std::memory_order_relaxed);
  while (peak < before + bytes &&
         !peak_.compare_exchange_weak(peak, before + bytes,
                                      std::memory_order_relaxed)) {
  }
  return true;
}

void StepBudget::Release(int64_t bytes) {
  in_use_.fetch_sub(bytes, std::memory_order_relaxed);
}

void* StepBudget::AllocateRaw(size_t bytes) {
  // AllocationSize would overflow for the largest.
  if (bytes > static_cast<size_t>(bytes_)) return nullptr;
  const auto size = static_cast<int64_t>(AllocationSize(bytes));
  if (!Reserve(size)) return nullptr;
  void* const block = CpuAllocator()->AllocateRaw(bytes);
  if (block == nullptr) {
    Release(size);
    return nullptr;
  }
  Ref();
  return block;
}

void StepBudget::DeallocateRaw(void* ptr, size_t bytes) {
  CpuAllocator()->DeallocateRaw(ptr, bytes);
  Release(static_cast<int64_t>(AllocationSize(bytes)));
  Unref();
}

AllocatorStats StepBudget::GetStats() const {
  AllocatorStats s;
  s.bytes_in_use = in_use_.load(std::memory_order_relaxed);
  s.peak_bytes_in_use = peak_.load(std::memory_order_relaxed);
  s.bytes_limit = bytes_;
  return s;
}

void StepBudget::ResetPeak() {
  peak_.store(in_use_.load(std::memory_order_relaxed),
              std::memory_order_relaxed);
}

}  // namespace headrace
