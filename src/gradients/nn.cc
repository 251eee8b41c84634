// Gradients of the layers of networks: biases, pooling, normalisation, losses.
#include "absl/strings/match.h"
#include "headrace/gradients.h"

namespace headrace {
namespace {

using G = GradientContext;

// Biases.
REGISTER_GRADIENT("BiasAdd", [](G& g) {
  g.SetDx(0, g.dy());
  if (g.Needs(1)) g.SetDx(1, g.Like("BiasAddGrad", {g.dy()}));
});
REGISTER_GRADIENT("BiasAddV1", [](G& g) {
  const Expr dy = g.dy();
  g.SetDx(0, dy);
  if (!g.Needs(1)) return;
  g.SetDx(1, g.Sum(dy, g.Op("Range", {g.Int(0), g.Rank(dy) - 1, g.Int(1)})));
});
REGISTER_GRADIENT("BiasAddGrad", [](G& g) {
  // The bias, broadcast to the shape of x.
  const Expr x = g.x(0);
  Expr bias = g.dy();
  if (g.Attr<std::string>("data_format") == "NCHW") {
    const Expr after = g.Reshape(g.Rank(x) - 2, g.Ints({1}));
    bias = g.Reshape(
        bias, g.Concat({g.Shape(bias), g.Op("Fill", {after, g.Int(1)})}));
  }
  g.SetDx(0, g.Op("BroadcastTo", {bias, g.Shape(x)}));
});

// Pooling.
REGISTER_GRADIENT("MaxPool", [](G& g) {
  g.SetDx(0, g.Like("MaxPoolGrad", {g.x(0), g.y(), g.dy()}));
});
REGISTER_GRADIENT("MaxPoolV2", [](G& g) {
  g.SetDx(0, g.Like("MaxPoolGradV2", {g.x(0), g.y(), g.dy(), g.x(1), g.x(2)}));
});
REGISTER_GRADIENT("MaxPoolWithArgmax", [](G& g) {
  g.SetDx(0, g.Like("MaxPoolGradWithArgmax", {g.x(0), g.dy(0), g.y(1)}));
});
REGISTER_GRADIENT("MaxPool3D", [](G& g) {
  g.SetDx(0, g.Like("MaxPool3DGrad", {g.x(0), g.y(), g.dy()}));
});
REGISTER_GRADIENT("AvgPool", [](G& g) {
  g.SetDx(0, g.Like("AvgPoolGrad", {g.Shape(g.x(0)), g.dy()}));
});
REGISTER_GRADIENT("AvgPool3D", [](G& g) {
  g.SetDx(0, g.Like("AvgPool3DGrad", {g.Shape(g.x(0)), g.dy()}));
});
REGISTER_GRADIENT("AvgPoolGrad",
                  [](G& g) { g.SetDx(1, g.Like("AvgPool", {g.dy()})); });
REGISTER_GRADIENT("AvgPool3DGrad",
                  [](G& g) { g.SetDx(1, g.Like("AvgPool3D", {g.dy()})); });
// Of op(x, y, dy): by dy it is `op`; by x and y it is 0.
void PoolGradGradient(G& g, const char* op) {
  std::vector<Expr> inputs = {g.x(0), g.x(1), g.dy()};
  for (int i = 3; i < g.num_inputs(); ++i) inputs.push_back(g.x(i));
  if (g.Needs(0)) g.SetDx(0, g.ZerosLike(g.x(0)));
  if (g.Needs(1)) g.SetDx(1, g.ZerosLike(g.x(1)));
  g.SetDx(2, g.Like(op, inputs));
}
REGISTER_GRADIENT("MaxPoolGrad",
                  [](G& g) { PoolGradGradient(g, "MaxPoolGradGrad"); });
REGISTER_GRADIENT("MaxPoolGradV2",
                  [](G& g) { PoolGradGradient(g, "MaxPoolGradGradV2"); });
REGISTER_GRADIENT("MaxPoolGradGrad",
                  [](G& g) { PoolGradGradient(g, "MaxPoolGrad"); });
REGISTER_GRADIENT("MaxPool3DGrad",
                  [](G& g) { PoolGradGradient(g, "MaxPool3DGradGrad"); });
REGISTER_GRADIENT("MaxPool3DGradGrad",
                  [](G& g) { PoolGradGradient(g, "MaxPool3DGrad"); });
REGISTER_GRADIENT("FractionalMaxPool", [](G& g) {
  g.SetDx(0, g.Like("FractionalMaxPoolGrad",
                    {g.x(0), g.y(0), g.dy(0), g.y(1), g.y(2)}));
});
REGISTER_GRADIENT("FractionalAvgPool", [](G& g) {
  g.SetDx(0, g.Like("FractionalAvgPoolGrad",
                    {g.Shape(g.x(0), DT_INT64), g.dy(0), g.y(1), g.y(2)}));
});

// Normalisation.
REGISTER_GRADIENT("LRN", [](G& g) {
  g.SetDx(0, g.Like("LRNGrad", {g.dy(), g.x(0), g.y()}));
});
REGISTER_GRADIENT("BatchNormWithGlobalNormalization", [](G& g) {
  const Expr d = g.Like("BatchNormWithGlobalNormalizationGrad",
                        {g.x(0), g.x(1), g.x(2), g.x(4), g.dy()});
  for (int i = 0; i < 5; ++i) g.SetDx(i, d.out(i));
});
// Inputs: x, scale, offset, mean, variance. In training the gradient op reads
// what the forward op saved, else the given mean and variance.
constexpr auto kFusedBatchNormGrad = [](G& g) {
  const std::string& op = g.node().type_string();
  const bool training = g.Attr<bool>("is_training");
  const Expr mean = training ? g.y(3) : g.x(3);
  const Expr variance = training ? g.y(4) : g.x(4);
  std::vector<Expr> inputs = {g.dy(0), g.x(0), g.x(1), mean, variance};
  const char* grad = "FusedBatchNormGrad";
  if (op == "FusedBatchNormV2") grad = "FusedBatchNormGradV2";
  if (op == "FusedBatchNormV3") {
    grad = "FusedBatchNormGradV3";
    inputs.push_back(g.y(5));
  }
  const Expr d = g.Like(grad, inputs);
  for (int i = 0; i < 3; ++i) g.SetDx(i, d.out(i));
};
REGISTER_GRADIENTS(kFusedBatchNormGrad, "FusedBatchNorm", "FusedBatchNormV2",
                   "FusedBatchNormV3");

// Of FusedBatchNormGrad(dy, x, scale, mean, variance), whose outputs are the
// gradients of x, scale and offset. With xh = (x - mean) * r and
// r = 1 / sqrt(variance + epsilon), they are, where mean() is that of a
// channel,
//   scale * r * (dy - mean(dy) - xh * mean(dy * xh)), sum(dy * xh), sum(dy)
// in training, where mean and variance are those of x; else
//   scale * r * dy, sum(dy * xh), sum(dy).
constexpr auto kFusedBatchNormGradGrad = [](G& g) {
  const DataType type = g.x(1).dtype(), wide = g.x(2).dtype();
  const std::string format = g.Attr<std::string>("data_format");
  const int spatial = absl::StrContains(format, 'D') ? 3 : 2;
  const bool channels_last = !absl::StartsWith(format, "NC");
  std::vector<int32_t> axes = {0}, channel(spatial + 2, 1);
  for (int i = 0; i < spatial; ++i) axes.push_back(i + (channels_last ? 1 : 2));
  channel[channels_last ? spatial + 1 : 1] = -1;
  const auto wider = [&](const Expr& t) { return g.Cast(t, wide); };
  const auto by_channel = [&](const Expr& t) {
    return g.Reshape(t, g.Ints(channel));
  };
  const auto mean = [&](const Expr& t) {
    return g.Op("Mean", {t, g.Ints(axes)}, {{"keep_dims", true}});
  };
  const Expr dy = wider(g.x(0)), x = wider(g.x(1)), scale = by_channel(g.x(2));
  const bool training = g.Attr<bool>("is_training");
  const Expr x_mean = training ? mean(x) : by_channel(g.x(3));
  const Expr centred = x - x_mean;
  const Expr variance =
      training ? mean(g.Op("Square", {centred})) : by_channel(g.x(4));
  const Expr r = g.Op("Rsqrt", {variance + g.Attr<float>("epsilon")});
  const Expr xh = centred * r;
  const Expr ddx = wider(g.dy(0));
  const Expr ddscale = by_channel(g.dy(1)), ddoffset = by_channel(g.dy(2));
  const auto project = [&](const Expr& t) {
    return training ? t - mean(t) - xh * mean(t * xh) : t;
  };
  const auto set = [&](int i, const Expr& t) { g.SetDx(i, g.Cast(t, type)); };
  if (g.Needs(0)) set(0, scale * r * project(ddx) + ddscale * xh + ddoffset);
  if (g.Needs(2)) {
    g.SetDx(2, g.Reshape(g.Sum(r * ddx * project(dy), g.Ints(axes)),
                         g.Shape(g.x(2))));
  }
  if (!g.Needs(1)) return;
  if (!training) return set(1, ddscale * dy * r);
  // Through xh, and through r.
  const Expr a = mean(ddx * xh), b = mean(dy * xh);
  const Expr by_xh = (ddscale - scale * r * a) * dy - scale * r * b * ddx;
  const Expr by_r = mean(ddx * dy) - mean(ddx) * mean(dy) - a * b;
  set(1, r * project(by_xh) - scale * by_r * r * r * xh);
};
REGISTER_GRADIENTS(kFusedBatchNormGradGrad, "FusedBatchNormGrad",
                   "FusedBatchNormGradV2", "FusedBatchNormGradV3");

// Softmax and losses.
Expr LastSum(G& g, const Expr& t) {
  return g.Sum(t, g.Int(-1), /*keep_dims=*/true);
}
REGISTER_GRADIENT("Softmax", [](G& g) {
  const Expr y = g.y(), dy = g.dy();
  g.SetDx(0, (dy - LastSum(g, dy * y)) * y);
});
REGISTER_GRADIENT("LogSoftmax", [](G& g) {
  const Expr dy = g.dy();
  g.SetDx(0, dy - LastSum(g, dy) * g.Op("Exp", {g.y()}));
});
Expr Column(G& g, const Expr& t) { return g.Op("ExpandDims", {t, g.Int(-1)}); }
// Outputs: loss [batch], and its gradient by the logits [batch, classes].
REGISTER_GRADIENT("SoftmaxCrossEntropyWithLogits", [](G& g) {
  const Expr logits = g.x(0), dy = Column(g, g.dy(0));
  Expr dx = dy * g.y(1);
  if (g.HasDy(1)) {
    // The gradient is differentiated, too: softmax - labels.
    const Expr d = g.dy(1), softmax = g.Op("Softmax", {logits});
    dx = dx + (d - LastSum(g, d * softmax)) * softmax;
  }
  g.SetDx(0, dx);
  if (g.Needs(1)) g.SetDx(1, dy * -g.Op("LogSoftmax", {logits}));
});
REGISTER_GRADIENT("SparseSoftmaxCrossEntropyWithLogits", [](G& g) {
  const Expr unseen =
      g.Op("PreventGradient", {g.y(1)},
           {{"message",
             "Currently there is no way to take the second derivative of "
             "sparse_softmax_cross_entropy_with_logits due to the fused "
             "implementation's interaction with tf.gradients()"}});
  g.SetDx(0, Column(g, g.dy(0)) * unseen);
});
REGISTER_GRADIENT("CTCLoss", [](G& g) {
  // Output 1 is the gradient [time, batch, classes] of the losses [batch].
  const Expr unseen =
      g.Op("PreventGradient", {g.y(1)},
           {{"message",
             "Currently there is no way to take the second derivative "
             "of ctc_loss due to the fused implementation's interaction "
             "with tf.gradients()"}});
  g.SetDx(0, Column(g, g.dy(0)) * unseen);
});

// Simulated quantisation.
REGISTER_GRADIENT("FakeQuantWithMinMaxArgs", [](G& g) {
  g.SetDx(0, g.Like("FakeQuantWithMinMaxArgsGradient", {g.dy(), g.x(0)}));
});
REGISTER_GRADIENT("FakeQuantWithMinMaxVars", [](G& g) {
  const Expr d = g.Like("FakeQuantWithMinMaxVarsGradient",
                        {g.dy(), g.x(0), g.x(1), g.x(2)});
  for (int i = 0; i < 3; ++i) g.SetDx(i, d.out(i));
});
REGISTER_GRADIENT("FakeQuantWithMinMaxVarsPerChannel", [](G& g) {
  const Expr d = g.Like("FakeQuantWithMinMaxVarsPerChannelGradient",
                        {g.dy(), g.x(0), g.x(1), g.x(2)});
  for (int i = 0; i < 3; ++i) g.SetDx(i, d.out(i));
});

// Whole sequences of LSTM cells. The state gradients of the last step count;
// outputs are i, cs, f, o, ci, co, h.
constexpr auto kBlockLstmGrad = [](G& g) {
  std::vector<Expr> inputs = g.Inputs(0, 9);
  for (int i = 0; i < 7; ++i) inputs.push_back(g.y(i));
  inputs.push_back(g.dy(1));
  inputs.push_back(g.dy(6));
  const bool v2 = g.node().type_string() == "BlockLSTMV2";
  const Expr d = g.Like(v2 ? "BlockLSTMGradV2" : "BlockLSTMGrad", inputs);
  // seq_len_max has none.
  for (int i = 1; i < 9; ++i) g.SetDx(i, d.out(i - 1));
};
REGISTER_GRADIENTS(kBlockLstmGrad, "BlockLSTM", "BlockLSTMV2");

}  // namespace
}  // namespace headrace
