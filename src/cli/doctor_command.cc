// headrace doctor: what the library sees of this machine.
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "base/cpu.h"
#include "base/env.h"
#include "base/machine.h"
#include "base/memory.h"
#include "cli/command.h"
#include "cli/suggest.h"
#include "headrace/version.h"

extern char** environ;

namespace headrace::cli {
namespace {

constexpr char kDoctorHelp[] =
    "usage: headrace doctor [--calibrate]\n\n"
    "Shows the version, the processor and its instruction sets, the threads "
    "and the\nmemory that the library may use, the figures from which it "
    "chooses algorithms,\nand the variables of the environment that it "
    "reads.\n\n"
    "  --calibrate   measure the figures on this machine, in about a second, "
    "and keep\n"
    "                them in a file that later processes read: "
    "HEADRACE_MACHINE "
    "in the\n"
    "                environment, else ~/.cache/headrace/machine.txt. Nothing "
    "else should\n"
    "                run meanwhile.\n";

// What the library reads of the environment.
const std::vector<std::string>& KnownVariables() {
  static const auto* const names = new std::vector<std::string>{
      "HEADRACE_ALLOW_FOLDERS",
      "HEADRACE_ALLOW_OPS",
      "HEADRACE_ALLOW_UNENCRYPTED_NETWORK",
      "HEADRACE_COLLECTIVES",
      "HEADRACE_CONV_CACHE",
      "HEADRACE_CONV_TUNING",
      "HEADRACE_COUNT_KERNELS",
      "HEADRACE_DISABLE_PASSES",
      "HEADRACE_EAGER_TESTS",
      "HEADRACE_GPU_HOST_DEVICES",
      "HEADRACE_GPU_HOST_MEMORY_MB",
      "HEADRACE_GPU_PLATFORM",
      "HEADRACE_GPU_TUNING",
      "HEADRACE_GPU_TUNING_READ_ONLY",
      "HEADRACE_JOIN_UNTIL",
      "HEADRACE_KEEPALIVE_MS",
      "HEADRACE_LISTEN_ON_ALL_INTERFACES",
      "HEADRACE_MACHINE",
      "HEADRACE_MAX_CALLABLES",
      "HEADRACE_MAX_CPU_ISA",
      "HEADRACE_MAX_GRAPH_NODES",
      "HEADRACE_MAX_MESSAGE_BYTES",
      "HEADRACE_MAX_PARTIAL_RUNS",
      "HEADRACE_MAX_SESSIONS",
      "HEADRACE_MAX_SESSIONS_OF_CLIENT",
      "HEADRACE_MAX_STEP_BYTES",
      "HEADRACE_MIN_LOG_LEVEL",
      "HEADRACE_MOVE_WORKERS",
      "HEADRACE_NUM_THREADS",
      "HEADRACE_SESSION_TTL_S",
      "HEADRACE_TLS_CA",
      "HEADRACE_TLS_CERT",
      "HEADRACE_TLS_DIR",
      "HEADRACE_TLS_KEY",
      "HEADRACE_TOKEN_FILE",
      "HEADRACE_VLOG",
  };
  return *names;
}

std::string InstructionSets(const CpuFeatures& cpu) {
  const struct {
    bool has;
    const char* name;
  } kSets[] = {{cpu.sse4_2, "SSE4.2"},
               {cpu.avx2, "AVX2"},
               {cpu.fma, "FMA"},
               {cpu.avx512f, "AVX-512"},
               {cpu.avx512_vnni || cpu.avx_vnni, "VNNI"},
               {cpu.avx512_bf16, "BF16"},
               {cpu.amx_tile, "AMX"}};
  std::string text;
  for (const auto& s : kSets) {
    if (s.has) absl::StrAppend(&text, text.empty() ? "" : ", ", s.name);
  }
  return text.empty() ? "none that it uses" : text;
}

void PrintFigures(const char* title, const MachineFigures& f) {
  std::printf("%s %.0f GFLOP/s and %.1f GB/s for a core\n", title,
              f.flops_per_ns, f.read_bytes_per_ns);
}

void PrintEnvironment() {
  bool any = false;
  for (char** entry = environ; *entry != nullptr; ++entry) {
    if (std::strncmp(*entry, "HEADRACE_", 9) != 0) continue;
    const char* const end = std::strchr(*entry, '=');
    if (end == nullptr) continue;
    const std::string name(*entry, end - *entry);
    bool known = false;
    for (const std::string& k : KnownVariables()) known = known || k == name;
    std::printf("%s  %s%s\n", any ? "             " : "environment: ", *entry,
                known ? ""
                      : absl::StrCat("   (nothing reads it",
                                     DidYouMean(name, KnownVariables()), ")")
                            .c_str());
    any = true;
  }
  if (!any) std::printf("environment:  no HEADRACE_ variable is set\n");
}

Status Calibrate() {
  const std::string path = MachineFilePath();
  if (path.empty()) {
    return errors::FailedPrecondition(
        "there is no home directory for the file: set HEADRACE_MACHINE to its "
        "path");
  }
  const MachineFigures measured = MeasureFigures();
  PrintFigures("measured:    ", measured);
  const std::string folder(Dirname(path));
  if (!folder.empty()) {
    HR_RETURN_IF_ERROR(Env::Default()->CreateDirRecursively(folder));
  }
  HR_RETURN_IF_ERROR(Env::Default()->WriteFile(
      path, FormatMachineFile(HostCpu(), measured), WriteMode::kAtomic));
  std::printf("written to:   %s\n", path.c_str());
  return OkStatus();
}

}  // namespace

int DoctorCommand(const Args& args) {
  ArgReader reader(args);
  bool calibrate = false;
  while (!reader.done()) {
    if (reader.Flag("--help") || reader.Flag("-h")) {
      std::fputs(kDoctorHelp, stdout);
      return 0;
    } else if (reader.Flag("--calibrate")) {
      calibrate = true;
    } else {
      const std::string more = reader.Positional();
      if (reader.status().ok()) {
        return UsageError("doctor", absl::StrCat("'", more, "' is too much"));
      }
    }
  }
  if (!reader.status().ok()) {
    return UsageError("doctor", std::string(reader.status().message()));
  }
  const CpuFeatures& cpu = HostCpu();
  constexpr double kGb = 1e9;
  std::printf("headrace:     %s\n", Version());
  std::printf("processor:    %s, family %d, model %d\n",
              cpu.brand.empty() ? "unknown" : cpu.brand.c_str(), cpu.family,
              cpu.model);
  std::printf("instructions: %s\n", InstructionSets(cpu).c_str());
  std::printf("caches:       %lld KB, %lld KB, %lld KB\n",
              static_cast<long long>(cpu.l1d_bytes / 1024),
              static_cast<long long>(cpu.l2_bytes / 1024),
              static_cast<long long>(cpu.l3_bytes / 1024));
  std::printf("threads:      %d\n", AvailableCpus());
  std::printf("memory:       %.1f GB, %.1f GB of it available\n",
              static_cast<double>(TotalMemory()) / kGb,
              static_cast<double>(AvailableMemory()) / kGb);
  PrintFigures("figures:     ", HostFigures());
  PrintEnvironment();
  if (!calibrate) return 0;
  const Status s = Calibrate();
  return s.ok() ? 0 : Fail(s);
}

}  // namespace headrace::cli
