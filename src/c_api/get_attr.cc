// TF_OperationGetAttr...: values of a node's attributes. A caller first asks
// for the metadata, makes room, then reads; arrays that are too short get the
// first elements.
#include <algorithm>
#include <cstring>

#include "c_api/internal.h"
#include "framework/op/tensor_proto.h"

using headrace::AttrType;
using headrace::AttrValue;
using headrace::DataType;
using headrace::NameAttrList;
using headrace::Node;
using headrace::OkStatus;
using headrace::OpDef;
using headrace::PartialTensorShape;
using headrace::Status;
using headrace::Tensor;
using namespace headrace::c_api;  // NOLINT: our own few helpers
namespace errors = headrace::errors;
namespace pb = headrace::pb;

static_assert(sizeof(TF_AttrMetadata) == 32);

namespace {

using FindFn = const AttrValue* (*)(TF_Operation*, const char*, TF_Status*);

// InvalidArgument, as of metadata, strings, most lists and serialized values.
const AttrValue* Find(TF_Operation* oper, const char* attr, TF_Status* status) {
  if (oper == nullptr) {
    Set(status, errors::InvalidArgument("the operation is NULL"));
    return nullptr;
  }
  const AttrValue* v = ToNode(oper)->attrs().Find(Text(attr));
  if (v == nullptr) {
    Set(status,
        errors::InvalidArgument("Operation '", ToNode(oper)->name(),
                                "' has no attr named '", Text(attr), "'."));
  }
  return v;
}

Status WrongType(TF_Operation* oper, const char* attr, const AttrValue& v,
                 const char* wanted) {
  return errors::InvalidArgument("attr '", Text(attr), "' of node '",
                                 ToNode(oper)->name(), "' is a ", v.TypeName(),
                                 "; it was read as ", wanted);
}

// NotFound, as TensorFlow has it of single values, shapes and tensors.
const AttrValue* FindTyped(TF_Operation* oper, const char* attr,
                           TF_Status* status) {
  if (oper == nullptr) return Find(oper, attr, status);
  const AttrValue* v = ToNode(oper)->attrs().Find(Text(attr));
  if (v == nullptr) {
    Set(status,
        errors::NotFound("No attr named '", Text(attr), "' in NodeDef: {{node ",
                         ToNode(oper)->name(), "}}"));
  }
  return v;
}

// The value if it is there and a T.
template <typename T>
const T* Get(TF_Operation* oper, const char* attr, const char* wanted,
             TF_Status* status, FindFn find = FindTyped) {
  const AttrValue* v = find(oper, attr, status);
  if (v == nullptr) return nullptr;
  const T* t = v->Get<T>();
  Set(status, t == nullptr ? WrongType(oper, attr, *v, wanted) : OkStatus());
  return t;
}
template <typename T>
const std::vector<T>* GetList(TF_Operation* oper, const char* attr,
                              const char* wanted, TF_Status* status,
                              FindFn find = Find) {
  const AttrValue* v = find(oper, attr, status);
  if (v == nullptr) return nullptr;
  const std::vector<T>* t = v->GetList<T>();
  Set(status, t == nullptr ? WrongType(oper, attr, *v, wanted) : OkStatus());
  return t;
}

// False, and InvalidArgument, if there are values to write and no room.
template <typename... Places>
bool CheckRoom(TF_Operation* oper, const char* attr, int n, TF_Status* status,
               Places*... places) {
  if (n <= 0 || ((places != nullptr) && ...)) return true;
  Set(status, errors::InvalidArgument("attr '", Text(attr), "' of node '",
                                      ToNode(oper)->name(),
                                      "': the place for its value is NULL"));
  return false;
}

template <typename T, typename Out>
void CopyScalar(TF_Operation* oper, const char* attr, const char* wanted,
                Out* value, TF_Status* status) {
  const T* v = Get<T>(oper, attr, wanted, status);
  if (v != nullptr && CheckRoom(oper, attr, 1, status, value)) {
    *value = static_cast<Out>(*v);
  }
}
template <typename T, typename Out>
void CopyList(TF_Operation* oper, const char* attr, const char* wanted,
              Out* values, int max_values, TF_Status* status) {
  const auto* list = GetList<T>(oper, attr, wanted, status);
  if (list == nullptr) return;
  const int n = std::min(static_cast<int>(list->size()), max_values);
  if (!CheckRoom(oper, attr, n, status, values)) return;
  for (int i = 0; i < n; ++i) values[i] = static_cast<Out>((*list)[i]);
}

void WriteDims(const PartialTensorShape& s, int n, int64_t* out) {
  for (int i = 0; i < n; ++i) out[i] = s.dim_size(i);
}

// Fills the metadata from the alternative that the value holds.
struct Describe {
  TF_AttrMetadata* m;

  void One(TF_AttrType type, int64_t total = -1) const {
    *m = {0, -1, type, total};
  }
  template <typename T>
  void Many(TF_AttrType type, const std::vector<T>& v,
            int64_t total = -1) const {
    *m = {1, static_cast<int64_t>(v.size()), type, total};
  }
  void operator()(std::monostate) const { One(TF_ATTR_PLACEHOLDER); }
  void operator()(const std::string& v) const {
    One(TF_ATTR_STRING, static_cast<int64_t>(v.size()));
  }
  void operator()(int64_t) const { One(TF_ATTR_INT); }
  void operator()(float) const { One(TF_ATTR_FLOAT); }
  void operator()(bool) const { One(TF_ATTR_BOOL); }
  void operator()(DataType) const { One(TF_ATTR_TYPE); }
  void operator()(const PartialTensorShape& v) const {
    One(TF_ATTR_SHAPE, v.dims());
  }
  void operator()(const Tensor&) const { One(TF_ATTR_TENSOR); }
  void operator()(const NameAttrList&) const { One(TF_ATTR_FUNC); }
  void operator()(const std::vector<std::string>& v) const {
    int64_t total = 0;
    for (const std::string& s : v) total += static_cast<int64_t>(s.size());
    Many(TF_ATTR_STRING, v, total);
  }
  void operator()(const std::vector<int64_t>& v) const { Many(TF_ATTR_INT, v); }
  void operator()(const std::vector<float>& v) const { Many(TF_ATTR_FLOAT, v); }
  void operator()(const std::vector<bool>& v) const { Many(TF_ATTR_BOOL, v); }
  void operator()(const std::vector<DataType>& v) const {
    Many(TF_ATTR_TYPE, v);
  }
  void operator()(const std::vector<PartialTensorShape>& v) const {
    int64_t total = 0;
    for (const PartialTensorShape& s : v) total += std::max(s.dims(), 0);
    Many(TF_ATTR_SHAPE, v, total);
  }
  void operator()(const std::vector<Tensor>& v) const {
    Many(TF_ATTR_TENSOR, v);
  }
  void operator()(const std::vector<NameAttrList>& v) const {
    Many(TF_ATTR_FUNC, v);
  }
  void operator()(AttrValue::EmptyList) const {
    *m = {1, 0, TF_ATTR_STRING, -1};  // the type comes from the op
  }
  void operator()(const AttrValue::Placeholder&) const {
    One(TF_ATTR_PLACEHOLDER);
  }
};

// An empty list does not know its type; the op's signature does.
void DescribeEmptyList(const OpDef& def, const char* attr, TF_AttrMetadata* m) {
  const int i = def.FindAttr(Text(attr));
  if (i < 0) return;
  switch (def.attrs[i].type) {
    case AttrType::kListInt:
      m->type = TF_ATTR_INT;
      break;
    case AttrType::kListFloat:
      m->type = TF_ATTR_FLOAT;
      break;
    case AttrType::kListBool:
      m->type = TF_ATTR_BOOL;
      break;
    case AttrType::kListType:
      m->type = TF_ATTR_TYPE;
      break;
    case AttrType::kListTensor:
      m->type = TF_ATTR_TENSOR;
      break;
    case AttrType::kListFunc:
      m->type = TF_ATTR_FUNC;
      break;
    case AttrType::kListShape:
      m->type = TF_ATTR_SHAPE;
      m->total_size = 0;
      break;
    default:
      m->total_size = 0;
  }
}

}  // namespace

TF_AttrMetadata TF_OperationGetAttrMetadata(TF_Operation* oper,
                                            const char* attr_name,
                                            TF_Status* status) {
  TF_AttrMetadata m = {0, -1, TF_ATTR_STRING, -1};
  const AttrValue* v = Find(oper, attr_name, status);
  if (v == nullptr) return m;
  SetOk(status);
  std::visit(Describe{&m}, v->storage());
  if (v->Is<AttrValue::EmptyList>()) {
    DescribeEmptyList(ToNode(oper)->op_def(), attr_name, &m);
  }
  return m;
}

void TF_OperationGetAttrString(TF_Operation* oper, const char* attr_name,
                               void* value, size_t max_length,
                               TF_Status* status) {
  const auto* s = Get<std::string>(oper, attr_name, "string", status, Find);
  if (s == nullptr) return;
  const size_t n = std::min(s->size(), max_length);
  if (!CheckRoom(oper, attr_name, n != 0, status, value)) return;
  if (n != 0) std::memcpy(value, s->data(), n);
}

void TF_OperationGetAttrStringList(TF_Operation* oper, const char* attr_name,
                                   void** values, size_t* lengths,
                                   int max_values, void* storage,
                                   size_t storage_size, TF_Status* status) {
  const auto* list =
      GetList<std::string>(oper, attr_name, "list(string)", status);
  if (list == nullptr) return;
  char* p = static_cast<char*>(storage);
  size_t left = storage_size;
  const int n = std::min(static_cast<int>(list->size()), max_values);
  if (!CheckRoom(oper, attr_name, n, status, values, lengths, p)) return;
  for (int i = 0; i < n; ++i) {
    const std::string& s = (*list)[i];
    if (s.size() > left) {
      return Set(status,
                 errors::InvalidArgument("attr '", attr_name, "' of node '",
                                         ToNode(oper)->name(), "': storage of ",
                                         storage_size, " bytes is too small"));
    }
    values[i] = p;
    lengths[i] = s.size();
    if (!s.empty()) std::memcpy(p, s.data(), s.size());
    p += s.size();
    left -= s.size();
  }
}

void TF_OperationGetAttrInt(TF_Operation* oper, const char* attr_name,
                            int64_t* value, TF_Status* status) {
  CopyScalar<int64_t>(oper, attr_name, "int", value, status);
}

void TF_OperationGetAttrIntList(TF_Operation* oper, const char* attr_name,
                                int64_t* values, int max_values,
                                TF_Status* status) {
  CopyList<int64_t>(oper, attr_name, "list(int)", values, max_values, status);
}

void TF_OperationGetAttrFloat(TF_Operation* oper, const char* attr_name,
                              float* value, TF_Status* status) {
  CopyScalar<float>(oper, attr_name, "float", value, status);
}

void TF_OperationGetAttrFloatList(TF_Operation* oper, const char* attr_name,
                                  float* values, int max_values,
                                  TF_Status* status) {
  CopyList<float>(oper, attr_name, "list(float)", values, max_values, status);
}

void TF_OperationGetAttrBool(TF_Operation* oper, const char* attr_name,
                             unsigned char* value, TF_Status* status) {
  CopyScalar<bool>(oper, attr_name, "bool", value, status);
}

void TF_OperationGetAttrBoolList(TF_Operation* oper, const char* attr_name,
                                 unsigned char* values, int max_values,
                                 TF_Status* status) {
  CopyList<bool>(oper, attr_name, "list(bool)", values, max_values, status);
}

void TF_OperationGetAttrType(TF_Operation* oper, const char* attr_name,
                             TF_DataType* value, TF_Status* status) {
  CopyScalar<DataType>(oper, attr_name, "type", value, status);
}

void TF_OperationGetAttrTypeList(TF_Operation* oper, const char* attr_name,
                                 TF_DataType* values, int max_values,
                                 TF_Status* status) {
  CopyList<DataType>(oper, attr_name, "list(type)", values, max_values, status);
}

void TF_OperationGetAttrShape(TF_Operation* oper, const char* attr_name,
                              int64_t* value, int num_dims, TF_Status* status) {
  const auto* s = Get<PartialTensorShape>(oper, attr_name, "shape", status);
  if (s == nullptr) return;
  const int n = std::min(s->dims(), num_dims);
  if (CheckRoom(oper, attr_name, n, status, value)) WriteDims(*s, n, value);
}

void TF_OperationGetAttrShapeList(TF_Operation* oper, const char* attr_name,
                                  int64_t** dims, int* num_dims, int num_shapes,
                                  int64_t* storage, int storage_size,
                                  TF_Status* status) {
  const auto* list = GetList<PartialTensorShape>(oper, attr_name, "list(shape)",
                                                 status, FindTyped);
  if (list == nullptr) return;
  int left = storage_size;
  const int n = std::min(static_cast<int>(list->size()), num_shapes);
  if (!CheckRoom(oper, attr_name, n, status, dims, num_dims) ||
      !CheckRoom(oper, attr_name, left > 0 ? n : 0, status, storage)) {
    return;
  }
  for (int i = 0; i < n; ++i) {
    const PartialTensorShape& s = (*list)[i];
    const int rank = std::max(s.dims(), 0);
    if (rank > left) {
      return Set(status,
                 errors::InvalidArgument("attr '", attr_name, "' of node '",
                                         ToNode(oper)->name(), "': storage of ",
                                         storage_size, " dims is too small"));
    }
    num_dims[i] = s.dims();
    dims[i] = storage;
    WriteDims(s, rank, storage);
    storage += rank;
    left -= rank;
  }
}

void TF_OperationGetAttrTensorShapeProto(TF_Operation* oper,
                                         const char* attr_name,
                                         TF_Buffer* value, TF_Status* status) {
  const auto* s =
      Get<PartialTensorShape>(oper, attr_name, "shape", status, Find);
  if (s == nullptr) return;
  pb::TensorShapeProto proto;
  headrace::ShapeToProto(*s, &proto);
  Set(status, ToBuffer(proto, value));
}

void TF_OperationGetAttrTensorShapeProtoList(TF_Operation* oper,
                                             const char* attr_name,
                                             TF_Buffer** values, int max_values,
                                             TF_Status* status) {
  const auto* list =
      GetList<PartialTensorShape>(oper, attr_name, "list(shape)", status);
  if (list == nullptr) return;
  const int n = std::min(static_cast<int>(list->size()), max_values);
  if (!CheckRoom(oper, attr_name, n, status, values)) return;
  for (int i = 0; i < n; ++i) {
    pb::TensorShapeProto proto;
    headrace::ShapeToProto((*list)[i], &proto);
    values[i] = NewBuffer(proto);
  }
}

void TF_OperationGetAttrTensor(TF_Operation* oper, const char* attr_name,
                               TF_Tensor** value, TF_Status* status) {
  if (value != nullptr) *value = nullptr;
  const auto* t = Get<Tensor>(oper, attr_name, "tensor", status);
  if (t == nullptr || !CheckRoom(oper, attr_name, 1, status, value)) return;
  Tensor copy;
  Status s = t->DeepCopyTo(&copy);
  if (s.ok()) s = WrapTensor(std::move(copy), value);
  Set(status, s);
}

void TF_OperationGetAttrTensorList(TF_Operation* oper, const char* attr_name,
                                   TF_Tensor** values, int max_values,
                                   TF_Status* status) {
  const auto* list =
      GetList<Tensor>(oper, attr_name, "list(tensor)", status, FindTyped);
  if (list == nullptr) return;
  const int n = std::min(static_cast<int>(list->size()), max_values);
  if (n < 0 || !CheckRoom(oper, attr_name, n, status, values)) return;
  Status s;
  std::vector<Tensor> copies(n);
  for (int i = 0; i < n; ++i) {
    values[i] = nullptr;
    s.Update((*list)[i].DeepCopyTo(&copies[i]));
  }
  if (s.ok()) s = WrapAll(&copies, values);
  Set(status, s);
}

void TF_OperationGetAttrValueProto(TF_Operation* oper, const char* attr_name,
                                   TF_Buffer* output_attr_value,
                                   TF_Status* status) {
  const AttrValue* v = Find(oper, attr_name, status);
  if (v == nullptr) return;
  pb::AttrValue proto;
  headrace::AttrValueToProto(*v, &proto);
  Set(status, ToBuffer(proto, output_attr_value));
}

int TF_OperationGetNumAttrs(TF_Operation* oper) {
  return oper == nullptr ? 0 : static_cast<int>(ToNode(oper)->attrs().size());
}

int TF_OperationGetAttrNameLength(TF_Operation* oper, int i) {
  if (i < 0 || i >= TF_OperationGetNumAttrs(oper)) return -1;
  return static_cast<int>((ToNode(oper)->attrs().begin() + i)->first.size());
}

void TF_OperationGetAttrName(TF_Operation* oper, int i, char* output,
                             TF_Status* status) {
  if (i < 0 || i >= TF_OperationGetNumAttrs(oper)) {
    return Set(status,
               errors::OutOfRange("Operation '", TF_OperationName(oper),
                                  "' has ", TF_OperationGetNumAttrs(oper),
                                  " attributes; asked for number ", i));
  }
  const std::string& name = (ToNode(oper)->attrs().begin() + i)->first;
  if (!CheckRoom(oper, name.c_str(), 1, status, output)) return;
  std::memcpy(output, name.data(), name.size());
  SetOk(status);
}
