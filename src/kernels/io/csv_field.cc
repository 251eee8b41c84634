#include "kernels/io/csv_field.h"

#include "absl/strings/numbers.h"
#include "headrace/tstring.h"
#include "kernels/lib/element.h"

namespace headrace {

Status CheckCsvDefault(const Tensor& value, int i) {
  if (value.dims() <= 1 && value.NumElements() <= 1) return OkStatus();
  return errors::InvalidArgument(
      "There should only be 1 default per field but field ", i, " has shape ",
      value.shape().DebugString());
}

Status CheckCsvColumns(absl::Span<const int64_t> columns,
                       absl::string_view name) {
  int64_t before = -1;
  for (const int64_t c : columns) {
    if (c < 0) {
      return errors::InvalidArgument(
          name, " should be non-negative indices, got ", c);
    }
    if (c <= before) {
      return errors::InvalidArgument(
          name, " should be strictly increasing indices, got ", c, " after ",
          before);
    }
    before = c;
  }
  return OkStatus();
}

Status StoreCsvField(const std::string& field, const std::string& na_value,
                     const Tensor& fallback, int i, absl::string_view record,
                     int64_t at, Tensor* out) {
  if (field.empty() || field == na_value) {
    if (fallback.NumElements() != 1) {
      return errors::InvalidArgument(
          "Field ", i, " is required but missing in ", record, "!");
    }
    CopyElements(fallback, 0, out, at, 1);
    return OkStatus();
  }
  bool ok = true;
  switch (out->dtype()) {
    case DT_INT32:
      ok = absl::SimpleAtoi(field, &out->data<int32_t>()[at]);
      break;
    case DT_INT64:
      ok = absl::SimpleAtoi(field, &out->data<int64_t>()[at]);
      break;
    case DT_FLOAT:
      ok = absl::SimpleAtof(field, &out->data<float>()[at]);
      break;
    case DT_DOUBLE:
      ok = absl::SimpleAtod(field, &out->data<double>()[at]);
      break;
    default:
      out->data<tstring>()[at] = field;
  }
  if (ok) return OkStatus();
  return errors::InvalidArgument("Field ", i, " in ", record,
                                 " is not a valid ",
                                 DataTypeString(out->dtype()), ": ", field);
}

}  // namespace headrace
