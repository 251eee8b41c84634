// REGISTER_OP and the registry of ops.
//
//   REGISTER_OP("Softplus")
//       .Input("features: T")
//       .Output("activations: T")
//       .Attr("T: {half, bfloat16, float, double} = DT_FLOAT")
//       .KeepsShape()
//       .Elementwise();
//
// The traits that graph passes may know of an op are stated here, too
// (op_traits.h).
//
// The specs use TensorFlow's grammar and must be literals. The op is a constant
// of the library, and registration only links it into a list. Specs are parsed
// when the op is first looked up.
#ifndef HEADRACE_OP_H_
#define HEADRACE_OP_H_

#include <memory>
#include <string>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "headrace/mutex.h"
#include "headrace/op_def.h"
#include "headrace/op_traits.h"

namespace headrace {

namespace shape_inference {  // common_shape_fns.h
Status UnchangedShape(InferenceContext* c);
Status BroadcastBinaryOp(InferenceContext* c);
}  // namespace shape_inference
// symbolic_shape_fns.h
bool KeepSymbolicShape(SymbolicShapeContext* c);
bool BroadcastSymbolicShape(SymbolicShapeContext* c);

// An op as its source spells it. Static storage, immutable.
class OpRecord {
 public:
  const char* name() const { return name_; }
  Status Build(OpDef* def) const;

 protected:
  friend class OpRegistry;
  friend class OpRegistrar;
  enum Kind : uint8_t { kAttr, kInput, kOutput };

  constexpr explicit OpRecord(const char* name) : name_(name) {}

  const char* name_;
  // The specs of all attrs, then inputs, then outputs. A function instead of a
  // pointer: GCC 12 does not make a constant of a temporary that points into
  // itself.
  const char* const* (*lines_of_)(const OpRecord&) = nullptr;
  const char* deprecation_ = "";
  ShapeFn shape_fn_ = nullptr;
  int counts_[3] = {};  // by Kind
  int deprecated_at_ = 0;
  bool commutative_ = false, aggregate_ = false, stateful_ = false,
       uninitialized_ = false;
  OpTraits traits_;
  // The list that all records are linked into.
  mutable const OpRecord* next_ = nullptr;
};

// The builder behind REGISTER_OP; N is the number of specs so far. Each call
// returns a new value, and the last one becomes the record.
template <int N>
class OpSpec : public OpRecord {
 public:
  constexpr explicit OpSpec(const char* name) : OpRecord(name) {
    lines_of_ = &LinesOf;
  }
  constexpr OpSpec<N + 1> Input(const char* spec) const {
    return OpSpec<N + 1>(*this, kInput, spec);
  }
  constexpr OpSpec<N + 1> Output(const char* spec) const {
    return OpSpec<N + 1>(*this, kOutput, spec);
  }
  constexpr OpSpec<N + 1> Attr(const char* spec) const {
    return OpSpec<N + 1>(*this, kAttr, spec);
  }
  constexpr OpSpec SetIsCommutative() const {
    return With(&OpSpec::commutative_, true);
  }
  constexpr OpSpec SetIsAggregate() const {
    return With(&OpSpec::aggregate_, true);
  }
  constexpr OpSpec SetIsStateful() const {
    return With(&OpSpec::stateful_, true);
  }
  constexpr OpSpec SetAllowsUninitializedInput() const {
    return With(&OpSpec::uninitialized_, true);
  }
  constexpr OpSpec Deprecated(int version, const char* why) const {
    return With(&OpSpec::deprecated_at_, version)
        .With(&OpSpec::deprecation_, why);
  }
  constexpr OpSpec SetShapeFn(ShapeFn fn) const {
    return With(&OpSpec::shape_fn_, fn);
  }

  // Effects. Several calls add up. An op that states none and is not stateful
  // has no effects.
  constexpr OpSpec ReadsState() const { return Has(Effect::kReadsState); }
  constexpr OpSpec WritesState() const { return Has(Effect::kWritesState); }
  constexpr OpSpec IsRandom() const { return Has(Effect::kRandom); }
  constexpr OpSpec ReadsClock() const { return Has(Effect::kReadsClock); }
  constexpr OpSpec ReadsFiles() const { return Has(Effect::kReadsFiles); }
  constexpr OpSpec WritesFiles() const { return Has(Effect::kWritesFiles); }
  constexpr OpSpec UsesNetwork() const { return Has(Effect::kUsesNetwork); }
  constexpr OpSpec RunsCode() const { return Has(Effect::kRunsCode); }
  constexpr OpSpec CallsFunctions() const {
    return Has(Effect::kCallsFunctions);
  }
  constexpr OpSpec Stops() const { return Has(Effect::kStops); }
  constexpr OpSpec Prints() const { return Has(Effect::kPrints); }
  constexpr OpSpec Transfers() const { return Has(Effect::kTransfers); }
  // Where the names of the files are that the op reads or writes. Calls add up.
  // FolderNameInput may also name a folder (FileNameTraits::may_be_folder).
  constexpr OpSpec FileNameInput(int input) const {
    return NamesFiles(
        [&](FileNameTraits* t) { t->inputs |= uint8_t{1} << input; });
  }
  constexpr OpSpec FolderNameInput(int input) const {
    return FileNameInput(input).NamesFiles(
        [](FileNameTraits* t) { t->may_be_folder = true; });
  }
  constexpr OpSpec FileNameAttr(const char* attr,
                                const char* prefix = "") const {
    return NamesFiles([&](FileNameTraits* t) {
      t->attr = attr;
      t->attr_prefix = prefix;
    });
  }
  // The files that the op reads or writes were opened by another op.
  constexpr OpSpec UsesOpenFiles() const {
    return NamesFiles([](FileNameTraits*) {});
  }
  // For a stateful op that has no effects all the same.
  constexpr OpSpec HasNoEffects() const { return Has(Effect::kNone); }

  // Shapes. KeepsShape and Broadcasts also set the shape function.
  constexpr OpSpec KeepsShape() const {
    return SetShapeFn(shape_inference::UnchangedShape).KeepsShapeOfInput();
  }
  constexpr OpSpec Broadcasts() const {
    return SetShapeFn(shape_inference::BroadcastBinaryOp)
        .SymbolicShape(BroadcastSymbolicShape);
  }
  // The shape of output 0 is that of input 0. Does not set the shape function.
  constexpr OpSpec KeepsShapeOfInput() const {
    return Trait(&OpTraits::keeps_shape, true).SymbolicShape(KeepSymbolicShape);
  }
  constexpr OpSpec SymbolicShape(SymbolicShapeFn fn) const {
    return Trait(&OpTraits::symbolic_shape_fn, fn);
  }
  constexpr OpSpec ShapeValue(ShapeValueFn vector,
                              ShapeValueFn matrix = nullptr) const {
    return Trait(&OpTraits::shape_value_fn, vector)
        .Trait(&OpTraits::shape_matrix_fn, matrix);
  }
  constexpr OpSpec ValueOfShapes(ShapeValueFn fn) const {
    return ShapeValue(fn).Trait(&OpTraits::value_is_of_shapes, true);
  }
  constexpr OpSpec ReserveOutputsFrom(int first) const {
    return Trait(&OpTraits::first_reserve_output, static_cast<int8_t>(first));
  }

  // What the op computes.
  constexpr OpSpec Elementwise() const {
    return Trait(&OpTraits::elementwise,
                 counts_[kInput] == 1
                     ? ::headrace::Elementwise::kUnary
                     : ::headrace::Elementwise::kBroadcastingBinary);
  }
  constexpr OpSpec Activation(ActivationTraits a) const {
    return Trait(&OpTraits::activation, a);
  }
  constexpr OpSpec Computes(ArithmeticOp a) const {
    return Trait(&OpTraits::arithmetic, a);
  }
  constexpr OpSpec Layer(LayerKind kind, const char* fused_op = nullptr) const {
    return Trait(&OpTraits::layer, LayerTraits{kind, fused_op});
  }
  constexpr OpSpec FloatsNeverFail() const {
    return Trait(&OpTraits::floats_never_fail, true);
  }
  constexpr OpSpec IsNoOpWhen(NoOpWhen when) const {
    return Trait(&OpTraits::no_op_when, when);
  }

  // How the op is run.
  constexpr OpSpec Outputs(OutputBuffer buffer) const {
    return Trait(&OpTraits::output_buffer, buffer);
  }
  constexpr OpSpec Variable(VariableUse use) const {
    return Trait(&OpTraits::variable_use, use);
  }
  constexpr OpSpec Updates(VariableUpdate update) const {
    return Trait(&OpTraits::variable_update, update);
  }
  constexpr OpSpec Class(OpClass op_class) const {
    return Trait(&OpTraits::op_class, op_class);
  }

 private:
  template <int M>
  friend class OpSpec;

  constexpr OpSpec(const OpSpec<N - 1>& o, Kind kind, const char* spec)
      : OpRecord(o) {
    lines_of_ = &LinesOf;
    int at = 0;
    for (int k = 0; k <= kind; ++k) at += counts_[k];
    for (int i = 0; i < at; ++i) lines_[i] = o.lines_[i];
    lines_[at] = spec;
    for (int i = at + 1; i < N; ++i) lines_[i] = o.lines_[i - 1];
    ++counts_[kind];
  }
  template <typename T>
  constexpr OpSpec With(T OpRecord::*member, T value) const {
    OpSpec copy = *this;
    copy.*member = value;
    return copy;
  }
  template <typename T>
  constexpr OpSpec Trait(T OpTraits::*member, T value) const {
    OpSpec copy = *this;
    copy.traits_.*member = value;
    return copy;
  }
  template <typename F>
  constexpr OpSpec NamesFiles(const F& set) const {
    OpSpec copy = *this;
    copy.traits_.file_names.stated = true;
    set(&copy.traits_.file_names);
    return copy;
  }
  constexpr OpSpec Has(Effect effect) const {
    return Trait(&OpTraits::effects, traits_.effects | effect)
        .Trait(&OpTraits::states_effects, true);
  }
  static const char* const* LinesOf(const OpRecord& record) {
    return static_cast<const OpSpec&>(record).lines_;
  }

  const char* lines_[N == 0 ? 1 : N] = {};
};

// All ops that this process knows. The OpDefs it returns live as long as the
// process. Thread-safe.
class OpRegistry {
 public:
  static OpRegistry* Global();

  // NotFound if no such op is registered.
  Status LookUp(absl::string_view name, const OpDef** def);
  // Null if no such op is registered.
  const OpDef* Find(absl::string_view name);
  // Adds an op at run time (from custom op libraries and functions).
  // AlreadyExists if the name is registered with another signature.
  Status Register(OpDef def);
  // All ops, sorted by name.
  std::vector<const OpDef*> All();

 private:
  OpRegistry() = default;
  void TakePending() REQUIRES(mu_);

  Mutex mu_;
  // The newest record that specs_ contains.
  const OpRecord* taken_ GUARDED_BY(mu_) = nullptr;
  absl::flat_hash_map<std::string, const OpRecord*> specs_ GUARDED_BY(mu_);
  // Parsed at the first look-up and never deleted.
  absl::flat_hash_map<std::string, std::unique_ptr<OpDef>> defs_
      GUARDED_BY(mu_);
};

// Runs when a library is loaded: links its record into the list.
class OpRegistrar {
 public:
  explicit OpRegistrar(const OpRecord& record);
};

// The record is the temporary that the last call returns, and the reference
// extends its life. It is constant-initialised, so it exists before any
// registrar runs.
#define REGISTER_OP(name) HR_REGISTER_OP_UNIQ(__COUNTER__, name)
#define HR_REGISTER_OP_UNIQ(ctr, name) HR_REGISTER_OP_UNIQ2(ctr, name)
#define HR_REGISTER_OP_UNIQ2(ctr, name)                     \
  namespace {                                               \
  struct HrOp##ctr {                                        \
    static const ::headrace::OpRecord& record;              \
  };                                                        \
  const ::headrace::OpRegistrar hr_register_op##ctr         \
      [[maybe_unused]] (HrOp##ctr::record);                 \
  }                                                         \
  constinit const ::headrace::OpRecord& HrOp##ctr::record = \
      ::headrace::OpSpec<0>(name)

}  // namespace headrace

#endif  // HEADRACE_OP_H_
