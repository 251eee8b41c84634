// ParallelMapDataset: f(element), several calls at a time, in order.
#ifndef HEADRACE_KERNELS_DATA_PARALLEL_MAP_DATASET_H_
#define HEADRACE_KERNELS_DATA_PARALLEL_MAP_DATASET_H_

#include <memory>

#include "kernels/data/captured_function.h"

namespace headrace {

// `parallelism` >= 1 calls are in progress or done and not yet asked for.
RefPtr<const Dataset> MakeParallelMapDataset(
    ElementSpec spec, RefPtr<const Dataset> input,
    std::shared_ptr<const CapturedFunction> f, int64_t parallelism,
    bool preserve_cardinality);

// What num_parallel_calls (-1: as many as there are processors) says.
Status ReadParallelism(OpKernelContext* ctx, int64_t* parallelism);

}  // namespace headrace

#endif  // HEADRACE_KERNELS_DATA_PARALLEL_MAP_DATASET_H_
