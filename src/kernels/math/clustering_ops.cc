// NearestNeighbors, and two ways to choose the first centers of clusters:
// KmeansPlusPlusInitialization draws points with odds that grow with the
// squared distance to the centers so far, KMC2ChainInitialization walks a
// Markov chain over such distances. The same seed gives TensorFlow's choices.
#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <numeric>
#include <vector>

#include "kernels/lib/cancellable_loops.h"
#include "kernels/lib/uniform_below.h"

namespace headrace {
namespace {

// In a fixed order that lets the compiler use vectors.
float SquaredDistance(const float* a, const float* b, int64_t n) {
  constexpr int kLanes = 8;
  std::array<float, kLanes> sums = {};
  int64_t i = 0;
  for (; i + kLanes <= n; i += kLanes) {
    for (int l = 0; l < kLanes; ++l) {
      const float d = a[i + l] - b[i + l];
      sums[l] += d * d;
    }
  }
  float rest = 0;
  for (; i < n; ++i) rest += (a[i] - b[i]) * (a[i] - b[i]);
  return std::accumulate(sums.begin(), sums.end(), rest);
}

Status CheckMatrix(const Tensor& t, const char* name) {
  if (t.dims() == 2) return OkStatus();
  return errors::InvalidArgument("Input ", name,
                                 " should be a matrix, got shape ",
                                 t.shape().DebugString());
}
Status CheckPoints(const Tensor& points) {
  HR_RETURN_IF_ERROR(CheckMatrix(points, "points"));
  if (points.dim_size(0) > 0) return OkStatus();
  return errors::InvalidArgument("Expected points.rows() > 0, got shape ",
                                 points.shape().DebugString());
}
Status ReadCount(const OpKernelContext& ctx, int i, const char* name,
                 int64_t* out) {
  const Tensor& t = ctx.input(i);
  if (t.dims() != 0) {
    return errors::InvalidArgument("Input ", name,
                                   " should be a scalar, got shape ",
                                   t.shape().DebugString());
  }
  *out = t.scalar<int64_t>();
  return OkStatus();
}

class NearestNeighborsOp : public OpKernel {
 public:
  using OpKernel::OpKernel;
  void Compute(OpKernelContext* ctx) override {
    const Tensor &points = ctx->input(0), &centers = ctx->input(1);
    int64_t k = 0;
    OP_REQUIRES_OK(ctx, CheckPoints(points));
    OP_REQUIRES_OK(ctx, CheckMatrix(centers, "centers"));
    OP_REQUIRES_OK(ctx, ReadCount(*ctx, 2, "k", &k));
    OP_REQUIRES(ctx, k >= 0,
                errors::InvalidArgument("Expected k >= 0, got ", k));
    const int64_t n = points.dim_size(0), size = points.dim_size(1);
    const int64_t m = centers.dim_size(0);
    OP_REQUIRES(ctx, centers.dim_size(1) == size,
                errors::InvalidArgument(
                    "Expected point_dimensions == center_dimensions: ", size,
                    " vs ", centers.dim_size(1), "."));
    k = std::min(k, m);
    Tensor *indices = nullptr, *distances = nullptr;
    OP_REQUIRES_OK(ctx, ctx->allocate_output(0, {n, k}, &indices));
    OP_REQUIRES_OK(ctx, ctx->allocate_output(1, {n, k}, &distances));
    if (k == 0) return;
    const CancellableLoops cancellable(ctx);
    ctx->ParallelFor(
        n, 0.3 * static_cast<double>(m * (size + 8)),
        [&](int64_t begin, int64_t end) {
          std::vector<Candidate> all(m);
          for (int64_t p = begin; p < end; ++p) {
            const float* point = points.data<float>() + p * size;
            for (int64_t c = 0; c < m; ++c) {
              all[c] = {SquaredDistance(point, centers.data<float>() + c * size,
                                        size),
                        c};
            }
            std::partial_sort(all.begin(), all.begin() + k, all.end());
            for (int64_t i = 0; i < k; ++i) {
              indices->data<int64_t>()[p * k + i] = all[i].center;
              distances->data<float>()[p * k + i] = all[i].distance;
            }
          }
        });
  }

 private:
  // Of equally near centers, the first one wins. NaN is farther than any
  // distance.
  struct Candidate {
    float distance;
    int64_t center;
    bool operator<(const Candidate& o) const {
      const bool nan = std::isnan(distance), other = std::isnan(o.distance);
      if (nan != other) return other;
      if (!nan && distance != o.distance) return distance < o.distance;
      return center < o.center;
    }
  };
};
REGISTER_KERNEL_BUILDER(Name("NearestNeighbors").Device(DEVICE_CPU),
                        NearestNeighborsOp);

class KmeansPlusPlusInitializationOp : public OpKernel {
 public:
  using OpKernel::OpKernel;
  void Compute(OpKernelContext* ctx) override {
    const Tensor& points = ctx->input(0);
    int64_t samples = 0, seed = 0, retries = 0;
    OP_REQUIRES_OK(ctx, CheckPoints(points));
    OP_REQUIRES_OK(ctx, ReadCount(*ctx, 1, "num_to_sample", &samples));
    OP_REQUIRES_OK(ctx, ReadCount(*ctx, 2, "seed", &seed));
    OP_REQUIRES_OK(ctx, ReadCount(*ctx, 3, "num_retries_per_sample", &retries));
    const int64_t n = points.dim_size(0), size = points.dim_size(1);
    OP_REQUIRES(
        ctx, samples > 0,
        errors::InvalidArgument("Expected num_to_sample > 0, got ", samples));
    OP_REQUIRES(
        ctx, samples <= n,
        errors::InvalidArgument("Expected num_to_sample <= points.rows(). ",
                                samples, " vs ", n, "."));
    // A negative number of tries means the default.
    if (retries < 0) {
      retries =
          2 + static_cast<int64_t>(std::log(static_cast<double>(samples)));
    }
    Tensor* out = nullptr;
    OP_REQUIRES_OK(ctx, ctx->allocate_output(0, {samples, size}, &out));
    PhiloxWords random(Philox(static_cast<uint64_t>(seed), 0));
    Distances nearest(n, std::numeric_limits<float>::infinity());
    Distances sums(n), tried(n), best(n);
    for (int64_t s = 0; s < samples; ++s) {
      std::partial_sum(nearest.begin(), nearest.end(), sums.begin());
      int64_t chosen = 0;
      float best_score = 0;
      for (int64_t t = 0; t <= retries; ++t) {
        OP_REQUIRES(ctx,
                    ctx->cancellation_manager() == nullptr ||
                        !ctx->cancellation_manager()->IsCancelled(),
                    errors::Cancelled("the step was cancelled"));
        const int64_t point = s == 0 ? static_cast<int64_t>(UniformBelow(
                                           static_cast<uint64_t>(n), &random))
                                     : Draw(sums, UniformFloat(random()));
        const float score = Try(ctx, points, point, nearest, &tried);
        if (t > 0 && !(score < best_score)) continue;
        best_score = score;
        chosen = point;
        std::swap(tried, best);
      }
      std::swap(best, nearest);
      std::copy_n(points.data<float>() + chosen * size, size,
                  out->data<float>() + s * size);
    }
  }

 private:
  using Distances = std::vector<float>;

  // The point in whose share of the sum a part of it ends.
  static int64_t Draw(const Distances& sums, float part) {
    const auto at =
        std::upper_bound(sums.begin(), sums.end(), part * sums.back());
    return std::min<int64_t>(at - sums.begin(),
                             static_cast<int64_t>(sums.size()) - 1);
  }

  // The distances to the centers if this point were one too, and their sum.
  static float Try(OpKernelContext* ctx, const Tensor& points, int64_t point,
                   const Distances& nearest, Distances* tried) {
    const int64_t size = points.dim_size(1);
    const float* all = points.data<float>();
    ctx->ParallelFor(
        static_cast<int64_t>(nearest.size()),
        0.3 * static_cast<double>(size + 4), [&](int64_t begin, int64_t end) {
          for (int64_t i = begin; i < end; ++i) {
            (*tried)[i] = std::min(
                nearest[i],
                SquaredDistance(all + i * size, all + point * size, size));
          }
        });
    return std::accumulate(tried->begin(), tried->end(), 0.f);
  }
};
REGISTER_KERNEL_BUILDER(Name("KmeansPlusPlusInitialization").Device(DEVICE_CPU),
                        KmeansPlusPlusInitializationOp);

class Kmc2ChainInitializationOp : public OpKernel {
 public:
  using OpKernel::OpKernel;
  void Compute(OpKernelContext* ctx) override {
    const Tensor& distances = ctx->input(0);
    int64_t seed = 0;
    OP_REQUIRES(ctx, distances.dims() == 1 && distances.NumElements() > 0,
                errors::InvalidArgument(
                    "Input distances should be a vector of at least one "
                    "element, got shape ",
                    distances.shape().DebugString()));
    OP_REQUIRES_OK(ctx, ReadCount(*ctx, 1, "seed", &seed));
    PhiloxWords random(Philox(static_cast<uint64_t>(seed), 0));
    const float* d = distances.data<float>();
    int64_t at = 0;
    for (int64_t i = 1; i < distances.NumElements(); ++i) {
      if (d[i] > UniformFloat(random()) * d[at]) at = i;
    }
    ctx->set_output(0, Tensor::Scalar<int64_t>(at));
  }
};
REGISTER_KERNEL_BUILDER(Name("KMC2ChainInitialization").Device(DEVICE_CPU),
                        Kmc2ChainInitializationOp);

}  // namespace
}  // namespace headrace
