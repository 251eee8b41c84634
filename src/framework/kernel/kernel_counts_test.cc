#include "framework/kernel/kernel_counts.h"

#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdio>
#include <fstream>
#include <iterator>
#include <string>

#include "framework/kernel/op_tester.h"
#include "headrace/op.h"

namespace headrace {
namespace {

REGISTER_OP("KernelCountsTest")
    .Input("x: T")
    .Attr("T: type")
    .Attr("out: list(type) = [DT_INT32, DT_BOOL, DT_INT32]")
    .Attr("n: int = 0");

class CountedOp : public OpKernel {
 public:
  using OpKernel::OpKernel;
  void Compute(OpKernelContext* ctx) override {
    OP_REQUIRES(ctx, ctx->input(0).NumElements() > 0,
                errors::InvalidArgument("x is empty"));
    if (ctx->input(0).NumElements() > 1) ctx->set_algorithm("long");
  }
};
REGISTER_KERNEL_BUILDER(Name("KernelCountsTest").Device(DEVICE_CPU), CountedOp);

// The node's kernel, and its calls on tensors of some length.
class KernelCountsTest : public ::testing::Test {
 protected:
  void SetUp() override {
    auto node = std::make_shared<NodeDef>();
    node->name = "node";
    node->op = "KernelCountsTest";
    node->attrs.Set("T", DT_FLOAT);
    node->attrs.Set("_internal", DT_HALF);
    ASSERT_EQ(OpRegistry::Global()->LookUp(node->op, &op_), OkStatus());
    AddDefaultAttrs(*op_, &node->attrs);
    ASSERT_EQ(CreateOpKernel(&device_, node, op_, &kernel_), OkStatus());
    std::remove(file_.c_str());
  }
  void TearDown() override { std::remove(file_.c_str()); }

  // As Device::Compute does for a process that counts.
  void Call(KernelCounts* counts, int64_t length) {
    Tensor x(DT_FLOAT, {length});
    const TensorValue input = {&x, nullptr};
    OpKernelContext::Params params;
    params.kernel = kernel_.get();
    params.device = &device_;
    params.inputs = absl::MakeConstSpan(&input, 1);
    params.trace = &trace_;
    OpKernelContext ctx(&params);
    KernelCounts::Begin(&ctx);
    kernel_->Compute(&ctx);
    counts->Add(*kernel_, ctx);
  }
  static std::string Read(const std::string& file) {
    std::ifstream in(file);
    return {std::istreambuf_iterator<char>(in), {}};
  }
  static std::string Line(const char* algorithm, int count) {
    return absl::StrCat(program_invocation_short_name,
                        "\tKernelCountsTest\tCPU\tCountedOp\tT=float "
                        "out=bool,int32\t",
                        algorithm, "\t", count, "\n");
  }

  const std::string file_ =
      absl::StrCat(::testing::TempDir(), "/kernel_counts_", getpid(), ".tsv");
  TestDevice device_;
  const OpDef* op_ = nullptr;
  std::unique_ptr<OpKernel> kernel_;
  KernelTrace trace_;
};

TEST_F(KernelCountsTest, SaysWhichKernelRanWithWhichTypesAndHowOften) {
  KernelCounts counts(file_);
  Call(&counts, 1);
  Call(&counts, 1);
  ASSERT_EQ(counts.Write(), OkStatus());
  EXPECT_EQ(Read(file_), Line("", 2));
}

TEST_F(KernelCountsTest, AnAlgorithmIsOfOneCallAlone) {
  KernelCounts counts(file_);
  Call(&counts, 2);
  ASSERT_EQ(counts.Write(), OkStatus());
  Call(&counts, 1);
  ASSERT_EQ(counts.Write(), OkStatus());
  EXPECT_EQ(Read(file_), Line("long", 1) + Line("", 1));
}

TEST_F(KernelCountsTest, FailedCallsDoNotCount) {
  KernelCounts counts(file_);
  Call(&counts, 0);
  ASSERT_EQ(counts.Write(), OkStatus());
  EXPECT_EQ(Read(file_), "");
}

TEST_F(KernelCountsTest, AnotherFileTakesWhatFollows) {
  const std::string other = file_ + ".other";
  KernelCounts counts(file_);
  Call(&counts, 1);
  ASSERT_EQ(counts.ContinueIn(other), OkStatus());
  Call(&counts, 2);
  ASSERT_EQ(counts.Write(), OkStatus());
  EXPECT_EQ(Read(file_), Line("", 1));
  EXPECT_EQ(Read(other), Line("long", 1));
  std::remove(other.c_str());
}

TEST_F(KernelCountsTest, AForkedChildReportsItsOwnCallsAlone) {
  KernelCounts counts(file_);
  Call(&counts, 1);
  const pid_t child = fork();
  ASSERT_GE(child, 0);
  if (child == 0) {
    Call(&counts, 2);
    _exit(counts.Write().ok() ? 0 : 1);
  }
  int status = 0;
  ASSERT_EQ(waitpid(child, &status, 0), child);
  EXPECT_EQ(status, 0);
  EXPECT_EQ(Read(file_), Line("long", 1));
}

TEST_F(KernelCountsTest, AFileThatCannotBeWrittenIsNamed) {
  KernelCounts counts("/nonexistent/counts.tsv");
  Call(&counts, 1);
  ExpectError(counts.Write(), absl::StatusCode::kNotFound,
              "/nonexistent/counts.tsv");
}

}  // namespace
}  // namespace headrace
