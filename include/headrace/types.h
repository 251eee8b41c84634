// DataType, and the mapping between DataTypes and C++ types. The numbers are
// those of TensorFlow's types.proto: a DataType can be cast to and from
// TF_DataType and pb::DataType. All functions are thread-safe.
#ifndef HEADRACE_TYPES_H_
#define HEADRACE_TYPES_H_

#include <Eigen/Core>
#include <complex>
#include <cstdint>
#include <string>

#include "absl/container/inlined_vector.h"
#include "absl/strings/string_view.h"
#include "headrace/status.h"
#include "headrace/tstring.h"

namespace headrace {

enum DataType : int32_t {
  DT_INVALID = 0,
  DT_FLOAT = 1,
  DT_DOUBLE = 2,
  DT_INT32 = 3,
  DT_UINT8 = 4,
  DT_INT16 = 5,
  DT_INT8 = 6,
  DT_STRING = 7,
  DT_COMPLEX64 = 8,
  DT_INT64 = 9,
  DT_BOOL = 10,
  DT_QINT8 = 11,
  DT_QUINT8 = 12,
  DT_QINT32 = 13,
  DT_BFLOAT16 = 14,
  DT_QINT16 = 15,
  DT_QUINT16 = 16,
  DT_UINT16 = 17,
  DT_COMPLEX128 = 18,
  DT_HALF = 19,
  DT_RESOURCE = 20,
  DT_VARIANT = 21,
  DT_UINT32 = 22,
  DT_UINT64 = 23,
  // A reference to a tensor of type T has the number T + 100 (see MakeRefType).
  DT_FLOAT_REF = 101,
  DT_STRING_REF = 107,
  DT_UINT64_REF = 123,
};

constexpr int kDataTypeRefOffset = 100;
constexpr int kMaxBaseDataType = DT_UINT64;

using half = Eigen::half;
using bfloat16 = Eigen::bfloat16;
using complex64 = std::complex<float>;
using complex128 = std::complex<double>;

// Quantised types only store a value: each is a distinct type without
// arithmetic.
struct qint8 {
  int8_t value = 0;
};
struct quint8 {
  uint8_t value = 0;
};
struct qint16 {
  int16_t value = 0;
};
struct quint16 {
  uint16_t value = 0;
};
struct qint32 {
  int32_t value = 0;
};

class ResourceHandle;  // headrace/resource_handle.h
class Variant;         // framework/tensor/variant.h

using DataTypeVector = absl::InlinedVector<DataType, 4>;

constexpr bool IsRefType(DataType t) { return t > kDataTypeRefOffset; }
constexpr DataType MakeRefType(DataType t) {
  return static_cast<DataType>(t + kDataTypeRefOffset);
}
constexpr DataType RemoveRefType(DataType t) {
  return IsRefType(t) ? static_cast<DataType>(t - kDataTypeRefOffset) : t;
}
constexpr DataType BaseType(DataType t) { return RemoveRefType(t); }

// True if a value of type `actual` may be passed where `expected` is wanted.
// They are the same type, or `actual` is a reference to `expected`.
constexpr bool TypesCompatible(DataType expected, DataType actual) {
  return expected == actual || expected == BaseType(actual);
}

// True if `number` is a type in the list above or a reference to one.
bool IsValidDataType(int number);

// Bytes of one element. 0 for string, resource and variant, whose elements are
// objects (see DataTypeObjectSize), and for unknown numbers.
int DataTypeSize(DataType t);

// Bytes of one element of any type, including the types whose elements are
// objects.
int DataTypeObjectSize(DataType t);

// True if elements are plain bytes: all types but string, resource and variant.
bool DataTypeCanUseMemcpy(DataType t);

bool DataTypeIsFloating(DataType t);  // half, bfloat16, float, double
bool DataTypeIsComplex(DataType t);
bool DataTypeIsInteger(DataType t);  // signed and unsigned, not quantised

// The name in op specs and messages: "float", "int32", "string_ref", ...
std::string DataTypeString(DataType t);
// "[float, int32]".
std::string DataTypeSliceString(absl::Span<const DataType> types);
// Parses a name of the op grammar, or the form "DT_FLOAT". Returns false if
// unknown.
bool DataTypeFromString(absl::string_view name, DataType* t);

// Map both ways: DataTypeToEnum<T>::value and EnumToDataType<DT>::Type.
template <typename T>
struct DataTypeToEnum;
template <DataType V>
struct EnumToDataType;
#define HR_MATCH_TYPE(TYPE, ENUM)                  \
  template <>                                      \
  struct DataTypeToEnum<TYPE> {                    \
    static constexpr DataType value = ENUM;        \
    static constexpr DataType v() { return ENUM; } \
  };                                               \
  template <>                                      \
  struct EnumToDataType<ENUM> {                    \
    using Type = TYPE;                             \
  }
HR_MATCH_TYPE(float, DT_FLOAT);
HR_MATCH_TYPE(double, DT_DOUBLE);
HR_MATCH_TYPE(int32_t, DT_INT32);
HR_MATCH_TYPE(uint8_t, DT_UINT8);
HR_MATCH_TYPE(int16_t, DT_INT16);
HR_MATCH_TYPE(int8_t, DT_INT8);
HR_MATCH_TYPE(tstring, DT_STRING);
HR_MATCH_TYPE(complex64, DT_COMPLEX64);
HR_MATCH_TYPE(int64_t, DT_INT64);
HR_MATCH_TYPE(bool, DT_BOOL);
HR_MATCH_TYPE(qint8, DT_QINT8);
HR_MATCH_TYPE(quint8, DT_QUINT8);
HR_MATCH_TYPE(qint32, DT_QINT32);
HR_MATCH_TYPE(bfloat16, DT_BFLOAT16);
HR_MATCH_TYPE(qint16, DT_QINT16);
HR_MATCH_TYPE(quint16, DT_QUINT16);
HR_MATCH_TYPE(uint16_t, DT_UINT16);
HR_MATCH_TYPE(complex128, DT_COMPLEX128);
HR_MATCH_TYPE(half, DT_HALF);
HR_MATCH_TYPE(ResourceHandle, DT_RESOURCE);
HR_MATCH_TYPE(Variant, DT_VARIANT);
HR_MATCH_TYPE(uint32_t, DT_UINT32);
HR_MATCH_TYPE(uint64_t, DT_UINT64);
#undef HR_MATCH_TYPE

// The type in which kernels compute for tensors of T: float for narrow floats,
// the stored integer for quantised types, else T.
template <typename T>
struct ComputeTypeOf {
  using type = T;
};
#define HR_COMPUTE_TYPE(T, C) \
  template <>                 \
  struct ComputeTypeOf<T> {   \
    using type = C;           \
  }
HR_COMPUTE_TYPE(half, float);
HR_COMPUTE_TYPE(bfloat16, float);
HR_COMPUTE_TYPE(qint8, int8_t);
HR_COMPUTE_TYPE(quint8, uint8_t);
HR_COMPUTE_TYPE(qint16, int16_t);
HR_COMPUTE_TYPE(quint16, uint16_t);
HR_COMPUTE_TYPE(qint32, int32_t);
#undef HR_COMPUTE_TYPE
template <typename T>
using ComputeType = typename ComputeTypeOf<T>::type;

// Lists of types, to register one kernel for many types. Each macro expands
// m(T) for every T.
#define HR_CALL_FLOAT_TYPES(m) m(half) m(bfloat16) m(float) m(double)
#define HR_CALL_COMPLEX_TYPES(m) m(complex64) m(complex128)
#define HR_CALL_SIGNED_INT_TYPES(m) m(int8_t) m(int16_t) m(int32_t) m(int64_t)
#define HR_CALL_UNSIGNED_INT_TYPES(m) \
  m(uint8_t) m(uint16_t) m(uint32_t) m(uint64_t)
#define HR_CALL_INT_TYPES(m) \
  HR_CALL_SIGNED_INT_TYPES(m) HR_CALL_UNSIGNED_INT_TYPES(m)
#define HR_CALL_REAL_NUMBER_TYPES(m) HR_CALL_FLOAT_TYPES(m) HR_CALL_INT_TYPES(m)
#define HR_CALL_NUMBER_TYPES(m) \
  HR_CALL_REAL_NUMBER_TYPES(m) HR_CALL_COMPLEX_TYPES(m)
#define HR_CALL_QUANTIZED_TYPES(m) \
  m(qint8) m(quint8) m(qint16) m(quint16) m(qint32)
#define HR_CALL_POD_TYPES(m) HR_CALL_NUMBER_TYPES(m) m(bool)
// Every type a tensor can hold.
#define HR_CALL_ALL_TYPES(m) \
  HR_CALL_POD_TYPES(m)       \
  HR_CALL_QUANTIZED_TYPES(m) m(tstring) m(ResourceHandle) m(Variant)

// Where an argument of a kernel is stored. On the CPU both are the same.
enum MemoryType : uint8_t { DEVICE_MEMORY = 0, HOST_MEMORY = 1 };

// Every library has its own copy, which needs no relocation by name.
[[gnu::visibility("hidden")]] inline constexpr char DEVICE_CPU[] = "CPU";
inline constexpr char DEVICE_GPU[] = "GPU";
// A kernel registered for DEVICE_DEFAULT serves every device type without a
// kernel of its own.
[[gnu::visibility("hidden")]] inline constexpr char DEVICE_DEFAULT[] =
    "DEFAULT";

}  // namespace headrace

#endif  // HEADRACE_TYPES_H_
