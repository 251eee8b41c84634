#include "framework/kernel/host_device.h"
#include "headrace/op.h"
#include "runtime/passes/pass_test_util.h"

namespace headrace {
namespace {

// An activation with a schema, and no loops that a fused node could run.
REGISTER_OP("TestFuseLoopless")
    .Input("features: T")
    .Output("activations: T")
    .Attr("T: {float, double}")
    .KeepsShape()
    .Elementwise()
    .Activation(ActivationFunction());

// A device that says what its fused kernels apply.
class ChoosyDevice : public HostDevice {
 public:
  ChoosyDevice(const std::string& type, int id, std::string activation)
      : HostDevice(
            {.name = StrCat("/job:a/replica:0/task:0/device:", type, ":", id),
             .device_type = type,
             .memory_limit = 1,
             .incarnation = 1},
            ThreadPool::Global()),
        activation_(std::move(activation)) {}
  bool CanFuse(const OpDef& activation) const override {
    return activation.name == activation_;
  }

 private:
  const std::string activation_;
};

TEST_F(PassTest, BiasShortcutAndActivationGoIntoTheDeeperConvolution) {
  const Endpoint x = In("x", {-1, -1, -1, 4});
  const Endpoint w = Weights("w", {1, 1, 4, 4}), b = Weights("b", {4});
  const Endpoint shortcut = Op("s_bias", "BiasAdd", {Conv("s", x, w), b});
  const Endpoint first =
      Op("first", "Relu", {Op("c1_bias", "BiasAdd", {Conv("c1", x, w), b})});
  const Endpoint second =
      Op("c2_bias", "BiasAdd",
         {Conv("c2", first, Weights("w3", {3, 3, 4, 4})), b});
  const Endpoint sum = Op("sum", "Add", {second, shortcut});
  Fetch(Op("out", "Relu", {sum}));
  EXPECT_EQ(Run("fuse_conv"),
            "s_bias = _FusedConv2D(x, w, b)\n"
            "first = _FusedConv2D(x, w, b)\n"
            "out = _FusedConv2D(first, w3, b, s_bias)\n"
            "fetch_out_0 = _Retval(out)\n");
  EXPECT_EQ(FusedOps("out"), "BiasAdd Add Relu");
  EXPECT_EQ(FusedOps("first"), "BiasAdd Relu");
  EXPECT_EQ(NodeErrorSuffix(g_.FindNode("out")->def()),
            "{{node out}} (fused from c2, c2_bias, sum, out)");
}

TEST_F(PassTest, AnAdditionThatMayBroadcastIsNotFused) {
  const Endpoint w = Weights("w", {1, 1, 4, 4}), b = Weights("b", {4});
  const Endpoint bias =
      Op("bias", "BiasAdd", {Conv("c", In("x", {-1, 8, 8, 4}), w), b});
  const Endpoint sum = Op("sum", "AddV2", {In("y", {-1, 8, 8, 4}), bias});
  Fetch(Op("out", "Relu", {sum}));
  EXPECT_EQ(Run("fuse_conv"),
            "bias = _FusedConv2D(x, w, b)\n"
            "sum = AddV2(y, bias)\n"
            "out = Relu(sum)\n"
            "fetch_out_0 = _Retval(out)\n");
}

TEST_F(PassTest, ConstantsThatAreAddedAreABiasIfThereIsOneAChannel) {
  const Endpoint w = Weights("w", {1, 1, 4, 2});
  const Endpoint b = Const(&g_, "b", MakeTensor<float>({1, 2}, {1, 2}));
  Fetch(Op("a", "Add", {b, Conv("c", In("x", {-1, 8, 8, 4}), w)}));
  // Of an image of two columns, this would be one value a column.
  const Endpoint nchw = Conv("d", In("y", {-1, 4, 8, 2}), w, "SAME", "NCHW");
  Fetch(Op("e", "Add", {b, nchw}));
  EXPECT_EQ(Run("fuse_conv"),
            "d = Conv2D(y, w)\n"
            "e = Add(b, d)\n"
            "fetch_e_0 = _Retval(e)\n"
            "a = _FusedConv2D(x, w, a/vector)\n"
            "fetch_a_0 = _Retval(a)\n");
  ExpectClose(Value("a/vector"), MakeTensor<float>({2}, {1, 2}));
}

TEST_F(PassTest, AFactorForEachChannelGoesIntoTheConvolutionFirst) {
  const Endpoint w = Weights("w", {1, 1, 4, 2}), m = Floats("m", {2, 10});
  const Endpoint x = In("x", {-1, 8, 8, 4});
  const Endpoint bias =
      Op("bias", "BiasAdd",
         {Op("mul", "Mul", {m, Conv("c", x, w)}), Floats("b", {1, 2})});
  Fetch(Op("a", "Relu6", {bias}));
  // Nothing scales after the bias.
  const Endpoint late =
      Op("late", "Mul",
         {Op("e_bias", "BiasAdd", {Conv("e", x, w), Floats("f", {1, 2})}), m});
  Fetch(late);
  EXPECT_EQ(Run("fuse_conv"),
            "a = _FusedConv2D(x, w, m, b)\n"
            "fetch_a_0 = _Retval(a)\n"
            "e_bias = _FusedConv2D(x, w, f)\n"
            "late = Mul(e_bias, m)\n"
            "fetch_late_0 = _Retval(late)\n");
  EXPECT_EQ(FusedOps("a"), "Mul BiasAdd Relu6");
}

TEST_F(PassTest, AnActivationAloneIsFusedWithoutABias) {
  const Endpoint conv =
      Conv("c", In("x", {-1, 8, 8, 4}), Weights("w", {1, 1, 4, 2}));
  Fetch(Op("a", "LeakyRelu", {conv}, {{"alpha", 0.3f}}));
  EXPECT_EQ(Run("fuse_conv"),
            "a = _FusedConv2D(x, w)\n"
            "fetch_a_0 = _Retval(a)\n");
  EXPECT_EQ(FusedOps("a"), "LeakyRelu");
  EXPECT_EQ(*g_.FindNode("a")->attrs().Find("leakyrelu_alpha"),
            AttrValue(0.3f));
}

TEST_F(PassTest, WhatIsReadInBetweenStays) {
  const Endpoint x = In("x", {-1, 8, 8, 4}), b = Weights("b", {2});
  const Endpoint conv = Conv("c", x, Weights("w", {1, 1, 4, 2}));
  const Endpoint bias = Op("bias", "BiasAdd", {conv, b});
  Fetch(Op("relu", "Relu", {bias}));
  Fetch(Op("after", "Neg", {x}, {}, {conv.node}));
  EXPECT_EQ(Run("fuse_conv"),
            "c = Conv2D(x, w)\n"
            "bias = BiasAdd(c, b)\n"
            "relu = Relu(bias)\n"
            "fetch_relu_0 = _Retval(relu)\n"
            "after = Neg(x, ^c)\n"
            "fetch_after_0 = _Retval(after)\n");
}

TEST_F(PassTest,
       AFusedNodeWaitsForWhatItsPartsWaitedForAndIsWaitedForLikeTheLast) {
  const Endpoint x = In("x", {-1, 8, 8, 4});
  const Endpoint before = Op("before", "Neg", {x});
  const Endpoint conv = Conv("c", x, Weights("w", {1, 1, 4, 2}));
  const Endpoint bias =
      Op("bias", "BiasAdd", {conv, Weights("b", {2})}, {}, {before.node});
  const Endpoint relu = Op("relu", "Relu", {bias});
  Fetch(relu);
  Fetch(Op("after", "Abs", {x}, {}, {relu.node}));
  EXPECT_EQ(Run("fuse_conv"),
            "before = Neg(x)\n"
            "relu = _FusedConv2D(x, w, b, ^before)\n"
            "fetch_relu_0 = _Retval(relu)\n"
            "after = Abs(x, ^relu)\n"
            "fetch_after_0 = _Retval(after)\n");
}

TEST_F(PassTest, NodesForOtherDevicesAreNotMerged) {
  const Endpoint conv =
      Conv("c", In("x", {-1, 8, 8, 4}), Weights("w", {1, 1, 4, 2}));
  const Endpoint bias = Op("bias", "BiasAdd", {conv, Weights("b", {2})});
  g_.SetRequestedDevice(bias.node, "/cpu:1");
  Fetch(bias);
  Run("fuse_conv");
  EXPECT_EQ(Changes("fuse_conv"), 0);
}

TEST_F(PassTest, AnActivationIsFusedIfEveryPossibleDeviceCanApplyIt) {
  HostDevice cpu({.name = "/job:a/replica:0/task:0/device:CPU:0",
                  .device_type = "CPU",
                  .memory_limit = 1,
                  .incarnation = 1},
                 ThreadPool::Global());
  ChoosyDevice other("CPU", 1, "Elu");
  ChoosyDevice gpu("GPU", 0, "");  // has no kernels of layers here
  const std::vector<const Device*> all = {&cpu, &other, &gpu};
  const struct {
    std::vector<const Device*> devices;
    const char *device, *op;
    bool fused;
  } cases[] = {
      {{}, "", "Tanh", true},
      {{}, "", "TestFuseLoopless", false},
      {{&cpu}, "", "TestFuseLoopless", false},
      {{&cpu}, "", "Relu6", true},
      {{&cpu, &gpu}, "", "Tanh", true},
      {all, "", "Elu", true},
      {all, "", "Tanh", false},
      {all, "/cpu:0", "Tanh", true},
      {all, "/cpu:1", "Tanh", false},
      {all, "/cpu:1", "Elu", true},
      // Of those that are asked for none can run the layer.
      {all, "/gpu:0", "Elu", false},
      {{&cpu}, "/cpu:7", "Tanh", true},
  };
  const Endpoint w = Weights("w", {4, 2});
  int count = 0;
  for (const auto& c : cases) {
    context_.devices = c.devices;
    const std::string name = StrCat("case", count++);
    const Endpoint product =
        Op(name + "_product", "MatMul", {In(name + "_x", {-1, 4}), w});
    const Endpoint y = Op(name, c.op, {product});
    g_.SetRequestedDevice(product.node, c.device);
    g_.SetRequestedDevice(y.node, c.device);
    Fetch(y);
    Run("fuse_matmul");
    EXPECT_EQ(g_.FindNode(name)->type_string(), c.fused ? "_FusedMatMul" : c.op)
        << name << ": " << c.op << " on " << c.device;
  }
}

}  // namespace
}  // namespace headrace
