// headrace: runs and inspects models from the command line.
#include <cstdio>
#include <string>

#include "base/version.h"
#include "cli/command.h"

namespace headrace::cli {
namespace {

struct Entry {
  const char* name;
  const char* what;
  int (*run)(const Args&);
};
constexpr Entry kCommands[] = {
    {"run", "run a model on pictures, arrays or numbers", RunCommand},
    {"inspect", "show what a model takes, gives and needs", InspectCommand},
    {"explain", "show how a model would run: algorithms and their times",
     ExplainCommand},
    {"tune", "measure which algorithms are the fastest for a model",
     TuneCommand},
    {"ops", "list the ops and kernels of this library", OpsCommand},
};

void PrintHelp(std::FILE* to) {
  std::fprintf(to,
               "headrace %s: a TensorFlow-1.x-compatible dataflow runtime\n\n"
               "usage: headrace COMMAND [ARGUMENTS]\n\n",
               Version());
  for (const Entry& e : kCommands) {
    std::fprintf(to, "  %-10s %s\n", e.name, e.what);
  }
  std::fprintf(to,
               "\n'headrace COMMAND --help' explains a command; --version "
               "prints the version.\n");
}

}  // namespace

int Main(int argc, char** argv) {
  if (argc < 2) {
    PrintHelp(stderr);
    return 2;
  }
  const std::string command = argv[1];
  if (command == "--help" || command == "-h" || command == "help") {
    PrintHelp(stdout);
    return 0;
  }
  if (command == "--version") {
    std::printf("headrace %s\n", Version());
    return 0;
  }
  for (const Entry& e : kCommands) {
    if (command == e.name) return e.run(Args(argv + 2, argv + argc));
  }
  std::fprintf(stderr, "headrace: no command '%s'. Try 'headrace --help'.\n",
               command.c_str());
  return 2;
}

}  // namespace headrace::cli

int main(int argc, char** argv) { return headrace::cli::Main(argc, argv); }
