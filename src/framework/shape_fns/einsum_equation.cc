#include "framework/shape_fns/einsum_equation.h"

#include <algorithm>

#include "absl/strings/str_split.h"
#include "headrace/tensor_shape.h"

namespace headrace {

namespace {
// Reads the labels of one tensor; `numbers[c]` is the number of character c.
template <typename Labels>
Status ReadLabels(absl::string_view text, int ellipsis, int* numbers,
                  int* count, Labels* out) {
  bool seen_ellipsis = false;
  for (size_t i = 0; i < text.size(); ++i) {
    const unsigned char c = text[i];
    if (c != '.') {
      if (numbers[c] < 0) numbers[c] = (*count)++;
      out->push_back(numbers[c]);
      continue;
    }
    if (seen_ellipsis || text.substr(i, 3) != "...") {
      return errors::InvalidArgument(
          "Einsum: periods must be one ellipsis '...', got '", text, "'");
    }
    seen_ellipsis = true;
    out->push_back(ellipsis);
    i += 2;
  }
  if (out->size() > static_cast<size_t>(kMaxTensorRank)) {
    return errors::InvalidArgument("Einsum: more than ", kMaxTensorRank,
                                   " labels in '", text, "'");
  }
  return OkStatus();
}
}  // namespace

Status EinsumEquation::Parse(absl::string_view text, EinsumEquation* out) {
  const std::vector<absl::string_view> sides = absl::StrSplit(text, "->");
  if (sides.size() != 2) {
    return errors::InvalidArgument("Einsum: expected one '->' in equation '",
                                   text, "'");
  }
  const std::vector<absl::string_view> inputs = absl::StrSplit(sides[0], ',');
  if (inputs.size() > 2) {
    return errors::InvalidArgument(
        "Einsum: expected at most 2 inputs, equation '", text, "' has ",
        inputs.size());
  }
  int numbers[256];
  std::fill_n(numbers, 256, -1);
  EinsumEquation eq;
  for (absl::string_view input : inputs) {
    eq.inputs_.emplace_back();
    HR_RETURN_IF_ERROR(ReadLabels(input, kEllipsis, numbers, &eq.num_written_,
                                  &eq.inputs_.back()));
  }
  const int of_inputs = eq.num_written_;
  HR_RETURN_IF_ERROR(
      ReadLabels(sides[1], kEllipsis, numbers, &eq.num_written_, &eq.output_));
  if (eq.num_written_ > of_inputs) {
    return errors::InvalidArgument("Einsum: the output of '", text,
                                   "' has a label that no input has");
  }
  *out = std::move(eq);
  return OkStatus();
}

int EinsumEquation::Ellipsis(const Labels& labels) {
  const auto at = std::find(labels.begin(), labels.end(), kEllipsis);
  return at == labels.end() ? -1 : static_cast<int>(at - labels.begin());
}

int EinsumEquation::EllipsisDims(int i, int rank) const {
  return input_has_ellipsis(i) ? rank - static_cast<int>(inputs_[i].size()) + 1
                               : 0;
}

EinsumEquation::Labels EinsumEquation::Expand(const Labels& labels,
                                              int ellipsis_dims) const {
  Labels out;
  for (int label : labels) {
    if (label != kEllipsis) {
      out.push_back(label);
      continue;
    }
    for (int d = ellipsis_dims - 1; d >= 0; --d) {
      out.push_back(num_written_ + d);
    }
  }
  return out;
}

Status EinsumEquation::InputLabels(int i, int rank, Labels* out) const {
  const int labels = static_cast<int>(inputs_[i].size());
  if (input_has_ellipsis(i) ? rank < labels - 1 : rank != labels) {
    return errors::InvalidArgument("Einsum: input ", i, " has rank ", rank,
                                   ", the equation wants ",
                                   input_has_ellipsis(i) ? "at least " : "",
                                   input_has_ellipsis(i) ? labels - 1 : labels);
  }
  *out = Expand(inputs_[i], EllipsisDims(i, rank));
  return OkStatus();
}

Status EinsumEquation::OutputLabels(int ellipsis_dims, Labels* out) const {
  if (ellipsis_dims > 0 && !output_has_ellipsis()) {
    return errors::InvalidArgument(
        "Einsum: the output needs an ellipsis for the ", ellipsis_dims,
        " dims that the inputs' ellipses stand for");
  }
  *out = Expand(output_, ellipsis_dims);
  if (out->size() > static_cast<size_t>(kMaxTensorRank)) {
    return errors::InvalidArgument("Einsum: the output has more than ",
                                   kMaxTensorRank, " dims");
  }
  return OkStatus();
}

}  // namespace headrace
