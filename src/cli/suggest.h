// Suggestions for a misspelt name.
#ifndef HEADRACE_CLI_SUGGEST_H_
#define HEADRACE_CLI_SUGGEST_H_

#include <string>
#include <vector>

#include "absl/strings/string_view.h"

namespace headrace::cli {

// "; did you mean 'input:0' or 'input_1:0'?": at most three similar names, the
// best first. "" if none is similar.
std::string DidYouMean(absl::string_view name,
                       const std::vector<std::string>& candidates);

}  // namespace headrace::cli

#endif  // HEADRACE_CLI_SUGGEST_H_
