#include "runtime/shared_kernels.h"

#include <set>
#include <thread>

#include "runtime/step_test_util.h"

namespace headrace {
namespace {

REGISTER_OP("SharedTestState")
    .Input("x: T")
    .Output("y: T")
    .Attr("T: {int32, float}")
    .Attr("size: int = 1")
    .SetIsStateful();
REGISTER_OP("SharedTestOther")
    .Input("x: T")
    .Output("y: T")
    .Attr("T: {int32, float}")
    .Attr("size: int = 1")
    .SetIsStateful();
REGISTER_OP("SharedTestPure")
    .Input("x: T")
    .Output("y: T")
    .Attr("T: {int32, float}");
class SharedTestOp : public OpKernel {
 public:
  explicit SharedTestOp(OpKernelConstruction* ctx) : OpKernel(ctx) {
    int64_t size = 0;
    if (ctx->HasAttr("size")) OP_REQUIRES_OK(ctx, ctx->GetAttr("size", &size));
    OP_REQUIRES(ctx, size >= 0, errors::InvalidArgument("size ", size));
  }
  void Compute(OpKernelContext* ctx) override {
    ctx->set_output(0, ctx->input(0));
  }
};
REGISTER_KERNEL_BUILDER(Name("SharedTestState").Device(DEVICE_CPU),
                        SharedTestOp);
REGISTER_KERNEL_BUILDER(Name("SharedTestOther").Device(DEVICE_CPU),
                        SharedTestOp);
REGISTER_KERNEL_BUILDER(Name("SharedTestPure").Device(DEVICE_CPU),
                        SharedTestOp);

// The kernel of a node "same" in a graph of its own.
class SharedKernelsTest : public ::testing::Test {
 protected:
  Status Make(const char* op, DataType type, AttrMap attrs,
              std::shared_ptr<OpKernel>* kernel) {
    Graph g;
    const Endpoint in = Const(&g, "x",
                              type == DT_FLOAT ? Tensor::Scalar<float>(0)
                                               : Tensor::Scalar<int32_t>(0));
    const Node* const n = AddOp(&g, "same", op, {in}, std::move(attrs));
    return kernels_.FindOrCreate(&device_, *n, kernel);
  }
  std::shared_ptr<OpKernel> Kernel(const char* op, DataType type = DT_INT32,
                                   AttrMap attrs = {}) {
    std::shared_ptr<OpKernel> kernel;
    EXPECT_EQ(Make(op, type, std::move(attrs), &kernel), OkStatus());
    return kernel;
  }

  TestDevice device_;
  SharedKernels kernels_;
};

TEST_F(SharedKernelsTest, ANodeWithStateHasOneKernel) {
  const auto first = Kernel("SharedTestState");
  EXPECT_EQ(Kernel("SharedTestState"), first);
  const AttrMap where = {{"_class", std::vector<std::string>{"loc:@x"}}};
  EXPECT_EQ(Kernel("SharedTestState", DT_INT32, where), first);
  kernels_.Clear();
  EXPECT_NE(Kernel("SharedTestState"), first);
}

TEST_F(SharedKernelsTest, OtherNodesOfTheNameHaveTheirOwn) {
  const auto first = Kernel("SharedTestState");
  const auto other_op = Kernel("SharedTestOther");
  const auto other_type = Kernel("SharedTestState", DT_FLOAT);
  const auto other_attr =
      Kernel("SharedTestState", DT_INT32, {{"size", int64_t{2}}});
  const std::set<std::shared_ptr<OpKernel>> kernels = {first, other_op,
                                                       other_type, other_attr};
  EXPECT_EQ(kernels.size(), 4);
  EXPECT_EQ(other_op->type_string(), "SharedTestOther");
  EXPECT_EQ(other_type->input_type(0), DT_FLOAT);
  // Each is found again.
  EXPECT_EQ(Kernel("SharedTestState"), first);
  EXPECT_EQ(Kernel("SharedTestOther"), other_op);
  EXPECT_EQ(Kernel("SharedTestState", DT_FLOAT), other_type);
  EXPECT_EQ(Kernel("SharedTestState", DT_INT32, {{"size", int64_t{2}}}),
            other_attr);
}

TEST_F(SharedKernelsTest, NodesWithoutStateShareNone) {
  EXPECT_NE(Kernel("SharedTestPure"), Kernel("SharedTestPure"));
}

TEST_F(SharedKernelsTest, AKernelThatIsRefusedIsNotKept) {
  std::shared_ptr<OpKernel> kernel;
  for (int i = 0; i < 2; ++i) {
    const Status s =
        Make("SharedTestState", DT_INT32, {{"size", int64_t{-1}}}, &kernel);
    EXPECT_EQ(s.code(), absl::StatusCode::kInvalidArgument);
    EXPECT_NE(s.message().find("size -1"), std::string::npos) << s;
  }
}

TEST_F(SharedKernelsTest, ThreadsGetTheSameKernel) {
  std::vector<std::shared_ptr<OpKernel>> got(8);
  std::vector<std::thread> threads;
  for (auto& kernel : got) {
    threads.emplace_back([&] { kernel = Kernel("SharedTestState"); });
  }
  for (std::thread& t : threads) t.join();
  for (const auto& kernel : got) EXPECT_EQ(kernel, got[0]);
}

}  // namespace
}  // namespace headrace
