// Traits: what the library knows of an op beyond signature and shapes. They are
// stated where the op is registered:
//
//   REGISTER_OP("LeakyRelu")
//       .Input("features: T")
//       .Output("activations: T")
//       .Attr("alpha: float = 0.2")
//       .Attr("T: {half, bfloat16, float, double} = DT_FLOAT")
//       .KeepsShape()
//       .Activation(ActivationFunction("alpha"));
//
// Graph passes, the executor and policies ask for traits, not for names. An op
// of a loaded library therefore takes part like any other.
// docs/design/0010-op-traits.md has the rules; tests/oracle/test_op_traits.py
// compares traits with kernels.
//
// Traits are plain constant data in static storage. OpDef::traits points to
// them, so a query is one load. Any thread may read them.
#ifndef HEADRACE_OP_TRAITS_H_
#define HEADRACE_OP_TRAITS_H_

#include <cstdint>
#include <optional>

#include "headrace/op_def.h"

namespace headrace {

// What an op does besides computing outputs, and what its outputs depend on
// besides inputs and attrs. A set of independent bits: an op that reads files
// need not write any. An op with the empty set is pure: equal inputs and attrs
// always give equal outputs, and nothing else shows whether it ran.
enum class Effect : uint16_t {
  kNone = 0,
  // State is what outlives one call: variables, queues, tables, iterators, and
  // what a kernel keeps. Making or destroying state is writing it. A tensor
  // that arrives in a variant object is a value, not state.
  kReadsState = 1 << 0,
  kWritesState = 1 << 1,  // and may read it
  kRandom = 1 << 2,       // draws from a stream of random numbers
  kReadsClock = 1 << 3,   // depends on the time or on the device
  kReadsFiles = 1 << 4,   // also file names, and datasets that will read files
  kWritesFiles = 1 << 5,  // also folders, and removing them
  kUsesNetwork = 1 << 6,
  kRunsCode = 1 << 7,  // runs code that is no op: a Python function
  // Calls functions of the graph, which have effects of their own.
  kCallsFunctions = 1 << 8,
  kStops = 1 << 9,       // exists to fail the step: Assert, CheckNumerics
  kPrints = 1 << 10,     // writes to the log or the standard streams
  kTransfers = 1 << 11,  // takes values into a graph or out: feeds, fetches,
                         // and what goes to other devices
  kUnknown = 1 << 15,    // nothing was stated: may do anything
};
constexpr Effect operator|(Effect a, Effect b) {
  return static_cast<Effect>(static_cast<uint16_t>(a) |
                             static_cast<uint16_t>(b));
}
constexpr Effect operator&(Effect a, Effect b) {
  return static_cast<Effect>(static_cast<uint16_t>(a) &
                             static_cast<uint16_t>(b));
}
constexpr Effect operator~(Effect a) {
  return static_cast<Effect>(~static_cast<uint16_t>(a));
}
constexpr bool HasAny(Effect set, Effect bits) {
  return (set & bits) != Effect::kNone;
}

// Ops that the graph, the executor or the session handle specially.
enum class OpClass : uint8_t {
  kOther,
  kConstant,
  // Control flow: from here to kControlTrigger. The class decides what dead
  // inputs do. A Merge runs when one input is alive. A ControlTrigger always
  // runs. Any other op is dead if one of its inputs is dead.
  kSwitch,
  kMerge,
  kEnter,
  kExit,
  kNextIteration,
  kLoopCond,
  kControlTrigger,
  kSend,
  kRecv,
  kArg,
  kRetval,
  kIdentity,  // forwards one tensor
  kNoOp,
  kPlaceholder,    // must be fed
  kFunctionCall,   // calls the function in attr "f" with all its inputs
  kSessionHandle,  // its output names a tensor that the session keeps
};

// Which memory holds the outputs.
enum class OutputBuffer : uint8_t {
  kOwn,        // new, or reused from an input without other users
  kInput,      // every output is input 0, unchanged
  kEachInput,  // output i is input i, unchanged
  kView,       // the bytes of input 0, in another shape or type
  kPart,       // may be a part of an input's bytes
  kStored,     // a tensor that is kept elsewhere: variable, file
};

// How an op uses a variable, which may be uninitialised.
enum class VariableUse : uint8_t {
  kNone,
  kHolds,         // output 0 is a variable, as a reference or a handle
  kInitializes,   // sets the variable at input 0, initialised or not
  kNeedsNoValue,  // uses the variable at input 0, but not its value
};

// The op writes the variable that input 0 refers to: sets it to input 1, adds
// input 1, or subtracts it. Output 0 is the reference. Both shapes are equal.
enum class VariableUpdate : uint8_t { kNone, kSet, kAdd, kSubtract };

// Where an op with effects on files has their names, so that a policy can look
// at each name before the op does. Elements of a string tensor and attrs name
// files, patterns of files, or prefixes of files.
struct FileNameTraits {
  // False: nothing is known. True with neither input nor attr: the op opens no
  // file by a name; it uses what another op has opened.
  bool stated = false;
  uint8_t inputs = 0;  // bit i: input i of the node has names
  // May also name a folder whose files are allowed: the op looks into it, or
  // makes files there.
  bool may_be_folder = false;
  // The name of a string attr that has one name. Null: none.
  const char* attr = nullptr;
  // What the attr's value begins with if a file's name follows. Any other value
  // names no file.
  const char* attr_prefix = "";
};

// Each output element depends only on the input elements at the same position.
// The op has no attrs besides types. All inputs and outputs have one type.
// Fused nodes run the loops over float and double that come with the kernel
// (HR_REGISTER_UNARY and HR_REGISTER_BINARY in headrace/elementwise.h). An op
// without these loops is never fused.
enum class Elementwise : uint8_t { kNo, kUnary, kBroadcastingBinary };

// When an op returns input 0 unchanged (or another input, where the value says
// so).
enum class NoOpWhen : uint8_t {
  kNever,
  kAlways,         // see OutputBuffer::kInput and kEachInput
  kTypeIsKept,     // Cast
  kShapeIsKept,    // Reshape
  kOtherIsOne,     // x * 1, 1 * x: the other operand
  kSecondIsOne,    // x / 1
  kSecondIsZero,   // x - 0
  kPaddingIsZero,  // input 1: how much is added to each dim
  kOrderIsKept,    // input 1: a permutation of dims
  kNoAxes,         // input 1: axes to reduce
  kOnlyInput,      // AddN of one tensor
};

// What the op computes in the arithmetic of the type. Formulas that a graph
// spells by such ops are multiplied out and recognised.
enum class ArithmeticOp : uint8_t {
  kNone,
  // x0 op x1, with broadcasting.
  kAdd,
  kSub,
  kMul,
  kDiv,
  kBiasAdd,            // adds a vector along the channels
  kNegate,             // -x
  kSquare,             // x * x
  kSquaredDifference,  // (x0 - x1)^2, with broadcasting
  kPower,              // x0^x1, with broadcasting
};

// The op is an activation: a function of one input that is worth computing
// while the input is still in the cache.
struct ActivationTraits {
  enum Kind : uint8_t {
    kNone,
    kRelu,   // y = max(x, 0), which vector code applies by itself
    kRelu6,  // y = min(max(x, 0), 6), the same
    // Is fused if it has loops over float and double, as an element-wise op
    // has.
    kFunction,
  };
  Kind kind = kNone;
  // The name of the float attr that is the function's parameter. Null: no
  // parameter.
  const char* parameter = nullptr;
};
constexpr ActivationTraits ActivationFunction(const char* parameter = nullptr) {
  return {ActivationTraits::kFunction, parameter};
}

// The op is a layer of a network. Input 1 holds the weights. Element-wise ops
// after it can be fused into it.
enum class LayerKind : uint8_t { kNone, kConv2D, kDepthwiseConv2D, kMatMul };
struct LayerTraits {
  LayerKind kind = LayerKind::kNone;
  // The op that computes the same and then applies a list of ops. Null if this
  // op is that fused op.
  const char* fused_op = nullptr;
  constexpr bool is_plain() const { return fused_op != nullptr; }
  constexpr bool convolves() const {
    return kind == LayerKind::kConv2D || kind == LayerKind::kDepthwiseConv2D;
  }
};

class SymbolicShapeContext;  // symbolic_shape_fns.h
using SymbolicShapeFn = bool (*)(SymbolicShapeContext*);
struct ShapeValue;  // shape_value_fns.h
class ShapeValueContext;
using ShapeValueFn = std::optional<ShapeValue> (*)(const ShapeValueContext&);

// One instance per op, constant.
struct OpTraits {
  // Do not read `effects` directly: EffectsOf handles ops that state none.
  Effect effects = Effect::kNone;
  bool states_effects = false;
  // Output 0 has the shape of input 0.
  bool keeps_shape = false;
  // Of floats or doubles whose shapes are known the op does not fail, whatever
  // their values, if inputs of other types are constants that its shape
  // function has accepted. So it is for element-wise ops, too, which need not
  // state it.
  bool floats_never_fail = false;
  // shape_value_fn uses only the shapes of inputs, never their values.
  bool value_is_of_shapes = false;
  // Outputs from this index on are scratch memory for the gradient's kernels,
  // and their shapes mean nothing. -1: none.
  int8_t first_reserve_output = -1;
  OpClass op_class = OpClass::kOther;
  OutputBuffer output_buffer = OutputBuffer::kOwn;
  VariableUse variable_use = VariableUse::kNone;
  VariableUpdate variable_update = VariableUpdate::kNone;
  Elementwise elementwise = Elementwise::kNo;
  NoOpWhen no_op_when = NoOpWhen::kNever;
  ArithmeticOp arithmetic = ArithmeticOp::kNone;
  LayerTraits layer;
  ActivationTraits activation;
  FileNameTraits file_names;
  // States which dims of output 0 equal which dims of the inputs, for all
  // sizes.
  SymbolicShapeFn symbolic_shape_fn = nullptr;
  // The known elements of an output that is a small vector of integers, or a
  // matrix (row by row).
  ShapeValueFn shape_value_fn = nullptr;
  ShapeValueFn shape_matrix_fn = nullptr;
};

// The op's effects. An op that states none has no effects if it is stateless
// and kUnknown if it is stateful.
inline Effect EffectsOf(const OpDef& op) {
  if (op.traits->states_effects) return op.traits->effects;
  return op.is_stateful ? Effect::kUnknown : Effect::kNone;
}

// Text for people and tests: "effects:writes-state|random keeps-shape ...". The
// effects come first, joined by '|' ("pure" for none). The other traits follow,
// separated by spaces.
std::string DescribeTraits(const OpDef& op);

}  // namespace headrace

#endif  // HEADRACE_OP_TRAITS_H_
