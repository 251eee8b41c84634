// The SONAME of a library: within the file, whatever its headers say.
#include "framework/op/elf_soname.h"

#include <cstdlib>

#include "fuzz_target.h"

namespace headrace {
FUZZ_TARGET(elf_soname) {
  (void)ElfIsCutOff({bytes.data(), bytes.size()});
  const std::string_view name = ElfSoname({bytes.data(), bytes.size()});
  if (name.empty()) return;
  const char* const end = bytes.data() + bytes.size();
  if (name.data() < bytes.data() || name.data() + name.size() > end) {
    std::abort();
  }
}
}  // namespace headrace
