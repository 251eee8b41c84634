// Attribute values: their names in messages, equality by value, typed access.
#include "headrace/attr_value.h"

#include <algorithm>
#include <limits>

#include "absl/strings/escaping.h"
#include "framework/tensor/variant.h"
#include "headrace/resource_handle.h"

namespace headrace {
namespace {

// The grammar's name of each alternative of AttrValue::Storage.
template <typename T>
constexpr const char* kTypeName = "unset";
template <>
constexpr const char* kTypeName<std::string> = "string";
template <>
constexpr const char* kTypeName<int64_t> = "int";
template <>
constexpr const char* kTypeName<float> = "float";
template <>
constexpr const char* kTypeName<bool> = "bool";
template <>
constexpr const char* kTypeName<DataType> = "type";
template <>
constexpr const char* kTypeName<PartialTensorShape> = "shape";
template <>
constexpr const char* kTypeName<Tensor> = "tensor";
template <>
constexpr const char* kTypeName<NameAttrList> = "func";
template <>
constexpr const char* kTypeName<AttrValue::EmptyList> = "list(*)";
template <>
constexpr const char* kTypeName<AttrValue::Placeholder> = "placeholder";

template <typename T>
constexpr bool kIsVector = false;
template <typename T>
constexpr bool kIsVector<std::vector<T>> = true;

bool Same(const Tensor& a, const Tensor& b) {
  if (a.dtype() != b.dtype() || a.shape() != b.shape()) return false;
  const int64_t n = a.NumElements();
  if (DataTypeCanUseMemcpy(a.dtype()))
    return a.tensor_data() == b.tensor_data();
  if (a.SharesBufferWith(b) && a.raw_data() == b.raw_data()) return true;
  switch (a.dtype()) {
    case DT_STRING:
      return std::equal(a.data<tstring>(), a.data<tstring>() + n,
                        b.data<tstring>());
    case DT_RESOURCE:
      return std::equal(a.data<ResourceHandle>(), a.data<ResourceHandle>() + n,
                        b.data<ResourceHandle>(),
                        [](const ResourceHandle& x, const ResourceHandle& y) {
                          return x.device == y.device &&
                                 x.container == y.container &&
                                 x.name == y.name && x.hash_code == y.hash_code;
                        });
    case DT_VARIANT:
      return std::equal(a.data<Variant>(), a.data<Variant>() + n,
                        b.data<Variant>(),
                        [](const Variant& x, const Variant& y) {
                          return x.is_empty() && y.is_empty();
                        });
    default:
      return true;
  }
}

template <typename T>
bool Same(const T& a, const T& b) {
  return a == b;
}
template <typename T>
bool Same(const std::vector<T>& a, const std::vector<T>& b) {
  return std::equal(a.begin(), a.end(), b.begin(), b.end(),
                    [](const T& x, const T& y) { return Same(x, y); });
}
bool Same(std::monostate, std::monostate) { return true; }

// At most this many characters of a string and elements of a list are shown.
constexpr size_t kMaxChars = 80;
constexpr size_t kMaxElements = 16;

std::string Show(std::monostate) { return "<unset>"; }
std::string Show(const std::string& s) {
  return StrCat("\"", absl::CEscape(s.substr(0, kMaxChars)),
                s.size() > kMaxChars ? "..." : "", "\"");
}
std::string Show(int64_t v) { return StrCat(v); }
std::string Show(float v) { return StrCat(v); }
std::string Show(bool v) { return v ? "true" : "false"; }
std::string Show(DataType v) {
  return StrCat("DT_", absl::AsciiStrToUpper(DataTypeString(v)));
}
std::string Show(const PartialTensorShape& v) { return v.DebugString(); }
std::string Show(const Tensor& v) { return v.DebugString(); }
std::string Show(AttrValue::EmptyList) { return "[]"; }
std::string Show(const AttrValue::Placeholder& v) { return "$" + v.name; }
std::string Show(const NameAttrList& v) {
  std::string s = v.name;
  if (v.attrs == nullptr || v.attrs->empty()) return s;
  const char* sep = "[";
  for (const auto& [name, value] : *v.attrs) {
    StrAppend(&s, sep, name, "=", value.DebugString());
    sep = ", ";
  }
  return s + "]";
}
template <typename T>
std::string Show(const std::vector<T>& v) {
  std::string s = "[";
  for (size_t i = 0; i < v.size() && i < kMaxElements; ++i) {
    const T& element = v[i];
    StrAppend(&s, i == 0 ? "" : ", ", Show(element));
  }
  if (v.size() > kMaxElements) {
    StrAppend(&s, ", ... (", v.size(), " elements)");
  }
  return s + "]";
}

Status Missing(absl::string_view name) {
  return errors::NotFound("No attr named '", name, "' in NodeDef");
}
Status WrongType(absl::string_view name, const AttrValue& v,
                 const char* wanted) {
  return errors::InvalidArgument("AttrValue had value with type '",
                                 v.TypeName(), "' when '", wanted,
                                 "' expected for attr '", name, "'");
}

template <typename T>
Status GetScalar(const AttrMap& map, absl::string_view name, T* out) {
  const AttrValue* v = map.Find(name);
  if (v == nullptr) return Missing(name);
  const T* held = v->Get<T>();
  if (held == nullptr) return WrongType(name, *v, kTypeName<T>);
  *out = *held;
  return OkStatus();
}
template <typename T>
Status FindList(const AttrMap& map, absl::string_view name,
                const std::vector<T>** out) {
  const AttrValue* v = map.Find(name);
  if (v == nullptr) return Missing(name);
  *out = v->GetList<T>();
  if (*out == nullptr) {
    return WrongType(name, *v, StrCat("list(", kTypeName<T>, ")").c_str());
  }
  return OkStatus();
}
template <typename T>
Status GetList(const AttrMap& map, absl::string_view name,
               std::vector<T>* out) {
  const std::vector<T>* list;
  HR_RETURN_IF_ERROR(FindList(map, name, &list));
  *out = *list;
  return OkStatus();
}

Status ToInt32(absl::string_view name, int64_t v, int32_t* out) {
  if (v < std::numeric_limits<int32_t>::min() ||
      v > std::numeric_limits<int32_t>::max()) {
    return errors::InvalidArgument("Attr ", name, " has value ", v,
                                   " out of range for an int32");
  }
  *out = static_cast<int32_t>(v);
  return OkStatus();
}

}  // namespace

AttrValue::AttrValue() = default;
AttrValue::AttrValue(const AttrValue& v) = default;
AttrValue::AttrValue(AttrValue&& v) noexcept = default;
AttrValue& AttrValue::operator=(const AttrValue& v) = default;
AttrValue& AttrValue::operator=(AttrValue&& v) noexcept = default;
AttrValue::~AttrValue() = default;
AttrValue::AttrValue(std::string v) : v_(std::move(v)) {}
AttrValue::AttrValue(const char* v) : v_(std::string(v)) {}
AttrValue::AttrValue(absl::string_view v) : v_(std::string(v)) {}
AttrValue::AttrValue(int64_t v) : v_(v) {}
AttrValue::AttrValue(int v) : v_(static_cast<int64_t>(v)) {}
AttrValue::AttrValue(float v) : v_(v) {}
AttrValue::AttrValue(double v) : v_(static_cast<float>(v)) {}
AttrValue::AttrValue(bool v) : v_(v) {}
AttrValue::AttrValue(DataType v) : v_(v) {}
AttrValue::AttrValue(PartialTensorShape v) : v_(std::move(v)) {}
AttrValue::AttrValue(const TensorShape& v) : v_(PartialTensorShape(v)) {}
AttrValue::AttrValue(Tensor v) : v_(std::move(v)) {}
AttrValue::AttrValue(NameAttrList v) : v_(std::move(v)) {}
AttrValue::AttrValue(std::vector<std::string> v) : v_(std::move(v)) {}
AttrValue::AttrValue(std::vector<int64_t> v) : v_(std::move(v)) {}
AttrValue::AttrValue(std::vector<float> v) : v_(std::move(v)) {}
AttrValue::AttrValue(std::vector<bool> v) : v_(std::move(v)) {}
AttrValue::AttrValue(std::vector<DataType> v) : v_(std::move(v)) {}
AttrValue::AttrValue(std::vector<PartialTensorShape> v) : v_(std::move(v)) {}
AttrValue::AttrValue(std::vector<Tensor> v) : v_(std::move(v)) {}
AttrValue::AttrValue(std::vector<NameAttrList> v) : v_(std::move(v)) {}
AttrValue::AttrValue(EmptyList v) : v_(v) {}
AttrValue::AttrValue(Placeholder v) : v_(std::move(v)) {}

AttrMap::AttrMap() = default;
AttrMap::AttrMap(std::initializer_list<Item> items) {
  for (const Item& i : items) Set(i.first, i.second);
}
AttrMap::AttrMap(const AttrMap& map) = default;
AttrMap::AttrMap(AttrMap&& map) noexcept = default;
AttrMap& AttrMap::operator=(const AttrMap& map) = default;
AttrMap& AttrMap::operator=(AttrMap&& map) noexcept = default;
AttrMap::~AttrMap() = default;

void AttrMap::Reserve(size_t n) { items_.reserve(n); }

bool operator==(const AttrMap& a, const AttrMap& b) {
  return a.items_ == b.items_;
}

bool operator==(const NameAttrList& a, const NameAttrList& b) {
  if (a.name != b.name) return false;
  static const AttrMap* const kNone = new AttrMap();
  return (a.attrs ? *a.attrs : *kNone) == (b.attrs ? *b.attrs : *kNone);
}

bool AttrValue::IsList() const {
  return std::visit(
      []<typename T>(const T&) {
        return std::is_same_v<T, EmptyList> || kIsVector<T>;
      },
      v_);
}

std::string AttrValue::TypeName() const {
  return std::visit(
      []<typename T>(const T&) -> std::string {
        if constexpr (kIsVector<T>) {
          return StrCat("list(", kTypeName<typename T::value_type>, ")");
        } else {
          return kTypeName<T>;
        }
      },
      v_);
}

std::string AttrValue::DebugString() const {
  return std::visit([](const auto& v) { return Show(v); }, v_);
}

bool operator==(const AttrValue& a, const AttrValue& b) {
  if (a.v_.index() == b.v_.index()) {
    return std::visit(
        [&b]<typename T>(const T& x) { return Same(x, *b.Get<T>()); }, a.v_);
  }
  const auto is_empty_list = [](const AttrValue& v) {
    return std::visit(
        []<typename T>(const T& x) {
          if constexpr (std::is_same_v<T, AttrValue::EmptyList>) {
            return true;
          } else if constexpr (kIsVector<T>) {
            return x.empty();
          } else {
            return false;
          }
        },
        v.v_);
  };
  return is_empty_list(a) && is_empty_list(b);
}

const AttrValue* AttrMap::Find(absl::string_view name) const {
  for (const Item& item : items_) {
    if (item.first.size() == name.size() &&
        std::memcmp(item.first.data(), name.data(), name.size()) == 0) {
      return &item.second;
    }
  }
  return nullptr;
}

void AttrMap::Set(absl::string_view name, AttrValue value) {
  const auto at = std::lower_bound(
      items_.begin(), items_.end(), name,
      [](const Item& a, absl::string_view b) { return a.first < b; });
  if (at != items_.end() && at->first == name) {
    at->second = std::move(value);
  } else {
    items_.emplace(at, std::string(name), std::move(value));
  }
}

bool AttrMap::Erase(absl::string_view name) {
  for (auto it = items_.begin(); it != items_.end(); ++it) {
    if (it->first == name) {
      items_.erase(it);
      return true;
    }
  }
  return false;
}

Status AttrMap::Get(absl::string_view name, std::string* v) const {
  return GetScalar(*this, name, v);
}
Status AttrMap::Get(absl::string_view name, int64_t* v) const {
  return GetScalar(*this, name, v);
}
Status AttrMap::Get(absl::string_view name, int32_t* v) const {
  int64_t wide = 0;
  HR_RETURN_IF_ERROR(GetScalar(*this, name, &wide));
  return ToInt32(name, wide, v);
}
Status AttrMap::Get(absl::string_view name, float* v) const {
  return GetScalar(*this, name, v);
}
Status AttrMap::Get(absl::string_view name, bool* v) const {
  return GetScalar(*this, name, v);
}
Status AttrMap::Get(absl::string_view name, DataType* v) const {
  return GetScalar(*this, name, v);
}
Status AttrMap::Get(absl::string_view name, PartialTensorShape* v) const {
  return GetScalar(*this, name, v);
}
Status AttrMap::Get(absl::string_view name, TensorShape* v) const {
  PartialTensorShape partial;
  HR_RETURN_IF_ERROR(GetScalar(*this, name, &partial));
  if (!partial.AsTensorShape(v)) {
    return errors::InvalidArgument("Attr '", name, "' is the shape ",
                                   partial.DebugString(),
                                   ", which is not fully defined");
  }
  return OkStatus();
}
Status AttrMap::Get(absl::string_view name, Tensor* v) const {
  return GetScalar(*this, name, v);
}
Status AttrMap::Get(absl::string_view name, NameAttrList* v) const {
  return GetScalar(*this, name, v);
}
Status AttrMap::Get(absl::string_view name, std::vector<std::string>* v) const {
  return GetList(*this, name, v);
}
Status AttrMap::Get(absl::string_view name, std::vector<int64_t>* v) const {
  return GetList(*this, name, v);
}
Status AttrMap::Get(absl::string_view name, std::vector<int32_t>* v) const {
  const std::vector<int64_t>* wide;
  HR_RETURN_IF_ERROR(FindList(*this, name, &wide));
  v->resize(wide->size());
  for (size_t i = 0; i < wide->size(); ++i) {
    HR_RETURN_IF_ERROR(ToInt32(name, (*wide)[i], &(*v)[i]));
  }
  return OkStatus();
}
Status AttrMap::Get(absl::string_view name, std::vector<float>* v) const {
  return GetList(*this, name, v);
}
Status AttrMap::Get(absl::string_view name, std::vector<bool>* v) const {
  return GetList(*this, name, v);
}
Status AttrMap::Get(absl::string_view name, std::vector<DataType>* v) const {
  return GetList(*this, name, v);
}
Status AttrMap::Get(absl::string_view name, DataTypeVector* v) const {
  const std::vector<DataType>* list;
  HR_RETURN_IF_ERROR(FindList(*this, name, &list));
  v->assign(list->begin(), list->end());
  return OkStatus();
}
Status AttrMap::Get(absl::string_view name,
                    std::vector<PartialTensorShape>* v) const {
  return GetList(*this, name, v);
}
Status AttrMap::Get(absl::string_view name, std::vector<Tensor>* v) const {
  return GetList(*this, name, v);
}
Status AttrMap::Get(absl::string_view name,
                    std::vector<NameAttrList>* v) const {
  return GetList(*this, name, v);
}

}  // namespace headrace
