// _FusedConv2D and _FusedDepthwiseConv2dNative give what the nodes give that
// they stand for, and refuse what they cannot compute.
#include <algorithm>
#include <cmath>

#include "framework/kernel/op_tester.h"

namespace headrace {
namespace {

Tensor Values(DataType dtype, const TensorShape& shape, double first,
              double step) {
  Tensor t(dtype, shape);
  for (int64_t i = 0; i < t.NumElements(); ++i) {
    const float v = static_cast<float>(std::sin(first + step * i));
    switch (dtype) {
      case DT_HALF:
        t.data<half>()[i] = static_cast<half>(v);
        break;
      case DT_BFLOAT16:
        t.data<bfloat16>()[i] = static_cast<bfloat16>(v);
        break;
      case DT_FLOAT:
        t.data<float>()[i] = v;
        break;
      default:
        t.data<double>()[i] = v;
    }
  }
  return t;
}

double At(const Tensor& t, int64_t i) {
  switch (t.dtype()) {
    case DT_HALF:
      return static_cast<float>(t.data<half>()[i]);
    case DT_BFLOAT16:
      return static_cast<float>(t.data<bfloat16>()[i]);
    case DT_FLOAT:
      return t.data<float>()[i];
    default:
      return t.data<double>()[i];
  }
}

double Activate(const std::string& name, double x) {
  if (name == "Relu") return std::max(x, 0.0);
  if (name == "Relu6") return std::min(std::max(x, 0.0), 6.0);
  if (name == "Elu") return x < 0 ? std::expm1(x) : x;
  if (name == "LeakyRelu") return x > 0 ? x : 0.1f * x;
  if (name == "Sigmoid") return 1 / (1 + std::exp(-x));
  if (name == "Tanh") return std::tanh(x);
  return x;
}

constexpr char kSteps[] = "FakeQuantWithMinMaxArgs";
// Of levels 5 to 255 and the range [-1.5, 2], nudged so that 0 is a step.
constexpr double kStep = 3.5 / 250, kLow = -107 * kStep;

// What fake quantisation makes of x; NaN if rounding may decide.
double RoundToStep(double x) {
  const double code = (std::clamp(x, kLow, kLow + 3.5) - kLow) / kStep + 0.5;
  return std::abs(code - std::round(code)) < 1e-2
             ? NAN
             : std::floor(code) * kStep + kLow;
}

struct FusedCase {
  std::vector<std::string> ops;
  bool depthwise = false;
  std::string format = "NHWC";
  DataType dtype = DT_FLOAT;
};

OpTester& SetUp(OpTester* t, const std::string& format) {
  return t->Attr("strides", std::vector<int64_t>{1, 1, 1, 1})
      .Attr("padding", std::string("SAME"))
      .Attr("data_format", format);
}

void FusedAttrs(OpTester* t, const FusedCase& c, int64_t num_args) {
  SetUp(t, c.format)
      .Attr("fused_ops", c.ops)
      .Attr("num_args", num_args)
      .Attr("leakyrelu_alpha", 0.1f)
      .Attr("epsilon", 0.01f);
  if (!c.ops.empty() && c.ops.back() == kSteps) {
    t->Attr("_result_steps", std::vector<float>{5, 255, -1.5f, 2});
  }
  if (!c.depthwise) {
    t->Attr("TArgs", std::vector<DataType>(num_args, c.dtype))
        .Attr("num_host_args", int64_t{0});
  }
}

void ExpectSameAsUnfused(const FusedCase& c) {
  const int64_t h = 9, w = 7, in = 6, out = c.depthwise ? 12 : 21;
  const bool nchw = c.format == "NCHW";
  const auto image = [&](int64_t channels) {
    return nchw ? TensorShape({2, channels, h, w})
                : TensorShape({2, h, w, channels});
  };
  const Tensor x = Values(c.dtype, image(in), 0, 0.7);
  const Tensor f = Values(c.dtype,
                          c.depthwise ? TensorShape({3, 3, in, out / in})
                                      : TensorShape({3, 3, in, out}),
                          1, 1.3);
  OpTester plain(c.depthwise ? "DepthwiseConv2dNative" : "Conv2D");
  SetUp(&plain, c.format).Input(x).Input(f);
  ASSERT_EQ(plain.Run(), OkStatus());

  std::vector<Tensor> args;
  const auto has = [&](const char* op) {
    return std::find(c.ops.begin(), c.ops.end(), op) != c.ops.end();
  };
  const TensorShape vector({out});
  if (has("Mul")) args.push_back(Values(c.dtype, vector, 4, 1.7));
  const size_t after_mul = args.size();
  if (has("BiasAdd")) args.push_back(Values(c.dtype, vector, 2, 1.1));
  if (has("FusedBatchNorm")) {
    for (int i = 0; i < 3; ++i) {
      args.push_back(Values(c.dtype, vector, i, 0.9));
    }
    Tensor variance = Values(c.dtype, vector, 0, 0);
    if (c.dtype == DT_FLOAT) std::fill_n(variance.data<float>(), out, 0.3f);
    args.push_back(variance);
  }
  if (has("Add")) args.push_back(Values(c.dtype, image(out), 3, 0.3));

  OpTester fused(c.depthwise ? "_FusedDepthwiseConv2dNative" : "_FusedConv2D");
  FusedAttrs(&fused, c, args.size());
  fused.Input(x).Input(f);
  for (const Tensor& t : args) fused.Input(t);
  ASSERT_EQ(fused.Run(), OkStatus());

  const Tensor& before = plain.Output(0);
  const double tolerance = c.dtype == DT_HALF       ? 0.02
                           : c.dtype == DT_BFLOAT16 ? 0.16
                           : c.dtype == DT_FLOAT    ? 2e-5
                                                    : 1e-12;
  for (int64_t i = 0; i < before.NumElements(); ++i) {
    const int64_t channel = nchw ? i / (h * w) % out : i % out;
    double want = At(before, i);
    if (has("Mul")) want *= At(args[0], channel);
    const auto arg = [&](int k) { return At(args[after_mul + k], channel); };
    if (has("BiasAdd")) want += arg(0);
    if (has("FusedBatchNorm")) {
      want = (want - arg(2)) / std::sqrt(arg(3) + 0.01) * arg(0) + arg(1);
    }
    if (has("Add")) want += At(args.back(), i);
    for (const std::string& op : c.ops) want = Activate(op, want);
    if (has(kSteps)) want = RoundToStep(want);
    if (std::isnan(want)) continue;
    ASSERT_NEAR(At(fused.Output(0), i), want,
                tolerance * std::max(1.0, std::abs(want)))
        << "element " << i;
  }
}

TEST(FusedConvOps, SameAsUnfused) {
  const FusedCase cases[] = {
      {{"BiasAdd"}},
      {{"BiasAdd", "Relu"}},
      {{"BiasAdd", "Relu6"}},
      {{"BiasAdd", "Elu"}},
      {{"BiasAdd", "LeakyRelu"}},
      {{"BiasAdd", "Sigmoid"}},
      {{"BiasAdd", "Tanh"}},
      {{"BiasAdd", "Add"}},
      {{"Mul", "Relu"}},
      {{"Mul", "BiasAdd", "Relu6"}},
      {{"Mul", "BiasAdd", "Add", "Relu"}, false, "NCHW"},
      {{"Mul", "BiasAdd"}, true},
      {{"Mul", "FusedBatchNorm"}},
      {{"Mul", "BiasAdd"}, false, "NHWC", DT_HALF},
      {{"BiasAdd", "Relu"}, false, "NHWC", DT_BFLOAT16},
      {{"BiasAdd", "Relu"}, true, "NHWC", DT_BFLOAT16},
      {{"Add", "Relu"}},
      {{"BiasAdd", "Add", "Relu"}},
      {{"FusedBatchNorm"}},
      {{"FusedBatchNorm", "Relu"}},
      {{"FusedBatchNorm", "Add", "Relu6"}},
      {{"BiasAdd", "Add", "Relu"}, false, "NCHW"},
      {{"FusedBatchNorm", "Relu"}, false, "NCHW"},
      {{"BiasAdd", "Add", "Relu"}, false, "NHWC", DT_HALF},
      {{"BiasAdd", "Add", "Tanh"}, false, "NHWC", DT_DOUBLE},
      {{"BiasAdd", "Relu"}, true},
      {{"Relu6"}, true},
      {{"FusedBatchNorm", "Relu6"}, true},
      {{"BiasAdd", "Add", "Elu"}, true, "NCHW"},
      {{"BiasAdd", "Sigmoid"}, true, "NHWC", DT_DOUBLE},
      {{kSteps}},
      {{"BiasAdd", "Relu6", kSteps}},
      {{"BiasAdd", "Add", "Relu", kSteps}, false, "NCHW"},
      {{"BiasAdd", "Tanh", kSteps}},
      {{"FusedBatchNorm", "Relu6", kSteps}, true},
  };
  for (const FusedCase& c : cases) {
    std::string name = c.format + DataTypeString(c.dtype);
    for (const std::string& op : c.ops) name += " " + op;
    SCOPED_TRACE(name);
    ExpectSameAsUnfused(c);
  }
}

TEST(FusedConvOps, NanPassesThroughActivations) {
  for (const char* activation : {"Relu", "Relu6", "LeakyRelu", "Elu", kSteps}) {
    OpTester t("_FusedConv2D");
    FusedAttrs(&t, {{"BiasAdd", activation}}, 1);
    t.Input(MakeTensor<float>({1, 1, 2, 1}, {NAN, -1}))
        .Input(MakeTensor<float>({1, 1, 1, 1}, {1}))
        .Input(MakeTensor<float>({1}, {0}));
    ASSERT_EQ(t.Run(), OkStatus());
    EXPECT_TRUE(std::isnan(t.Output(0).data<float>()[0])) << activation;
    EXPECT_LE(t.Output(0).data<float>()[1], 0) << activation;
  }
}

TEST(FusedConvOps, EmptySumsGetTheEpilogue) {
  OpTester t("_FusedConv2D");
  FusedAttrs(&t, {{"BiasAdd", "Relu"}}, 1);
  t.Attr("padding", std::string("EXPLICIT"))
      .Attr("explicit_paddings", std::vector<int64_t>{0, 0, 1, 1, 0, 0, 0, 0})
      .Input(Tensor(DT_FLOAT, {1, 0, 1, 2}))
      .Input(MakeTensor<float>({1, 1, 2, 2}, {1, 2, 3, 4}))
      .Input(MakeTensor<float>({2}, {5, -6}));
  ASSERT_EQ(t.Run(), OkStatus());
  ExpectEqual(t.Output(0), MakeTensor<float>({1, 2, 1, 2}, {5, 0, 5, 0}));
}

TEST(FusedConvOps, Refusals) {
  constexpr auto kInvalid = absl::StatusCode::kInvalidArgument;
  constexpr auto kUnimplemented = absl::StatusCode::kUnimplemented;
  const Tensor x(DT_FLOAT, {1, 4, 4, 3}), bias(DT_FLOAT, {5});
  const struct {
    std::vector<std::string> ops;
    std::vector<Tensor> args;
    absl::StatusCode code;
    const char* message;
  } cases[] = {
      {{}, {bias}, kUnimplemented, "fused_ops: got []"},
      {{"Relu", "BiasAdd"}, {bias}, kUnimplemented, "got [Relu, BiasAdd]"},
      {{"BiasAdd", "Relu", "Elu"}, {bias}, kUnimplemented, "fused_ops"},
      {{"BiasAdd", "Softplus"}, {bias}, kUnimplemented, "Softplus"},
      {{"BiasAdd"}, {bias, bias}, kInvalid, "take 1 arguments"},
      {{"BiasAdd", "Add"}, {bias}, kInvalid, "take 2 arguments"},
      {{"FusedBatchNorm"}, {bias}, kInvalid, "take 4 arguments"},
      {{"BiasAdd"}, {Tensor(DT_FLOAT, {4})}, kInvalid, "bias: got shape [4]"},
      {{"BiasAdd"}, {Tensor(DT_DOUBLE, {5})}, kInvalid, "has type double"},
      {{"FusedBatchNorm"},
       {bias, bias, bias, Tensor(DT_FLOAT, {1, 5})},
       kInvalid,
       "variance: got shape [1,5]"},
      {{"Add"}, {bias}, kInvalid, "addend: got shape [5]"},
      {{"BiasAdd", kSteps, "Relu"}, {bias}, kUnimplemented, "fused_ops"},
  };
  for (const auto& c : cases) {
    SCOPED_TRACE(c.message);
    OpTester t("_FusedConv2D");
    FusedAttrs(&t, {c.ops}, c.args.size());
    std::vector<DataType> types;
    for (const Tensor& a : c.args) types.push_back(a.dtype());
    t.Attr("TArgs", types).Input(x).Input(Tensor(DT_FLOAT, {3, 3, 3, 5}));
    for (const Tensor& a : c.args) t.Input(a);
    ExpectError(t.Run(), c.code, c.message);
  }
}

TEST(FusedConvOps, StepsThatAreNoneAreRefused) {
  const struct {
    DataType dtype;
    std::vector<float> steps;
  } cases[] = {{DT_FLOAT, {}},
               {DT_FLOAT, {0, 255, 1}},
               {DT_FLOAT, {0, 255, 1, 1}},
               {DT_FLOAT, {255, 0, -1, 1}},
               {DT_FLOAT, {0, 255, NAN, 1}},
               {DT_DOUBLE, {0, 255, -1, 1}}};
  for (const auto& c : cases) {
    OpTester t("_FusedConv2D");
    FusedAttrs(&t, {{kSteps}, false, "NHWC", c.dtype}, 0);
    t.Attr("_result_steps", c.steps)
        .Input(Tensor(c.dtype, {1, 4, 4, 3}))
        .Input(Tensor(c.dtype, {3, 3, 3, 5}));
    ExpectError(t.Run(), absl::StatusCode::kInvalidArgument, "_result_steps");
  }
}

}  // namespace
}  // namespace headrace
