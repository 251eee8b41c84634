// Makes a MemoryPlan: what the tensors of a step take at once, known before it
// runs.
//
// Every tensor that the step makes gets a place in one range of bytes. Two may
// share bytes only if the graph's edges put the last reader of the one before
// the producer of the other, so the plan holds for every order in which the
// executor may run nodes: tensors that are alive at one moment never share, and
// what they take together never exceeds the plan's peak. Large ones that end
// with the step go into one block, which a run takes at its beginning (see
// ArenaOf); the peak is what they take there, or together with the rest if that
// is more.
//
// Not counted, since they are no step's: constants, variables, prepared
// filters, and what the client feeds. Fetches are counted to the end. A kernel
// that writes its output over an input takes less than planned.
#ifndef HEADRACE_RUNTIME_MEMORY_PLAN_H_
#define HEADRACE_RUNTIME_MEMORY_PLAN_H_

#include <memory>
#include <string>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "absl/types/span.h"
#include "framework/memory/step_arena.h"
#include "headrace/graph.h"
#include "headrace/memory_plan.h"
#include "headrace/op_kernel.h"
#include "runtime/executor.h"
#include "runtime/reuse_notes.h"

namespace headrace {

// Plans a step of `graph`, a partition's, with arguments (_Arg nodes by index)
// of these shapes. `kernels` say what temporary memory they take. `notes` (may
// be null) are of a run with such arguments: what wrote over its input then, or
// let it go, will do so again. InvalidArgument if the shapes do not fit the
// graph; Unimplemented for one with loops, whose iterations hold tensors at
// once that no plan can tell apart, and for one that is too large.
Status PlanMemory(const Graph& graph, absl::Span<const TensorShape> args,
                  absl::Span<const std::shared_ptr<OpKernel>> kernels,
                  ThreadPool* pool, const ReuseNotes* notes, MemoryPlan* plan);

// Where the large tensors of a step go, by a plan of the graph that `executor`
// was made of. Null if these are too few or too small to be worth it.
std::shared_ptr<const ArenaLayout> ArenaOf(const MemoryPlan& plan,
                                           const Executor& executor);
// False if no plan could make ArenaOf worth it.
bool MayHaveArena(const Graph& graph);

}  // namespace headrace

#endif  // HEADRACE_RUNTIME_MEMORY_PLAN_H_
