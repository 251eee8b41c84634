// A repeated shuffle, as one dataset.
#ifndef HEADRACE_KERNELS_DATA_SHUFFLE_DATASET_H_
#define HEADRACE_KERNELS_DATA_SHUFFLE_DATASET_H_

#include "kernels/data/dataset.h"

namespace headrace {

// What TensorFlow's optimizer makes of `count` repetitions of a ShuffleDataset:
// the rounds meet in one buffer, and all draws are of one stream. Null if
// `dataset` is not of that kind.
RefPtr<const Dataset> ShuffledAndRepeated(const Dataset& dataset,
                                          int64_t count);

}  // namespace headrace

#endif  // HEADRACE_KERNELS_DATA_SHUFFLE_DATASET_H_
