// A library that adds activations. All that is said of them stands here: in the
// schemas and in the kernels. It is compiled with include/ alone.
// src/c_api/custom_op_test.cc and tests/python/test_gpu_library_ops.py load it.
#include "headrace/elementwise.h"
#include "headrace/op.h"

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

// With a parameter.
REGISTER_OP("TestLeaky")
    .Input("features: T")
    .Output("activations: T")
    .Attr("slope: float = 0.5")
    .Attr("T: {half, bfloat16, float, double}")
    .KeepsShape()
    .Activation(ActivationFunction("slope"));

struct LeakyFn {
  template <typename T>
  static T Apply(T x, ElementwiseState* s) {
    return x < T(0) ? x * static_cast<T>(s->param) : x;
  }
};
HR_REGISTER_UNARY("TestLeaky", LeakyFn, HR_TYPES_FLOAT);

}  // namespace
}  // namespace headrace
