// SdcaOptimizer: one pass of stochastic dual coordinate ascent over a batch.
// Each example has a dual variable in example_state_data; a step makes it
// optimal while all others stay, and moves the weights by the change times the
// example's features over l2.
//
// Examples come one after another, in a random order, so the result does not
// depend on the number of threads.
#include <algorithm>
#include <cmath>
#include <numeric>
#include <random>
#include <string>

#include "absl/container/flat_hash_map.h"
#include "base/fingerprint.h"
#include "base/random.h"
#include "headrace/op_kernel.h"
#include "kernels/lib/variable_access.h"
#include "kernels/state/sdca_losses.h"

namespace headrace {
namespace {

struct SdcaRegularization {
  Status Read(OpKernelConstruction* ctx) {
    HR_RETURN_IF_ERROR(ctx->GetAttr("l1", &l1));
    HR_RETURN_IF_ERROR(ctx->GetAttr("l2", &l2));
    if (l1 >= 0 && l2 > 0 && std::isfinite(l1) && std::isfinite(l2)) {
      return OkStatus();
    }
    return errors::InvalidArgument(
        "l1 must be 0 or more and l2 more than 0, got ", l1, " and ", l2);
  }
  // The weight that l1 leaves of w.
  double Shrink(double w) const {
    const double rest = std::abs(w) - shrinkage();
    return rest > 0 ? std::copysign(rest, w) : 0;
  }
  double shrinkage() const { return l1 / static_cast<double>(l2); }
  float l1 = 0, l2 = 0;
};

// A weight in an example: where it is, and the feature's value.
struct SdcaTerm {
  float* delta;
  const float* weight;
  float value;
};

// What the op reads and writes. Terms of an example lie together.
class SdcaBatch {
 public:
  Status Read(OpKernelContext* ctx);

  int64_t size() const { return static_cast<int64_t>(ends_.size()); }
  absl::Span<const SdcaTerm> terms(int64_t i) const {
    const int64_t begin = i == 0 ? 0 : ends_[i - 1];
    return absl::MakeConstSpan(terms_).subspan(begin, ends_[i] - begin);
  }
  float weight(int64_t i) const { return weights_[i]; }
  float label(int64_t i) const { return labels_[i]; }
  float* state(int64_t i) { return state_ + 4 * i; }

 private:
  using Terms = std::vector<std::pair<int64_t, SdcaTerm>>;  // by example
  Status ReadSparse(OpKernelContext* ctx, Terms* terms);
  Status ReadDense(OpKernelContext* ctx, Terms* terms);
  // The output of deltas for a tensor of weights, all 0.
  static Status MakeDeltas(OpKernelContext* ctx, const char* name, int i,
                           const Tensor& weights, Tensor** out);

  std::vector<SdcaTerm> terms_;
  std::vector<int64_t> ends_;
  const float *weights_ = nullptr, *labels_ = nullptr;
  float* state_ = nullptr;  // the output
};

Status CheckVector(const Tensor& t, const char* name, int64_t size) {
  if (t.dims() == 1 && (size < 0 || t.NumElements() == size)) {
    return OkStatus();
  }
  return errors::InvalidArgument(
      name, " must be a vector",
      size < 0 ? std::string() : StrCat(" of ", size, " elements"),
      ", got shape ", t.shape().DebugString());
}

Status SdcaBatch::MakeDeltas(OpKernelContext* ctx, const char* name, int i,
                             const Tensor& weights, Tensor** out) {
  int begin = 0, end = 0;
  HR_RETURN_IF_ERROR(ctx->output_list_range(name, &begin, &end));
  HR_RETURN_IF_ERROR(ctx->allocate_output(begin + i, weights.shape(), out));
  std::fill_n((*out)->data<float>(), (*out)->NumElements(), 0.f);
  return OkStatus();
}

Status SdcaBatch::ReadSparse(OpKernelContext* ctx, Terms* terms) {
  std::vector<const Tensor*> examples, features, values, indices, weights;
  HR_RETURN_IF_ERROR(ctx->input_list("sparse_example_indices", &examples));
  HR_RETURN_IF_ERROR(ctx->input_list("sparse_feature_indices", &features));
  HR_RETURN_IF_ERROR(ctx->input_list("sparse_feature_values", &values));
  HR_RETURN_IF_ERROR(ctx->input_list("sparse_indices", &indices));
  HR_RETURN_IF_ERROR(ctx->input_list("sparse_weights", &weights));
  if (values.size() > examples.size()) {
    return errors::InvalidArgument(
        "num_sparse_features_with_values ", values.size(),
        " is more than num_sparse_features ", examples.size());
  }
  for (size_t f = 0; f < examples.size(); ++f) {
    const int64_t n = examples[f]->NumElements();
    HR_RETURN_IF_ERROR(CheckVector(*examples[f], "sparse_example_indices", -1));
    HR_RETURN_IF_ERROR(CheckVector(*features[f], "sparse_feature_indices", n));
    HR_RETURN_IF_ERROR(CheckVector(*indices[f], "sparse_indices", -1));
    if (weights[f]->NumElements() != indices[f]->NumElements()) {
      return errors::InvalidArgument("sparse_weights[", f, "] must have ",
                                     indices[f]->NumElements(),
                                     " elements, as sparse_indices, got shape ",
                                     weights[f]->shape().DebugString());
    }
    if (f < values.size()) {
      HR_RETURN_IF_ERROR(CheckVector(*values[f], "sparse_feature_values", n));
    }
    Tensor* deltas = nullptr;
    HR_RETURN_IF_ERROR(MakeDeltas(ctx, "out_delta_sparse_weights",
                                  static_cast<int>(f), *weights[f], &deltas));
    absl::flat_hash_map<int64_t, int64_t> places;
    for (int64_t i = 0; i < indices[f]->NumElements(); ++i) {
      places.emplace(indices[f]->data<int64_t>()[i], i);
    }
    for (int64_t e = 0; e < n; ++e) {
      const int64_t example = examples[f]->data<int64_t>()[e];
      const int64_t feature = features[f]->data<int64_t>()[e];
      const auto place = places.find(feature);
      if (example < 0 || example >= size() || place == places.end()) {
        return errors::InvalidArgument(
            "sparse feature ", f, ", entry ", e, ": example ", example,
            " must be in [0, ", size(), "), and feature ", feature,
            " in sparse_indices");
      }
      const float value = f < values.size() ? values[f]->data<float>()[e] : 1.f;
      terms->push_back({example,
                        {deltas->data<float>() + place->second,
                         weights[f]->data<float>() + place->second, value}});
    }
  }
  return OkStatus();
}

Status SdcaBatch::ReadDense(OpKernelContext* ctx, Terms* terms) {
  std::vector<const Tensor*> features, weights;
  HR_RETURN_IF_ERROR(ctx->input_list("dense_features", &features));
  HR_RETURN_IF_ERROR(ctx->input_list("dense_weights", &weights));
  for (size_t f = 0; f < features.size(); ++f) {
    const Tensor& x = *features[f];
    if (x.dims() != 2 || x.dim_size(0) != size() ||
        weights[f]->NumElements() != x.dim_size(1)) {
      return errors::InvalidArgument(
          "dense_features[", f, "] must have shape [", size(),
          ", n] and dense_weights n elements, got shapes ",
          x.shape().DebugString(), " and ", weights[f]->shape().DebugString());
    }
    Tensor* deltas = nullptr;
    HR_RETURN_IF_ERROR(MakeDeltas(ctx, "out_delta_dense_weights",
                                  static_cast<int>(f), *weights[f], &deltas));
    const float* value = x.data<float>();
    for (int64_t i = 0; i < size(); ++i) {
      for (int64_t j = 0; j < x.dim_size(1); ++j) {
        terms->push_back({i,
                          {deltas->data<float>() + j,
                           weights[f]->data<float>() + j, *value++}});
      }
    }
  }
  return OkStatus();
}

Status SdcaBatch::Read(OpKernelContext* ctx) {
  const Tensor *weights = nullptr, *labels = nullptr, *state = nullptr;
  HR_RETURN_IF_ERROR(ctx->input("example_weights", &weights));
  HR_RETURN_IF_ERROR(ctx->input("example_labels", &labels));
  HR_RETURN_IF_ERROR(ctx->input("example_state_data", &state));
  HR_RETURN_IF_ERROR(CheckVector(*weights, "example_weights", -1));
  const int64_t n = weights->NumElements();
  HR_RETURN_IF_ERROR(CheckVector(*labels, "example_labels", n));
  if (state->shape() != TensorShape({n, 4})) {
    return errors::InvalidArgument("Expected shape [", n,
                                   ",4] for example_state_data, got ",
                                   state->shape().DebugString());
  }
  weights_ = weights->data<float>();
  labels_ = labels->data<float>();
  ends_.assign(n, 0);
  Tensor* out = nullptr;
  HR_RETURN_IF_ERROR(ctx->allocate_output(0, state->shape(), &out));
  state_ = out->data<float>();
  std::copy_n(state->data<float>(), 4 * n, state_);
  Terms terms;
  HR_RETURN_IF_ERROR(ReadSparse(ctx, &terms));
  HR_RETURN_IF_ERROR(ReadDense(ctx, &terms));
  for (const auto& [example, term] : terms) ++ends_[example];
  std::partial_sum(ends_.begin(), ends_.end(), ends_.begin());
  terms_.resize(terms.size());
  for (auto at = terms.rbegin(); at != terms.rend(); ++at) {
    terms_[--ends_[at->first]] = at->second;
  }
  // Now they are the beginnings.
  std::rotate(ends_.begin(), ends_.begin() + (n > 0 ? 1 : 0), ends_.end());
  if (n > 0) ends_.back() = static_cast<int64_t>(terms_.size());
  return OkStatus();
}

class SdcaOptimizerOp : public OpKernel {
 public:
  explicit SdcaOptimizerOp(OpKernelConstruction* ctx) : OpKernel(ctx) {
    std::string loss;
    OP_REQUIRES_OK(ctx, ctx->GetAttr("loss_type", &loss));
    OP_REQUIRES_OK(ctx, SdcaLoss::Make(loss, &loss_));
    OP_REQUIRES_OK(
        ctx, ctx->GetAttr(ctx->HasAttr("adaptive") ? "adaptive" : "adaptative",
                          &adaptive_));
    OP_REQUIRES_OK(ctx, regularization_.Read(ctx));
    OP_REQUIRES_OK(ctx, ctx->GetAttr("num_loss_partitions", &partitions_));
    OP_REQUIRES_OK(ctx, ctx->GetAttr("num_inner_iterations", &iterations_));
  }

  void Compute(OpKernelContext* ctx) override {
    SdcaBatch batch;
    OP_REQUIRES_OK(ctx, batch.Read(ctx));
    std::mt19937_64 random(RandomSeed64());
    std::vector<float> labels(batch.size());
    for (int64_t i = 0; i < batch.size(); ++i) {
      labels[i] = batch.label(i);
      OP_REQUIRES_OK(ctx, loss_->ConvertLabel(&labels[i]));
    }
    for (int64_t k = 0; k < iterations_; ++k) {
      OP_REQUIRES(ctx,
                  ctx->cancellation_manager() == nullptr ||
                      !ctx->cancellation_manager()->IsCancelled(),
                  errors::Cancelled("the step was cancelled"));
      for (const int64_t i : Order(&batch, labels, &random)) {
        Step(&batch, i, labels[i]);
      }
    }
  }

 private:
  struct Example {
    double norm = 0;       // squared
    double wx = 0;         // with the deltas so far
    double before_wx = 0;  // without
  };
  Example Look(const SdcaBatch& batch, int64_t i) const {
    Example found;
    for (const SdcaTerm& t : batch.terms(i)) {
      found.norm += static_cast<double>(t.value) * t.value;
      found.before_wx += t.value * regularization_.Shrink(*t.weight);
      found.wx += t.value *
                  regularization_.Shrink(
                      *t.weight + *t.delta * static_cast<double>(partitions_));
    }
    return found;
  }

  void Step(SdcaBatch* batch, int64_t i, float label) const {
    const Example e = Look(*batch, i);
    const double weight = batch->weight(i);
    float* state = batch->state(i);
    const double dual = state[0];
    const double scale =
        e.norm / regularization_.l2 * weight * static_cast<double>(partitions_);
    const double updated = loss_->UpdatedDual(label, dual, e.wx, scale);
    const double change = (updated - dual) * weight / regularization_.l2;
    for (const SdcaTerm& t : batch->terms(i)) {
      *t.delta += static_cast<float>(change * t.value);
    }
    state[0] = static_cast<float>(updated);
    state[1] =
        static_cast<float>(loss_->PrimalLoss(e.before_wx, label) * weight);
    state[2] = static_cast<float>(loss_->DualLoss(dual, label) * weight);
    state[3] = static_cast<float>(weight);
  }

  // Every example once; or, adaptive, as many draws by how far the examples are
  // from their optimum.
  std::vector<int64_t> Order(SdcaBatch* batch, const std::vector<float>& labels,
                             std::mt19937_64* random) const {
    const int64_t n = batch->size();
    std::vector<int64_t> order(n);
    std::iota(order.begin(), order.end(), 0);
    if (adaptive_) {
      std::vector<double> sums(n);
      double total = 0;
      for (int64_t i = 0; i < n; ++i) {
        const Example e = Look(*batch, i);
        const double off =
            batch->state(i)[0] + loss_->PrimalLossDerivative(e.wx, labels[i]);
        const double odds = batch->weight(i) * std::abs(off) *
                            std::sqrt(e.norm + regularization_.l2 *
                                                   loss_->SmoothnessConstant());
        if (std::isfinite(odds) && odds > 0) total += odds;
        sums[i] = total;
      }
      if (total > 0 && std::isfinite(total)) {
        for (int64_t& at : order) {
          const double part =
              total * static_cast<double>((*random)() >> 11) * 0x1p-53;
          at = std::upper_bound(sums.begin(), sums.end(), part) - sums.begin();
          at = std::min(at, n - 1);
        }
        return order;
      }
    }
    for (int64_t i = n - 1; i > 0; --i) {
      std::swap(order[i], order[(*random)() % static_cast<uint64_t>(i + 1)]);
    }
    return order;
  }

  std::unique_ptr<SdcaLoss> loss_;
  SdcaRegularization regularization_;
  bool adaptive_ = false;
  int64_t partitions_ = 1, iterations_ = 1;
};
REGISTER_KERNEL_BUILDER(Name("SdcaOptimizer").Device(DEVICE_CPU),
                        SdcaOptimizerOp);
REGISTER_KERNEL_BUILDER(Name("SdcaOptimizerV2").Device(DEVICE_CPU),
                        SdcaOptimizerOp);

// What l1 leaves of the weights.
class SdcaShrinkL1Op : public OpKernel {
 public:
  explicit SdcaShrinkL1Op(OpKernelConstruction* ctx) : OpKernel(ctx) {
    OP_REQUIRES_OK(ctx, regularization_.Read(ctx));
  }
  void Compute(OpKernelContext* ctx) override {
    VariableWriter variables;
    OP_REQUIRES_OK(ctx, variables.Lock(ctx, 0, ctx->num_inputs(), DT_FLOAT));
    for (int i = 0; i < ctx->num_inputs(); ++i) {
      OP_REQUIRES_OK(ctx, variables.PrepareToWrite(i));
      Tensor* t = variables.tensor(i);
      for (int64_t j = 0; j < t->NumElements(); ++j) {
        float& w = t->data<float>()[j];
        w = static_cast<float>(regularization_.Shrink(w));
      }
    }
  }

 private:
  SdcaRegularization regularization_;
};
REGISTER_KERNEL_BUILDER(Name("SdcaShrinkL1").Device(DEVICE_CPU),
                        SdcaShrinkL1Op);

// Two int64 of each string, Fingerprint128. The first is never 0 or 1, which
// tables take for keys of their own.
class SdcaFprintOp : public OpKernel {
 public:
  using OpKernel::OpKernel;
  void Compute(OpKernelContext* ctx) override {
    const Tensor& in = ctx->input(0);
    OP_REQUIRES_OK(ctx, CheckVector(in, "input", -1));
    Tensor* out = nullptr;
    OP_REQUIRES_OK(ctx, ctx->allocate_output(0, {in.NumElements(), 2}, &out));
    for (int64_t i = 0; i < in.NumElements(); ++i) {
      const absl::string_view text(in.data<tstring>()[i]);
      const Fingerprint128Value f = Fingerprint128({text.data(), text.size()});
      out->data<int64_t>()[2 * i] =
          static_cast<int64_t>(f.low >= 2 ? f.low : f.low + ~uint64_t{1});
      out->data<int64_t>()[2 * i + 1] = static_cast<int64_t>(f.high);
    }
  }
};
REGISTER_KERNEL_BUILDER(Name("SdcaFprint").Device(DEVICE_CPU), SdcaFprintOp);

}  // namespace
}  // namespace headrace
