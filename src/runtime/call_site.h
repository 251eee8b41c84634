// CallSite: where a function that runs was called, as a list towards the
// client's graph. Each call has its own; it lives as long as the call.
#ifndef HEADRACE_RUNTIME_CALL_SITE_H_
#define HEADRACE_RUNTIME_CALL_SITE_H_

#include <string>

#include "headrace/node_def.h"

namespace headrace {

struct CallSite {
  const std::string* function = nullptr;
  const NodeDef* caller = nullptr;
  const CallSite* outer = nullptr;  // null: called by the client's graph
  int depth = 1;                    // length of the list
};

// For messages: "\n\t in function 'f', called by {{node c}}" for each call, the
// innermost first; of a long list, its ends.
std::string DescribeCalls(const CallSite* site);

}  // namespace headrace

#endif  // HEADRACE_RUNTIME_CALL_SITE_H_
