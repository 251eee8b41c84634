#include "framework/tuning/algorithm_choices.h"

#include <algorithm>
#include <cmath>

#include "absl/strings/ascii.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "absl/strings/strip.h"
#include "base/cpu.h"
#include "base/file_lock.h"
#include "headrace/version.h"

namespace headrace {
namespace {

constexpr absl::string_view kFirstLine = "headrace algorithm choices ";
constexpr int kFormat = 1;
constexpr uint64_t kMaxFileBytes = 64 << 20;
constexpr size_t kMaxLine = 4096;
constexpr double kMaxNs = 1e15;

Status Wrong(const std::string& origin, size_t line, absl::string_view what) {
  return errors::InvalidArgument(origin, ", line ", line, ": ", what,
                                 "; no file of algorithm choices, or damaged");
}

bool ParseTime(absl::string_view text, AlgorithmChoices::Time* out) {
  const size_t space = text.rfind(' ');
  if (space == absl::string_view::npos || space == 0) return false;
  out->algorithm = std::string(text.substr(0, space));
  return absl::SimpleAtod(text.substr(space + 1), &out->ns) && out->ns > 0 &&
         out->ns < kMaxNs;
}

// Of a name from outside, what a section's name can hold.
std::string Clean(const std::string& text) {
  std::string out;
  for (const char c : text) {
    const bool fits = absl::ascii_isprint(c) && c != '[' && c != ']';
    out.push_back(fits ? c : '_');
  }
  return std::string(absl::StripAsciiWhitespace(out));
}

}  // namespace

StatusOr<AlgorithmChoices> AlgorithmChoices::Parse(absl::string_view text,
                                                   const std::string& origin) {
  AlgorithmChoices out;
  Section* section = nullptr;
  std::string machine;
  size_t number = 0;
  for (absl::string_view line : absl::StrSplit(text, '\n')) {
    ++number;
    // An editor or a version control system may have put it there.
    absl::ConsumeSuffix(&line, "\r");
    if (line.size() > kMaxLine) return Wrong(origin, number, "line too long");
    if (number == 1) {
      int format = 0;
      if (!absl::ConsumePrefix(&line, kFirstLine) ||
          !absl::SimpleAtoi(line, &format)) {
        return Wrong(origin, number, "does not say what it is");
      }
      if (format != kFormat) {
        return errors::InvalidArgument(origin, " is of format ", format,
                                       "; this library reads format ", kFormat);
      }
      continue;
    }
    if (line.empty() || line[0] == '#') continue;
    if (line[0] == '[') {
      if (line.size() < 3 || line.back() != ']') {
        return Wrong(origin, number, "no machine between brackets");
      }
      machine = std::string(line.substr(1, line.size() - 2));
      section = &out.machines_[machine];
      continue;
    }
    if (section == nullptr) {
      return Wrong(origin, number, "a choice before the first machine");
    }
    const std::vector<absl::string_view> fields = absl::StrSplit(line, '\t');
    Times times(fields.size() - 1);
    for (size_t i = 1; i < fields.size(); ++i) {
      if (!ParseTime(fields[i], &times[i - 1])) {
        return Wrong(
            origin, number,
            absl::StrCat("'", fields[i], "' is no algorithm and nanoseconds"));
      }
    }
    if (fields[0].empty() || times.empty()) {
      return Wrong(origin, number, "wanted a problem and its algorithms");
    }
    out.Add(machine, std::string(fields[0]), times);
  }
  // Every file that we write ends a line.
  if (text.back() != '\n') return Wrong(origin, number, "the end is missing");
  return out;
}

StatusOr<AlgorithmChoices> AlgorithmChoices::ReadFile(Env* env,
                                                      const std::string& path) {
  HR_ASSIGN_OR_RETURN(const uint64_t size, env->FileSize(path));
  if (size > kMaxFileBytes) {
    return errors::InvalidArgument(path, " has ", size,
                                   " bytes: no file of algorithm choices");
  }
  std::string text;
  HR_RETURN_IF_ERROR(env->ReadFile(path, &text));
  return Parse(text, path);
}

std::string AlgorithmChoices::ToText() const {
  std::string text = absl::StrCat(kFirstLine, kFormat, "\n");
  for (const auto& [machine, section] : machines_) {
    absl::StrAppend(&text, "[", machine, "]\n");
    for (const auto& [problem, times] : section) {
      absl::StrAppend(&text, problem);
      for (const Time& t : times) {
        absl::StrAppend(&text, "\t", t.algorithm, " ",
                        static_cast<int64_t>(std::ceil(t.ns)));
      }
      absl::StrAppend(&text, "\n");
    }
  }
  return text;
}

Status AlgorithmChoices::WriteFile(Env* env, const std::string& path) const {
  return env->WriteFile(path, ToText(), WriteMode::kAtomic);
}

Status AlgorithmChoices::AddToFile(Env* env, const std::string& path) const {
  HR_ASSIGN_OR_RETURN(const FileLock lock, FileLock::Take(path));
  AlgorithmChoices all = *this;
  const StatusOr<AlgorithmChoices> there = ReadFile(env, path);
  if (there.ok()) {
    all.Merge(*there);
  } else if (!errors::IsNotFound(there.status())) {
    return there.status();
  }
  return all.WriteFile(env, path);
}

void AlgorithmChoices::Add(const std::string& machine,
                           const std::string& problem, const Times& times) {
  Times& known = machines_[machine][problem];
  for (const Time& t : times) {
    const auto it = std::find_if(
        known.begin(), known.end(),
        [&t](const Time& k) { return k.algorithm == t.algorithm; });
    if (it == known.end()) {
      known.push_back(t);
    } else {
      it->ns = std::min(it->ns, t.ns);
    }
  }
  std::stable_sort(known.begin(), known.end(),
                   [](const Time& a, const Time& b) { return a.ns < b.ns; });
}

void AlgorithmChoices::Merge(const AlgorithmChoices& other) {
  for (const auto& [machine, section] : other.machines_) {
    machines_[machine];
    for (const auto& [problem, times] : section) Add(machine, problem, times);
  }
}

const AlgorithmChoices::Times* AlgorithmChoices::Find(
    const std::string& machine, const std::string& problem) const {
  const auto section = machines_.find(machine);
  if (section == machines_.end()) return nullptr;
  const auto it = section->second.find(problem);
  return it == section->second.end() ? nullptr : &it->second;
}

const std::string& ThisMachine() {
  static const std::string* const name = [] {
    const CpuFeatures& cpu = HostCpu();
    // Some brands do not say which processor it is.
    const char* simd = cpu.avx512f ? "avx512" : cpu.avx2 ? "avx2" : "no avx2";
    return new std::string(absl::StrCat(
        Clean(StrCat(cpu.vendor, " ", cpu.brand)), ", family ", cpu.family,
        " model ", cpu.model, ", ", simd, "; headrace ", Version()));
  }();
  return *name;
}

}  // namespace headrace
