// How a field of a CSV record becomes an element of a tensor.
#ifndef HEADRACE_KERNELS_IO_CSV_FIELD_H_
#define HEADRACE_KERNELS_IO_CSV_FIELD_H_

#include <cstdint>
#include <string>

#include "headrace/tensor.h"

namespace headrace {

// InvalidArgument unless a record default is empty or one value: of field i.
Status CheckCsvDefault(const Tensor& value, int i);

// InvalidArgument unless column numbers are what argument `name` takes: not
// negative, and ever larger.
Status CheckCsvColumns(absl::Span<const int64_t> columns,
                       absl::string_view name);

// Field `i` of `record` (for messages: "record 3") to element `at` of `out`,
// or, if the field is missing, the default.
Status StoreCsvField(const std::string& field, const std::string& na_value,
                     const Tensor& fallback, int i, absl::string_view record,
                     int64_t at, Tensor* out);

}  // namespace headrace

#endif  // HEADRACE_KERNELS_IO_CSV_FIELD_H_
