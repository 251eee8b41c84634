// What a user may have meant who wrote a name that is not there.
#ifndef HEADRACE_CLI_SUGGEST_H_
#define HEADRACE_CLI_SUGGEST_H_

#include <string>
#include <vector>

#include "absl/strings/string_view.h"

namespace headrace::cli {

// "; did you mean 'input:0' or 'input_1:0'?", of at most three that are alike,
// the likeliest first; "" if none is.
std::string DidYouMean(absl::string_view name,
                       const std::vector<std::string>& candidates);

}  // namespace headrace::cli

#endif  // HEADRACE_CLI_SUGGEST_H_
