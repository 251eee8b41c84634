// AlgorithmChoices: the measured times of each algorithm for a problem, and the
// text file that stores them:
//
//   headrace algorithm choices 1
//   # a comment
//   [AMD EPYC 9B14, avx512; headrace 0.1.0]
//   conv forward float 1x56x56x64 ...<tab>winograd_f4 81520<tab>direct 103200
//
// A section belongs to one machine: a processor and a version of the library.
// Times are not valid elsewhere. They are in nanoseconds, the shortest first. A
// file may have sections for several machines, so it can be shipped with a
// model.
#ifndef HEADRACE_FRAMEWORK_TUNING_ALGORITHM_CHOICES_H_
#define HEADRACE_FRAMEWORK_TUNING_ALGORITHM_CHOICES_H_

#include <map>
#include <string>
#include <vector>

#include "absl/strings/string_view.h"
#include "base/env.h"
#include "headrace/status.h"

namespace headrace {

// Not thread-safe.
class AlgorithmChoices {
 public:
  struct Time {
    std::string algorithm;
    double ns = 0;
  };
  using Times = std::vector<Time>;               // shortest first
  using Section = std::map<std::string, Times>;  // by problem

  // InvalidArgument with `origin` and the line for what is no such file or of
  // another format.
  static StatusOr<AlgorithmChoices> Parse(absl::string_view text,
                                          const std::string& origin);
  static StatusOr<AlgorithmChoices> ReadFile(Env* env, const std::string& path);
  std::string ToText() const;
  // Another process sees the old file or the new one.
  Status WriteFile(Env* env, const std::string& path) const;
  // Merges the times into the file. Several processes may do so at the same
  // time. A file that is damaged or of another format is not changed.
  Status AddToFile(Env* env, const std::string& path) const;

  // If the algorithm has a time already, the shorter one is kept.
  void Add(const std::string& machine, const std::string& problem,
           const Times& times);
  void Merge(const AlgorithmChoices& other);
  // Null if there is nothing.
  const Times* Find(const std::string& machine,
                    const std::string& problem) const;

  const std::map<std::string, Section>& machines() const { return machines_; }

 private:
  std::map<std::string, Section> machines_;
};

// The section's name for this processor and this library.
const std::string& ThisMachine();

}  // namespace headrace

#endif  // HEADRACE_FRAMEWORK_TUNING_ALGORITHM_CHOICES_H_
