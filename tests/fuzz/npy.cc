// NumPy's files.
#include "io/npy.h"

#include <string>

#include "fuzz_target.h"

namespace headrace {
FUZZ_TARGET(npy) {
  Tensor t;
  if (!ParseNpy(bytes, &t).ok()) return;
  std::string back;
  (void)WriteNpy(t, &back);
}
}  // namespace headrace
