#include "cli/command.h"

#include <cstdio>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "cli/suggest.h"

namespace headrace::cli {

int Fail(const Status& status) {
  std::fprintf(stderr, "headrace: %s: %s\n",
               absl::StatusCodeToString(status.code()).c_str(),
               std::string(status.message()).c_str());
  return 1;
}

int UsageError(const std::string& command, const std::string& message) {
  std::fprintf(stderr, "headrace %s: %s\nTry 'headrace %s --help'.\n",
               command.c_str(), message.c_str(), command.c_str());
  return 2;
}

bool ArgReader::Option(const std::string& name, std::string* value) {
  if (done()) return false;
  known_.insert(name);
  const std::string& arg = args_[at_];
  if (absl::StartsWith(arg, name + "=")) {
    *value = arg.substr(name.size() + 1);
    ++at_;
    return true;
  }
  if (arg != name) return false;
  if (at_ + 1 == args_.size()) {
    status_ = errors::InvalidArgument(name, " wants a value");
    return false;
  }
  *value = args_[at_ + 1];
  at_ += 2;
  return true;
}

bool ArgReader::Flag(const std::string& name) {
  if (!status_.ok() || done()) return false;
  known_.insert(name);
  if (args_[at_] != name) return false;
  ++at_;
  return true;
}

std::string ArgReader::Positional() {
  if (done()) return "";
  const std::string& arg = args_[at_++];
  if (absl::StartsWith(arg, "-") && arg != "-") {
    const std::vector<std::string> known(known_.begin(), known_.end());
    const std::string option = arg.substr(0, arg.find('='));
    status_ = errors::InvalidArgument("unknown option ", arg,
                                      DidYouMean(option, known));
  }
  return arg;
}

void ArgReader::TakeOnly(const char* what, std::string* value) {
  const std::string word = Positional();
  if (!status_.ok()) return;
  if (!value->empty()) {
    status_ = errors::InvalidArgument("one ", what, ", please: '", *value,
                                      "' or '", word, "'?");
    return;
  }
  *value = word;
}

}  // namespace headrace::cli
