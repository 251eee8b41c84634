// A library that adds an activation. All that is said of it stands here: in the
// schema and in the kernel. src/c_api/custom_op_test.cc loads it.
#include "headrace/op.h"
#include "kernels/lib/elementwise.h"

namespace headrace {
namespace {

REGISTER_OP("TestHardSwish")
    .Input("features: T")
    .Output("activations: T")
    .Attr("T: {half, bfloat16, float, double}")
    .KeepsShape()
    .Elementwise()
    .Activation(ActivationFunction());

struct HardSwishFn {
  static constexpr bool kSimd = true;
  static constexpr double kCost = 0.3;
  template <typename T>
  static T Apply(T x) {
    const T up = x + T(3);
    const T low = up < T(0) ? T(0) : up;
    return x * (low > T(6) ? T(6) : low) / T(6);
  }
};
HR_REGISTER_UNARY("TestHardSwish", HardSwishFn, HR_TYPES_FLOAT);

}  // namespace
}  // namespace headrace
