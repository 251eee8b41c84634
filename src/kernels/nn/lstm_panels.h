// The weights of LSTM cells as panels (prepacked_gemm.h). A panel has all gates
// of 16 cells. A step is then one loop over panels: the product, then the
// cells' formulas while the gates are in the cache.
#ifndef HEADRACE_KERNELS_NN_LSTM_PANELS_H_
#define HEADRACE_KERNELS_NN_LSTM_PANELS_H_

#include <cstdint>

#include "kernels/lib/prepacked_gemm.h"

namespace headrace {

inline constexpr int64_t kLstmPanelCells = kPanelColumns / 4;

// The position of each gate in a row of w, in units of the number of cells.
struct GateOrder {
  int64_t i = 0, j = 1, f = 2, o = 3;
};

constexpr int64_t NumLstmPanels(int64_t cells) {
  return (cells + kLstmPanelCells - 1) / kLstmPanelCells;
}

// Packs w, [depth, 4 * cells] at any address, as [NumLstmPanels(cells), depth,
// 64]. A panel has the weights of 16 cells for gate i, then j, f and o. Zeros
// follow the last cell.
void PackLstmPanels(ThreadPool* pool, const void* w, int64_t depth,
                    int64_t cells, const GateOrder& order, float* panels);

}  // namespace headrace

#endif  // HEADRACE_KERNELS_NN_LSTM_PANELS_H_
