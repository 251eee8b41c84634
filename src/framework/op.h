// REGISTER_OP and the registry of ops.
//
//   REGISTER_OP("Softplus")
//       .Input("features: T")
//       .Output("activations: T")
//       .Attr("T: {half, bfloat16, float, double} = DT_FLOAT")
//       .SetShapeFn(shape_inference::UnchangedShape);
//
// Specs are TensorFlow's grammar and must be literals: registering only links a
// small record into a list; nothing is parsed before the op is first looked up.
#ifndef HEADRACE_FRAMEWORK_OP_H_
#define HEADRACE_FRAMEWORK_OP_H_

#include <memory>
#include <string>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "base/mutex.h"
#include "framework/op_def.h"

namespace headrace {

// What REGISTER_OP collects.
class OpSpec {
 public:
  constexpr explicit OpSpec(const char* name) : name_(name) {}
  constexpr OpSpec& Input(const char* spec) { return Add(kInput, spec); }
  constexpr OpSpec& Output(const char* spec) { return Add(kOutput, spec); }
  constexpr OpSpec& Attr(const char* spec) { return Add(kAttr, spec); }
  constexpr OpSpec& SetIsCommutative() { return Flag(&commutative_); }
  constexpr OpSpec& SetIsAggregate() { return Flag(&aggregate_); }
  constexpr OpSpec& SetIsStateful() { return Flag(&stateful_); }
  constexpr OpSpec& SetAllowsUninitializedInput() {
    return Flag(&uninitialized_);
  }
  constexpr OpSpec& Deprecated(int version, const char* why) {
    deprecated_at_ = version;
    deprecation_ = why;
    return *this;
  }
  constexpr OpSpec& SetShapeFn(ShapeFn fn) {
    shape_fn_ = fn;
    return *this;
  }

  const char* name() const { return name_; }
  Status Build(OpDef* def) const;

 private:
  enum Kind : uint8_t { kInput, kOutput, kAttr };
  struct Line {
    Kind kind;
    const char* spec;
  };
  constexpr OpSpec& Add(Kind kind, const char* spec) {
    if (count_ < kMaxLines) lines_[count_] = {kind, spec};
    ++count_;
    return *this;
  }
  constexpr OpSpec& Flag(bool* f) {
    *f = true;
    return *this;
  }

  static constexpr int kMaxLines = 64;
  const char* name_;
  Line lines_[kMaxLines] = {};
  int count_ = 0;
  bool commutative_ = false, aggregate_ = false, stateful_ = false,
       uninitialized_ = false;
  int deprecated_at_ = 0;
  const char* deprecation_ = "";
  ShapeFn shape_fn_ = nullptr;
};

// The ops known to this process. Thread-safe.
class OpRegistry {
 public:
  static OpRegistry* Global();

  // NotFound if the op is not registered.
  Status LookUp(absl::string_view name, const OpDef** def);
  // Null if it is not there.
  const OpDef* Find(absl::string_view name);
  // Adds an op at run time (custom op libraries, functions); AlreadyExists if
  // the name is taken by a different signature.
  Status Register(OpDef def);
  // Every op, sorted by name.
  std::vector<const OpDef*> All();

 private:
  friend class OpRegistrar;
  OpRegistry() = default;
  void TakePending() REQUIRES(mu_);

  Mutex mu_;
  // The newest registrar that specs_ knows.
  const class OpRegistrar* taken_ GUARDED_BY(mu_) = nullptr;
  absl::flat_hash_map<std::string, const class OpRegistrar*> specs_
      GUARDED_BY(mu_);
  // Parsed on first look-up, then kept for ever.
  absl::flat_hash_map<std::string, std::unique_ptr<OpDef>> defs_
      GUARDED_BY(mu_);
};

class OpRegistrar {
 public:
  OpRegistrar(const OpSpec& spec);  // NOLINT: the macro relies on conversion

 private:
  friend class OpRegistry;
  const OpSpec spec_;
  const OpRegistrar* next_;
};

#define REGISTER_OP(name) HR_REGISTER_OP_UNIQ(__COUNTER__, name)
#define HR_REGISTER_OP_UNIQ(ctr, name) HR_REGISTER_OP_UNIQ2(ctr, name)
#define HR_REGISTER_OP_UNIQ2(ctr, name)                                       \
  static const ::headrace::OpRegistrar hr_register_op##ctr [[maybe_unused]] = \
      ::headrace::OpSpec(name)

}  // namespace headrace

#endif  // HEADRACE_FRAMEWORK_OP_H_
