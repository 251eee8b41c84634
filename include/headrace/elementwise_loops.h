// Loops of element-wise ops: what runs an op over the elements of a block.
// Fused nodes run the loops of several ops, one after another, while a block is
// in the cache. headrace/elementwise.h makes and registers them.
#ifndef HEADRACE_ELEMENTWISE_LOOPS_H_
#define HEADRACE_ELEMENTWISE_LOOPS_H_

#include <atomic>
#include <cstdint>

#include "absl/strings/string_view.h"
#include "headrace/op_def.h"
#include "headrace/status.h"
#include "headrace/types.h"

namespace headrace {

// State for an Apply that asks for it. All threads of a Compute share it.
struct ElementwiseState {
  // The op's parameter: the attr that ActivationTraits::parameter names,
  // ApproximateEqual's tolerance.
  float param = 0;
  std::atomic<bool> failed{false};
  void Fail() { failed.store(true, std::memory_order_relaxed); }
};

// Says which operand of a loop is a single element.
enum class LoopShape : uint8_t { kBoth, kFirstScalar, kSecondScalar };

struct UnaryLoop {
  void (*run)(const void* x, void* y, int64_t n, ElementwiseState* s);
  int in_size, out_size;  // bytes per element that `run` reads and writes
  bool same_type;         // it writes the type that it reads
  double cost;
  Status (*error)();
};
struct BinaryLoop {
  void (*run)(const void* x, const void* y, void* z, int64_t n, LoopShape shape,
              ElementwiseState* s);
  // One iteration of `run`, with the same bits.
  void (*run_one)(const void* x, const void* y, void* z, ElementwiseState* s);
  int in_size, out_size;
  bool same_type;
  bool plain;  // elements are plain data
  double cost;
  Status (*error)();
};

// The loop of an op with one operand or with two. Only float and double loops
// whose output has the input's type. Null if there is none. Thread-safe.
const UnaryLoop* FindUnaryLoop(absl::string_view op, DataType type);
const BinaryLoop* FindBinaryLoop(absl::string_view op, DataType type);
// Whether fused nodes can run `op` on elements of `type`: it has a loop. An op
// whose schema says that it is element-wise need not have registered one.
// Thread-safe.
bool HasLoop(const OpDef& op, DataType type);
// Whether fused layers on the host can apply `activation`: all but functions
// without loops of float and double. Thread-safe.
bool CanFuseOnHost(const OpDef& activation);

template <typename Loop>
struct NamedLoops {
  const char* op;
  const Loop* of_float = nullptr;
  const Loop* of_double = nullptr;
  const NamedLoops* next = nullptr;  // the list of all loops
};
// For static objects, when a library is loaded.
void NameLoops(NamedLoops<UnaryLoop>* loops);
void NameLoops(NamedLoops<BinaryLoop>* loops);

}  // namespace headrace

#endif  // HEADRACE_ELEMENTWISE_LOOPS_H_
