// Converts a field of a CSV record to an element of a tensor.
#ifndef HEADRACE_KERNELS_IO_CSV_FIELD_H_
#define HEADRACE_KERNELS_IO_CSV_FIELD_H_

#include <cstdint>
#include <string>

#include "headrace/tensor.h"

namespace headrace {

// InvalidArgument unless the record default of field i is empty or one value.
Status CheckCsvDefault(const Tensor& value, int i);

// InvalidArgument unless the column numbers of argument `name` are not negative
// and strictly increase.
Status CheckCsvColumns(absl::Span<const int64_t> columns,
                       absl::string_view name);

// Stores field `i` to element `at` of `out`, or the default if the field is
// missing. Messages use `record`: "record 3".
Status StoreCsvField(const std::string& field, const std::string& na_value,
                     const Tensor& fallback, int i, absl::string_view record,
                     int64_t at, Tensor* out);

}  // namespace headrace

#endif  // HEADRACE_KERNELS_IO_CSV_FIELD_H_
