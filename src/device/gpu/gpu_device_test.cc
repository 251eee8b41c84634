// Graphs on /device:GPU:0 of the host platform: placement, copies, results,
// failures and memory. The few kernels that compute are here: the runtime is
// under test, not they.
#include "device/gpu/gpu_device.h"

#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <cstdlib>
#include <thread>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "absl/time/clock.h"
#include "device/gpu/gpu_runtime.h"
#include "device/gpu/host/host_platform.h"
#include "device/gpu/launch.h"
#include "eager/context.h"
#include "eager/op.h"
#include "framework/kernel/op_tester.h"
#include "framework/shape_fns/common_shape_fns.h"
#include "graph/node_text_test_util.h"
#include "session/direct_session.h"

namespace headrace::gpu {
namespace {

[[maybe_unused]] const bool on_host = [] {
  setenv("HEADRACE_GPU_PLATFORM", "host", 1);
  setenv("HEADRACE_GPU_HOST_DEVICES", "2", 1);
  setenv("HEADRACE_GPU_HOST_MEMORY_MB", "64", 1);
  return true;
}();

// y = factor * x + other: an op of the test's, with kernels for both devices.
REGISTER_OP("TestGpuScaleAdd")
    .Input("x: float")
    .Input("other: float")
    .Output("y: float")
    .Attr("factor: int = 2")
    .SetShapeFn(shape_inference::UnchangedShape);
struct ScaleAddBody {
  static constexpr const char* kName = "ScaleAdd<float>";
  const float* x;
  const float* other;
  float* y;
  float factor;
  HR_GPU_BODY void operator()(int64_t i) const {
    y[i] = factor * x[i] + other[i];
  }
};
template <bool kOnGpu>
class ScaleAddOp : public OpKernel {
 public:
  explicit ScaleAddOp(OpKernelConstruction* ctx) : OpKernel(ctx) {
    OP_REQUIRES_OK(ctx, ctx->GetAttr("factor", &factor_));
  }
  void Compute(OpKernelContext* ctx) override {
    const Tensor& x = ctx->input(0);
    const Tensor& other = ctx->input(1);
    OP_REQUIRES(ctx, x.shape() == other.shape(),
                errors::InvalidArgument("shapes differ"));
    Tensor* y = nullptr;
    OP_REQUIRES_OK(
        ctx, ctx->forward_input_or_allocate_output({0, 1}, 0, x.shape(), &y));
    const ScaleAddBody body{x.data<float>(), other.data<float>(),
                            y->data<float>(), static_cast<float>(factor_)};
    if (kOnGpu) {
      OP_REQUIRES_OK(ctx,
                     LaunchElements(GpuStream(ctx), x.NumElements(), body));
    } else {
      for (int64_t i = 0; i < x.NumElements(); ++i) body(i);
    }
  }

 private:
  int64_t factor_;
};
REGISTER_KERNEL_BUILDER(Name("TestGpuScaleAdd").Device(DEVICE_CPU),
                        ScaleAddOp<false>);
REGISTER_KERNEL_BUILDER(Name("TestGpuScaleAdd").Device(DEVICE_GPU),
                        ScaleAddOp<true>);

// A large tensor of ones, made on the GPU. Its size is read on the host.
REGISTER_OP("TestGpuOnes")
    .Input("elements: int32")
    .Output("y: float")
    .SetIsStateful()
    .SetShapeFn(shape_inference::UnknownShape);
struct OnesBody {
  static constexpr const char* kName = "Ones<float>";
  float* y;
  HR_GPU_BODY void operator()(int64_t i) const { y[i] = 1; }
};
class OnesOp : public OpKernel {
 public:
  using OpKernel::OpKernel;
  void Compute(OpKernelContext* ctx) override {
    const int64_t n = ctx->input(0).scalar<int32_t>();
    Tensor* y = nullptr;
    OP_REQUIRES_OK(ctx, ctx->allocate_output(0, TensorShape({n}), &y));
    OP_REQUIRES_OK(
        ctx, LaunchElements(GpuStream(ctx), n, OnesBody{y->data<float>()}));
  }
};
REGISTER_KERNEL_BUILDER(
    Name("TestGpuOnes").Device(DEVICE_GPU).HostMemory("elements"), OnesOp);

// Kernels of networks, behind any that the library has.
class TestMatMulOp : public OpKernel {
 public:
  using OpKernel::OpKernel;
  void Compute(OpKernelContext* ctx) override {
    const Tensor& a = ctx->input(0);
    const Tensor& b = ctx->input(1);
    OP_REQUIRES(ctx, a.dims() == 2 && b.dims() == 2,
                errors::InvalidArgument(""));
    const GemmProblem p = GemmProblem::Dense(DT_FLOAT, a.dim_size(0),
                                             b.dim_size(1), a.dim_size(1));
    Tensor* c = nullptr;
    OP_REQUIRES_OK(ctx, ctx->allocate_output(0, TensorShape({p.m, p.n}), &c));
    KernelScratch scratch(ctx);
    OP_REQUIRES_OK(ctx, (*GpuContextOf(ctx)->executor()->blas())
                            ->Gemm(GpuStream(ctx), p, DeviceMemoryBase(a),
                                   DeviceMemoryBase(b), {},
                                   DeviceMemoryBase(*c), &scratch));
  }
};
REGISTER_KERNEL_BUILDER(
    Name("MatMul").Device(DEVICE_GPU).TypeConstraint<float>("T").Priority(-1),
    TestMatMulOp);
struct ReluBody {
  static constexpr const char* kName = "TestRelu<float>";
  const float* x;
  float* y;
  HR_GPU_BODY void operator()(int64_t i) const { y[i] = x[i] > 0 ? x[i] : 0; }
};
class TestReluOp : public OpKernel {
 public:
  using OpKernel::OpKernel;
  void Compute(OpKernelContext* ctx) override {
    const Tensor& x = ctx->input(0);
    Tensor* y = nullptr;
    OP_REQUIRES_OK(
        ctx, ctx->forward_input_or_allocate_output({0}, 0, x.shape(), &y));
    OP_REQUIRES_OK(ctx,
                   LaunchElements(GpuStream(ctx), x.NumElements(),
                                  ReluBody{x.data<float>(), y->data<float>()}));
  }
};
REGISTER_KERNEL_BUILDER(
    Name("Relu").Device(DEVICE_GPU).TypeConstraint<float>("T").Priority(-1),
    TestReluOp);
// NHWC, VALID, strides 1.
class TestConvOp : public OpKernel {
 public:
  using OpKernel::OpKernel;
  void Compute(OpKernelContext* ctx) override {
    const Tensor& x = ctx->input(0);
    const Tensor& w = ctx->input(1);
    ConvProblem p;
    p.batch = x.dim_size(0);
    p.in_depth = x.dim_size(3);
    p.out_depth = w.dim_size(3);
    for (int d = 0; d < 2; ++d) {
      p.input[d] = x.dim_size(1 + d);
      p.filter[d] = w.dim_size(d);
      p.output[d] = p.input[d] - p.filter[d] + 1;
    }
    Tensor* y = nullptr;
    OP_REQUIRES_OK(
        ctx,
        ctx->allocate_output(
            0, TensorShape({p.batch, p.output[0], p.output[1], p.out_depth}),
            &y));
    Dnn* const dnn = *GpuContextOf(ctx)->executor()->dnn();
    auto algorithms = dnn->ConvAlgorithms(p, true);
    OP_REQUIRES_OK(ctx, algorithms.status());
    KernelScratch scratch(ctx);
    ConvBuffers buffers;
    buffers.input = DeviceMemoryBase(x);
    buffers.filter = DeviceMemoryBase(w);
    buffers.output = DeviceMemoryBase(*y);
    OP_REQUIRES_OK(ctx, dnn->Convolve(GpuStream(ctx), p, (*algorithms)[0],
                                      buffers, &scratch));
  }
};
REGISTER_KERNEL_BUILDER(
    Name("Conv2D").Device(DEVICE_GPU).TypeConstraint<float>("T").Priority(-1),
    TestConvOp);

Tensor Numbers(const TensorShape& shape, int seed) {
  Tensor t(DT_FLOAT, shape);
  for (int64_t i = 0; i < t.NumElements(); ++i) {
    t.data<float>()[i] = static_cast<float>((i * 31 + seed * 7) % 19) / 8 - 1;
  }
  return t;
}

class GpuDeviceTest : public testing::Test {
 protected:
  void SetUp() override {
    config_.mutable_gpu_options()->set_allow_growth(true);
    // What is under test are edges; constants would be folded over them.
    config_.mutable_graph_options()
        ->mutable_rewrite_options()
        ->set_constant_folding(pb::RewriterConfig::OFF);
  }
  void TearDown() override {
    Executor(0)->Clear();
    EndSession();
  }
  // Waits until the devices are gone with it: the last thread of a step may
  // still hold them when Run has returned.
  void EndSession() {
    session_.reset();
    for (int i = 0; i < 10000 && BytesInUse() > 0; ++i) {
      std::this_thread::sleep_for(std::chrono::milliseconds(1));
    }
  }
  static HostHooks* Executor(int i) {
    return HooksOf(*CurrentPlatform()->Executor(i));
  }
  static int64_t BytesInUse() {
    int64_t free = 0, total = 0;
    EXPECT_EQ((*CurrentPlatform()->Executor(0))->MemoryUsage(&free, &total),
              OkStatus());
    return total - free;
  }
  Status Load(const pb::GraphDef& def) {
    graph_ = std::make_shared<Graph>();
    HR_RETURN_IF_ERROR(ImportGraphDef({}, def, graph_.get()));
    session_.reset();
    return MoveTo(NewSession(config_, "", graph_), &session_);
  }
  Status Load(absl::string_view text) { return Load(ParseNodes(text, 1)); }
  Status Run(const std::vector<std::pair<std::string, Tensor>>& feeds,
             const std::vector<std::string>& fetches,
             const std::vector<std::string>& targets = {}) {
    out_.clear();
    return session_->Run(feeds, fetches, targets, &out_);
  }
  static void ExpectError(const Status& s, absl::StatusCode code,
                          const std::vector<std::string>& words) {
    EXPECT_EQ(s.code(), code) << s;
    for (const std::string& w : words) {
      EXPECT_TRUE(absl::StrContains(s.message(), w)) << w << " not in " << s;
    }
  }

  pb::ConfigProto config_;
  std::shared_ptr<Graph> graph_;
  std::unique_ptr<Session> session_;
  std::vector<Tensor> out_;
};

TEST_F(GpuDeviceTest, ValuesGoThereAndBack) {
  // Scalars, too, whose bytes would be inside of a Tensor on the host.
  ASSERT_EQ(Load(R"(
      x: Placeholder dtype=float
      two: Const 2.5 @/gpu:0
      sum: TestGpuScaleAdd x two @/gpu:0
      again: TestGpuScaleAdd sum x factor=3 @/gpu:0
      here: TestGpuScaleAdd again sum @/cpu:0)"),
            OkStatus());
  for (int i = 0; i < 20; ++i) {
    const float x = static_cast<float>(i);
    ASSERT_EQ(Run({{"x:0", Tensor::Scalar(x)}}, {"here:0", "sum:0"}),
              OkStatus());
    const float sum = 2 * x + 2.5f;
    EXPECT_EQ(out_[0].scalar<float>(), 2 * (3 * sum + x) + sum);
    EXPECT_EQ(out_[1].scalar<float>(), sum);
  }
  const Tensor large = Numbers(TensorShape({1000, 77}), 1);
  ASSERT_EQ(Load(R"(
      x: Placeholder dtype=float
      y: TestGpuScaleAdd x x @/gpu:0
      z: TestGpuScaleAdd y x @/gpu:1
      back: TestGpuScaleAdd z z @/gpu:0)"),
            OkStatus());
  ASSERT_EQ(Run({{"x:0", large}}, {"back:0"}), OkStatus());
  for (int64_t i = 0; i < large.NumElements(); ++i) {
    ASSERT_FLOAT_EQ(out_[0].data<float>()[i], 21 * large.data<float>()[i]);
  }
}

TEST_F(GpuDeviceTest, NodesThatAskForNothingGoToTheGpu) {
  ASSERT_EQ(Load(R"(
      x: Placeholder dtype=float
      sum: TestGpuScaleAdd x x)"),
            OkStatus());
  std::atomic<int> launched{0};
  Executor(0)->SetBeforeWork([&](const std::string& what) {
    launched += absl::StrContains(what, "ScaleAdd");
    return OkStatus();
  });
  ASSERT_EQ(Run({{"x:0", Tensor::Scalar(1.0f)}}, {"sum:0"}), OkStatus());
  EXPECT_EQ(out_[0].scalar<float>(), 3);
  EXPECT_EQ(launched, 1);
}

TEST_F(GpuDeviceTest, SoftPlacementPutsOnTheCpuWhatTheGpuCannot) {
  const char* const graph = R"(
      x: Placeholder dtype=float
      i: Placeholder dtype=int32
      on: TestGpuScaleAdd x x @/gpu:0
      ones: BitwiseAnd i i @/gpu:0)";
  ASSERT_EQ(Load(graph), OkStatus());
  EXPECT_FALSE(Run({{"i:0", Tensor::Scalar(3)}}, {"ones:0"}).ok());
  config_.set_allow_soft_placement(true);
  ASSERT_EQ(Load(graph), OkStatus());
  ASSERT_EQ(Run({{"i:0", Tensor::Scalar(3)}, {"x:0", Tensor::Scalar(3.f)}},
                {"ones:0", "on:0"}),
            OkStatus());
  EXPECT_EQ(out_[0].scalar<int32_t>(), 3);
  EXPECT_EQ(out_[1].scalar<float>(), 9);
}

TEST_F(GpuDeviceTest, ArgumentsInHostMemoryAreCopiedWhereTheyAreNot) {
  // `n` is a constant in the host's memory, `far` and `odd` are on the device.
  ASSERT_EQ(Load(R"(
      n: Const 5 @/gpu:0
      ones: TestGpuOnes n @/gpu:0
      m: Placeholder dtype=int32
      more: TestGpuOnes m @/gpu:0
      x: Const 1.5,2.5 @/gpu:0
      yes: Const true @/gpu:0
      branch: Switch x yes T=float @/gpu:0
      taken: Identity branch:1 T=float @/gpu:0)"),
            OkStatus());
  ASSERT_EQ(Run({{"m:0", Tensor::Scalar(3)}}, {"ones:0", "more:0", "taken:0"}),
            OkStatus());
  EXPECT_EQ(out_[0].NumElements(), 5);
  EXPECT_EQ(out_[0].data<float>()[4], 1);
  EXPECT_EQ(out_[1].NumElements(), 3);
  EXPECT_EQ(out_[2].data<float>()[1], 2.5f);
}

TEST_F(GpuDeviceTest, ControlEdgesAndDeadValuesCross) {
  ASSERT_EQ(Load(R"(
      x: Placeholder dtype=float
      p: Placeholder dtype=bool
      a: TestGpuScaleAdd x x @/gpu:0
      s: Switch a p T=float @/gpu:0
      f: TestGpuScaleAdd s s @/cpu:0
      t: TestGpuScaleAdd s:1 s:1 @/gpu:0
      m: Merge f t T=float @/gpu:0
      end: TestGpuScaleAdd x x ^m @/cpu:0
      go: NoOp ^end ^a)"),
            OkStatus());
  for (const bool p : {true, false}) {
    ASSERT_EQ(Run({{"x:0", Tensor::Scalar(1.f)}, {"p:0", Tensor::Scalar(p)}},
                  {"m:0", "end:0"}, {"go"}),
              OkStatus());
    EXPECT_EQ(out_[0].scalar<float>(), 9);
    EXPECT_EQ(out_[1].scalar<float>(), 3);
  }
}

TEST_F(GpuDeviceTest, LoopsRunOnTheGpu) {
  // for (i = 0, x = 1; i < 10; ++i) x = 2 * x + x, counters on the CPU.
  ASSERT_EQ(Load(R"(
      zero: Const 0
      one: Const 1.0 @/gpu:0
      ei: Enter zero in=f
      ex: Enter one in=f T=float @/gpu:0
      ten: Const 10
      limit: Enter ten is_constant=true in=f
      mi: Merge ei ni
      mx: Merge ex nx T=float @/gpu:0
      less: Less mi limit @/cpu:0
      cond: LoopCond less @/cpu:0
      si: Switch mi cond
      sx: Switch mx cond T=float @/gpu:0
      unit: Const 1 ^si_1 @/cpu:0
      si_1: Identity si:1 @/cpu:0
      inc: AddV2 si:1 unit @/cpu:0
      scaled: TestGpuScaleAdd sx:1 sx:1 @/gpu:0
      ni: NextIteration inc
      nx: NextIteration scaled T=float @/gpu:0
      x: Exit sx T=float @/gpu:0)"),
            OkStatus());
  for (int i = 0; i < 10; ++i) {
    ASSERT_EQ(Run({}, {"x:0"}), OkStatus());
    EXPECT_EQ(out_[0].scalar<float>(), 59049);
  }
}

// A function of `def`. An argument or a result is "name:type", a result's value
// "name:type=node:output:0". What else calls for it is in `body`.
void AddFunctionTo(pb::GraphDef* def, const std::string& name,
                   const std::vector<std::string>& args, absl::string_view body,
                   const std::vector<std::string>& rets) {
  pb::FunctionDef* const f = def->mutable_library()->add_function();
  pb::OpDef* const signature = f->mutable_signature();
  signature->set_name(name);
  const auto set = [](const std::string& text, pb::OpDef::ArgDef* arg) {
    const std::vector<std::string> words = absl::StrSplit(text, ':');
    DataType type = DT_INVALID;
    ASSERT_TRUE(DataTypeFromString(words.at(1), &type)) << text;
    arg->set_name(words[0]);
    arg->set_type(static_cast<pb::DataType>(type));
  };
  for (const std::string& a : args) set(a, signature->add_input_arg());
  for (const std::string& r : rets) {
    const std::vector<std::string> ret =
        absl::StrSplit(r, absl::MaxSplits('=', 1));
    set(ret[0], signature->add_output_arg());
    (*f->mutable_ret())[ret[0].substr(0, ret[0].find(':'))] = ret.at(1);
  }
  *f->mutable_node_def() = ParseNodes(body).node();
}

void SetFunction(const char* attr, const char* function, pb::NodeDef* n) {
  (*n->mutable_attr())[attr].mutable_func()->set_name(function);
}
void SetTypes(const char* attr, const std::vector<DataType>& types,
              pb::NodeDef* n) {
  auto* const list = (*n->mutable_attr())[attr].mutable_list();
  for (DataType t : types) list->add_type(static_cast<pb::DataType>(t));
}

// In bodies that stay functions: values of both memories at their edges and
// inside, and an op that only the CPU has.
TEST_F(GpuDeviceTest, FunctionsRunOnTheGpu) {
  config_.mutable_headrace()->add_disabled_passes("inline_functions");
  pb::GraphDef def = ParseNodes(R"(
      x: Placeholder dtype=float
      n: Placeholder dtype=int32
      p: Placeholder dtype=bool
      called: Mixed x n @/gpu:0
      if: If p x n @/gpu:0
      while: While x n @/gpu:0
      far: RemoteCall target x n @/cpu:0
      back: TestGpuScaleAdd far far @/gpu:0)");
  pb::NodeDef* const target = def.add_node();
  target->set_name("target");
  target->set_op("Placeholder");
  (*target->mutable_attr())["dtype"].set_type(pb::DT_STRING);
  // (2 x + x + ones(n), n + n).
  AddFunctionTo(&def, "Mixed", {"x:float", "n:int32"}, R"(
      ones: TestGpuOnes n
      scaled: TestGpuScaleAdd x ones:y:0
      onCpu: BitwiseAnd n n
      m: AddV2 n onCpu:z:0)",
                {"y:float=scaled:y:0", "m:int32=m:z:0"});
  AddFunctionTo(&def, "Same", {"x:float", "n:int32"}, "",
                {"y:float=x", "m:int32=n"});
  // while (x[0] < 20) x = 3 * x.
  AddFunctionTo(&def, "Small", {"x:float", "n:int32"}, R"(
      zero: Const 0
      first: Const 1
      begin: Pack zero:output:0 N=1
      size: Pack first:output:0 N=1
      one: Slice x begin:output:0 size:output:0 T=float Index=int32
      none: Slice begin:output:0 begin:output:0 begin:output:0 T=int32 Index=int32
      scalar: Reshape one:output:0 none:output:0 T=float Tshape=int32
      limit: Const 20.5
      less: Less scalar:output:0 limit:output:0 T=float)",
                {"p:bool=less:z:0"});
  AddFunctionTo(&def, "Triple", {"x:float", "n:int32"},
                "y: TestGpuScaleAdd x x\nm: AddV2 n n",
                {"y:float=y:y:0", "m:int32=m:z:0"});
  const std::vector<DataType> types = {DT_FLOAT, DT_INT32};
  for (pb::NodeDef& n : *def.mutable_node()) {
    if (n.op() == "If") {
      n.mutable_attr()->erase("N");
      SetFunction("then_branch", "Mixed", &n);
      SetFunction("else_branch", "Same", &n);
      SetTypes("Tin", types, &n);
      SetTypes("Tout", types, &n);
      (*n.mutable_attr())["Tcond"].set_type(pb::DT_BOOL);
    } else if (n.op() == "While") {
      SetFunction("cond", "Small", &n);
      SetFunction("body", "Triple", &n);
      SetTypes("T", types, &n);
    } else if (n.op() == "RemoteCall") {
      SetFunction("f", "Mixed", &n);
      SetTypes("Tin", types, &n);
      SetTypes("Tout", types, &n);
    }
  }
  ASSERT_EQ(Load(def), OkStatus());
  Tensor gpu(DT_STRING, TensorShape({}));
  gpu.scalar<tstring>() = "/device:GPU:0";
  const Tensor x = Numbers(TensorShape({3}), 4);
  for (const bool p : {true, false}) {
    for (int run = 0; run < 3; ++run) {
      ASSERT_EQ(Run({{"x:0", x},
                     {"n:0", Tensor::Scalar(3)},
                     {"p:0", Tensor::Scalar(p)},
                     {"target:0", gpu}},
                    {"called:0", "called:1", "if:0", "if:1", "while:0",
                     "while:1", "back:0", "far:1"}),
                OkStatus());
      const float first = x.data<float>()[0];
      int steps = 0;
      float power = 1;
      for (; first * power < 20.5f; ++steps) power *= 3;
      for (int i = 0; i < 3; ++i) {
        const float v = x.data<float>()[i];
        EXPECT_EQ(out_[0].data<float>()[i], 2 * v + 1);
        EXPECT_EQ(out_[2].data<float>()[i], p ? 2 * v + 1 : v);
        EXPECT_EQ(out_[4].data<float>()[i], v * power);
        EXPECT_EQ(out_[6].data<float>()[i], 3 * (2 * v + 1));
      }
      EXPECT_EQ(out_[1].scalar<int32_t>(), 6);
      EXPECT_EQ(out_[3].scalar<int32_t>(), p ? 6 : 3);
      EXPECT_EQ(out_[5].scalar<int32_t>(), 3 << steps);
      EXPECT_EQ(out_[7].scalar<int32_t>(), 6);
    }
  }
}

// What is copied to a GPU that has much to do, and from where.
TEST_F(GpuDeviceTest, CopiesDoNotWaitForTheGpu) {
  ASSERT_EQ(Load("x: Placeholder dtype=float"), OkStatus());
  Device* gpu = nullptr;
  for (Device* d : session_->ListDevices()) {
    if (d->device_type() == DEVICE_GPU) gpu = d;
    if (gpu != nullptr) break;
  }
  ASSERT_NE(gpu, nullptr);
  const std::shared_ptr<GpuRuntime> runtime =
      *GpuRuntime::Get(*CurrentPlatform()->Executor(0), GpuOptions());
  Tensor busy;
  ASSERT_EQ(Tensor::Allocate(runtime->device_allocator(), DT_FLOAT,
                             TensorShape({64}), &busy, Tensor::kHeap),
            OkStatus());
  Notification go_on;
  Executor(0)->SetBeforeWork([&](const std::string& what) {
    if (what == "Fill") go_on.WaitForNotification();
    return OkStatus();
  });
  ASSERT_EQ(runtime->compute_stream()->Fill(DeviceMemoryBase(busy), 0, 256),
            OkStatus());
  // Scalars, vectors, and what is in pinned memory already.
  std::vector<Tensor> values = {Tensor::Scalar(2.5f),
                                Numbers(TensorShape({3000}), 1)};
  Tensor pinned;
  ASSERT_EQ(Tensor::Allocate(runtime->pinned_allocator(), DT_FLOAT,
                             TensorShape({100}), &pinned, Tensor::kHeap),
            OkStatus());
  for (int i = 0; i < 100; ++i) pinned.data<float>()[i] = 7;
  values.push_back(pinned);
  std::vector<Tensor> there(values.size()), back(values.size());
  std::atomic<int> arrived{0};
  for (size_t i = 0; i < values.size(); ++i) {
    gpu->CopyFromHost(values[i], &there[i], [&](const Status& s) {
      EXPECT_EQ(s, OkStatus());
      ++arrived;
    });
  }
  // This thread goes on, though nothing can have been copied.
  EXPECT_EQ(arrived, 0);
  // Who copied may write over the host's memory at once, unless it is pinned.
  for (int i = 0; i < 3000; ++i) values[1].data<float>()[i] = -1;
  go_on.Notify();
  while (arrived < static_cast<int>(values.size())) {
    absl::SleepFor(absl::Milliseconds(1));
  }
  std::atomic<int> returned{0};
  for (size_t i = 0; i < values.size(); ++i) {
    gpu->CopyToHost(there[i], &back[i], [&](const Status& s) {
      EXPECT_EQ(s, OkStatus());
      ++returned;
    });
  }
  while (returned < static_cast<int>(values.size())) {
    absl::SleepFor(absl::Milliseconds(1));
  }
  EXPECT_EQ(back[0].scalar<float>(), 2.5f);
  const Tensor sent = Numbers(TensorShape({3000}), 1);
  EXPECT_EQ(back[1].data<float>()[2999], sent.data<float>()[2999]);
  EXPECT_EQ(back[2].data<float>()[99], 7);
}

// A GPU that is slow at one thing after the other finds what does not wait.
TEST_F(GpuDeviceTest, DelaysChangeNothing) {
  ASSERT_EQ(Load(R"(
      x: Placeholder dtype=float
      a: TestGpuScaleAdd x x @/gpu:0
      b: TestGpuScaleAdd a x @/gpu:0
      c: TestGpuScaleAdd b a @/cpu:0
      d: TestGpuScaleAdd c b @/gpu:0
      e: TestGpuScaleAdd d c @/gpu:1
      f: TestGpuScaleAdd e d @/gpu:0)"),
            OkStatus());
  const Tensor x = Numbers(TensorShape({3000}), 2);
  for (const char* slow : {"CopyToDevice", "CopyToHost", "Launch", "none"}) {
    for (const int i : {0, 1}) {
      Executor(i)->SetBeforeWork([slow](const std::string& what) {
        if (absl::StrContains(what, slow))
          absl::SleepFor(absl::Milliseconds(3));
        return OkStatus();
      });
    }
    for (int run = 0; run < 5; ++run) {
      ASSERT_EQ(Run({{"x:0", x}}, {"f:0", "b:0"}), OkStatus());
      // a 3, b 7, c 17, d 41, e 99, f 239
      for (int64_t i = 0; i < x.NumElements(); ++i) {
        ASSERT_NEAR(out_[0].data<float>()[i], 239 * x.data<float>()[i], 1e-3)
            << slow;
        ASSERT_NEAR(out_[1].data<float>()[i], 7 * x.data<float>()[i], 1e-4);
      }
    }
  }
  Executor(1)->Clear();
}

TEST_F(GpuDeviceTest, SeveralThreadsShareTheGpu) {
  ASSERT_EQ(Load(R"(
      x: Placeholder dtype=float
      a: TestGpuScaleAdd x x @/gpu:0
      b: TestGpuScaleAdd a a @/gpu:0
      c: TestGpuScaleAdd b a @/cpu:0)"),
            OkStatus());
  std::vector<std::thread> threads;
  std::atomic<int> wrong{0};
  for (int t = 0; t < 4; ++t) {
    threads.emplace_back([&, t] {
      const Tensor x = Numbers(TensorShape({500 + t}), t);
      for (int i = 0; i < 25; ++i) {
        std::vector<Tensor> out;
        const Status s = session_->Run({{"x:0", x}}, {"c:0"}, {}, &out);
        if (!s.ok()) {
          ++wrong;
          continue;
        }
        for (int64_t k = 0; k < x.NumElements(); ++k) {
          wrong += out[0].data<float>()[k] != 21 * x.data<float>()[k];
        }
      }
    });
  }
  for (std::thread& t : threads) t.join();
  EXPECT_EQ(wrong, 0);
}

TEST_F(GpuDeviceTest, FailuresOfTheDeviceAreTheStepsFailure) {
  const char* const graph = R"(
      x: Placeholder dtype=float
      a: TestGpuScaleAdd x x @/gpu:0
      go: NoOp ^a @/gpu:0)";
  for (const char* part : {"CopyToDevice", "Launch", "CopyToHost"}) {
    ASSERT_EQ(Load(graph), OkStatus());
    Executor(0)->SetBeforeWork([part](const std::string& what) {
      return absl::StrContains(what, part) ? errors::Internal("it burns")
                                           : OkStatus();
    });
    ExpectError(Run({{"x:0", Tensor::Scalar(1.f)}}, {"a:0"}),
                absl::StatusCode::kInternal, {"it burns", part});
    Executor(0)->Clear();
    EndSession();
    // The next session has a fresh device.
    ASSERT_EQ(Load(graph), OkStatus());
    EXPECT_EQ(Run({{"x:0", Tensor::Scalar(1.f)}}, {"a:0"}), OkStatus());
  }
  // Also of a step that fetches nothing.
  Executor(0)->SetBeforeWork([](const std::string& what) {
    return absl::StrContains(what, "Launch") ? errors::Internal("it burns")
                                             : OkStatus();
  });
  ExpectError(Run({{"x:0", Tensor::Scalar(1.f)}}, {}, {"go"}),
              absl::StatusCode::kInternal,
              {"it burns", "Launch ScaleAdd<float>", "node a"});
}

TEST_F(GpuDeviceTest, OutOfMemorySaysHowMuchAndWho) {
  ASSERT_EQ(Load(R"(
      n: Placeholder dtype=int32
      big: TestGpuOnes n @/gpu:0
      go: NoOp ^big @/gpu:0)"),
            OkStatus());
  ExpectError(Run({{"n:0", Tensor::Scalar(100'000'000)}}, {}, {"go"}),
              absl::StatusCode::kResourceExhausted,
              {"400000000 bytes wanted", "GPU_0_bfc", "free", "node big"});
  // What is free afterwards is whole again.
  for (int i = 0; i < 10; ++i) {
    ASSERT_EQ(Run({{"n:0", Tensor::Scalar(8'000'000)}}, {}, {"go"}),
              OkStatus());
  }
}

TEST_F(GpuDeviceTest, MemoryThatTheDriverRefusesIsTheRunsFailure) {
  Executor(0)->SetBeforeAllocation([](const std::string& what, size_t) {
    return what == "Allocate" ? errors::ResourceExhausted("the driver refuses")
                              : OkStatus();
  });
  ASSERT_EQ(Load(R"(
      n: Placeholder dtype=int32
      big: TestGpuOnes n @/gpu:0
      go: NoOp ^big @/gpu:0)"),
            OkStatus());
  testing::internal::CaptureStderr();
  ExpectError(Run({{"n:0", Tensor::Scalar(1000)}}, {}, {"go"}),
              absl::StatusCode::kResourceExhausted,
              {"4000 bytes wanted", "node big"});
  const std::string log = testing::internal::GetCapturedStderr();
  EXPECT_TRUE(absl::StrContains(log, "the device said: the driver refuses"))
      << log;
  Executor(0)->Clear();
  EXPECT_EQ(Run({{"n:0", Tensor::Scalar(1000)}}, {}, {"go"}), OkStatus());
}

// Feeds are copied without it, which is no news; fetches are not.
TEST_F(GpuDeviceTest, PinnedMemoryThatIsRefusedIsAFetchsFailure) {
  Executor(0)->SetBeforeAllocation([](const std::string& what, size_t) {
    return what == "AllocatePinned"
               ? errors::ResourceExhausted("the driver refuses")
               : OkStatus();
  });
  ASSERT_EQ(Load(R"(
      n: Placeholder dtype=int32
      x: Placeholder dtype=float
      y: TestGpuScaleAdd x x @/gpu:0
      big: TestGpuOnes n @/gpu:0)"),
            OkStatus());
  testing::internal::CaptureStderr();
  EXPECT_EQ(Run({{"x:0", Numbers(TensorShape({3000}), 1)}}, {}, {"y"}),
            OkStatus());
  const std::string log_of_feed = testing::internal::GetCapturedStderr();
  EXPECT_FALSE(absl::StrContains(log_of_feed, "the driver refuses"))
      << log_of_feed;
  testing::internal::CaptureStderr();
  ExpectError(Run({{"n:0", Tensor::Scalar(1000)}}, {"big:0"}, {}),
              absl::StatusCode::kResourceExhausted, {"4000 bytes wanted"});
  const std::string log = testing::internal::GetCapturedStderr();
  EXPECT_TRUE(absl::StrContains(log, "the device said: the driver refuses"))
      << log;
}

TEST_F(GpuDeviceTest, LimitsAreKept) {
  const char* const graph = R"(
      n: Placeholder dtype=int32
      big: TestGpuOnes n @/gpu:0
      go: NoOp ^big @/gpu:0)";
  config_.mutable_gpu_options()->set_per_process_gpu_memory_fraction(0.25);
  ASSERT_EQ(Load(graph), OkStatus());
  EXPECT_EQ(Run({{"n:0", Tensor::Scalar(3'000'000)}}, {}, {"go"}), OkStatus());
  ExpectError(Run({{"n:0", Tensor::Scalar(5'000'000)}}, {}, {"go"}),
              absl::StatusCode::kResourceExhausted, {"20000000 bytes wanted"});
  session_.reset();
  config_.mutable_gpu_options()->set_per_process_gpu_memory_fraction(1.5);
  ExpectError(Load(graph), absl::StatusCode::kInvalidArgument,
              {"per_process_gpu_memory_fraction is 1.5"});
  config_.mutable_gpu_options()->set_per_process_gpu_memory_fraction(-1);
  ExpectError(Load(graph), absl::StatusCode::kInvalidArgument, {"is -1"});
}

TEST_F(GpuDeviceTest, AllocatorsThatAreNotThereAreRefused) {
  const char* const graph = "x: Placeholder dtype=float";
  pb::GPUOptions* const gpu = config_.mutable_gpu_options();
  gpu->set_allocator_type("BFC");
  EXPECT_EQ(Load(graph), OkStatus());
  EndSession();
  gpu->set_allocator_type("buddy");
  ExpectError(Load(graph), absl::StatusCode::kInvalidArgument,
              {"allocator_type is 'buddy'", "BFC"});
  // The same memory, which a warning says.
  gpu->mutable_experimental()->set_use_cuda_malloc_async(true);
  EXPECT_EQ(Load(graph), OkStatus());
}

TEST_F(GpuDeviceTest, VisibleDevicesAreCountedAnew) {
  const auto names = [&] {
    std::vector<std::string> gpus;
    for (const Device* d : session_->ListDevices()) {
      if (d->device_type() != DEVICE_GPU) continue;
      gpus.push_back(d->attributes().physical_device_desc);
    }
    return gpus;
  };
  const char* const graph = "x: Placeholder dtype=float";
  ASSERT_EQ(Load(graph), OkStatus());
  EXPECT_EQ(names().size(), 2u);
  config_.mutable_gpu_options()->set_visible_device_list("1");
  ASSERT_EQ(Load(graph), OkStatus());
  ASSERT_EQ(names().size(), 1u);
  EXPECT_TRUE(absl::StrContains(names()[0], "device: 1")) << names()[0];
  for (const char* bad : {"2", "-1", "0,0", "x", "0,"}) {
    config_.mutable_gpu_options()->set_visible_device_list(bad);
    ExpectError(Load(graph), absl::StatusCode::kInvalidArgument,
                {"visible_device_list", bad});
  }
  config_.mutable_gpu_options()->set_visible_device_list("");
  (*config_.mutable_device_count())["GPU"] = 0;
  ASSERT_EQ(Load(graph), OkStatus());
  EXPECT_TRUE(names().empty());
}

TEST_F(GpuDeviceTest, MemoryGoesWithTheLastSession) {
  const char* const graph = R"(
      n: Placeholder dtype=int32
      big: TestGpuOnes n @/gpu:0
      c: Const 1.0,2.0 @/gpu:0
      go: NoOp ^big ^c @/gpu:0)";
  ASSERT_EQ(Load(graph), OkStatus());
  ASSERT_EQ(Run({{"n:0", Tensor::Scalar(1'000'000)}}, {"c:0"}, {"go"}),
            OkStatus());
  const std::vector<Tensor> kept = out_;  // pinned memory outlives the session
  std::unique_ptr<Session> other;
  ASSERT_EQ(MoveTo(NewSession(config_, "", graph_), &other), OkStatus());
  EXPECT_GT(BytesInUse(), 0);
  session_.reset();
  EXPECT_GT(BytesInUse(), 0);
  other.reset();
  EndSession();
  EXPECT_EQ(BytesInUse(), 0);
  EXPECT_EQ(kept[0].data<float>()[1], 2);
}

TEST_F(GpuDeviceTest, ANetworkGivesWhatTheCpuGives) {
  const auto def = [](const char* device) {
    const std::string at = absl::StrCat("@", device);
    pb::GraphDef g = ParseNodes(
        absl::StrCat(
            "x: Placeholder dtype=float\n", "w1: Placeholder dtype=float\n",
            "w2: Placeholder dtype=float\n", "shape: Const 4,-1 @/cpu:0\n",
            "conv: Conv2D x w1 T=float padding=VALID ", at, "\n",
            "relu: Relu conv T=float ", at, "\n",
            "flat: Reshape relu shape T=float @/cpu:0\n",
            "dense: MatMul flat w2 T=float ", at, "\n",
            "y: Relu dense T=float ", at, "\n"),
        1);
    for (auto& n : *g.mutable_node()) {
      if (n.op() != "Conv2D") continue;
      auto* strides = (*n.mutable_attr())["strides"].mutable_list();
      for (int i = 0; i < 4; ++i) strides->add_i(1);
    }
    return g;
  };
  const std::vector<std::pair<std::string, Tensor>> feeds = {
      {"x:0", Numbers(TensorShape({4, 9, 8, 3}), 1)},
      {"w1:0", Numbers(TensorShape({3, 3, 3, 5}), 2)},
      {"w2:0", Numbers(TensorShape({7 * 6 * 5, 11}), 3)}};
  ASSERT_EQ(Load(def("/cpu:0")), OkStatus());
  ASSERT_EQ(Run(feeds, {"y:0"}), OkStatus());
  const Tensor on_cpu = out_[0];
  ASSERT_EQ(Load(def("/gpu:0")), OkStatus());
  for (int run = 0; run < 3; ++run) {
    ASSERT_EQ(Run(feeds, {"y:0"}), OkStatus());
    ASSERT_EQ(out_[0].shape(), on_cpu.shape());
    for (int64_t i = 0; i < on_cpu.NumElements(); ++i) {
      ASSERT_NEAR(out_[0].data<float>()[i], on_cpu.data<float>()[i], 1e-3);
    }
  }
}

TEST_F(GpuDeviceTest, OpsRunThereWithoutAGraph) {
  EagerContext::Options options;
  options.config = config_;
  auto context = EagerContext::Create(options);
  ASSERT_TRUE(context.ok()) << context.status();
  RefPtr<TensorHandle> x = MakeRef<TensorHandle>(Tensor::Scalar(1.f));
  for (int i = 0; i < 5; ++i) {
    EagerOp op;
    ASSERT_EQ(op.Reset(*context, "TestGpuScaleAdd"), OkStatus());
    op.AddInput(x);
    op.AddInput(x);
    std::vector<RefPtr<TensorHandle>> outputs;
    ASSERT_EQ(op.Execute(1, &outputs), OkStatus());
    x = outputs[0];
    EXPECT_TRUE(absl::StrContains(x->BackingDeviceName(), "GPU:0"))
        << x->BackingDeviceName();
  }
  Tensor value;
  ASSERT_EQ(x->ToHost(&value), OkStatus());
  EXPECT_EQ(value.scalar<float>(), 243);
}

TEST_F(GpuDeviceTest, CancellingEndsAStepOnASlowGpu) {
  ASSERT_EQ(Load(R"(
      x: Placeholder dtype=float
      a: TestGpuScaleAdd x x @/gpu:0
      b: TestGpuScaleAdd a a @/cpu:0)"),
            OkStatus());
  Executor(0)->SetBeforeWork([](const std::string&) {
    absl::SleepFor(absl::Milliseconds(60));
    return OkStatus();
  });
  pb::RunOptions options;
  options.set_timeout_in_ms(20);
  ExpectError(session_->Run(options, {{"x:0", Tensor::Scalar(1.f)}}, {"b:0"},
                            {}, &out_, nullptr),
              absl::StatusCode::kDeadlineExceeded, {});
  Executor(0)->Clear();
  ASSERT_EQ(Run({{"x:0", Tensor::Scalar(1.f)}}, {"b:0"}), OkStatus());
  EXPECT_EQ(out_[0].scalar<float>(), 9);
}

}  // namespace
}  // namespace headrace::gpu
