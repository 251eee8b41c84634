// Intrusive reference counting. A new object has one reference, which its
// creator owns. The last Unref deletes the object.
#ifndef HEADRACE_REF_COUNT_H_
#define HEADRACE_REF_COUNT_H_

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <type_traits>
#include <utility>

namespace headrace {

// The count is thread-safe. A subclass must guard its own data.
class RefCounted {
 public:
  RefCounted() = default;
  RefCounted(const RefCounted&) = delete;
  RefCounted& operator=(const RefCounted&) = delete;

  void Ref() const { refs_.fetch_add(1, std::memory_order_relaxed); }

  // Drops one reference. Returns true if it was the last one and the object is
  // deleted.
  bool Unref() const {
    // A sole owner needs no atomic read-modify-write: no other thread can add a
    // reference.
    if (refs_.load(std::memory_order_acquire) == 1 ||
        refs_.fetch_sub(1, std::memory_order_acq_rel) == 1) {
      delete this;
      return true;
    }
    return false;
  }

  // True if the caller holds the only reference. It may then reuse the object.
  bool RefCountIsOne() const {
    return refs_.load(std::memory_order_acquire) == 1;
  }

 protected:
  virtual ~RefCounted() = default;

 private:
  mutable std::atomic<int32_t> refs_{1};
};

// Owns one reference to a T, or is null. As thread-safe as a raw pointer:
// threads may use distinct RefPtrs to one object at the same time.
template <typename T>
class RefPtr {
 public:
  using element_type = T;

  constexpr RefPtr() = default;
  constexpr RefPtr(std::nullptr_t) {}  // NOLINT: null converts
  // Takes over a reference that the caller owns.
  explicit RefPtr(T* adopted) : ptr_(adopted) {}
  // Adds a reference. The caller keeps its own.
  static RefPtr NewRef(T* ptr) {
    if (ptr != nullptr) ptr->Ref();
    return RefPtr(ptr);
  }

  RefPtr(const RefPtr& other) : ptr_(other.ptr_) {
    if (ptr_ != nullptr) ptr_->Ref();
  }
  RefPtr(RefPtr&& other) noexcept : ptr_(other.release()) {}
  template <typename U>
  requires std::is_convertible_v<U*, T*> RefPtr(const RefPtr<U>& other)
      : ptr_(other.get()) {  // NOLINT: upcast
    if (ptr_ != nullptr) ptr_->Ref();
  }
  template <typename U>
  requires std::is_convertible_v<U*, T*> RefPtr(RefPtr<U>&& other)
  noexcept : ptr_(other.release()) {}  // NOLINT
  RefPtr& operator=(RefPtr other) noexcept {
    swap(other);
    return *this;
  }
  ~RefPtr() {
    if (ptr_ != nullptr) ptr_->Unref();
  }

  T* get() const { return ptr_; }
  T* operator->() const { return ptr_; }
  T& operator*() const { return *ptr_; }
  explicit operator bool() const { return ptr_ != nullptr; }

  // Passes the reference to the caller and becomes null.
  [[nodiscard]] T* release() { return std::exchange(ptr_, nullptr); }
  // Drops the present reference and takes over `adopted`.
  void reset(T* adopted = nullptr) { RefPtr(adopted).swap(*this); }
  void swap(RefPtr& other) noexcept { std::swap(ptr_, other.ptr_); }

  template <typename U>
  bool operator==(const RefPtr<U>& other) const {
    return ptr_ == other.get();
  }
  bool operator==(std::nullptr_t) const { return ptr_ == nullptr; }

 private:
  T* ptr_ = nullptr;
};

template <typename T, typename... Args>
RefPtr<T> MakeRef(Args&&... args) {
  return RefPtr<T>(new T(std::forward<Args>(args)...));
}

}  // namespace headrace

#endif  // HEADRACE_REF_COUNT_H_
