#include "headrace/version.h"

namespace headrace {

const char* Version() { return HEADRACE_VERSION; }

}  // namespace headrace
