#include "kernels/data/element_buffer.h"

#include <unistd.h>

namespace headrace {

int64_t MaxBufferedBytes() {
  static const int64_t limit =
      int64_t{sysconf(_SC_PHYS_PAGES)} / 2 * sysconf(_SC_PAGESIZE);
  return limit;
}

}  // namespace headrace
