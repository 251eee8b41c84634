#include "headrace/op_traits.h"

#include "absl/strings/str_cat.h"
#include "absl/types/span.h"

namespace headrace {
namespace {

// By the number of the bit.
constexpr const char* kEffects[] = {
    "reads-state",     "writes-state", "random",       "reads-clock",
    "reads-files",     "writes-files", "uses-network", "runs-code",
    "calls-functions", "stops",        "prints",       "transfers"};
constexpr const char* kClasses[] = {"",
                                    "constant",
                                    "switch",
                                    "merge",
                                    "enter",
                                    "exit",
                                    "next-iteration",
                                    "loop-cond",
                                    "control-trigger",
                                    "send",
                                    "recv",
                                    "arg",
                                    "retval",
                                    "identity",
                                    "no-op",
                                    "placeholder",
                                    "function-call",
                                    "session-handle"};
constexpr const char* kBuffers[] = {"",     "input", "each-input",
                                    "view", "part",  "stored"};
constexpr const char* kVariableUses[] = {"", "holds", "initializes",
                                         "needs-no-value"};
constexpr const char* kElementwise[] = {"", "unary", "binary"};
constexpr const char* kNoOps[] = {"",
                                  "always",
                                  "type-is-kept",
                                  "shape-is-kept",
                                  "other-is-one",
                                  "second-is-one",
                                  "second-is-zero",
                                  "padding-is-zero",
                                  "order-is-kept",
                                  "no-axes",
                                  "only-input"};
constexpr const char* kArithmetic[] = {"",       "add",    "sub",
                                       "mul",    "div",    "bias-add",
                                       "negate", "square", "squared-difference",
                                       "power"};
constexpr const char* kUpdates[] = {"", "set", "add", "subtract"};
constexpr const char* kLayers[] = {"", "conv2d", "depthwise-conv2d", "matmul"};
constexpr const char* kActivations[] = {"", "relu", "relu6", "function"};

std::string EffectNames(Effect set) {
  if (HasAny(set, Effect::kUnknown)) return "unknown";
  std::string text;
  for (int bit = 0; const char* name : kEffects) {
    if (HasAny(set, static_cast<Effect>(1 << bit++))) {
      absl::StrAppend(&text, text.empty() ? "" : "|", name);
    }
  }
  return text.empty() ? "pure" : text;
}

// " what:names[value]" unless that name is empty.
template <typename E>
void Append(const char* what, E value, absl::Span<const char* const> names,
            std::string* text) {
  const char* const name = names[static_cast<size_t>(value)];
  if (*name != 0) absl::StrAppend(text, " ", what, ":", name);
}

// " file-names:input-0|input-1|attr-NAME".
void AppendFileNames(const FileNameTraits& files, std::string* text) {
  if (!files.stated) return;
  std::string names;
  for (int i = 0; i < 8; ++i) {
    if ((files.inputs >> i & 1) == 0) continue;
    absl::StrAppend(&names, names.empty() ? "" : "|", "input-", i);
  }
  if (files.attr != nullptr) {
    absl::StrAppend(&names, names.empty() ? "" : "|", "attr-", files.attr);
  }
  absl::StrAppend(text, files.may_be_folder ? " folder-names:" : " file-names:",
                  names.empty() ? "none" : names);
}

}  // namespace

constinit const OpTraits kNoTraits;

std::string DescribeTraits(const OpDef& op) {
  const OpTraits& t = *op.traits;
  std::string text = absl::StrCat("effects:", EffectNames(EffectsOf(op)));
  if (op.is_commutative) text += " commutative";
  if (t.keeps_shape) text += " keeps-shape";
  if (t.floats_never_fail) text += " floats-never-fail";
  Append("class", t.op_class, kClasses, &text);
  Append("output", t.output_buffer, kBuffers, &text);
  Append("variable", t.variable_use, kVariableUses, &text);
  Append("updates", t.variable_update, kUpdates, &text);
  Append("elementwise", t.elementwise, kElementwise, &text);
  Append("no-op", t.no_op_when, kNoOps, &text);
  Append("arithmetic", t.arithmetic, kArithmetic, &text);
  Append("layer", t.layer.kind, kLayers, &text);
  Append("activation", t.activation.kind, kActivations, &text);
  if (t.activation.parameter != nullptr) {
    absl::StrAppend(&text, " activation-parameter:", t.activation.parameter);
  }
  AppendFileNames(t.file_names, &text);
  if (t.symbolic_shape_fn != nullptr) text += " symbolic-shape";
  if (t.shape_value_fn != nullptr) text += " shape-value";
  if (t.first_reserve_output >= 0) {
    absl::StrAppend(&text, " reserve-outputs-from:", t.first_reserve_output);
  }
  return text;
}

}  // namespace headrace
