// The attr "labels" of _FusedAttention: a letter for each dim of the operands
// and of the result, as in
//
//   "abth,absh,absd->abtd"     query, key, value -> result
//
// t: queries; s: keys; h: what query and key are multiplied over; d: a value's
// elements; all others: batch dims. An operand without a batch dim is
// repeated. The scores have the dims `scores`: batch dims, t and
// s in the order in which a mask has them.
#ifndef HEADRACE_FRAMEWORK_SHAPE_FNS_ATTENTION_LABELS_H_
#define HEADRACE_FRAMEWORK_SHAPE_FNS_ATTENTION_LABELS_H_

#include <string>

#include "headrace/shape_inference.h"

namespace headrace {

struct AttentionLabels {
  std::string query, key, value, result, scores;

  // Reads and checks the attrs "labels" and "scores".
  static Status Parse(const std::string& labels, const std::string& scores,
                      AttentionLabels* out);
};

namespace shape_inference {
Status FusedAttentionShape(InferenceContext* c);
}  // namespace shape_inference

}  // namespace headrace

#endif  // HEADRACE_FRAMEWORK_SHAPE_FNS_ATTENTION_LABELS_H_
