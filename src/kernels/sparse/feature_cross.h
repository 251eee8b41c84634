// Crossing features: for each row all combinations of one feature of each
// column, the last column's changing fastest. A combination is its features
// joined by a separator, or a hash of them.
#ifndef HEADRACE_KERNELS_SPARSE_FEATURE_CROSS_H_
#define HEADRACE_KERNELS_SPARSE_FEATURE_CROSS_H_

#include <cstdint>
#include <string>
#include <vector>

#include "kernels/lib/sparse_tensor.h"

namespace headrace {

// The features of one column, strings or int64: those of row b are the `count`
// values from `first` on.
struct FeatureColumn {
  Tensor values;
  std::vector<int64_t> first, count;  // by row
};

// Of a matrix with as many rows.
FeatureColumn DenseFeatures(const Tensor& t, int64_t rows);
// Entries that are out of order, or beyond the rows, are passed over, as in
// TensorFlow.
FeatureColumn SparseFeatures(const SparseView& s, int64_t rows);

// Refuses what the rows' bookkeeping has no memory for: a shape can ask for any
// number of rows.
Status CheckRowMemory(OpKernelContext* ctx, int64_t rows, int64_t columns);

// How a combination becomes a value.
struct FeatureCrossing {
  std::string separator = "_X_";
  int64_t num_buckets = 0;  // 0: as many as int64 has
  bool seeded = true;       // the hash begins with `seed`, else with a feature
  uint64_t seed = 0;
  bool integers_as_text = false;
  bool strong = false;  // strings are hashed under `key`
  uint64_t key[2] = {0, 0};
};

// How many combinations each row has, and all together. `op` is for messages.
Status CountCombinations(const std::vector<FeatureColumn>& columns,
                         int64_t rows, const std::string& op,
                         std::vector<int64_t>* counts, int64_t* total);
// Writes a row's combinations to elements [at, at + n) of `out`: hashes if that
// is an int64 tensor, else joined strings.
void CrossRow(const FeatureCrossing& how,
              const std::vector<FeatureColumn>& columns, int64_t row, int64_t n,
              Tensor* out, int64_t at);

}  // namespace headrace

#endif  // HEADRACE_KERNELS_SPARSE_FEATURE_CROSS_H_
