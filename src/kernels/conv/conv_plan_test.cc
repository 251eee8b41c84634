// A ConvPlan says what a run takes: the allocator sees just that, with every
// implementation, type, order and epilogue.
#include "kernels/conv/conv_plan.h"

#include <algorithm>
#include <set>

#include "base/thread_pool.h"
#include "framework/kernel/op_tester.h"
#include "framework/kernel/temporary_memory.h"
#include "kernels/conv/byte_levels.h"
#include "kernels/conv/prepared_filter.h"
#include "kernels/lib/narrow_float.h"
#include "kernels/lib/temporary_peak.h"

namespace headrace {
namespace {

struct PlanCase {
  const char* name;
  TensorShape in, filter;  // NHWC
  int64_t stride = 1;
  Padding padding = Padding::kSame;
};

// Each implementation accepts one of these.
const std::vector<PlanCase>& PlanCases() {
  static const std::vector<PlanCase> cases = {
      {"pointwise", {2, 5, 6, 33}, {1, 1, 33, 70}},
      {"pointwise_strided", {2, 15, 29, 40}, {1, 1, 40, 72}, 2},
      {"sum_over_many_pixels", {1, 64, 64, 16}, {1, 1, 16, 32}},
      {"filter_is_input", {2, 8, 8, 80}, {8, 8, 80, 33}, 1, Padding::kValid},
      {"square", {1, 12, 12, 32}, {3, 3, 32, 72}},
      {"square_strided", {1, 20, 20, 32}, {3, 3, 32, 72}, 2},
      {"square_5x5", {1, 10, 12, 32}, {5, 5, 32, 72}},
      {"line_1x3", {1, 5, 9, 16}, {1, 3, 16, 32}},
      {"line_5x1", {1, 9, 5, 20}, {5, 1, 20, 16}},
      {"line_1x7", {1, 17, 17, 32}, {1, 7, 32, 80}},
      {"few_channels", {1, 33, 31, 3}, {3, 3, 3, 32}, 2},
      {"few_outputs", {1, 9, 28, 32}, {5, 5, 32, 3}},
      {"few_outputs_of_the_gradient", {1, 14, 15, 3}, {5, 5, 3, 64}},
      {"phases_of_few_outputs", {1, 28, 27, 3}, {5, 5, 3, 64}, 2},
      {"groups", {2, 6, 7, 6}, {3, 3, 2, 9}},
      {"grouped", {2, 6, 15, 32}, {3, 3, 4, 32}},
      {"depthwise", {2, 7, 8, 37}, {3, 3, 1, 37}},
      {"depthwise_5x5", {1, 9, 14, 24}, {5, 5, 1, 24}},
      {"depthwise_7x7", {1, 9, 14, 24}, {7, 7, 1, 24}},
      // Tensors that live inside their objects.
      {"tiny", {1, 1, 2, 1}, {1, 1, 1, 1}},
  };
  return cases;
}

// Of `shape`, with its channels first if asked for.
TensorShape InOrder(const TensorShape& shape, DataFormat format) {
  if (format == DataFormat::kNHWC) return shape;
  return {shape.dim_size(0), shape.dim_size(3), shape.dim_size(1),
          shape.dim_size(2)};
}

Tensor Ones(DataType dtype, const TensorShape& shape) {
  Tensor t(dtype, shape);
  for (int64_t i = 0; i < t.NumElements(); ++i) {
    switch (dtype) {
      case DT_HALF:
        t.data<half>()[i] = static_cast<half>(1.0f);
        break;
      case DT_BFLOAT16:
        t.data<bfloat16>()[i] = static_cast<bfloat16>(1.0f);
        break;
      case DT_FLOAT:
        t.data<float>()[i] = 1;
        break;
      case DT_DOUBLE:
        t.data<double>()[i] = 1;
        break;
      default:
        t.data<int32_t>()[i] = 1;
    }
  }
  return t;
}

// What CpuAllocator() gives out at most at once, beyond what is in use now.
class PeakMeter {
 public:
  PeakMeter() : before_(CpuAllocator()->GetStats().bytes_in_use) {
    CpuAllocator()->ResetPeak();
  }
  int64_t bytes() const {
    return CpuAllocator()->GetStats().peak_bytes_in_use - before_;
  }

 private:
  const int64_t before_;
};

// A context whose temporary tensors come from CpuAllocator().
class RunContext {
 public:
  explicit RunContext(ThreadPool* pool) : device_(pool) {
    auto def = std::make_shared<NodeDef>();
    def->name = "node";
    def->op = "NoOp";
    const OpDef* op = nullptr;
    EXPECT_EQ(OpRegistry::Global()->LookUp("NoOp", &op), OkStatus());
    EXPECT_EQ(CreateOpKernel(&device_, def, op, &kernel_), OkStatus());
    params_.kernel = kernel_.get();
    params_.device = &device_;
    context_ = std::make_unique<OpKernelContext>(&params_);
  }
  OpKernelContext* get() { return context_.get(); }

 private:
  TestDevice device_;
  std::unique_ptr<OpKernel> kernel_;
  OpKernelContext::Params params_;
  std::unique_ptr<OpKernelContext> context_;
};

struct PlanVariant {
  DataType dtype;
  DataFormat format;
  bool constant;
  // Of scale and bias; DT_INVALID: no epilogue.
  DataType epilogue;
  bool addend;
};

std::vector<PlanVariant> Variants(ConvDirection d) {
  constexpr auto kNhwc = DataFormat::kNHWC, kNchw = DataFormat::kNCHW;
  constexpr DataType kNothing = DT_INVALID;
  std::vector<PlanVariant> out = {{DT_FLOAT, kNhwc, false, kNothing, false},
                                  {DT_FLOAT, kNchw, false, kNothing, false},
                                  {DT_HALF, kNhwc, false, kNothing, false},
                                  {DT_BFLOAT16, kNchw, false, kNothing, false},
                                  {DT_DOUBLE, kNchw, false, kNothing, false},
                                  {DT_INT32, kNhwc, false, kNothing, false}};
  if (d != ConvDirection::kForward) return out;
  const PlanVariant forward[] = {{DT_FLOAT, kNhwc, true, kNothing, false},
                                 {DT_HALF, kNchw, true, DT_FLOAT, false},
                                 {DT_FLOAT, kNchw, false, DT_FLOAT, true},
                                 {DT_HALF, kNhwc, false, DT_HALF, true},
                                 {DT_BFLOAT16, kNchw, false, DT_FLOAT, true}};
  out.insert(out.end(), std::begin(forward), std::end(forward));
  return out;
}

// Runs `plan` and expects of the allocator what the plan says.
void ExpectPlannedBytes(const ConvPlan& plan, const PlanCase& c,
                        const PlanVariant& v, ThreadPool* pool) {
  using D = ConvDirection;
  const ConvParams& p = plan.params;
  const TensorShape out({p.batch, p.out[1], p.out[2], p.out_channels});
  const Tensor in = Ones(v.dtype, InOrder(c.in, v.format));
  const Tensor filter = Ones(v.dtype, c.filter);
  const Tensor dy = Ones(v.dtype, InOrder(out, v.format));
  const Tensor per_channel =
      Ones(v.epilogue == DT_INVALID ? DT_FLOAT : v.epilogue,
           TensorShape({p.out_channels}));
  Tensor result(v.dtype, plan.direction == D::kForward ? dy.shape()
                         : plan.direction == D::kBackwardInput
                             ? in.shape()
                             : filter.shape());
  ConvTensors tensors;
  if (plan.direction != D::kBackwardInput) tensors.input = &in;
  if (plan.direction != D::kBackwardFilter) tensors.filter = &filter;
  if (plan.direction != D::kForward) tensors.out_backprop = &dy;
  Epilogue epilogue;
  if (v.epilogue != DT_INVALID) {
    epilogue.scale = epilogue.bias = &per_channel;
    epilogue.activation = Activation::kRelu;
  }
  if (v.addend) epilogue.addend = &dy;
  ConstantFilter constant;
  ConstantFilter* const kept = v.constant ? &constant : nullptr;
  if (v.constant) constant.Set(filter);
  RunContext ctx(pool);
  if (v.constant) {  // makes what is kept
    ASSERT_EQ(RunConv(ctx.get(), plan, tensors, epilogue, kept, &result),
              OkStatus());
  }
  const PeakMeter meter;
  ASSERT_EQ(RunConv(ctx.get(), plan, tensors, epilogue, kept, &result),
            OkStatus());
  EXPECT_EQ(meter.bytes(), plan.TemporaryBytes());
}

TEST(ConvPlan, TemporaryBytesAreWhatARunTakes) {
  if (FailingAllocations::ArePreloaded()) GTEST_SKIP();
  ThreadPool one(1), four(4);
  const std::optional<ByteLevels> levels =
      ByteLevels::Of(std::vector<float>{0, 255, 0, 1, 0, 255, -1, 1});
  ASSERT_TRUE(levels);
  for (const ConvDirection d :
       {ConvDirection::kForward, ConvDirection::kBackwardInput,
        ConvDirection::kBackwardFilter}) {
    std::set<const ConvImplementation*> seen;
    for (const PlanCase& c : PlanCases()) {
      for (const PlanVariant& v : Variants(d)) {
        ConvAttrs attrs;
        attrs.format = v.format;
        attrs.padding = c.padding;
        attrs.strides = v.format == DataFormat::kNHWC
                            ? std::vector<int64_t>{1, c.stride, c.stride, 1}
                            : std::vector<int64_t>{1, 1, c.stride, c.stride};
        attrs.dilations = {1, 1, 1, 1};
        ConvParams p;
        ASSERT_EQ(
            ConvSizesOf(attrs, InOrder(c.in, v.format), c.filter, false, &p),
            OkStatus());
        p.dtype = v.dtype;
        p.format = v.format;
        p.constant_filter = v.constant;
        p.byte_levels = &*levels;
        EpilogueTypes types;
        if (v.epilogue != DT_INVALID) {
          types = {.scale = v.epilogue, .bias = v.epilogue, .activates = true};
        }
        if (v.addend) types.addend = v.dtype;
        for (const ConvImplementation* impl : ConvImplementations(d)) {
          if (!impl->Accepts(ConvPlan::ArithmeticOf(p), HostCpu())) continue;
          seen.insert(impl);
          for (ThreadPool* pool : {&one, &four}) {
            SCOPED_TRACE(absl::StrCat(
                c.name, " ", impl->Name(), " direction ", static_cast<int>(d),
                " ", DataTypeString(v.dtype), " ",
                v.format == DataFormat::kNCHW ? "NCHW" : "NHWC",
                v.constant ? " constant" : "", " epilogue ",
                DataTypeString(v.epilogue), v.addend ? " addend" : "",
                " threads ", pool->NumThreads()));
            ExpectPlannedBytes(ConvPlan(impl, d, p, types, pool->NumThreads()),
                               c, v, pool);
          }
        }
      }
    }
    // All that this processor can run.
    for (const ConvImplementation* impl : ConvImplementations(d)) {
      EXPECT_EQ(seen.count(impl), 1u)
          << impl->Name() << ", direction " << static_cast<int>(d);
    }
  }
}

// A run may write no more than the workspace that it asked for, and asks for
// none that it never touches.
TEST(ConvPlan, AWorkspaceIsUsedAndNotOverrun) {
  constexpr int64_t kGuard = 4096;
  constexpr unsigned char kFill = 0xA5;
  ThreadPool one(1), four(4);
  for (const ConvDirection d :
       {ConvDirection::kForward, ConvDirection::kBackwardInput,
        ConvDirection::kBackwardFilter}) {
    for (const PlanCase& c : PlanCases()) {
      ConvAttrs attrs;
      attrs.padding = c.padding;
      attrs.strides = {1, c.stride, c.stride, 1};
      attrs.dilations = {1, 1, 1, 1};
      ConvParams p;
      ASSERT_EQ(ConvSizesOf(attrs, c.in, c.filter, false, &p), OkStatus());
      const Tensor in = Ones(DT_FLOAT, c.in), filter = Ones(DT_FLOAT, c.filter);
      const Tensor dy = Ones(DT_FLOAT, TensorShape({p.out_elements()}));
      for (const ConvImplementation* impl : ConvImplementations(d)) {
        if (!impl->Accepts(p, HostCpu())) continue;
        for (ThreadPool* pool : {&one, &four}) {
          SCOPED_TRACE(absl::StrCat(c.name, " ", impl->Name(), " direction ",
                                    static_cast<int>(d), " threads ",
                                    pool->NumThreads()));
          const ConvPlan plan(impl, d, p, {}, pool->NumThreads());
          Tensor workspace(DT_UINT8,
                           TensorShape({plan.workspace_bytes + kGuard}));
          Tensor form(DT_UINT8, TensorShape({plan.form_bytes + kGuard}));
          auto* const w = static_cast<unsigned char*>(workspace.raw_data());
          auto* const f = static_cast<unsigned char*>(form.raw_data());
          std::fill_n(w, workspace.TotalBytes(), kFill);
          std::fill_n(f, form.TotalBytes(), kFill);
          Tensor result(DT_FLOAT, TensorShape({plan.result_elements()}));
          ConvArgs args;
          args.pool = pool;
          args.params = &p;
          args.input = in.raw_data();
          args.filter = filter.raw_data();
          args.out_backprop = dy.raw_data();
          args.result = result.raw_data();
          args.workspace = w;
          if (plan.form_bytes > 0) {
            impl->PrepareFilter(pool, p, filter.raw_data(), f);
            args.prepared_filter = f;
          }
          impl->Run(args);
          const auto untouched = [&](const unsigned char* begin, int64_t n) {
            return std::count(begin, begin + n, kFill) == n;
          };
          EXPECT_TRUE(untouched(w + plan.workspace_bytes, kGuard));
          EXPECT_TRUE(untouched(f + plan.form_bytes, kGuard));
          if (plan.workspace_bytes > 0) {
            EXPECT_FALSE(untouched(w, plan.workspace_bytes));
          }
        }
      }
    }
  }
}

TEST(ConvPlan, NothingIsTakenForEmptyResults) {
  ThreadPool one(1);
  ConvParams p;
  p.batch = 0;
  p.in_channels = p.out_channels = 8;
  p.dtype = DT_HALF;
  p.format = DataFormat::kNCHW;
  ConvPlan plan;
  ASSERT_EQ(PlanConv(&one, ConvDirection::kForward, p, {}, nullptr, &plan),
            OkStatus());
  EXPECT_EQ(plan.implementation, nullptr);
  EXPECT_EQ(plan.TemporaryBytes(), 0);
  // The filter's gradient is zeros, of which the plan knows the type.
  ASSERT_EQ(
      PlanConv(&one, ConvDirection::kBackwardFilter, p, {}, nullptr, &plan),
      OkStatus());
  EXPECT_EQ(plan.implementation, nullptr);
  EXPECT_EQ(plan.TemporaryBytes(), TemporarySize(8 * 8 * sizeof(float)));
}

TEST(ConvPlan, TypesWithoutAnAlgorithmAreRefused) {
  ThreadPool one(1);
  ConvParams p;
  p.batch = p.in_channels = p.out_channels = 1;
  p.dtype = DT_INT64;
  ConvPlan plan;
  EXPECT_EQ(
      PlanConv(&one, ConvDirection::kForward, p, {}, nullptr, &plan).code(),
      absl::StatusCode::kUnimplemented);
}

// The kernels plan, for shapes alone, what their runs then take.

struct KernelCase {
  const char* name;
  std::string op;
  std::vector<std::string> fused_ops;
  std::string format = "NHWC";
  DataType dtype = DT_FLOAT;
};

TEST(ConvPlan, KernelsTakeWhatTheySayForShapesAlone) {
  if (FailingAllocations::ArePreloaded()) GTEST_SKIP();
  const KernelCase cases[] = {
      {"plain", "Conv2D", {}},
      {"half_channels_first", "Conv2D", {}, "NCHW", DT_HALF},
      {"depthwise", "DepthwiseConv2dNative", {}, "NCHW"},
      {"gradient_of_input", "Conv2DBackpropInput", {}, "NCHW"},
      {"gradient_of_filter", "Conv2DBackpropFilter", {}, "NHWC", DT_HALF},
      {"bias", "_FusedConv2D", {"BiasAdd", "Relu"}},
      {"half_bias", "_FusedConv2D", {"BiasAdd", "Add"}, "NCHW", DT_HALF},
      {"activation_alone", "_FusedConv2D", {"Elu"}, "NCHW"},
      {"batch_norm", "_FusedConv2D", {"FusedBatchNorm", "Relu"}},
      {"half_batch_norm",
       "_FusedConv2D",
       {"Mul", "FusedBatchNorm"},
       "NCHW",
       DT_BFLOAT16},
      {"double_batch_norm",
       "_FusedDepthwiseConv2dNative",
       {"FusedBatchNorm"},
       "NHWC",
       DT_DOUBLE}};
  for (const KernelCase& c : cases) {
    SCOPED_TRACE(c.name);
    const bool depthwise = c.op.find("Depthwise") != std::string::npos;
    const int64_t channels = 40, outputs = depthwise ? channels : 48;
    const DataFormat format =
        c.format == "NCHW" ? DataFormat::kNCHW : DataFormat::kNHWC;
    const TensorShape image = InOrder({2, 18, 20, channels}, format);
    const TensorShape result = InOrder({2, 18, 20, outputs}, format);
    const TensorShape filter = {3, 3, channels, depthwise ? 1 : outputs};
    std::vector<Tensor> inputs;
    TensorShape output = result;
    const auto sizes_of = [](const TensorShape& s) {
      Tensor t(DT_INT32, TensorShape({s.dims()}));
      for (int i = 0; i < s.dims(); ++i) {
        t.data<int32_t>()[i] = static_cast<int32_t>(s.dim_size(i));
      }
      return t;
    };
    if (c.op == "Conv2DBackpropInput") {
      inputs = {sizes_of(image), Ones(c.dtype, filter), Ones(c.dtype, result)};
      output = image;
    } else if (c.op == "Conv2DBackpropFilter") {
      inputs = {Ones(c.dtype, image), sizes_of(filter), Ones(c.dtype, result)};
      output = filter;
    } else {
      inputs = {Ones(c.dtype, image), Ones(c.dtype, filter)};
    }
    for (const std::string& op : c.fused_ops) {
      const int vectors = op == "FusedBatchNorm"           ? 4
                          : op == "BiasAdd" || op == "Mul" ? 1
                                                           : 0;
      for (int i = 0; i < vectors; ++i) {
        inputs.push_back(Ones(c.dtype, TensorShape({outputs})));
      }
      if (op == "Add") inputs.push_back(Ones(c.dtype, result));
    }
    OpTester t(c.op);
    NodeDef def;
    def.name = "node";
    def.op = c.op;
    const auto attr = [&](const std::string& name, const AttrValue& v) {
      t.Attr(name, v);
      def.attrs.Set(name, v);
    };
    attr("T", c.dtype);
    attr("strides", std::vector<int64_t>{1, 1, 1, 1});
    attr("padding", std::string("SAME"));
    attr("data_format", c.format);
    if (!c.fused_ops.empty()) {
      attr("fused_ops", c.fused_ops);
      if (c.op == "_FusedConv2D") {
        attr("TArgs", std::vector<DataType>(inputs.size() - 2, c.dtype));
      }
      attr("num_args", static_cast<int64_t>(inputs.size() - 2));
    }
    std::vector<TensorShape> shapes;
    for (const Tensor& in : inputs) {
      shapes.push_back(in.shape());
      t.Input(in);
    }
    TestDevice device;
    const OpDef* op = nullptr;
    ASSERT_EQ(OpRegistry::Global()->LookUp(c.op, &op), OkStatus());
    AddDefaultAttrs(*op, &def.attrs);
    std::unique_ptr<OpKernel> kernel;
    ASSERT_EQ(
        CreateOpKernel(&device, std::make_shared<NodeDef>(def), op, &kernel),
        OkStatus());
    auto* const memory = dynamic_cast<TemporaryMemory*>(kernel.get());
    ASSERT_NE(memory, nullptr);
    const int64_t planned =
        memory->TemporaryBytes(shapes, {output}, device.thread_pool());
    ASSERT_EQ(t.Run(), OkStatus());  // makes what is made once
    const int64_t result_bytes =
        TemporarySize(output.num_elements() * DataTypeSize(c.dtype));
    const PeakMeter meter;
    ASSERT_EQ(t.Run(), OkStatus());
    EXPECT_EQ(meter.bytes(), planned + result_bytes);
  }
}

}  // namespace
}  // namespace headrace
