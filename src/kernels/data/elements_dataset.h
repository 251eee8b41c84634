// A dataset of collected elements: a window, a group.
#ifndef HEADRACE_KERNELS_DATA_ELEMENTS_DATASET_H_
#define HEADRACE_KERNELS_DATA_ELEMENTS_DATASET_H_

#include <vector>

#include "kernels/data/dataset.h"

namespace headrace {

RefPtr<const Dataset> MakeElementsDataset(ElementSpec spec,
                                          std::vector<TensorTuple> elements);
// The elements of such a dataset. Null for any other.
const std::vector<TensorTuple>* ElementsOf(const Dataset& dataset);

}  // namespace headrace

#endif  // HEADRACE_KERNELS_DATA_ELEMENTS_DATASET_H_
