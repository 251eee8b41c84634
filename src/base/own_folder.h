// Where this library lies: plug-in libraries are loaded from beside it.
#ifndef HEADRACE_BASE_OWN_FOLDER_H_
#define HEADRACE_BASE_OWN_FOLDER_H_

#include <string>

namespace headrace {

// The folder of the library that has this function, with a slash; "" if the
// system does not tell. Thread-safe.
std::string OwnFolder();

}  // namespace headrace

#endif  // HEADRACE_BASE_OWN_FOLDER_H_
