#include "cli/suggest.h"

#include <algorithm>
#include <numeric>
#include <utility>

#include "absl/strings/ascii.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"

namespace headrace::cli {
namespace {

constexpr size_t kMost = 3;
// A name that is part of another says something from this length on.
constexpr size_t kShortestPart = 3;

// How many letters were left out, put in, changed, or swapped with the next;
// `limit` + 1 for more than `limit`.
size_t Distance(absl::string_view a, absl::string_view b, size_t limit) {
  if (std::max(a.size(), b.size()) - std::min(a.size(), b.size()) > limit) {
    return limit + 1;
  }
  // Rows i - 2, i - 1 and i of the table over prefixes of a and b.
  std::vector<size_t> before, last(b.size() + 1), row(b.size() + 1);
  std::iota(last.begin(), last.end(), 0);
  for (size_t i = 1; i <= a.size(); ++i) {
    row[0] = i;
    for (size_t j = 1; j <= b.size(); ++j) {
      row[j] = std::min({last[j] + 1, row[j - 1] + 1,
                         last[j - 1] + (a[i - 1] == b[j - 1] ? 0 : 1)});
      if (i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1]) {
        row[j] = std::min(row[j], before[j - 2] + 1);
      }
    }
    before = std::exchange(last, row);
  }
  return std::min(last.back(), limit + 1);
}

}  // namespace

std::string DidYouMean(absl::string_view name,
                       const std::vector<std::string>& candidates) {
  const std::string wanted = absl::AsciiStrToLower(name);
  const size_t limit = std::max<size_t>(1, wanted.size() / 3);
  std::vector<std::pair<size_t, const std::string*>> alike;
  for (const std::string& c : candidates) {
    const std::string lower = absl::AsciiStrToLower(c);
    size_t d = Distance(wanted, lower, limit);
    const bool is_part =
        std::min(wanted.size(), lower.size()) >= kShortestPart &&
        (absl::StrContains(lower, wanted) || absl::StrContains(wanted, lower));
    if (d > limit && !is_part) continue;
    alike.emplace_back(d, &c);
  }
  std::stable_sort(
      alike.begin(), alike.end(),
      [](const auto& a, const auto& b) { return a.first < b.first; });
  if (alike.empty()) return "";
  alike.resize(std::min(alike.size(), kMost));
  std::string words = "; did you mean ";
  for (size_t i = 0; i < alike.size(); ++i) {
    absl::StrAppend(&words,
                    i == 0                  ? ""
                    : i + 1 == alike.size() ? " or "
                                            : ", ",
                    "'", *alike[i].second, "'");
  }
  return words + "?";
}

}  // namespace headrace::cli
