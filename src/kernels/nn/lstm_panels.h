// The weights of LSTM cells as panels (prepacked_gemm.h), each with all gates
// of 16 cells, so that a step is one loop over these: product, then the cells'
// formulas while the gates are in the cache.
#ifndef HEADRACE_KERNELS_NN_LSTM_PANELS_H_
#define HEADRACE_KERNELS_NN_LSTM_PANELS_H_

#include <cstdint>

#include "kernels/lib/prepacked_gemm.h"

namespace headrace {

inline constexpr int64_t kLstmPanelCells = kPanelColumns / 4;

// Where each gate stands in a row of w, in cells.
struct GateOrder {
  int64_t i = 0, j = 1, f = 2, o = 3;
};

constexpr int64_t NumLstmPanels(int64_t cells) {
  return (cells + kLstmPanelCells - 1) / kLstmPanelCells;
}

// w, of [depth, 4 * cells] elements at any address, as [NumLstmPanels(cells),
// depth, 64]: the weights of 16 cells for gate i, then for j, f and o. Beyond
// the last cell are zeros.
void PackLstmPanels(ThreadPool* pool, const void* w, int64_t depth,
                    int64_t cells, const GateOrder& order, float* panels);

}  // namespace headrace

#endif  // HEADRACE_KERNELS_NN_LSTM_PANELS_H_
