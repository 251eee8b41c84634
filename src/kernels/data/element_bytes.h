// The memory of an element in bytes, for the limits of buffers.
#ifndef HEADRACE_KERNELS_DATA_ELEMENT_BYTES_H_
#define HEADRACE_KERNELS_DATA_ELEMENT_BYTES_H_

#include "headrace/tstring.h"
#include "kernels/data/dataset.h"

namespace headrace {

inline int64_t ElementBytes(const TensorTuple& e) {
  int64_t bytes = 0;
  for (const Tensor& t : e) {
    bytes += static_cast<int64_t>(t.TotalBytes());
    if (t.dtype() != DT_STRING) continue;
    for (const tstring& s : t.span<tstring>()) {
      bytes += static_cast<int64_t>(s.size());
    }
  }
  return bytes;
}

}  // namespace headrace

#endif  // HEADRACE_KERNELS_DATA_ELEMENT_BYTES_H_
