// CTCLoss: for each row of the batch -log of the probability of its labels:
// that a path through [time, classes], read without repeats and blanks, spells
// them. The gradient for the logits is y - p, where p is the share of the
// labels' probability that passes through a class at a time.
//
// The labels are extended with blanks between and around them. alpha and beta
// are the logarithms of the probabilities of all paths to a place at a time,
// and of all paths from there to the end. Without ctc_merge_repeated a repeated
// class is a separate label. The blank is the last class; in CTCLossV2 it is
// the first.
#include <algorithm>
#include <cmath>
#include <vector>

#include "absl/strings/str_join.h"
#include "headrace/op_kernel.h"
#include "kernels/lib/cancellable_loops.h"
#include "kernels/lib/element.h"
#include "kernels/nn/ctc.h"

namespace headrace {
namespace {

template <typename T>
class CtcLossOp : public OpKernel {
 public:
  explicit CtcLossOp(OpKernelConstruction* ctx) : OpKernel(ctx) {
    OP_REQUIRES_OK(
        ctx, ctx->GetAttr("preprocess_collapse_repeated", &collapse_repeated_));
    OP_REQUIRES_OK(ctx, ctx->GetAttr("ctc_merge_repeated", &merge_repeated_));
    OP_REQUIRES_OK(ctx, ctx->GetAttr("ignore_longer_outputs_than_inputs",
                                     &ignore_longer_));
    first_is_blank_ = type_string() == "CTCLossV2";
  }

  void Compute(OpKernelContext* ctx) override {
    const Tensor& inputs = ctx->input(0);
    const Tensor& lengths = ctx->input(3);
    std::vector<std::vector<int32_t>> labels;
    OP_REQUIRES_OK(ctx, ReadLabels(ctx, &labels));
    const int64_t time = inputs.dim_size(0), batch = inputs.dim_size(1);
    const int64_t classes = inputs.dim_size(2);
    std::vector<std::vector<int32_t>> paths(batch);
    for (int64_t b = 0; b < batch; ++b) {
      OP_REQUIRES_OK(ctx, SpreadLabels(labels[b], b, lengths.data<int32_t>()[b],
                                       time, classes, &paths[b]));
    }
    Tensor *loss = nullptr, *gradient = nullptr;
    OP_REQUIRES_OK(ctx, ctx->allocate_output(0, lengths.shape(), &loss));
    OP_REQUIRES_OK(ctx, ctx->allocate_output(1, inputs.shape(), &gradient));
    ZeroElements(loss);
    ZeroElements(gradient);
    double work = 0;
    std::vector<Tensor> scratch(batch);
    for (int64_t b = 0; b < batch; ++b) {
      if (paths[b].empty()) continue;
      const int64_t steps = lengths.data<int32_t>()[b];
      const auto places = static_cast<int64_t>(paths[b].size());
      OP_REQUIRES_OK(
          ctx, ctx->allocate_temp(DataTypeToEnum<T>::value,
                                  {steps, classes + 3 * places}, &scratch[b]));
      work += 50.0 * static_cast<double>(steps) *
              static_cast<double>(classes + 3 * places);
    }
    const CancellableLoops cancellable(ctx);
    ctx->ParallelFor(batch, work / static_cast<double>(batch),
                     [&](int64_t begin, int64_t end) {
                       for (int64_t b = begin; b < end; ++b) {
                         if (paths[b].empty()) continue;
                         loss->data<T>()[b] =
                             Row(inputs.data<T>() + b * classes,
                                 lengths.data<int32_t>()[b], batch * classes,
                                 classes, paths[b], scratch[b].data<T>(),
                                 gradient->data<T>() + b * classes);
                       }
                     });
  }

 private:
  static Status ReadLabels(OpKernelContext* ctx,
                           std::vector<std::vector<int32_t>>* labels) {
    const Tensor &inputs = ctx->input(0), &indices = ctx->input(1),
                 &values = ctx->input(2), &lengths = ctx->input(3);
    HR_RETURN_IF_ERROR(CheckCtcLogits(inputs));
    const int64_t batch = inputs.dim_size(1);
    if (lengths.dims() != 1 || lengths.dim_size(0) != batch) {
      return errors::InvalidArgument(
          "sequence_length must be a vector of as many elements as the batch: "
          "got shape ",
          lengths.shape().DebugString(), ", wanted [", batch, "]");
    }
    if (indices.dims() != 2 || indices.dim_size(1) != 2 || values.dims() != 1 ||
        indices.dim_size(0) != values.dim_size(0)) {
      return errors::InvalidArgument(
          "labels_indices must be [n, 2] and labels_values [n], got ",
          indices.shape().DebugString(), " and ", values.shape().DebugString());
    }
    labels->resize(batch);
    const int64_t* at = indices.data<int64_t>();
    for (int64_t i = 0; i < values.NumElements(); ++i, at += 2) {
      if (at[0] < 0 || at[0] >= batch || at[1] < 0) {
        return errors::InvalidArgument(
            "label SparseTensor is not valid: labels_indices[", i, "] = [",
            at[0], ",", at[1], "] is out of bounds: the batch is ", batch);
      }
      if (i > 0 && (at[0] < at[-2] || (at[0] == at[-2] && at[1] <= at[-1]))) {
        return errors::InvalidArgument(
            "label SparseTensor is not valid: labels_indices[", i, "] = [",
            at[0], ",", at[1], "] is ",
            at[0] == at[-2] && at[1] == at[-1]
                ? "repeated"
                : "out of order. Many sparse ops require sorted indices");
      }
      (*labels)[at[0]].push_back(values.data<int32_t>()[i]);
    }
    return OkStatus();
  }

  // `path` stays empty for a row that counts for nothing.
  Status SpreadLabels(const std::vector<int32_t>& labels, int64_t b,
                      int64_t steps, int64_t time, int64_t classes,
                      std::vector<int32_t>* path) const {
    if (steps < 0 || steps > time) {
      return errors::InvalidArgument("sequence_length(", b, ") = ", steps,
                                     " is not in [0, ", time, "]");
    }
    if (labels.empty()) {
      return errors::InvalidArgument("Labels length is zero in batch ", b);
    }
    const auto text = [&labels] {
      const size_t shown = std::min<size_t>(labels.size(), 20);
      return StrCat(absl::StrJoin(labels.begin(), labels.begin() + shown, ","),
                    labels.size() > shown ? ",..." : "");
    };
    const auto blank = static_cast<int32_t>(first_is_blank_ ? 0 : classes - 1);
    std::vector<int32_t> kept;
    bool ended = false;
    for (size_t i = 0; i < labels.size(); ++i) {
      const int32_t label = labels[i];
      if (label < 0) {
        return errors::InvalidArgument(
            "All labels must be nonnegative integers, batch: ", b,
            " labels: ", text());
      }
      if (collapse_repeated_ && i > 0 && label == labels[i - 1]) continue;
      if (first_is_blank_) {
        if (label == 0 || label >= classes) {
          return errors::InvalidArgument("labels must be in [1, ", classes,
                                         "), batch: ", b, " labels: ", text());
        }
      } else if (label >= blank) {
        ended = true;
        continue;
      }
      if (ended) {
        return errors::InvalidArgument(
            "Saw a non-null label (index >= num_classes - 1) following a null "
            "label, batch: ",
            b, " num_classes: ", classes, " labels: ", text());
      }
      kept.push_back(label);
    }
    if (static_cast<int64_t>(labels.size()) > steps) {
      if (ignore_longer_) return OkStatus();
      return errors::InvalidArgument(
          "Not enough time for target transition sequence (required: ",
          labels.size(), ", available: ", steps, ") in batch ", b,
          ". You can turn this error into a warning by using the flag "
          "ignore_longer_outputs_than_inputs");
    }
    path->assign(2 * kept.size() + 1, blank);
    for (size_t i = 0; i < kept.size(); ++i) (*path)[2 * i + 1] = kept[i];
    return OkStatus();
  }

  // True if a path may go from place u - 2 to place u and skip a blank.
  bool MaySkip(const std::vector<int32_t>& path, int64_t u) const {
    return u > 1 && (u & 1) == 1 &&
           !(merge_repeated_ && path[u] == path[u - 2]);
  }

  // One row of the batch, whose time steps are `stride` apart; returns its
  // loss. `scratch` has room for steps * (classes + 3 places).
  T Row(const T* x, int64_t steps, int64_t stride, int64_t classes,
        const std::vector<int32_t>& path, T* scratch, T* gradient) const {
    const auto places = static_cast<int64_t>(path.size());
    T* const y = scratch;
    T* const alpha = y + steps * classes;
    T* const beta = alpha + steps * places;
    T* const log_y_at = beta + steps * places;
    for (int64_t t = 0; t < steps; ++t) {
      const T* in = x + t * stride;
      const T max = *std::max_element(in, in + classes);
      T sum = 0;
      for (int64_t c = 0; c < classes; ++c) {
        y[t * classes + c] = std::exp(in[c] - max);
        sum += y[t * classes + c];
      }
      for (int64_t c = 0; c < classes; ++c) y[t * classes + c] /= sum;
      for (int64_t u = 0; u < places; ++u) {
        log_y_at[t * places + u] = std::log(y[t * classes + path[u]]);
      }
    }
    const auto log_y = [&](int64_t t, int64_t u) {
      return log_y_at[t * places + u];
    };
    // A class may be seen again at the next time, but a label that repeats
    // would be another label.
    const auto may_stay = [&](int64_t u) {
      return merge_repeated_ || (u & 1) == 0;
    };
    std::fill(alpha, alpha + 2 * steps * places, kLogZero<T>);
    alpha[0] = log_y(0, 0);
    if (places > 1) alpha[1] = log_y(0, 1);
    for (int64_t t = 1; t < steps; ++t) {
      const T* before = alpha + (t - 1) * places;
      const int64_t first = std::max<int64_t>(0, places - 2 * (steps - t));
      const int64_t last = std::min(places, 2 * (t + 1));
      for (int64_t u = first; u < last; ++u) {
        T sum = may_stay(u) ? before[u] : kLogZero<T>;
        if (u > 0) sum = LogSum(sum, before[u - 1]);
        if (MaySkip(path, u)) sum = LogSum(sum, before[u - 2]);
        alpha[t * places + u] = log_y(t, u) + sum;
      }
    }
    for (int64_t u = std::max<int64_t>(0, places - 2); u < places; ++u) {
      beta[(steps - 1) * places + u] = 0;
    }
    for (int64_t t = steps - 2; t >= 0; --t) {
      const T* after = beta + (t + 1) * places;
      const int64_t first = std::max<int64_t>(0, places - 2 * (steps - t));
      const int64_t last = std::min(places, 2 * (t + 1));
      for (int64_t u = first; u < last; ++u) {
        T sum = may_stay(u) ? after[u] + log_y(t + 1, u) : kLogZero<T>;
        if (u + 1 < places) {
          sum = LogSum(sum, after[u + 1] + log_y(t + 1, u + 1));
        }
        if (u + 2 < places && MaySkip(path, u + 2)) {
          sum = LogSum(sum, after[u + 2] + log_y(t + 1, u + 2));
        }
        beta[t * places + u] = sum;
      }
    }
    T log_p = kLogZero<T>;
    for (int64_t u = 0; u < places; ++u) {
      log_p = LogSum(log_p, alpha[u] + beta[u]);
    }
    std::vector<T> through(classes);
    for (int64_t t = 0; t < steps; ++t) {
      std::fill(through.begin(), through.end(), kLogZero<T>);
      for (int64_t u = 0; u < places; ++u) {
        T& sum = through[path[u]];
        sum = LogSum(sum, alpha[t * places + u] + beta[t * places + u]);
      }
      for (int64_t c = 0; c < classes; ++c) {
        // No path at all: nothing is taken off.
        const T share =
            log_p == kLogZero<T> ? T(0) : std::exp(through[c] - log_p);
        gradient[t * stride + c] = y[t * classes + c] - share;
      }
    }
    return -log_p;
  }

  bool collapse_repeated_ = false;
  bool merge_repeated_ = true;
  bool ignore_longer_ = false;
  bool first_is_blank_ = false;
};
REGISTER_KERNEL_BUILDER(
    Name("CTCLoss").Device(DEVICE_CPU).TypeConstraint<float>("T"),
    CtcLossOp<float>);
REGISTER_KERNEL_BUILDER(
    Name("CTCLoss").Device(DEVICE_CPU).TypeConstraint<double>("T"),
    CtcLossOp<double>);
REGISTER_KERNEL_BUILDER(Name("CTCLossV2").Device(DEVICE_CPU), CtcLossOp<float>);

}  // namespace
}  // namespace headrace
