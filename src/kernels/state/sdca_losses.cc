#include "kernels/state/sdca_losses.h"

#include <algorithm>
#include <cmath>
#include <limits>

namespace headrace {
namespace {

constexpr int kNewtonSteps = 10;
constexpr double kInfeasible = std::numeric_limits<float>::max();

class BinaryLoss : public SdcaLoss {
 public:
  Status ConvertLabel(float* label) const override {
    if (*label == 0) *label = -1;
    if (*label == -1 || *label == 1) return OkStatus();
    return errors::InvalidArgument(
        "Only labels of 0.0 or 1.0 are supported right now. Found example with "
        "label: ",
        *label);
  }
};

class LogisticLoss : public BinaryLoss {
 public:
  // The dual variable is (1 + tanh(x)) / 2 label for some x, which Newton's
  // method finds.
  double UpdatedDual(double label, double dual, double wx,
                     double scale) const override {
    double x = 0;
    for (int i = 0; i < kNewtonSteps; ++i) {
      const double t = std::tanh(x);
      const double value =
          -2 * label * x - wx - scale * (0.5 * (1 + t) / label - dual);
      const double slope = -2 * label - scale * (1 - t * t) * 0.5 / label;
      x -= value / slope;
    }
    return 0.5 * (1 + std::tanh(x)) / label;
  }
  double DualLoss(double dual, double label) const override {
    const auto part = [](double p) { return p > 0 ? p * std::log(p) : 0; };
    const double p = dual * label;
    return part(p) + part(1 - p);
  }
  double PrimalLoss(double wx, double label) const override {
    const double y = label * wx;
    return y > 0 ? std::log1p(std::exp(-y)) : std::log1p(std::exp(y)) - y;
  }
  double PrimalLossDerivative(double wx, double label) const override {
    const double y = label * wx;
    const double p =
        y > 0 ? std::exp(-y) / (1 + std::exp(-y)) : 1 / (1 + std::exp(y));
    return -p * label;
  }
  double SmoothnessConstant() const override { return 4; }
};

class SquaredLoss : public SdcaLoss {
 public:
  Status ConvertLabel(float*) const override { return OkStatus(); }
  double UpdatedDual(double label, double dual, double wx,
                     double scale) const override {
    return dual + (label - dual - wx) / (1 + scale);
  }
  double DualLoss(double dual, double label) const override {
    return dual * (0.5 * dual - label);
  }
  double PrimalLoss(double wx, double label) const override {
    return 0.5 * (wx - label) * (wx - label);
  }
  double PrimalLossDerivative(double wx, double label) const override {
    return wx - label;
  }
  double SmoothnessConstant() const override { return 1; }
};

// 1 - y wx where that is positive; near y wx = 1 a parabola of width gamma.
class HingeLoss : public BinaryLoss {
 public:
  explicit HingeLoss(double gamma) : gamma_(gamma) {}
  double UpdatedDual(double label, double dual, double wx,
                     double scale) const override {
    const double step = label - wx - gamma_ * dual;
    const double wanted = scale + gamma_ > 0 ? dual + step / (scale + gamma_)
                          : step > 0         ? 1
                                             : -1;
    if (label * wanted < 0) return 0;
    return label * wanted > 1 ? label : wanted;
  }
  double DualLoss(double dual, double label) const override {
    const double p = dual * label;
    if (p < 0 || p > 1) return kInfeasible;
    return -p + 0.5 * gamma_ * dual * dual;
  }
  double PrimalLoss(double wx, double label) const override {
    const double rest = 1 - label * wx;
    if (rest <= 0) return 0;
    return rest >= gamma_ ? rest - gamma_ / 2 : rest * rest * 0.5 / gamma_;
  }
  double PrimalLossDerivative(double wx, double label) const override {
    const double rest = 1 - label * wx;
    if (rest <= 0) return 0;
    return rest >= gamma_ ? -label : -label * rest / gamma_;
  }
  double SmoothnessConstant() const override { return gamma_; }

 private:
  const double gamma_;
};

class PoissonLoss : public SdcaLoss {
 public:
  Status ConvertLabel(float* label) const override {
    if (*label >= 0) return OkStatus();
    return errors::InvalidArgument(
        "Only non-negative labels can be used with the Poisson log loss. Found "
        "example with label: ",
        *label);
  }
  // The dual variable is label - exp(x) for some x.
  double UpdatedDual(double label, double dual, double wx,
                     double scale) const override {
    const double rest = label - dual;
    double x = rest > 0 ? std::log(rest) : 0;
    for (int i = 0; i < kNewtonSteps; ++i) {
      const double e = std::exp(x);
      x -= (x - wx - scale * (rest - e)) / (1 + scale * e);
    }
    return label - std::exp(x);
  }
  double DualLoss(double dual, double label) const override {
    const double rest = label - dual;
    if (rest == 0) return 0;
    return rest < 0 ? kInfeasible : rest * (std::log(rest) - 1);
  }
  double PrimalLoss(double wx, double label) const override {
    return std::exp(wx) - wx * label;
  }
  double PrimalLossDerivative(double wx, double label) const override {
    return std::exp(wx) - label;
  }
  double SmoothnessConstant() const override { return 1; }
};

}  // namespace

Status SdcaLoss::Make(absl::string_view type, std::unique_ptr<SdcaLoss>* out) {
  if (type == "logistic_loss") {
    *out = std::make_unique<LogisticLoss>();
  } else if (type == "squared_loss") {
    *out = std::make_unique<SquaredLoss>();
  } else if (type == "hinge_loss") {
    *out = std::make_unique<HingeLoss>(0);
  } else if (type == "smooth_hinge_loss") {
    *out = std::make_unique<HingeLoss>(1);
  } else if (type == "poisson_loss") {
    *out = std::make_unique<PoissonLoss>();
  } else {
    return errors::InvalidArgument("Unsupported loss type: ", type);
  }
  return OkStatus();
}

}  // namespace headrace
