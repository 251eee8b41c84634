// The equation of an Einsum, "ij...,jk...->ik...", parsed for the shape
// function and the kernel. A label is any character outside the syntax. An
// ellipsis means the dims without a label; they broadcast against those of the
// other input, aligned at the right.
#ifndef HEADRACE_FRAMEWORK_SHAPE_FNS_EINSUM_EQUATION_H_
#define HEADRACE_FRAMEWORK_SHAPE_FNS_EINSUM_EQUATION_H_

#include <vector>

#include "absl/container/inlined_vector.h"
#include "absl/strings/string_view.h"
#include "headrace/status.h"

namespace headrace {

// Constant after Parse, and then thread-safe.
class EinsumEquation {
 public:
  // The labels of a tensor's dims, as small numbers from 0 on.
  using Labels = absl::InlinedVector<int, 6>;

  // InvalidArgument for bad syntax, more than two inputs, an output label that
  // no input has.
  static Status Parse(absl::string_view text, EinsumEquation* out);

  int num_inputs() const { return static_cast<int>(inputs_.size()); }
  bool input_has_ellipsis(int i) const { return Ellipsis(inputs_[i]) >= 0; }
  bool output_has_ellipsis() const { return Ellipsis(output_) >= 0; }

  // One label for each of the `rank` dims of input i; InvalidArgument if the
  // equation does not allow that rank.
  Status InputLabels(int i, int rank, Labels* out) const;
  // The output's labels where the longest ellipsis of the inputs is of
  // `ellipsis_dims` dims.
  Status OutputLabels(int ellipsis_dims, Labels* out) const;
  // How many dims of an input of `rank` the ellipsis takes.
  int EllipsisDims(int i, int rank) const;
  // Labels below this were written; the others are dims of an ellipsis, the
  // last dim first.
  int num_written() const { return num_written_; }

 private:
  static constexpr int kEllipsis = -1;
  static int Ellipsis(const Labels& labels);
  Labels Expand(const Labels& labels, int ellipsis_dims) const;

  std::vector<Labels> inputs_;
  Labels output_;
  int num_written_ = 0;
};

}  // namespace headrace

#endif  // HEADRACE_FRAMEWORK_SHAPE_FNS_EINSUM_EQUATION_H_
