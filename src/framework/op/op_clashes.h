// REGISTER_OP cannot fail. If a library registers an op under a name that
// another op has, the first one stays. Whoever loads libraries asks here.
#ifndef HEADRACE_FRAMEWORK_OP_OP_CLASHES_H_
#define HEADRACE_FRAMEWORK_OP_OP_CLASHES_H_

#include <string>
#include <vector>

namespace headrace {

// A message for each op that was registered since the last call with another
// signature than the op that has its name. Thread-safe.
std::vector<std::string> TakeOpClashes();

}  // namespace headrace

#endif  // HEADRACE_FRAMEWORK_OP_OP_CLASHES_H_
