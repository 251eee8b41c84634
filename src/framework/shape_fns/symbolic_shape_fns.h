// Functions that state which dims of an output equal which dims of the inputs,
// for all sizes. They are registered with the op (OpSpec::SymbolicShape) and
// called by runtime/passes/symbolic_shape.h.
//
// A size is a number of at least 0, or a name: a negative number for a size
// that is only known in the run. Equal names are equal sizes.
#ifndef HEADRACE_FRAMEWORK_SHAPE_FNS_SYMBOLIC_SHAPE_FNS_H_
#define HEADRACE_FRAMEWORK_SHAPE_FNS_SYMBOLIC_SHAPE_FNS_H_

#include <cstdint>
#include <vector>

#include "absl/container/inlined_vector.h"
#include "headrace/attr_value.h"
#include "headrace/op_traits.h"
#include "headrace/tensor.h"

namespace headrace {

// One node, as such a function sees it. Not thread-safe.
class SymbolicShapeContext {
 public:
  using Dims = absl::InlinedVector<int64_t, 4>;

  virtual int num_inputs() const = 0;
  virtual const AttrMap& attrs() const = 0;
  // The sizes of input `i`; null if not even their number is known.
  virtual const Dims* input(int i) const = 0;
  // The value of input `i` if it is a constant, else null.
  virtual const Tensor* constant_input(int i) const = 0;
  // A name that nothing else has.
  virtual int64_t NewName() = 0;
  // The name of what `what` computes of `arguments`, which are sizes and plain
  // numbers: the same for equal ones. `what` lives as long as the process.
  virtual int64_t NameOf(const char* what, std::vector<int64_t> arguments) = 0;

  // The sizes of output 0, which the function sets before it returns true.
  Dims output;

 protected:
  ~SymbolicShapeContext() = default;
};

// Each returns false if it can tell nothing of output 0.
bool KeepSymbolicShape(SymbolicShapeContext* c);       // that of input 0
bool BroadcastSymbolicShape(SymbolicShapeContext* c);  // of inputs 0 and 1
// Images of four dims, filters of four dims as input 1 if there is no "ksize":
// attrs as those of Conv2D and MaxPool.
bool WindowSymbolicShape(SymbolicShapeContext* c);
bool PadSymbolicShape(SymbolicShapeContext* c);
bool TransposeSymbolicShape(SymbolicShapeContext* c);
bool ConcatSymbolicShape(
    SymbolicShapeContext* c);  // the axis is the last input

}  // namespace headrace

#endif  // HEADRACE_FRAMEWORK_SHAPE_FNS_SYMBOLIC_SHAPE_FNS_H_
