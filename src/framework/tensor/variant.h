// Variant: the element of a DT_VARIANT tensor; holds a value of any copyable
// C++ type (a TensorList, a dataset, an optional) or nothing. Copying a Variant
// shares the value, which is immutable once shared: GetMutable copies on write.
#ifndef HEADRACE_FRAMEWORK_TENSOR_VARIANT_H_
#define HEADRACE_FRAMEWORK_TENSOR_VARIANT_H_

#include <memory>
#include <string>
#include <typeinfo>
#include <utility>

namespace headrace {

// Thread-compatible: threads may use distinct copies, which share the value, at
// once.
class Variant {
 public:
  Variant() = default;
  template <typename T>
  static Variant Of(T value, std::string type_name) {
    Variant v;
    v.value_ = std::make_shared<Holder<T>>(std::move(value));
    v.type_name_ = std::move(type_name);
    return v;
  }

  bool is_empty() const { return value_ == nullptr; }
  // The name under which the value is serialised, "tensorflow::TensorList".
  const std::string& TypeName() const { return type_name_; }

  // Null if the Variant is empty or holds another type.
  template <typename T>
  const T* Get() const {
    auto* h = dynamic_cast<const Holder<T>*>(value_.get());
    return h == nullptr ? nullptr : &h->value;
  }
  template <typename T>
  T* GetMutable() {
    auto* h = dynamic_cast<Holder<T>*>(value_.get());
    if (h == nullptr) return nullptr;
    if (value_.use_count() != 1) {
      auto copy = std::make_shared<Holder<T>>(h->value);
      h = copy.get();
      value_ = std::move(copy);
    }
    return &h->value;
  }

 private:
  struct HolderBase {
    virtual ~HolderBase() = default;
  };
  template <typename T>
  struct Holder : HolderBase {
    explicit Holder(T v) : value(std::move(v)) {}
    T value;
  };

  std::shared_ptr<HolderBase> value_;
  std::string type_name_;
};

}  // namespace headrace

#endif  // HEADRACE_FRAMEWORK_TENSOR_VARIANT_H_
