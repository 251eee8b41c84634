// Who gets the text of print ops instead of the standard error stream.
#ifndef HEADRACE_FRAMEWORK_KERNEL_PRINT_LISTENERS_H_
#define HEADRACE_FRAMEWORK_KERNEL_PRINT_LISTENERS_H_

#include <string>

namespace headrace {

using PrintListener = void (*)(const char* text);

// Thread-safe. Listeners are never removed.
void AddPrintListener(PrintListener listener);
// Calls every listener. False if there is none.
bool PrintToListeners(const std::string& text);

}  // namespace headrace

#endif  // HEADRACE_FRAMEWORK_KERNEL_PRINT_LISTENERS_H_
