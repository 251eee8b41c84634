// headrace: runs and inspects models from the command line.
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <string>
#include <vector>

#include "cli/command.h"
#include "cli/suggest.h"
#include "headrace/version.h"

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
    {"convert", "freeze a checkpoint or SavedModel into one file",
     ConvertCommand},
    {"ops", "list the ops and kernels of this library", OpsCommand},
    {"doctor", "show what the library sees of this machine, and measure it",
     DoctorCommand},
    {"server", "run this process as a task of a cluster", ServerCommand},
    {"certs", "make certificates for a cluster on several machines",
     CertsCommand},
    {"hang", "show what the steps of a cluster wait for", HangCommand},
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

const Entry* FindCommand(const std::string& name) {
  for (const Entry& e : kCommands) {
    if (name == e.name) return &e;
  }
  return nullptr;
}

int TooMuch(const std::string& option, const char* argument) {
  std::fprintf(stderr,
               "headrace %s: '%s' is too much\nTry 'headrace --help'.\n",
               option.c_str(), argument);
  return 2;
}

}  // namespace

int Main(int argc, char** argv) {
  if (argc < 2) {
    PrintHelp(stderr);
    return 2;
  }
  const std::string command = argv[1];
  if (command == "--help" || command == "-h" || command == "help") {
    if (argc == 3 && FindCommand(argv[2]) != nullptr) {
      return FindCommand(argv[2])->run({"--help"});
    }
    if (argc > 2) return TooMuch(command, argv[2]);
    PrintHelp(stdout);
    return 0;
  }
  if (command == "--version") {
    if (argc > 2) return TooMuch(command, argv[2]);
    std::printf("headrace %s\n", Version());
    return 0;
  }
  if (const Entry* e = FindCommand(command)) {
    return e->run(Args(argv + 2, argv + argc));
  }
  const bool option = command[0] == '-';
  std::vector<std::string> names = {"help"};
  if (option) names = {"--help", "--version"};
  for (const Entry& e : kCommands) {
    if (!option) names.emplace_back(e.name);
  }
  std::fprintf(stderr, "headrace: no %s '%s'%s\nTry 'headrace --help'.\n",
               option ? "option" : "command", command.c_str(),
               DidYouMean(command, names).c_str());
  return 2;
}

// Output may still be in a buffer, and writing it may fail (full disk, closed
// pipe).
int FinishOutput(int status) {
  errno = 0;
  if (std::fflush(stdout) == 0 && std::ferror(stdout) == 0) return status;
  std::fprintf(stderr, "headrace: cannot write to standard output%s%s\n",
               errno == 0 ? "" : ": ", errno == 0 ? "" : std::strerror(errno));
  return status == 0 ? 1 : status;
}

}  // namespace headrace::cli

int main(int argc, char** argv) {
  return headrace::cli::FinishOutput(headrace::cli::Main(argc, argv));
}
