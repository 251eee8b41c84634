#include "kernels/sparse/feature_cross.h"

#include <limits>

#include "base/fingerprint.h"

namespace headrace {
namespace {

uint64_t Mix(uint64_t v) { return v ^ (v >> 47); }

// TensorFlow's combination of two fingerprints.
uint64_t Combine(uint64_t a, uint64_t b) {
  constexpr uint64_t kMul = 0xc6a4a7935bd1e995;
  uint64_t r = a ^ kMul;
  r ^= Mix(b * kMul) * kMul;
  r *= kMul;
  return Mix(Mix(r) * kMul);
}

// The older combination. The second shift keeps the sign of `a`.
uint64_t CombineByShifts(uint64_t a, uint64_t b) {
  const auto shifted = static_cast<uint64_t>(static_cast<int64_t>(a) >> 4);
  return a ^ (b + 0x9e3779b97f4a7800 + (a << 10) + shifted);
}

int64_t HashFeatures(const FeatureCrossing& how,
                     const std::vector<FeatureColumn>& columns, int64_t row,
                     const DimVector& pick) {
  uint64_t h = how.seed;
  for (size_t c = 0; c < columns.size(); ++c) {
    const int64_t at = columns[c].first[row] + pick[c];
    const Tensor& v = columns[c].values;
    uint64_t feature;
    if (v.dtype() == DT_STRING) {
      const tstring& s = v.data<tstring>()[at];
      feature = how.strong
                    ? SipHash(how.key[0], how.key[1], {s.data(), s.size()})
                    : Fingerprint64({s.data(), s.size()});
    } else if (how.integers_as_text) {
      feature = Fingerprint64(absl::StrCat(v.data<int64_t>()[at]));
    } else {
      feature = static_cast<uint64_t>(v.data<int64_t>()[at]);
    }
    if (c == 0 && !how.seeded) {
      h = feature;
    } else {
      h = how.shifts ? CombineByShifts(h, feature) : Combine(h, feature);
    }
  }
  const uint64_t modulus =
      how.num_buckets > 0
          ? static_cast<uint64_t>(how.num_buckets)
          : static_cast<uint64_t>(std::numeric_limits<int64_t>::max());
  return static_cast<int64_t>(h % modulus);
}

std::string JoinFeatures(const FeatureCrossing& how,
                         const std::vector<FeatureColumn>& columns, int64_t row,
                         const DimVector& pick) {
  std::string joined;
  for (size_t c = 0; c < columns.size(); ++c) {
    const int64_t at = columns[c].first[row] + pick[c];
    const Tensor& v = columns[c].values;
    if (c > 0) joined += how.separator;
    if (v.dtype() == DT_STRING) {
      absl::StrAppend(&joined, absl::string_view(v.data<tstring>()[at]));
    } else {
      absl::StrAppend(&joined, v.data<int64_t>()[at]);
    }
  }
  return joined;
}

}  // namespace

FeatureColumn DenseFeatures(const Tensor& t, int64_t rows) {
  FeatureColumn c;
  c.values = t;
  for (int64_t b = 0; b < rows; ++b) {
    c.first.push_back(b * t.dim_size(1));
    c.count.push_back(t.dim_size(1));
  }
  return c;
}

FeatureColumn SparseFeatures(const SparseView& s, int64_t rows) {
  FeatureColumn c;
  c.values = s.values;
  int64_t at = 0;
  for (int64_t b = 0; b < rows; ++b) {
    c.first.push_back(at);
    while (at < s.n && s.at(at, 0) == b) ++at;
    c.count.push_back(at - c.first.back());
  }
  return c;
}

Status CheckRowMemory(OpKernelContext* ctx, int64_t rows, int64_t columns) {
  Tensor room;
  return ctx->allocate_temp(DT_INT64, {rows, 2 * columns + 1}, &room);
}

Status CountCombinations(const std::vector<FeatureColumn>& columns,
                         int64_t rows, const std::string& op,
                         std::vector<int64_t>* counts, int64_t* total) {
  counts->assign(rows, 0);
  *total = 0;
  for (int64_t b = 0; b < rows; ++b) {
    int64_t n = 1;
    for (const FeatureColumn& c : columns) {
      if (c.count[b] == 0) n = 0;
    }
    for (const FeatureColumn& c : columns) {
      if (n != 0) n = MultiplyWithoutOverflow(n, c.count[b]);
      if (n < 0) {
        return errors::InvalidArgument(
            op, ": row ", b, " has more combinations than int64 can count");
      }
    }
    (*counts)[b] = n;
    *total = AddWithoutOverflow(*total, n);
    if (*total < 0) {
      return errors::InvalidArgument(
          op, ": the rows have more combinations than int64 can count");
    }
  }
  return OkStatus();
}

void CrossRow(const FeatureCrossing& how,
              const std::vector<FeatureColumn>& columns, int64_t row, int64_t n,
              Tensor* out, int64_t at) {
  DimVector pick(columns.size(), 0);
  for (int64_t k = 0; k < n; ++k, ++at) {
    if (out->dtype() == DT_INT64) {
      out->data<int64_t>()[at] = HashFeatures(how, columns, row, pick);
    } else {
      out->data<tstring>()[at] = JoinFeatures(how, columns, row, pick);
    }
    for (int c = static_cast<int>(columns.size()) - 1; c >= 0; --c) {
      if (++pick[c] < columns[c].count[row]) break;
      pick[c] = 0;
    }
  }
}

}  // namespace headrace
