// The commands of the `headrace` program. A command gets the arguments after
// its name and returns the process's exit status: 0 done, 1 failed, 2 wrong
// usage.
#ifndef HEADRACE_CLI_COMMAND_H_
#define HEADRACE_CLI_COMMAND_H_

#include <set>
#include <string>
#include <vector>

#include "headrace/status.h"

namespace headrace::cli {

using Args = std::vector<std::string>;

int RunCommand(const Args& args);      // headrace run
int InspectCommand(const Args& args);  // headrace inspect
int OpsCommand(const Args& args);      // headrace ops
int TuneCommand(const Args& args);     // headrace tune
int ExplainCommand(const Args& args);  // headrace explain

// "headrace: message" to stderr; returns 1.
int Fail(const Status& status);
// The same with a hint at --help; returns 2.
int UsageError(const std::string& command, const std::string& message);

// Takes options of the form "--name value" and "--name=value" from argument
// lists.
class ArgReader {
 public:
  explicit ArgReader(const Args& args) : args_(args) {}
  // Nothing more can be taken: the arguments have ended, or status() says what
  // is wrong.
  bool done() const { return at_ == args_.size() || !status_.ok(); }
  // True if the next argument is the option `name`, whose value goes to
  // `value`; a missing value sets status().
  bool Option(const std::string& name, std::string* value);
  // True if the next argument is the bare option `name`.
  bool Flag(const std::string& name);
  // The next argument as it is; an unknown option sets status().
  std::string Positional();
  // The same into `value`; one that is there already sets status().
  void TakeOnly(const char* what, std::string* value);
  const Status& status() const { return status_; }

 private:
  const Args& args_;
  size_t at_ = 0;
  Status status_;
  std::set<std::string> known_;  // the options that were asked for
};

}  // namespace headrace::cli

#endif  // HEADRACE_CLI_COMMAND_H_
