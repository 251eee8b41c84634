// ParallelMapDataset: f(element), several calls at a time, in order, or in the
// order in which they are done.
#ifndef HEADRACE_KERNELS_DATA_PARALLEL_MAP_DATASET_H_
#define HEADRACE_KERNELS_DATA_PARALLEL_MAP_DATASET_H_

#include <memory>

#include "kernels/data/captured_function.h"

namespace headrace {

struct ParallelMapOptions {
  int64_t parallelism = 1;  // calls in progress, or done and not asked for
  bool preserve_cardinality = false;
  bool sloppy = false;  // what is done goes first
};
RefPtr<const Dataset> MakeParallelMapDataset(
    ElementSpec spec, RefPtr<const Dataset> input,
    std::shared_ptr<const CapturedFunction> f,
    const ParallelMapOptions& options);

// What num_parallel_calls (-1: as many as there are processors) says.
Status ReadParallelism(OpKernelContext* ctx, int64_t* parallelism);

// Whether the attr `sloppy` or `deterministic` lets elements change places;
// false for an op that has neither.
Status ReadSloppiness(OpKernelConstruction* ctx, bool* sloppy);

}  // namespace headrace

#endif  // HEADRACE_KERNELS_DATA_PARALLEL_MAP_DATASET_H_
