#include "headrace/types.h"

#include "absl/strings/str_cat.h"
#include "absl/strings/strip.h"
#include "framework/tensor/variant.h"
#include "headrace/resource_handle.h"

namespace headrace {
namespace {

struct TypeInfo {
  DataType type;
  const char* name;
  int size;  // of an element in memory
  bool plain;
};

// Indexed by number.
constexpr TypeInfo kTypes[] = {
    {DT_INVALID, "INVALID", 0, true},
    {DT_FLOAT, "float", 4, true},
    {DT_DOUBLE, "double", 8, true},
    {DT_INT32, "int32", 4, true},
    {DT_UINT8, "uint8", 1, true},
    {DT_INT16, "int16", 2, true},
    {DT_INT8, "int8", 1, true},
    {DT_STRING, "string", sizeof(tstring), false},
    {DT_COMPLEX64, "complex64", 8, true},
    {DT_INT64, "int64", 8, true},
    {DT_BOOL, "bool", 1, true},
    {DT_QINT8, "qint8", 1, true},
    {DT_QUINT8, "quint8", 1, true},
    {DT_QINT32, "qint32", 4, true},
    {DT_BFLOAT16, "bfloat16", 2, true},
    {DT_QINT16, "qint16", 2, true},
    {DT_QUINT16, "quint16", 2, true},
    {DT_UINT16, "uint16", 2, true},
    {DT_COMPLEX128, "complex128", 16, true},
    {DT_HALF, "half", 2, true},
    {DT_RESOURCE, "resource", sizeof(ResourceHandle), false},
    {DT_VARIANT, "variant", sizeof(Variant), false},
    {DT_UINT32, "uint32", 4, true},
    {DT_UINT64, "uint64", 8, true},
};
constexpr int kNumTypes = sizeof(kTypes) / sizeof(kTypes[0]);
static_assert(kNumTypes == kMaxBaseDataType + 1);

const TypeInfo& Info(DataType t) {
  const int n = BaseType(t);
  return kTypes[n > 0 && n < kNumTypes ? n : 0];
}

}  // namespace

bool IsValidDataType(int n) {
  if (n > kDataTypeRefOffset) n -= kDataTypeRefOffset;
  return n > 0 && n < kNumTypes;
}

int DataTypeSize(DataType t) { return Info(t).plain ? Info(t).size : 0; }
int DataTypeObjectSize(DataType t) { return Info(t).size; }
bool DataTypeCanUseMemcpy(DataType t) {
  return Info(t).plain && Info(t).size != 0;
}

bool DataTypeIsFloating(DataType t) {
  return t == DT_HALF || t == DT_BFLOAT16 || t == DT_FLOAT || t == DT_DOUBLE;
}
bool DataTypeIsComplex(DataType t) {
  return t == DT_COMPLEX64 || t == DT_COMPLEX128;
}
bool DataTypeIsInteger(DataType t) {
  switch (t) {
    case DT_INT8:
    case DT_INT16:
    case DT_INT32:
    case DT_INT64:
    case DT_UINT8:
    case DT_UINT16:
    case DT_UINT32:
    case DT_UINT64:
      return true;
    default:
      return false;
  }
}

std::string DataTypeString(DataType t) {
  if (!IsValidDataType(t)) {
    return t == DT_INVALID
               ? "INVALID"
               : absl::StrCat("unknown dtype ", static_cast<int>(t));
  }
  return absl::StrCat(Info(t).name, IsRefType(t) ? "_ref" : "");
}

std::string DataTypeSliceString(absl::Span<const DataType> types) {
  std::string out = "[";
  for (size_t i = 0; i < types.size(); ++i) {
    absl::StrAppend(&out, i ? ", " : "", DataTypeString(types[i]));
  }
  return out + "]";
}

bool DataTypeFromString(absl::string_view name, DataType* t) {
  std::string lower;
  if (absl::ConsumePrefix(&name, "DT_")) {
    lower = std::string(name);
    for (char& c : lower) c = c >= 'A' && c <= 'Z' ? c + 32 : c;
    name = lower;
  }
  const bool ref = absl::ConsumeSuffix(&name, "_ref");
  for (int i = 1; i < kNumTypes; ++i) {
    if (name == kTypes[i].name) {
      *t = ref ? MakeRefType(kTypes[i].type) : kTypes[i].type;
      return true;
    }
  }
  return false;
}

}  // namespace headrace
