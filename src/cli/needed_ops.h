// The ops that models need, for a library that is linked with these alone.
#ifndef HEADRACE_CLI_NEEDED_OPS_H_
#define HEADRACE_CLI_NEEDED_OPS_H_

#include <set>
#include <string>

#include "cli/trial.h"

namespace headrace::cli {

// Adds the ops of the model's nodes and functions, those that graph passes put
// in their place (the model is run once for that), and those that every session
// needs.
Status AddNeededOps(TrialArgs args, std::set<std::string>* ops);

}  // namespace headrace::cli

#endif  // HEADRACE_CLI_NEEDED_OPS_H_
