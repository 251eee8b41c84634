#include "kernels/nn/lstm_panels.h"

#include <algorithm>
#include <cstring>

#include "base/thread_pool.h"

namespace headrace {

void PackLstmPanels(ThreadPool* pool, const void* w, int64_t depth,
                    int64_t cells, const GateOrder& order, float* panels) {
  const int64_t gates[] = {order.i, order.j, order.f, order.o};
  const auto rows = [&](int64_t begin, int64_t end) {
    for (int64_t panel = 0; panel < NumLstmPanels(cells); ++panel) {
      const int64_t first = panel * kLstmPanelCells;
      const int64_t n = std::min(kLstmPanelCells, cells - first);
      for (int64_t p = begin; p < end; ++p) {
        float* to = panels + (panel * depth + p) * kPanelColumns;
        for (const int64_t gate : gates) {
          std::memcpy(to,
                      static_cast<const char*>(w) +
                          ((p * 4 + gate) * cells + first) * sizeof(float),
                      n * sizeof(float));
          std::fill(to + n, to + kLstmPanelCells, 0.0f);
          to += kLstmPanelCells;
        }
      }
    }
  };
  constexpr int64_t kBlock = 64;  // 16 KiB of a panel
  pool->ParallelFor(depth, kBlock, rows);
}

}  // namespace headrace
