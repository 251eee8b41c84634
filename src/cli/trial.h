// A run of a model for the sake of what it tells, not of its results: inputs
// that are not given are made up.
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
};

// The options that trials have in common, for --help.
extern const char kTrialHelp[];

// Takes the next argument: one of them, or the model. What is wrong with it
// goes to `status` or the reader's.
void TakeTrialArg(ArgReader* reader, TrialArgs* args, Status* status);

// The value of --seconds.
Status ParseSeconds(const std::string& text, double* seconds);

// "1,224,224,3" or "" (a scalar).
Status ParseShape(const std::string& text, TensorShape* shape);

struct Trial {
  Model model;
  std::vector<Session::Feed> feeds;
  std::vector<Endpoint> fetches;
  std::unique_ptr<Session> session;

  // Traced if there is `metadata`.
  Status Run(pb::RunMetadata* metadata = nullptr) const;
  // Null if the session was not asked for one.
  RefPtr<AlgorithmTuner> tuner() const;
};

// Loads the model and opens a session on it. Says what it makes up.
Status PrepareTrial(const TrialArgs& args, pb::ConfigProto config, Trial* out);

}  // namespace headrace::cli

#endif  // HEADRACE_CLI_TRIAL_H_
