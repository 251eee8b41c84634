#include "io/npy.h"

#include <cstring>
#include <vector>

#include "absl/strings/match.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"

namespace headrace {
namespace {

struct NpyType {
  const char* descr;
  DataType type;
};
constexpr NpyType kTypes[] = {
    {"<f4", DT_FLOAT},     {"<f8", DT_DOUBLE},     {"<f2", DT_HALF},
    {"<i4", DT_INT32},     {"<i8", DT_INT64},      {"<i2", DT_INT16},
    {"|i1", DT_INT8},      {"|u1", DT_UINT8},      {"<u2", DT_UINT16},
    {"<u4", DT_UINT32},    {"<u8", DT_UINT64},     {"|b1", DT_BOOL},
    {"<c8", DT_COMPLEX64}, {"<c16", DT_COMPLEX128}};

// The text between `before` and `after`, e.g. the value of a header's key.
bool Between(absl::string_view text, absl::string_view before, char after,
             absl::string_view* out) {
  const size_t at = text.find(before);
  if (at == absl::string_view::npos) return false;
  text.remove_prefix(at + before.size());
  const size_t end = text.find(after);
  if (end == absl::string_view::npos) return false;
  *out = text.substr(0, end);
  return true;
}

}  // namespace

Status ParseNpy(absl::string_view bytes, Tensor* out) {
  if (!absl::StartsWith(bytes, "\x93NUMPY") || bytes.size() < 10) {
    return errors::InvalidArgument("not an .npy file");
  }
  const int major = static_cast<unsigned char>(bytes[6]);
  size_t length = 0, at = 10;
  if (major == 1) {
    length = static_cast<unsigned char>(bytes[8]) |
             static_cast<unsigned char>(bytes[9]) << 8;
  } else if ((major == 2 || major == 3) && bytes.size() >= 12) {
    uint32_t v;
    std::memcpy(&v, bytes.data() + 8, sizeof(v));
    length = v;
    at = 12;
  } else {
    return errors::InvalidArgument(".npy version ", major, " is not known");
  }
  if (length > bytes.size() - at) {
    return errors::InvalidArgument(".npy header is cut off");
  }
  const absl::string_view header = bytes.substr(at, length);
  absl::string_view descr, order, shape;
  if (!Between(header, "'descr': '", '\'', &descr) ||
      !Between(header, "'fortran_order': ", ',', &order) ||
      !Between(header, "'shape': (", ')', &shape)) {
    return errors::InvalidArgument(".npy header is malformed: ", header);
  }
  if (order != "False") {
    return errors::InvalidArgument(".npy in Fortran order is not supported");
  }
  DataType dtype = DT_INVALID;
  for (const NpyType& t : kTypes) {
    if (descr == t.descr) dtype = t.type;
  }
  if (dtype == DT_INVALID) {
    return errors::InvalidArgument(".npy dtype ", descr, " is not supported");
  }
  std::vector<int64_t> dims;
  for (absl::string_view d :
       absl::StrSplit(shape, ',', absl::SkipWhitespace())) {
    int64_t v = 0;
    if (!absl::SimpleAtoi(d, &v)) {
      return errors::InvalidArgument(".npy shape is malformed: ", shape);
    }
    dims.push_back(v);
  }
  TensorShape s;
  HR_RETURN_IF_ERROR(TensorShape::Build(dims, &s));
  const int64_t wanted =
      MultiplyWithoutOverflow(s.num_elements(), DataTypeSize(dtype));
  const size_t got = bytes.size() - at - length;
  if (wanted < 0 || static_cast<uint64_t>(wanted) > got) {
    return errors::InvalidArgument(".npy holds ", got, " bytes, its shape ",
                                   s.DebugString(), " wants ", wanted);
  }
  Tensor t;
  HR_RETURN_IF_ERROR(Tensor::Allocate(CpuAllocator(), dtype, s, &t));
  std::memcpy(t.raw_data(), bytes.data() + at + length, wanted);
  *out = std::move(t);
  return OkStatus();
}

Status WriteNpy(const Tensor& t, std::string* bytes) {
  const char* descr = nullptr;
  for (const NpyType& k : kTypes) {
    if (k.type == t.dtype()) descr = k.descr;
  }
  if (descr == nullptr) {
    return errors::InvalidArgument("type ", DataTypeString(t.dtype()),
                                   " cannot be written as .npy");
  }
  std::string shape;
  for (int64_t d : t.shape().dim_sizes()) absl::StrAppend(&shape, d, ",");
  std::string header =
      absl::StrCat("{'descr': '", descr,
                   "', 'fortran_order': False, 'shape': (", shape, "), }");
  // The data begins at a multiple of 64.
  while ((10 + header.size() + 1) % 64 != 0) header += ' ';
  header += '\n';
  bytes->assign("\x93NUMPY\x01\x00", 8);
  bytes->push_back(static_cast<char>(header.size() & 0xff));
  bytes->push_back(static_cast<char>(header.size() >> 8));
  *bytes += header;
  bytes->append(t.tensor_data().data(), t.tensor_data().size());
  return OkStatus();
}

}  // namespace headrace
