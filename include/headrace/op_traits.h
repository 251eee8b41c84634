// What the library knows of an op beside its signature and shapes, stated where
// the op is registered:
//
//   REGISTER_OP("LeakyRelu")
//       .Input("features: T")
//       .Output("activations: T")
//       .Attr("alpha: float = 0.2")
//       .Attr("T: {half, bfloat16, float, double} = DT_FLOAT")
//       .KeepsShape()
//       .Activation(ActivationFunction("alpha"));
//
// Graph passes, the executor and policies ask traits and not names, so an op of
// a loaded library takes part like any other. docs/design/0010-op-traits.md has
// the rules; tests/oracle/test_op_traits.py holds traits against kernels.
//
// Traits are plain data in static storage: `OpDef::traits` points at them, a
// question costs a load. They never change.
#ifndef HEADRACE_OP_TRAITS_H_
#define HEADRACE_OP_TRAITS_H_

#include <cstdint>
#include <optional>

#include "headrace/op_def.h"

namespace headrace {

// What running an op does, or its result depends on, beside its inputs. A set
// of bits. Each bit is its own: what reads a file need not write one. An op
// whose set is empty is pure: it gives the same outputs for the same inputs and
// attrs at any time, and nobody notices whether it ran.
enum class Effect : uint16_t {
  kNone = 0,
  // State is what outlives the call: variables, queues, tables, iterators, and
  // what a kernel keeps. To make or destroy it is to write it. Tensors that an
  // input hands in as a variant object are values, and no state.
  kReadsState = 1 << 0,
  kWritesState = 1 << 1,  // and may read it
  kRandom = 1 << 2,       // goes on in a stream of random numbers
  kReadsClock = 1 << 3,   // depends on the time, or on the device that runs it
  kReadsFiles = 1 << 4,   // also file names, and datasets that will read files
  kWritesFiles = 1 << 5,  // also folders, and removing them
  kUsesNetwork = 1 << 6,
  kRunsCode = 1 << 7,  // code that is no op: a Python function
  // Functions of the graph, which have effects of their own.
  kCallsFunctions = 1 << 8,
  kStops = 1 << 9,       // is there to fail the step: Assert, CheckNumerics
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

// Ops that the graph, the executor or the session treat in ways of their own.
enum class OpClass : uint8_t {
  kOther,
  kConstant,
  // Control flow, from here to kControlTrigger. What becomes of dead inputs is
  // the class's affair: a Merge runs when one input is alive, a ControlTrigger
  // whatever its inputs are, every other op is dead if one input is.
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
  kIdentity,  // of one tensor
  kNoOp,
  kPlaceholder,   // must be fed
  kFunctionCall,  // calls the function that attr "f" names, with all its inputs
  kSessionHandle,  // its output names a tensor that the session is to keep
};

// Whose memory the outputs are.
enum class OutputBuffer : uint8_t {
  kOwn,        // the op's, or taken over from an input that nobody else needs
  kInput,      // every output is input 0, unchanged
  kEachInput,  // output i is input i, unchanged
  kView,       // the bytes of input 0 with another shape or type
  kPart,       // may be a part of an input's bytes
  kStored,     // a tensor that somebody else keeps: a variable's, a file's
};

// What an op does with variables, which may have no value yet.
enum class VariableUse : uint8_t {
  kNone,
  kHolds,         // output 0 is a variable, as a reference or a handle
  kInitializes,   // gives the variable of input 0 a value; it needs none before
  kNeedsNoValue,  // looks at the variable of input 0, and not at its value
};

// The op computes each element of its output from the elements at the same
// place of its inputs alone, without attrs. Inputs and output have one type,
// and its kernel has loops over float and double that fused nodes can run
// (HR_REGISTER_UNARY and HR_REGISTER_BINARY in kernels/lib/elementwise.h).
enum class Elementwise : uint8_t { kNo, kUnary, kBroadcastingBinary };

// When an op gives input 0 (or, where it says so, another one) unchanged.
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

// y = x0 op x1, in the arithmetic of the type, broadcasting; kBiasAdd adds a
// vector along the channels.
enum class ArithmeticOp : uint8_t { kNone, kAdd, kSub, kMul, kDiv, kBiasAdd };

// The op is an activation: a function of one input, for which it is worth being
// computed while the input is in the cache.
struct ActivationTraits {
  enum Kind : uint8_t {
    kNone,
    kRelu,      // y = max(x, 0), which vector code applies by itself
    kRelu6,     // y = min(max(x, 0), 6), the same
    kFunction,  // has loops over float and double, as an element-wise op has
  };
  Kind kind = kNone;
  // The float attr that is the function's parameter; null if there is none.
  const char* parameter = nullptr;
};
constexpr ActivationTraits ActivationFunction(const char* parameter = nullptr) {
  return {ActivationTraits::kFunction, parameter};
}

// The op is a layer of a network: input 1 is the weights, and what follows it
// element by element can be fused into it.
enum class LayerKind : uint8_t { kNone, kConv2D, kDepthwiseConv2D, kMatMul };
struct LayerTraits {
  LayerKind kind = LayerKind::kNone;
  // The op that does the same and applies a list of ops to the result; null if
  // this is the one.
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

// Gradient functions will stand here too.
struct OpTraits {
  // EffectsOf() is what to ask: it knows what it means to state none.
  Effect effects = Effect::kNone;
  bool states_effects = false;
  // Output 0 has the shape of input 0.
  bool keeps_shape = false;
  // shape_value_fn looks at the shapes of inputs alone, and never at values.
  bool value_is_of_shapes = false;
  // Outputs from this one on are memory for the kernels of a gradient: their
  // shapes say nothing. -1: there are none.
  int8_t first_reserve_output = -1;
  OpClass op_class = OpClass::kOther;
  OutputBuffer output_buffer = OutputBuffer::kOwn;
  VariableUse variable_use = VariableUse::kNone;
  Elementwise elementwise = Elementwise::kNo;
  NoOpWhen no_op_when = NoOpWhen::kNever;
  ArithmeticOp arithmetic = ArithmeticOp::kNone;
  LayerTraits layer;
  ActivationTraits activation;
  // Which sizes of output 0 equal which sizes of the inputs, whatever they are.
  SymbolicShapeFn symbolic_shape_fn = nullptr;
  // The elements of an output that is a small vector of integers, as far as
  // they are known; and those of a matrix, row by row.
  ShapeValueFn shape_value_fn = nullptr;
  ShapeValueFn shape_matrix_fn = nullptr;
};

// Of an op that states none: nothing if it is not stateful, else anything.
inline Effect EffectsOf(const OpDef& op) {
  if (op.traits->states_effects) return op.traits->effects;
  return op.is_stateful ? Effect::kUnknown : Effect::kNone;
}

// In words for people and tests: "effects:writes-state|random keeps-shape ...".
// Effects come first, joined by '|', "pure" for none; then what else the traits
// say, separated by spaces.
std::string DescribeTraits(const OpDef& op);

}  // namespace headrace

#endif  // HEADRACE_OP_TRAITS_H_
