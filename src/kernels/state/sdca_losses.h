// The losses of stochastic dual coordinate ascent, by their conjugates
// (Shalev-Shwartz and Zhang). `dual` is the dual variable of an example, `wx`
// its prediction, `scale` the squared norm of its features over l2, times its
// weight and the number of partitions.
#ifndef HEADRACE_KERNELS_STATE_SDCA_LOSSES_H_
#define HEADRACE_KERNELS_STATE_SDCA_LOSSES_H_

#include <memory>

#include "absl/strings/string_view.h"
#include "headrace/status.h"

namespace headrace {

// Immutable, so any thread may use one.
class SdcaLoss {
 public:
  virtual ~SdcaLoss() = default;
  // Turns a label into what the loss takes. InvalidArgument for a label that
  // the loss does not have.
  virtual Status ConvertLabel(float* label) const = 0;
  virtual double UpdatedDual(double label, double dual, double wx,
                             double scale) const = 0;
  // Of an example of weight 1.
  virtual double DualLoss(double dual, double label) const = 0;
  virtual double PrimalLoss(double wx, double label) const = 0;
  virtual double PrimalLossDerivative(double wx, double label) const = 0;
  virtual double SmoothnessConstant() const = 0;

  // By the attr loss_type.
  static Status Make(absl::string_view type, std::unique_ptr<SdcaLoss>* out);
};

}  // namespace headrace

#endif  // HEADRACE_KERNELS_STATE_SDCA_LOSSES_H_
