// Feature crossing: for each row, all combinations of one feature per column.
// The last column changes fastest. A combination is its features joined with a
// separator, or their hash.
#ifndef HEADRACE_KERNELS_SPARSE_FEATURE_CROSS_H_
#define HEADRACE_KERNELS_SPARSE_FEATURE_CROSS_H_

#include <cstdint>
#include <string>
#include <vector>

#include "kernels/lib/sparse_tensor.h"

namespace headrace {

// The features of one column, strings or int64. Row b has the `count` values
// from index `first` on.
struct FeatureColumn {
  Tensor values;
  std::vector<int64_t> first, count;  // by row
};

// The features of a matrix with `rows` rows.
FeatureColumn DenseFeatures(const Tensor& t, int64_t rows);
// As in TensorFlow, ignores entries that are out of order or beyond the rows.
FeatureColumn SparseFeatures(const SparseView& s, int64_t rows);

// ResourceExhausted if there is no memory for the tables of `rows` rows: a
// shape can ask for any number.
Status CheckRowMemory(OpKernelContext* ctx, int64_t rows, int64_t columns);

// How to compute the value of a combination.
struct FeatureCrossing {
  std::string separator = "_X_";
  int64_t num_buckets = 0;  // 0: as many as int64 has
  bool seeded = true;       // the hash starts from `seed`, else from a feature
  uint64_t seed = 0;
  bool shifts = false;  // the combination of SparseFeatureCross
  bool integers_as_text = false;
  bool strong = false;  // strings are hashed with `key`
  uint64_t key[2] = {0, 0};
};

// Counts the combinations of each row and of all rows. Messages use `op`.
Status CountCombinations(const std::vector<FeatureColumn>& columns,
                         int64_t rows, const std::string& op,
                         std::vector<int64_t>* counts, int64_t* total);
// Writes a row's combinations to elements [at, at + n) of `out`: hashes if
// `out` is int64, else joined strings.
void CrossRow(const FeatureCrossing& how,
              const std::vector<FeatureColumn>& columns, int64_t row, int64_t n,
              Tensor* out, int64_t at);

}  // namespace headrace

#endif  // HEADRACE_KERNELS_SPARSE_FEATURE_CROSS_H_
