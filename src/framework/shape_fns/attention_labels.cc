#include "framework/shape_fns/attention_labels.h"

#include <vector>

#include "absl/strings/ascii.h"
#include "absl/strings/str_split.h"

namespace headrace {
namespace {

bool IsBatch(char c) { return c != 't' && c != 's' && c != 'h' && c != 'd'; }

// Letters that occur once each: `roles`, all of them, and batch dims of
// `scores`. The last is one of `last`.
bool IsOperand(const std::string& labels, absl::string_view roles,
               absl::string_view last, const std::string& scores) {
  for (const char c : roles) {
    if (labels.find(c) == std::string::npos) return false;
  }
  for (size_t i = 0; i < labels.size(); ++i) {
    const char c = labels[i];
    if (!absl::ascii_islower(c) || labels.find(c) != i) return false;
    const bool known = IsBatch(c) ? scores.find(c) != std::string::npos
                                  : roles.find(c) != absl::string_view::npos;
    if (!known) return false;
  }
  return last.find(labels.back()) != absl::string_view::npos;
}

}  // namespace

Status AttentionLabels::Parse(const std::string& labels,
                              const std::string& scores, AttentionLabels* out) {
  const std::vector<std::string> sides = absl::StrSplit(labels, "->");
  const std::vector<std::string> operands = absl::StrSplit(sides[0], ',');
  if (sides.size() == 2 && operands.size() == 3) {
    *out = {operands[0], operands[1], operands[2], sides[1], scores};
    if (IsOperand(scores, "ts", "s", scores) &&
        IsOperand(out->query, "th", "th", scores) &&
        IsOperand(out->key, "sh", "sh", scores) &&
        IsOperand(out->value, "sd", "sd", scores) &&
        IsOperand(out->result, "td", "d", scores) &&
        out->result.size() == scores.size()) {
      return OkStatus();
    }
  }
  return errors::InvalidArgument(
      "labels and scores: got ", labels, " and ", scores,
      ", wanted for example abth,absh,absd->abtd and abts");
}

namespace shape_inference {

Status FusedAttentionShape(InferenceContext* c) {
  std::string labels, scores;
  HR_RETURN_IF_ERROR(c->GetAttr("labels", &labels));
  HR_RETURN_IF_ERROR(c->GetAttr("scores", &scores));
  AttentionLabels l;
  HR_RETURN_IF_ERROR(AttentionLabels::Parse(labels, scores, &l));
  const std::string* operands[] = {&l.query, &l.key, &l.value};
  PartialTensorShape shapes[3];
  for (int i = 0; i < 3; ++i) {
    HR_RETURN_IF_ERROR(c->WithRank(
        c->input(i), static_cast<int>(operands[i]->size()), &shapes[i]));
  }
  DimVector dims;
  for (const char label : l.result) {
    // A mask may repeat what has size 1.
    int64_t size = -1;
    for (int i = 0; i < 3; ++i) {
      const size_t at = operands[i]->find(label);
      if (at == std::string::npos) continue;
      const int64_t dim = shapes[i].dim_size(static_cast<int>(at));
      if (dim > 1 || label == 'd') size = dim;
    }
    dims.push_back(size);
  }
  c->set_output(0, PartialTensorShape(dims));
  return OkStatus();
}

}  // namespace shape_inference
}  // namespace headrace
