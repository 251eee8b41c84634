// Multiply-add in one instruction, where RunPeak is compiled for it. Before all
// includes.
#pragma GCC optimize("fp-contract=fast")

#include "base/machine.h"

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <limits>
#include <memory>
#include <new>
#include <vector>

#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "absl/strings/strip.h"
#include "base/env.h"
#include "base/log.h"

namespace headrace {
namespace {

constexpr absl::string_view kFirstLine = "headrace machine 1";

std::string ProcessorName(const CpuFeatures& cpu) {
  return absl::StrCat(cpu.brand.empty() ? "unknown" : cpu.brand, " ",
                      cpu.vendor, " ", cpu.family, "/", cpu.model, "/",
                      cpu.stepping);
}

using Clock = std::chrono::steady_clock;
double NsSince(Clock::time_point start) {
  return std::chrono::duration<double, std::nano>(Clock::now() - start).count();
}

template <int kBytes>
struct VectorType {
  typedef float Type __attribute__((vector_size(kBytes)));
};

// Sums in twelve vectors, so that no addition waits for the one before.
template <int kBytes>
[[gnu::always_inline]] inline double Peak(int64_t turns) {
  using V = typename VectorType<kBytes>::Type;
  constexpr int kChains = 12;
  // Different numbers: equal chains would be computed once.
  volatile float first = 0.5f;
  V sum[kChains];
  for (int c = 0; c < kChains; ++c) sum[c] = V{} + (first + c);
  V x = {};
  x += 1e-9f;
  const V scale = x + 0.999f;
  const Clock::time_point start = Clock::now();
  for (int64_t t = 0; t < turns; ++t) {
#pragma GCC unroll 12
    for (int c = 0; c < kChains; ++c) sum[c] = sum[c] * scale + x;
  }
  const double ns = NsSince(start);
  V total = {};
  for (const V& s : sum) total += s;
  volatile float keep = total[0];
  (void)keep;
  return 2.0 * kChains * (kBytes / sizeof(float)) * turns / ns;
}

#if defined(__x86_64__) && defined(__GNUC__)
__attribute__((target("avx512f,avx512vl,fma"), noinline)) double PeakOf512(
    int64_t turns) {
  return Peak<64>(turns);
}
__attribute__((target("avx2,fma"), noinline)) double PeakOf256(int64_t turns) {
  return Peak<32>(turns);
}
#endif
double PeakOf128(int64_t turns) { return Peak<16>(turns); }

double RunPeak(int64_t turns) {
#if defined(__x86_64__) && defined(__GNUC__)
  const CpuFeatures& cpu = HostCpu();
  if (cpu.avx512f && cpu.avx512vl && cpu.fma) return PeakOf512(turns);
  if (cpu.avx2 && cpu.fma) return PeakOf256(turns);
#endif
  return PeakOf128(turns);
}

double RunRead(const std::vector<uint64_t>& data) {
  uint64_t sum[8] = {};
  const Clock::time_point start = Clock::now();
  for (size_t i = 0; i + 8 <= data.size(); i += 8) {
    for (int k = 0; k < 8; ++k) sum[k] += data[i + k];
  }
  const double ns = NsSince(start);
  volatile uint64_t keep =
      sum[0] + sum[1] + sum[2] + sum[3] + sum[4] + sum[5] + sum[6] + sum[7];
  (void)keep;
  return static_cast<double>(data.size() * sizeof(uint64_t)) / ns;
}

MachineFigures ReadHostFigures() {
  MachineFigures figures = TableFigures(HostCpu());
  const std::string path = MachineFilePath();
  std::string text;
  if (path.empty() || !Env::Default()->ReadFile(path, &text).ok()) {
    return figures;
  }
  MachineFigures read;
  const Status s = ParseMachineFile(text, HostCpu(), &read);
  if (s.ok()) return read;
  if (!errors::IsNotFound(s)) {
    HR_LOG(WARNING) << path << " is ignored: " << s.message();
  }
  return figures;
}

}  // namespace

MachineFigures TableFigures(const CpuFeatures& cpu) {
  MachineFigures f;
  f.read_bytes_per_ns = 11;
  if (!cpu.fma) {
    f.flops_per_ns = cpu.avx ? 48 : 24;
    return f;
  }
  // Two multiply-adds of 256 bits a cycle, or of 512 bits where the processor
  // has such units and not, as Zen 4, halves of them.
  const bool wide =
      cpu.avx512f && !(cpu.vendor == "AuthenticAMD" && cpu.family < 26);
  f.flops_per_ns = wide ? 200 : 115;
  return f;
}

const MachineFigures& HostFigures() {
  static const MachineFigures* const figures =
      new MachineFigures(ReadHostFigures());
  return *figures;
}

MachineFigures MeasureFigures() {
  MachineFigures best;
  RunPeak(2000000);  // until the clock has risen
  for (int i = 0; i < 8; ++i) {
    best.flops_per_ns = std::max(best.flops_per_ns, RunPeak(1000000));
  }
  // Four times the largest cache, 256 MB at most.
  const int64_t bytes = std::clamp<int64_t>(
      4 * HostCpu().l3_bytes, int64_t{64} << 20, int64_t{256} << 20);
  const std::vector<uint64_t> data(bytes / sizeof(uint64_t), 1);
  for (int i = 0; i < 4; ++i) {
    best.read_bytes_per_ns = std::max(best.read_bytes_per_ns, RunRead(data));
  }
  return best;
}

std::string MachineFilePath() {
  if (const char* path = std::getenv("HEADRACE_MACHINE")) return path;
  const char* const cache = std::getenv("XDG_CACHE_HOME");
  if (cache != nullptr && *cache != 0) {
    return absl::StrCat(cache, "/headrace/machine.txt");
  }
  const char* const home = std::getenv("HOME");
  if (home == nullptr || *home == 0) return "";
  return absl::StrCat(home, "/.cache/headrace/machine.txt");
}

std::string FormatMachineFile(const CpuFeatures& cpu,
                              const MachineFigures& figures) {
  char numbers[100];
  std::snprintf(numbers, sizeof(numbers),
                "flops_per_ns %.1f\nread_bytes_per_ns %.1f\n",
                figures.flops_per_ns, figures.read_bytes_per_ns);
  return absl::StrCat(kFirstLine, "\nprocessor ", ProcessorName(cpu), "\n",
                      numbers);
}

Status ParseMachineFile(absl::string_view text, const CpuFeatures& cpu,
                        MachineFigures* figures) {
  MachineFigures read;
  int number = 0;
  std::string processor;
  for (absl::string_view line :
       absl::StrSplit(absl::StripSuffix(text, "\n"), '\n')) {
    ++number;
    const auto bad = [&](absl::string_view wanted) {
      return errors::InvalidArgument("line ", number, " is '",
                                     line.substr(0, 80), "', wanted ", wanted);
    };
    if (number == 1) {
      if (line != kFirstLine) {
        return bad(absl::StrCat("'", kFirstLine, "'"));
      }
      continue;
    }
    const std::pair<absl::string_view, absl::string_view> words =
        absl::StrSplit(line, absl::MaxSplits(' ', 1));
    if (words.first == "processor") {
      processor = std::string(words.second);
      continue;
    }
    double* const to = words.first == "flops_per_ns" ? &read.flops_per_ns
                       : words.first == "read_bytes_per_ns"
                           ? &read.read_bytes_per_ns
                           : nullptr;
    if (to == nullptr) {
      return bad("processor, flops_per_ns or read_bytes_per_ns");
    }
    if (!absl::SimpleAtod(words.second, to) || !(*to > 0.01 && *to < 1e5)) {
      return bad("a number from 0.01 to 100000");
    }
  }
  if (read.flops_per_ns == 0 || read.read_bytes_per_ns == 0) {
    return errors::InvalidArgument(
        "it ends without flops_per_ns and read_bytes_per_ns");
  }
  if (processor != ProcessorName(cpu)) {
    return errors::NotFound("it is of '", processor, "', not of '",
                            ProcessorName(cpu), "'");
  }
  *figures = read;
  return OkStatus();
}

}  // namespace headrace
