// The commands of the `headrace` program. A command gets the arguments after
// its name. It returns the process's exit status: 0 done, 1 failed, 2 wrong
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
int ConvertCommand(const Args& args);  // headrace convert
int OpsCommand(const Args& args);      // headrace ops
int TuneCommand(const Args& args);     // headrace tune
int ExplainCommand(const Args& args);  // headrace explain
int DoctorCommand(const Args& args);   // headrace doctor
int ServerCommand(const Args& args);   // headrace server
int CertsCommand(const Args& args);    // headrace certs
int HangCommand(const Args& args);     // headrace hang

// Writes "headrace: message" to stderr. Returns 1.
int Fail(const Status& status);
// As Fail, and points to --help. Returns 2.
int UsageError(const std::string& command, const std::string& message);

// Reads options "--name value" and "--name=value" from a list of arguments.
// Thread-compatible.
class ArgReader {
 public:
  explicit ArgReader(const Args& args) : args_(args) {}
  // True if the arguments have ended or status() is an error.
  bool done() const { return at_ == args_.size() || !status_.ok(); }
  // True if the next argument is the option `name`. Its value goes to `value`.
  // A missing value sets status().
  bool Option(const std::string& name, std::string* value);
  // True if the next argument is the option `name` without a value.
  bool Flag(const std::string& name);
  // Returns the next argument unchanged. An unknown option sets status().
  std::string Positional();
  // The same, into `value`. If `value` is not empty, sets status().
  void TakeOnly(const char* what, std::string* value);
  const Status& status() const { return status_; }

 private:
  const Args& args_;
  size_t at_ = 0;
  Status status_;
  std::set<std::string> known_;  // the options asked for so far
};

}  // namespace headrace::cli

#endif  // HEADRACE_CLI_COMMAND_H_
