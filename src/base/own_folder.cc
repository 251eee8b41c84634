#include "base/own_folder.h"

#include <dlfcn.h>

namespace headrace {

std::string OwnFolder() {
  Dl_info info;
  if (dladdr(reinterpret_cast<const void*>(&OwnFolder), &info) == 0 ||
      info.dli_fname == nullptr) {
    return "";
  }
  const std::string self = info.dli_fname;
  const size_t slash = self.rfind('/');
  return slash == std::string::npos ? "" : self.substr(0, slash + 1);
}

}  // namespace headrace
