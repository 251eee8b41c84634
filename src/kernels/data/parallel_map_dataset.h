// ParallelMapDataset: calls f(element) for several elements at a time. Results
// come in order, or in order of completion.
#ifndef HEADRACE_KERNELS_DATA_PARALLEL_MAP_DATASET_H_
#define HEADRACE_KERNELS_DATA_PARALLEL_MAP_DATASET_H_

#include <memory>

#include "kernels/data/captured_function.h"

namespace headrace {

struct ParallelMapOptions {
  int64_t parallelism = 1;  // calls that run, or whose results wait
  bool preserve_cardinality = false;
  bool sloppy = false;                    // in order of completion
  const char* op = "ParallelMapDataset";  // for statistics
};
RefPtr<const Dataset> MakeParallelMapDataset(
    ElementSpec spec, RefPtr<const Dataset> input,
    std::shared_ptr<const CapturedFunction> f,
    const ParallelMapOptions& options);

// Reads num_parallel_calls. -1: the number of processors.
Status ReadParallelism(OpKernelContext* ctx, int64_t* parallelism);

// Reads the attr `sloppy` or `deterministic`: true if elements may change their
// order. False for an op that has neither.
Status ReadSloppiness(OpKernelConstruction* ctx, bool* sloppy);

}  // namespace headrace

#endif  // HEADRACE_KERNELS_DATA_PARALLEL_MAP_DATASET_H_
