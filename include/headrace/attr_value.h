// AttrValue: the value of one attribute of a node. AttrMap: all attributes of a
// node.
//
// Both are value types: a copy is independent, except that tensors share their
// buffers. Thread-compatible.
#ifndef HEADRACE_ATTR_VALUE_H_
#define HEADRACE_ATTR_VALUE_H_

#include <memory>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "headrace/tensor.h"
#include "headrace/tensor_shape.h"
#include "headrace/types.h"

namespace headrace {

class AttrMap;

// The name of a function, and the attributes to instantiate it with.
struct NameAttrList {
  std::string name;
  std::shared_ptr<const AttrMap> attrs;  // null: none

  friend bool operator==(const NameAttrList& a, const NameAttrList& b);
};

class AttrValue {
 public:
  // A list without elements. It counts as a list of any element type.
  struct EmptyList {
    friend bool operator==(EmptyList, EmptyList) { return true; }
  };
  // Used in function bodies: stands for the value of the function's attr
  // `name`.
  struct Placeholder {
    std::string name;
    friend bool operator==(const Placeholder& a, const Placeholder& b) {
      return a.name == b.name;
    }
  };
  using Storage =
      std::variant<std::monostate, std::string, int64_t, float, bool, DataType,
                   PartialTensorShape, Tensor, NameAttrList,
                   std::vector<std::string>, std::vector<int64_t>,
                   std::vector<float>, std::vector<bool>, std::vector<DataType>,
                   std::vector<PartialTensorShape>, std::vector<Tensor>,
                   std::vector<NameAttrList>, EmptyList, Placeholder>;

  // The special members are not inline: otherwise every source that includes
  // this header would instantiate them.
  AttrValue();
  AttrValue(const AttrValue& v);
  AttrValue(AttrValue&& v) noexcept;
  AttrValue& operator=(const AttrValue& v);
  AttrValue& operator=(AttrValue&& v) noexcept;
  ~AttrValue();
  AttrValue(std::string v);                      // NOLINT
  AttrValue(const char* v);                      // NOLINT
  AttrValue(absl::string_view v);                // NOLINT
  AttrValue(int64_t v);                          // NOLINT
  AttrValue(int v);                              // NOLINT
  AttrValue(float v);                            // NOLINT
  AttrValue(double v);                           // NOLINT
  AttrValue(bool v);                             // NOLINT
  AttrValue(DataType v);                         // NOLINT
  AttrValue(PartialTensorShape v);               // NOLINT
  AttrValue(const TensorShape& v);               // NOLINT
  AttrValue(Tensor v);                           // NOLINT
  AttrValue(NameAttrList v);                     // NOLINT
  AttrValue(std::vector<std::string> v);         // NOLINT
  AttrValue(std::vector<int64_t> v);             // NOLINT
  AttrValue(std::vector<float> v);               // NOLINT
  AttrValue(std::vector<bool> v);                // NOLINT
  AttrValue(std::vector<DataType> v);            // NOLINT
  AttrValue(std::vector<PartialTensorShape> v);  // NOLINT
  AttrValue(std::vector<Tensor> v);              // NOLINT
  AttrValue(std::vector<NameAttrList> v);        // NOLINT
  AttrValue(EmptyList v);                        // NOLINT
  AttrValue(Placeholder v);                      // NOLINT

  bool IsSet() const { return !std::holds_alternative<std::monostate>(v_); }
  bool IsList() const;
  template <typename T>
  bool Is() const {
    return std::holds_alternative<T>(v_);
  }
  // Null unless the value is a T. The pointer is valid until the value changes.
  template <typename T>
  const T* Get() const {
    return std::get_if<T>(&v_);
  }
  // As Get. An EmptyList gives an empty list of any element type.
  template <typename T>
  const std::vector<T>* GetList() const {
    if (std::holds_alternative<EmptyList>(v_)) {
      static const std::vector<T>* const kEmpty = new std::vector<T>();
      return kEmpty;
    }
    return std::get_if<std::vector<T>>(&v_);
  }
  const Storage& storage() const { return v_; }

  // The grammar's name of the type held: "string", "int", "list(shape)", ...
  // "list(*)" for an EmptyList.
  std::string TypeName() const;
  std::string DebugString() const;  // short: tensors and lists are cut

  // Compares by value. Tensors are compared element by element. An empty list
  // equals an empty list of any type.
  friend bool operator==(const AttrValue& a, const AttrValue& b);
  friend bool operator!=(const AttrValue& a, const AttrValue& b) {
    return !(a == b);
  }

 private:
  Storage v_;
};

// Attributes sorted by name. A flat vector, because nodes have few attributes.
class AttrMap {
 public:
  using Item = std::pair<std::string, AttrValue>;

  AttrMap();
  AttrMap(std::initializer_list<Item> items);
  AttrMap(const AttrMap& map);
  AttrMap(AttrMap&& map) noexcept;
  AttrMap& operator=(const AttrMap& map);
  AttrMap& operator=(AttrMap&& map) noexcept;
  ~AttrMap();

  // Null if there is no such attribute. The pointer is valid until the map
  // changes.
  const AttrValue* Find(absl::string_view name) const;
  void Set(absl::string_view name, AttrValue value);
  // True if the attribute was there.
  bool Erase(absl::string_view name);
  void Reserve(size_t n);
  bool empty() const { return items_.empty(); }
  size_t size() const { return items_.size(); }
  auto begin() const { return items_.begin(); }
  auto end() const { return items_.end(); }
  friend bool operator==(const AttrMap& a, const AttrMap& b);

  // Typed access. NotFound if the attribute is absent, InvalidArgument if it
  // has another type. An int64 can be read as int32; InvalidArgument if the
  // value does not fit.
  Status Get(absl::string_view name, std::string* v) const;
  Status Get(absl::string_view name, int64_t* v) const;
  Status Get(absl::string_view name, int32_t* v) const;
  Status Get(absl::string_view name, float* v) const;
  Status Get(absl::string_view name, bool* v) const;
  Status Get(absl::string_view name, DataType* v) const;
  Status Get(absl::string_view name, PartialTensorShape* v) const;
  Status Get(absl::string_view name, TensorShape* v) const;
  Status Get(absl::string_view name, Tensor* v) const;
  Status Get(absl::string_view name, NameAttrList* v) const;
  Status Get(absl::string_view name, std::vector<std::string>* v) const;
  Status Get(absl::string_view name, std::vector<int64_t>* v) const;
  Status Get(absl::string_view name, std::vector<int32_t>* v) const;
  Status Get(absl::string_view name, std::vector<float>* v) const;
  Status Get(absl::string_view name, std::vector<bool>* v) const;
  Status Get(absl::string_view name, std::vector<DataType>* v) const;
  Status Get(absl::string_view name, DataTypeVector* v) const;
  Status Get(absl::string_view name, std::vector<PartialTensorShape>* v) const;
  Status Get(absl::string_view name, std::vector<Tensor>* v) const;
  Status Get(absl::string_view name, std::vector<NameAttrList>* v) const;

 private:
  std::vector<Item> items_;
};

}  // namespace headrace

#endif  // HEADRACE_ATTR_VALUE_H_
