// Runs of a model whose results do not matter, for measurements. Inputs that
// are not given are generated.
#ifndef HEADRACE_CLI_TRIAL_H_
#define HEADRACE_CLI_TRIAL_H_

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "cli/command.h"
#include "cli/model.h"
#include "framework/tuning/algorithm_tuner.h"
#include "headrace/session.h"

namespace headrace::cli {

struct TrialArgs {
  std::string model;
  std::vector<std::pair<std::string, std::string>> feeds, shapes;
  std::vector<std::string> fetches;
  int threads = 0;
  bool quiet = false;  // about the inputs that are generated
};

// The options that all trials have, for --help.
extern const char kTrialHelp[];

// Reads the next argument: one of these options, or the model. An error goes to
// `status` or to the reader's status.
void TakeTrialArg(ArgReader* reader, TrialArgs* args, Status* status);

// Parses the value of --seconds.
Status ParseSeconds(const std::string& text, double* seconds);

// Parses "1,224,224,3", or "" for a scalar.
Status ParseShape(const std::string& text, TensorShape* shape);

struct Trial {
  Model model;
  std::vector<Session::Feed> feeds;
  std::vector<Endpoint> fetches;
  std::unique_ptr<Session> session;

  // Traced if `metadata` is given.
  Status Run(pb::RunMetadata* metadata = nullptr) const;
  // Null if the session was opened without tuning.
  RefPtr<AlgorithmTuner> tuner() const;
};

// Loads the model and opens a session on it. Prints which inputs it
// generates, unless it is to be quiet.
Status PrepareTrial(const TrialArgs& args, pb::ConfigProto config, Trial* out);

}  // namespace headrace::cli

#endif  // HEADRACE_CLI_TRIAL_H_
