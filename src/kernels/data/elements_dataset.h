// A dataset of collected elements: a window, a group.
#ifndef HEADRACE_KERNELS_DATA_ELEMENTS_DATASET_H_
#define HEADRACE_KERNELS_DATA_ELEMENTS_DATASET_H_

#include <vector>

#include "kernels/data/dataset.h"

namespace headrace {

RefPtr<const Dataset> MakeElementsDataset(ElementSpec spec,
                                          std::vector<TensorTuple> elements);

}  // namespace headrace

#endif  // HEADRACE_KERNELS_DATA_ELEMENTS_DATASET_H_
