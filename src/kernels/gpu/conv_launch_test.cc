#include "kernels/gpu/conv_launch.h"

#include <gtest/gtest.h>

#include "framework/kernel/op_tester.h"
#include "kernels/gpu/fake_gpu_test_util.h"

namespace headrace::gpu {
namespace {

struct Case {
  const char* name;
  DimVector input, filter;  // NHWC or NCHW; HWIO
  int64_t stride = 1;
  const char* padding = "VALID";
  const char* format = "NHWC";
  bool prefers_nhwc = true;
  // What must happen.
  const char* way;  // "gemm_1x1", "gemm_full" or "first", Dnn's algorithm
  DataLayout layout = DataLayout::kNHWC;
  int64_t seen_input[2] = {0, 0};  // by Dnn
  int64_t seen_padding[2] = {0, 0};
  int moves = 0;  // launches that pad, transpose or copy, of the forward op
  int64_t dilation = 1;
  int64_t groups = 1;
};

const Case kCases[] = {
    {.name = "1x1 is a product",
     .input = {2, 5, 7, 3},
     .filter = {1, 1, 3, 4},
     .way = "gemm_1x1"},
    {.name = "1x1 with SAME pads nothing",
     .input = {2, 5, 7, 3},
     .filter = {1, 1, 3, 4},
     .padding = "SAME",
     .way = "gemm_1x1"},
    {.name = "1x1 with strides is no product",
     .input = {2, 5, 7, 3},
     .filter = {1, 1, 3, 4},
     .stride = 2,
     .way = "first",
     .seen_input = {5, 7},
     .moves = 1},
    {.name = "1x1 in NCHW is no product",
     .input = {2, 3, 5, 7},
     .filter = {1, 1, 3, 4},
     .format = "NCHW",
     .way = "first",
     .layout = DataLayout::kNCHW,
     .seen_input = {5, 7},
     .moves = 1},
    {.name = "the whole input is a product",
     .input = {3, 4, 6, 2},
     .filter = {4, 6, 2, 5},
     .way = "gemm_full"},
    {.name = "the whole input with strides",
     .input = {3, 4, 6, 2},
     .filter = {4, 6, 2, 5},
     .stride = 3,
     .way = "gemm_full"},
    {.name = "the whole input with SAME",
     .input = {3, 5, 5, 2},
     .filter = {5, 5, 2, 5},
     .padding = "SAME",
     .way = "first",
     .seen_input = {5, 5},
     .seen_padding = {2, 2},
     .moves = 1},
    {.name = "SAME of an odd filter is symmetric",
     .input = {1, 8, 8, 3},
     .filter = {3, 3, 3, 4},
     .padding = "SAME",
     .way = "first",
     .seen_input = {8, 8},
     .seen_padding = {1, 1},
     .moves = 1},
    {.name = "SAME with strides pads the end",
     .input = {1, 8, 8, 3},
     .filter = {3, 3, 3, 4},
     .stride = 2,
     .padding = "SAME",
     .way = "first",
     .seen_input = {9, 9},
     .seen_padding = {0, 0},
     .moves = 2},
    {.name = "SAME of 7x7 by 2, as ResNet begins",
     .input = {1, 32, 32, 3},
     .filter = {7, 7, 3, 4},
     .stride = 2,
     .padding = "SAME",
     .way = "first",
     .seen_input = {33, 33},
     .seen_padding = {2, 2},
     .moves = 2},
    {.name = "SAME of an even filter",
     .input = {1, 5, 6, 3},
     .filter = {2, 4, 3, 4},
     .padding = "SAME",
     .way = "first",
     .seen_input = {6, 7},
     .seen_padding = {0, 1},
     .moves = 2},
    {.name = "no good NHWC kernels",
     .input = {2, 8, 9, 3},
     .filter = {3, 3, 3, 4},
     .prefers_nhwc = false,
     .way = "first",
     .layout = DataLayout::kNCHW,
     .seen_input = {8, 9},
     .moves = 3},
    {.name = "no good NHWC kernels and padding",
     .input = {2, 8, 9, 3},
     .filter = {3, 3, 3, 4},
     .stride = 2,
     .padding = "SAME",
     .prefers_nhwc = false,
     .way = "first",
     .layout = DataLayout::kNCHW,
     .seen_input = {9, 9},
     .seen_padding = {0, 1},
     .moves = 4},
    {.name = "NCHW stays",
     .input = {2, 3, 8, 9},
     .filter = {3, 3, 3, 4},
     .stride = 2,
     .padding = "SAME",
     .format = "NCHW",
     .way = "first",
     .layout = DataLayout::kNCHW,
     .seen_input = {9, 9},
     .seen_padding = {0, 1},
     .moves = 2},
    {.name = "groups are no product",
     .input = {2, 4, 4, 4},
     .filter = {1, 1, 2, 4},
     .way = "first",
     .seen_input = {4, 4},
     .moves = 1,
     .groups = 2},
    {.name = "dilation of the whole input",
     .input = {1, 5, 5, 2},
     .filter = {3, 3, 2, 4},
     .way = "first",
     .seen_input = {5, 5},
     .moves = 1,
     .dilation = 2},
};

class ConvLaunchTest : public testing::Test {
 protected:
  ConvEnvironment Environment() {
    ConvEnvironment env;
    env.stream = &stream_;
    env.blas = &blas_;
    env.dnn = &dnn_;
    env.tuner = &tuner_;
    env.device = "a fake";
    env.allocate = [this](DataType dtype, const TensorShape& shape,
                          Tensor* out) {
      if (!has_memory_) return errors::ResourceExhausted("no memory");
      return Tensor::Allocate(CpuAllocator(), dtype, shape, out, Tensor::kHeap);
    };
    env.scratch = [this]() -> std::unique_ptr<ScratchAllocator> {
      return std::make_unique<FakeScratch>(limit_, there_);
    };
    return env;
  }

  static Status Sizes(const Case& c, ConvSizes* sizes, ConvAttrs* attrs) {
    attrs->padding =
        std::string(c.padding) == "SAME" ? Padding::kSame : Padding::kValid;
    attrs->format =
        std::string(c.format) == "NHWC" ? DataFormat::kNHWC : DataFormat::kNCHW;
    attrs->strides.assign(4, 1);
    attrs->dilations.assign(4, 1);
    for (int d = 0; d < 2; ++d) {
      attrs->strides[SpatialDim(attrs->format, d)] = c.stride;
      attrs->dilations[SpatialDim(attrs->format, d)] = c.dilation;
    }
    TensorShape input, filter;
    HR_RETURN_IF_ERROR(TensorShape::Build(c.input, &input));
    HR_RETURN_IF_ERROR(TensorShape::Build(c.filter, &filter));
    return ConvSizesOf(*attrs, input, filter, false, sizes);
  }

  // The tensors of the case, all ones.
  Status Run(const Case& c, ConvKind kind, std::string* way) {
    ConvCall call;
    ConvAttrs attrs;
    HR_RETURN_IF_ERROR(Sizes(c, &call.sizes, &attrs));
    call.kind = kind;
    call.format = attrs.format;
    TensorShape input, filter;
    HR_RETURN_IF_ERROR(TensorShape::Build(c.input, &input));
    HR_RETURN_IF_ERROR(TensorShape::Build(c.filter, &filter));
    Tensor tensors[3] = {Ones(input), Ones(filter),
                         Ones(ConvOutputShape(attrs, call.sizes))};
    call.input = kind == ConvKind::kBackwardInput ? nullptr : &tensors[0];
    call.filter = kind == ConvKind::kBackwardFilter ? nullptr : &tensors[1];
    call.out_backprop = kind == ConvKind::kForward ? nullptr : &tensors[2];
    call.result = kind == ConvKind::kForward         ? &tensors[2]
                  : kind == ConvKind::kBackwardInput ? &tensors[0]
                                                     : &tensors[1];
    ConvLauncher launcher;
    return launcher.Run(Environment(), call, way);
  }

  static Tensor Ones(const TensorShape& shape) {
    Tensor t;
    EXPECT_EQ(
        Tensor::Allocate(CpuAllocator(), DT_FLOAT, shape, &t, Tensor::kHeap),
        OkStatus());
    for (int64_t i = 0; i < t.NumElements(); ++i) t.data<float>()[i] = 1;
    return t;
  }

  FakeStream stream_;
  FakeBlas blas_;
  FakeDnn dnn_;
  ConvAutotuner tuner_{{.measure = false}};
  bool has_memory_ = true;
  int64_t limit_ = 1 << 20, there_ = 1 << 20;
};

TEST_F(ConvLaunchTest, TakesTensorFlowsWay) {
  for (const Case& c : kCases) {
    for (const ConvKind kind : {ConvKind::kForward, ConvKind::kBackwardInput,
                                ConvKind::kBackwardFilter}) {
      SCOPED_TRACE(testing::Message() << c.name << ", " << ConvKindName(kind));
      blas_.problems.clear();
      dnn_.problems.clear();
      stream_.launches.clear();
      dnn_.prefers_nhwc = c.prefers_nhwc;
      std::string way;
      ASSERT_EQ(Run(c, kind, &way), OkStatus());
      EXPECT_EQ(way, c.way);
      if (std::string(c.way).substr(0, 4) == "gemm") {
        EXPECT_EQ(blas_.problems.size(), 1u);
        EXPECT_TRUE(dnn_.problems.empty());
        EXPECT_TRUE(stream_.launches.empty());
        continue;
      }
      EXPECT_TRUE(blas_.problems.empty());
      ASSERT_EQ(dnn_.problems.size(), 1u);
      const ConvProblem& p = dnn_.problems[0];
      EXPECT_EQ(p.kind, kind);
      EXPECT_EQ(LayoutName(p.layout), LayoutName(c.layout));
      EXPECT_EQ(p.filter_layout, c.layout == DataLayout::kNCHW
                                     ? FilterLayout::kOIHW
                                     : FilterLayout::kOHWI);
      EXPECT_EQ(p.groups, c.groups);
      for (int d = 0; d < 2; ++d) {
        EXPECT_EQ(p.input[d], c.seen_input[d]) << d;
        EXPECT_EQ(p.padding[d], c.seen_padding[d]) << d;
        EXPECT_EQ(p.stride[d], c.stride);
        EXPECT_EQ(p.dilation[d], c.dilation);
      }
      if (kind == ConvKind::kForward) {
        EXPECT_EQ(static_cast<int>(stream_.launches.size()), c.moves);
      }
    }
  }
}

TEST_F(ConvLaunchTest, ProductsHaveTheSizesOfTheMatrices) {
  struct {
    const Case* c;
    ConvKind kind;
    int64_t m, n, k;
    bool transpose_a, transpose_b;
  } const kProducts[] = {
      {&kCases[0], ConvKind::kForward, 70, 4, 3, false, false},
      {&kCases[0], ConvKind::kBackwardInput, 70, 3, 4, false, true},
      {&kCases[0], ConvKind::kBackwardFilter, 3, 4, 70, true, false},
      {&kCases[4], ConvKind::kForward, 3, 5, 48, false, false},
      {&kCases[4], ConvKind::kBackwardInput, 3, 48, 5, false, true},
      {&kCases[4], ConvKind::kBackwardFilter, 48, 5, 3, true, false},
  };
  for (const auto& p : kProducts) {
    SCOPED_TRACE(testing::Message() << p.c->name << ConvKindName(p.kind));
    blas_.problems.clear();
    std::string way;
    ASSERT_EQ(Run(*p.c, p.kind, &way), OkStatus());
    ASSERT_EQ(blas_.problems.size(), 1u);
    EXPECT_EQ(blas_.problems[0].ToString(),
              GemmProblem::Dense(DT_FLOAT, p.m, p.n, p.k, p.transpose_a,
                                 p.transpose_b)
                  .ToString());
  }
}

const Case kPlain = {
    .name = "plain", .input = {1, 8, 8, 3}, .filter = {3, 3, 3, 4}, .way = ""};

TEST_F(ConvLaunchTest,
       WithoutMemoryForAWorkspaceAnotherAlgorithmRunsAndSaysSo) {
  dnn_.algorithms = {{0, "fast", 1000}, {1, "slow", 0}};
  there_ = 100;
  std::string way;
  ASSERT_EQ(Run(kPlain, ConvKind::kForward, &way), OkStatus());
  EXPECT_EQ(way, "slow (no memory for the workspace of fast)");
  EXPECT_EQ(dnn_.ran, std::vector<std::string>{"slow"});
}

TEST_F(ConvLaunchTest, WithoutSuchAnAlgorithmTheWantOfMemoryIsTheError) {
  dnn_.algorithms = {{0, "fast", 1000}, {1, "other", 500}};
  there_ = 100;
  std::string way;
  ExpectError(Run(kPlain, ConvKind::kForward, &way),
              absl::StatusCode::kResourceExhausted, "wanted 1000, free 100");
}

TEST_F(ConvLaunchTest, NoAlgorithmIsAnErrorThatNamesTheProblem) {
  dnn_.algorithms.clear();
  std::string way;
  ExpectError(Run(kPlain, ConvKind::kForward, &way),
              absl::StatusCode::kNotFound, "no algorithm of Dnn computes");
}

TEST_F(ConvLaunchTest, WithoutMemoryForAPaddedInputItFails) {
  has_memory_ = false;
  std::string way;
  ExpectError(Run(kCases[8], ConvKind::kForward, &way),
              absl::StatusCode::kResourceExhausted, "no memory");
}

TEST_F(ConvLaunchTest, KeepsAConstantFiltersLayout) {
  ConvCall call;
  ConvAttrs attrs;
  ASSERT_EQ(Sizes(kPlain, &call.sizes, &attrs), OkStatus());
  Tensor input = Ones({1, 8, 8, 3}), filter = Ones({3, 3, 3, 4}),
         output = Ones({1, 6, 6, 4});
  call.input = &input;
  call.filter = &filter;
  call.result = &output;
  ConvLauncher launcher;
  launcher.SetConstantFilter(filter);
  for (int run = 0; run < 3; ++run) {
    ASSERT_EQ(launcher.Run(Environment(), call, nullptr), OkStatus());
    EXPECT_EQ(stream_.launches.size(), 1u) << "run " << run;
  }
  // Another tensor is not the constant.
  Tensor other = Ones({3, 3, 3, 4});
  call.filter = &other;
  ASSERT_EQ(launcher.Run(Environment(), call, nullptr), OkStatus());
  EXPECT_EQ(stream_.launches.size(), 2u);
}

TEST_F(ConvLaunchTest, DnnFusesWhatItCan) {
  ConvCall call;
  ConvAttrs attrs;
  ASSERT_EQ(Sizes(kPlain, &call.sizes, &attrs), OkStatus());
  Tensor input = Ones({1, 8, 8, 3}), filter = Ones({3, 3, 3, 4}),
         output = Ones({1, 6, 6, 4}), bias = Ones({4}),
         addend = Ones({1, 6, 6, 4});
  call.input = &input;
  call.filter = &filter;
  call.result = &output;
  FusedTail tail;
  tail.has_bias = true;
  tail.tail = Tail::kRelu;
  call.tail = &tail;
  struct {
    bool fuses, knows, addend, nhwc;
    int passes;      // after Dnn
    float expected;  // Dnn leaves 1
  } const kTails[] = {
      {true, true, false, true, 0, 1},  {false, true, false, true, 1, 2},
      {true, false, false, true, 1, 2}, {true, true, true, true, 0, 1},
      {true, true, true, false, 1, 3},  {true, true, false, false, 0, 1},
  };
  for (const auto& t : kTails) {
    SCOPED_TRACE(testing::Message()
                 << t.fuses << t.knows << t.addend << t.nhwc);
    dnn_.fuses = t.fuses;
    dnn_.prefers_nhwc = t.nhwc;
    tail.blas = t.knows ? GpuActivation::kRelu : GpuActivation::kNone;
    call.bias = &bias;
    call.addend = t.addend ? &addend : nullptr;
    stream_.launches.clear();
    dnn_.problems.clear();
    ConvLauncher launcher;
    ASSERT_EQ(launcher.Run(Environment(), call, nullptr), OkStatus());
    EXPECT_EQ(stream_.LaunchesOf("BiasTail"), t.passes);
    ASSERT_EQ(dnn_.problems.size(), 1u);
    EXPECT_EQ(dnn_.problems[0].has_bias, t.passes == 0);
    EXPECT_EQ(dnn_.problems[0].activation,
              t.passes == 0 ? GpuActivation::kRelu : GpuActivation::kNone);
    EXPECT_EQ(output.data<float>()[0], t.expected);
  }
}

// What Dnn does not run is tried in other ways, once.
TEST_F(ConvLaunchTest, GoesAnotherWayWhereDnnDoesNot) {
  ConvCall call;
  ConvAttrs attrs;
  ASSERT_EQ(Sizes(kPlain, &call.sizes, &attrs), OkStatus());
  Tensor input = Ones({1, 8, 8, 3}), filter = Ones({3, 3, 3, 4}),
         output = Ones({1, 6, 6, 4}), bias = Ones({4});
  FusedTail tail;
  tail.has_bias = true;
  tail.tail = Tail::kRelu;
  tail.blas = GpuActivation::kRelu;
  const auto nhwc = [](const ConvProblem& p, const ConvAlgorithm&) {
    return p.layout == DataLayout::kNHWC;
  };
  const auto fused = [](const ConvProblem& p, const ConvAlgorithm&) {
    return p.has_bias;
  };
  const auto nhwc_or_fused = [](const ConvProblem& p, const ConvAlgorithm&) {
    return p.layout == DataLayout::kNHWC || p.has_bias;
  };
  struct {
    const char* name;
    std::function<bool(const ConvProblem&, const ConvAlgorithm&)> refuses;
    bool has_tail;
    int tries;  // of the first run
    DataLayout layout;
    bool fuses;
  } const kRefusals[] = {
      {"nothing", nullptr, true, 1, DataLayout::kNHWC, true},
      {"fused", fused, true, 2, DataLayout::kNHWC, false},
      {"NHWC", nhwc, true, 3, DataLayout::kNCHW, true},
      {"NHWC without a tail", nhwc, false, 2, DataLayout::kNCHW, false},
      {"NHWC and fused", nhwc_or_fused, true, 4, DataLayout::kNCHW, false},
  };
  for (const auto& r : kRefusals) {
    SCOPED_TRACE(r.name);
    ConvAutotuner tuner({.measure = false});
    ConvEnvironment env = Environment();
    env.tuner = &tuner;
    dnn_.refuses = r.refuses;
    call.input = &input;
    call.filter = &filter;
    call.result = &output;
    call.tail = r.has_tail ? &tail : nullptr;
    call.bias = r.has_tail ? &bias : nullptr;
    for (int run = 0; run < 2; ++run) {
      dnn_.tried.clear();
      dnn_.problems.clear();
      ConvLauncher launcher;  // what was found holds for others, too
      ASSERT_EQ(launcher.Run(env, call, nullptr), OkStatus());
      EXPECT_EQ(static_cast<int>(dnn_.tried.size()), run == 0 ? r.tries : 1);
      ASSERT_EQ(dnn_.problems.size(), 1u);
      EXPECT_EQ(LayoutName(dnn_.problems[0].layout), LayoutName(r.layout));
      EXPECT_EQ(dnn_.problems[0].has_bias, r.fuses);
      EXPECT_EQ(output.data<float>()[0], r.has_tail && !r.fuses ? 2 : 1);
    }
  }
  // The gradients go to NCHW, too.
  dnn_.refuses = nhwc;
  for (const ConvKind kind :
       {ConvKind::kBackwardInput, ConvKind::kBackwardFilter}) {
    dnn_.problems.clear();
    std::string way;
    ASSERT_EQ(Run(kPlain, kind, &way), OkStatus());
    ASSERT_EQ(dnn_.problems.size(), 1u);
    EXPECT_EQ(dnn_.problems[0].layout, DataLayout::kNCHW);
  }
  // If nothing runs, the first refusal is the error.
  dnn_.refuses = [](const ConvProblem&, const ConvAlgorithm&) { return true; };
  std::string way;
  ExpectError(Run(kPlain, ConvKind::kForward, &way),
              absl::StatusCode::kUnimplemented, "CUDNN_STATUS_NOT_SUPPORTED");
}

TEST_F(ConvLaunchTest, AnAlgorithmThatFailsIsReplaced) {
  dnn_.algorithms = {{0, "first"}, {1, "huge", 1 << 21}, {2, "second"}};
  dnn_.refuses = [](const ConvProblem&, const ConvAlgorithm& a) {
    return a.name == "first";
  };
  std::string way;
  ASSERT_EQ(Run(kPlain, ConvKind::kForward, &way), OkStatus());
  EXPECT_EQ(way, "second (instead of first)");
  dnn_.tried.clear();
  ASSERT_EQ(Run(kPlain, ConvKind::kForward, &way), OkStatus());
  EXPECT_EQ(way, "second");
  EXPECT_EQ(dnn_.tried.size(), 1u);
}

TEST_F(ConvLaunchTest, MeasuresOnceAndLeavesOutAWrongResult) {
  dnn_.algorithms = {{0, "first"}, {1, "quick and wrong"}, {2, "quick"}};
  dnn_.wrong = "quick and wrong";
  ConvAutotuner tuner({.measure = true});
  // Four runs of each: the first one does not count.
  std::vector<int64_t> times = {900, 300, 310, 320, 9,   10,
                                10,  10,  500, 200, 210, 205};
  ConvEnvironment env = Environment();
  env.tuner = &tuner;
  env.timer = [&]() -> StatusOr<std::unique_ptr<Timer>> {
    return std::unique_ptr<Timer>(new FakeTimer(&times));
  };
  ConvCall call;
  ConvAttrs attrs;
  ASSERT_EQ(Sizes(kPlain, &call.sizes, &attrs), OkStatus());
  Tensor input = Ones({1, 8, 8, 3}), filter = Ones({3, 3, 3, 4}),
         output = Ones({1, 6, 6, 4});
  call.input = &input;
  call.filter = &filter;
  call.result = &output;
  ConvLauncher launcher;
  std::string way;
  ASSERT_EQ(launcher.Run(env, call, &way), OkStatus());
  EXPECT_EQ(way, "quick");
  EXPECT_EQ(dnn_.ran.size(), 13u);
  EXPECT_EQ(output.data<float>()[0], 1);
  EXPECT_EQ(dnn_.lists, 1);
  dnn_.ran.clear();
  ASSERT_EQ(launcher.Run(env, call, &way), OkStatus());
  EXPECT_EQ(dnn_.ran, std::vector<std::string>{"quick"});
  EXPECT_EQ(dnn_.lists, 1) << "the choice was known";
  EXPECT_EQ(tuner.measured(), 1);
}

TEST_F(ConvLaunchTest, WithoutMeasuringAlgorithmsAreListedOnce) {
  dnn_.algorithms = {{0, "first"}, {1, "second"}};
  std::string way;
  for (int run = 0; run < 3; ++run) {
    ASSERT_EQ(Run(kPlain, ConvKind::kForward, &way), OkStatus());
    EXPECT_EQ(way, "first");
  }
  EXPECT_EQ(dnn_.lists, 1);
}

TEST_F(ConvLaunchTest, DeterministicAlgorithmsByDefault) {
  ConvAlgorithm atomics{0, "atomics"};
  atomics.deterministic = false;
  dnn_.algorithms = {atomics, {1, "ordered"}};
  std::string way;
  ASSERT_EQ(Run(kPlain, ConvKind::kBackwardFilter, &way), OkStatus());
  EXPECT_EQ(way, "ordered");
}

}  // namespace
}  // namespace headrace::gpu
