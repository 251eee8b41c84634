// headrace hang: what the steps of a cluster wait for.
#include <cstdio>
#include <string>

#include "absl/strings/numbers.h"
#include "cli/command.h"
#include "headrace/server.h"

namespace headrace::cli {
namespace {

constexpr char kHangHelp[] =
    "usage: headrace hang TARGET\n\n"
    "Asks the task at TARGET, 'grpc://HOST:PORT', and through it all tasks of "
    "its\ncluster, which node of which step waits for which tensor, and since "
    "when.\n\n"
    "  --timeout SECONDS  how long the task has to answer; 10 if not given\n";

}  // namespace

int HangCommand(const Args& args) {
  ArgReader reader(args);
  std::string target, timeout = "10";
  while (!reader.done()) {
    if (reader.Flag("--help") || reader.Flag("-h")) {
      std::fputs(kHangHelp, stdout);
      return 0;
    }
    if (reader.Option("--timeout", &timeout)) continue;
    reader.TakeOnly("TARGET", &target);
  }
  if (!reader.status().ok()) {
    return UsageError("hang", std::string(reader.status().message()));
  }
  if (target.empty()) return UsageError("hang", "TARGET is needed");
  double seconds = 0;
  if (!absl::SimpleAtod(timeout, &seconds) || !(seconds > 0)) {
    return UsageError("hang", StrCat("--timeout is '", timeout,
                                     "'; wanted a number of seconds"));
  }
  const StatusOr<std::string> text = DescribeWaits(target, seconds);
  if (!text.ok()) return Fail(text.status());
  std::fputs(text->c_str(), stdout);
  return 0;
}

}  // namespace headrace::cli
