// Multiply-add in one instruction. Before all includes, so that what they
// define inline has it too.
#pragma GCC optimize("fp-contract=fast")

#include "kernels/lib/prefetching_gemm.h"

#include <algorithm>
#include <cstring>

#include "base/thread_pool.h"
#include "headrace/simd.h"

namespace headrace {

#ifdef HR_HAVE_TARGET_CLONES
namespace {

#define HR_AVX512 \
  __attribute__((target("arch=x86-64-v4,prefer-vector-width=512")))

constexpr int64_t kMaxRows = 32;
// A tile of B has 16 KiB and fits the first-level cache together with the rows
// of A.
constexpr int64_t kDepth = 64, kPanel = 64;
// Which panel after this one is fetched: memory takes longer than one.
constexpr int64_t kAhead = 2;
// Rows that the registers hold sums of, for one panel.
constexpr int64_t kMostRows = 6;
constexpr int64_t kLanes = 16;
// Columns of a block of work: runs along B's rows that are long enough for the
// processor to read ahead.
constexpr int64_t kColumns = 512;

typedef float Vec __attribute__((vector_size(64)));

constexpr int64_t CeilDiv(int64_t a, int64_t b) { return (a + b - 1) / b; }

// By reference, because the ABI of vector arguments and results depends on the
// target.
HR_AVX512 inline void Load(const float* p, Vec* v) {
  std::memcpy(v, p, sizeof(*v));
}
HR_AVX512 inline void Store(const Vec& v, float* p) {
  std::memcpy(p, &v, sizeof(v));
}

// c[0:kM, 0:64] += x b for `depth` rows of b; x is [depth, kM]. At the same
// time prefetches kLines lines of each row of `next` into the second-level
// cache, because the first-level cache is full.
template <int kM, int kLines>
HR_AVX512 inline void Tile(const float* x, int64_t depth, const float* b,
                           int64_t ldb, const char* next, int64_t next_step,
                           float* c, int64_t ldc) {
  constexpr int kWide = kPanel / kLanes;
  Vec sum[kM][kWide];
  for (int i = 0; i < kM; ++i) {
    for (int w = 0; w < kWide; ++w) Load(c + i * ldc + w * kLanes, &sum[i][w]);
  }
  for (int64_t p = 0; p < depth; ++p) {
    Vec row[kWide];
    for (int w = 0; w < kWide; ++w) Load(b + p * ldb + w * kLanes, &row[w]);
    for (int l = 0; l < kLines; ++l) {
      __builtin_prefetch(next + p * next_step + l * int64_t{sizeof(Vec)}, 0, 2);
    }
    for (int i = 0; i < kM; ++i) {
      for (int w = 0; w < kWide; ++w) sum[i][w] += x[p * kM + i] * row[w];
    }
  }
  for (int i = 0; i < kM; ++i) {
    for (int w = 0; w < kWide; ++w) Store(sum[i][w], c + i * ldc + w * kLanes);
  }
}

// The rows of A for one tile, in groups: that of rows [i, i + count) at
// x + i * kDepth, as [depth, count].
struct Rows {
  int64_t m, groups;
  int64_t begin(int64_t group) const { return m * group / groups; }
  int64_t count(int64_t group) const { return begin(group + 1) - begin(group); }
};

void PackRows(const GemmArgs<float>& g, const Rows& rows, int64_t k0,
              int64_t depth, float* x) {
  for (int64_t group = 0; group < rows.groups; ++group) {
    const int64_t begin = rows.begin(group), count = rows.count(group);
    float* to = x + begin * kDepth;
    for (int64_t i = 0; i < count; ++i) {
      const int64_t row = begin + i;
      const float* a =
          g.transpose_a ? g.a + k0 * g.lda + row : g.a + row * g.lda + k0;
      const int64_t step = g.transpose_a ? g.lda : 1;
      for (int64_t p = 0; p < depth; ++p) to[p * count + i] = a[p * step];
    }
  }
}

struct Panel {
  const float* b;
  int64_t ldb;
  const float* next;  // what comes soon
  float* c;
  int64_t ldc;
};

template <int kLines>
HR_AVX512 void MultiplyPanel(const Rows& rows, const float* x, int64_t depth,
                             const Panel& p) {
  for (int64_t group = 0; group < rows.groups; ++group) {
    const int64_t begin = rows.begin(group);
    constexpr int kGroups = kPanel / kLanes / kLines;  // that share the lines
    const char* const next = reinterpret_cast<const char*>(p.next) +
                             group % kGroups * kLines * int64_t{sizeof(Vec)};
    const int64_t step = p.ldb * int64_t{sizeof(float)};
    switch (rows.count(group)) {
#define HR_CASE(M)                                                     \
  case M:                                                              \
    Tile<M, kLines>(x + begin * kDepth, depth, p.b, p.ldb, next, step, \
                    p.c + begin * p.ldc, p.ldc);                       \
    break;
      HR_CASE(3)
      HR_CASE(4)
      HR_CASE(5)
      HR_CASE(6)
#undef HR_CASE
    }
  }
}

HR_AVX512 void MultiplyPanel(const Rows& rows, const float* x, int64_t depth,
                             const Panel& p) {
  if (rows.groups >= 4) return MultiplyPanel<1>(rows, x, depth, p);
  if (rows.groups >= 2) return MultiplyPanel<2>(rows, x, depth, p);
  MultiplyPanel<4>(rows, x, depth, p);
}

// The last columns, fewer than a panel: copied to where there is room for one.
void MultiplyTail(const Rows& rows, const float* x, int64_t depth, int64_t n,
                  const Panel& p) {
  alignas(64) float b[kDepth * kPanel] = {}, c[kMaxRows * kPanel] = {};
  for (int64_t i = 0; i < depth; ++i) {
    std::memcpy(b + i * kPanel, p.b + i * p.ldb, n * sizeof(float));
  }
  for (int64_t i = 0; i < rows.m; ++i) {
    std::copy_n(p.c + i * p.ldc, n, c + i * kPanel);
  }
  MultiplyPanel(rows, x, depth, {b, kPanel, b, c, kPanel});
  for (int64_t i = 0; i < rows.m; ++i) {
    std::copy_n(c + i * kPanel, n, p.c + i * p.ldc);
  }
}

// Columns [j0, j1).
void Columns(const GemmArgs<float>& g, const Rows& rows, int64_t j0,
             int64_t j1) {
  alignas(64) float x[kMaxRows * kDepth];
  for (int64_t i = 0; !g.accumulate && i < g.m; ++i) {
    std::fill(g.c + i * g.ldc + j0, g.c + i * g.ldc + j1, 0.0f);
  }
  for (int64_t k0 = 0; k0 < g.k; k0 += kDepth) {
    const int64_t depth = std::min(kDepth, g.k - k0);
    PackRows(g, rows, k0, depth, x);
    const float* const b = g.b + k0 * g.ldb;
    const float* const below =
        b + std::min(depth, g.k - depth - k0) * g.ldb + j0;
    for (int64_t j = j0; j < j1; j += kPanel) {
      const int64_t n = std::min(kPanel, j1 - j);
      const int64_t ahead = j + kAhead * kPanel;
      const Panel panel = {b + j, g.ldb,
                           ahead + kPanel <= j1
                               ? b + ahead
                               : below + std::max<int64_t>(0, ahead - j1),
                           g.c + j, g.ldc};
      if (n == kPanel) {
        MultiplyPanel(rows, x, depth, panel);
      } else {
        MultiplyTail(rows, x, depth, n, panel);
      }
    }
  }
}

}  // namespace

bool PrefersPrefetchingGemm(const GemmArgs<float>& g) {
  constexpr double kSecondLevelCaches = 4 << 20;
  return simd_internal::Level() == 4 && !g.transpose_b && g.m >= 4 &&
         g.m <= kMaxRows && g.n >= 2 * kColumns &&
         static_cast<double>(g.n) * static_cast<double>(g.k) * sizeof(float) >=
             kSecondLevelCaches;
}

void PrefetchingGemm(ThreadPool* pool, const GemmArgs<float>& g) {
  const Rows rows = {g.m, CeilDiv(g.m, kMostRows)};
  const int64_t blocks = CeilDiv(g.n, kColumns);
  const int64_t wide = CeilDiv(CeilDiv(g.n, blocks), kPanel) * kPanel;
  const auto run = [&](int64_t begin, int64_t end) {
    Columns(g, rows, begin, end);
  };
  if (pool == nullptr) {
    run(0, g.n);
  } else {
    pool->ParallelFor(g.n, wide, run);
  }
}

#else

bool PrefersPrefetchingGemm(const GemmArgs<float>&) { return false; }
void PrefetchingGemm(ThreadPool*, const GemmArgs<float>&) {}

#endif
#undef HR_AVX512

}  // namespace headrace
