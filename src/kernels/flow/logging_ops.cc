// Assert, Print, PrintV2, Timestamp. Tensors are summarised as TF 1.x does:
// "[1 2 3...]" with at most `summarize` values each.
#include <atomic>
#include <chrono>
#include <cstdio>

#include "absl/strings/match.h"
#include "absl/strings/strip.h"
#include "framework/kernel/print_listeners.h"
#include "headrace/op_kernel.h"

namespace headrace {
namespace {

class AssertOp : public OpKernel {
 public:
  explicit AssertOp(OpKernelConstruction* ctx) : OpKernel(ctx) {
    OP_REQUIRES_OK(ctx, ctx->GetAttr("summarize", &summarize_));
    expensive_ = false;
  }

  void Compute(OpKernelContext* ctx) override {
    const Tensor& condition = ctx->input(0);
    OP_REQUIRES(ctx, condition.dims() == 0,
                errors::InvalidArgument("In[0] should be a scalar: ",
                                        condition.shape().DebugString()));
    if (condition.scalar<bool>()) return;
    std::string text = "assertion failed:";
    for (int i = 1; i < ctx->num_inputs(); ++i) {
      absl::StrAppend(&text, " [", ctx->input(i).SummarizeValue(summarize_),
                      "]");
    }
    ctx->CtxFailure(errors::InvalidArgument(text));
  }

 private:
  int64_t summarize_ = 3;
};
REGISTER_KERNEL_BUILDER(Name("Assert").Device(DEVICE_CPU), AssertOp);

class PrintOp : public OpKernel {
 public:
  explicit PrintOp(OpKernelConstruction* ctx) : OpKernel(ctx) {
    OP_REQUIRES_OK(ctx, ctx->GetAttr("message", &message_));
    OP_REQUIRES_OK(ctx, ctx->GetAttr("first_n", &first_n_));
    OP_REQUIRES_OK(ctx, ctx->GetAttr("summarize", &summarize_));
  }

  void Compute(OpKernelContext* ctx) override {
    ctx->set_output(0, ctx->input(0));
    if (first_n_ >= 0 && calls_.fetch_add(1) >= first_n_) return;
    std::string text = message_;
    for (int i = 1; i < ctx->num_inputs(); ++i) {
      absl::StrAppend(&text, "[", ctx->input(i).SummarizeValue(summarize_),
                      "]");
    }
    text += '\n';
    std::fwrite(text.data(), 1, text.size(), stderr);
  }

 private:
  std::string message_;
  int64_t first_n_ = -1, summarize_ = 3;
  std::atomic<int64_t> calls_{0};
};
REGISTER_KERNEL_BUILDER(Name("Print").Device(DEVICE_CPU), PrintOp);

// Every log level of TensorFlow's goes to stderr.
class PrintV2Op : public OpKernel {
 public:
  explicit PrintV2Op(OpKernelConstruction* ctx) : OpKernel(ctx) {
    OP_REQUIRES_OK(ctx, ctx->GetAttr("output_stream", &stream_));
    OP_REQUIRES_OK(ctx, ctx->GetAttr("end", &end_));
    const bool known = stream_ == "stdout" || stream_ == "stderr" ||
                       stream_ == "log(info)" || stream_ == "log(warning)" ||
                       stream_ == "log(error)" ||
                       absl::StartsWith(stream_, "file://");
    OP_REQUIRES(ctx, known,
                errors::InvalidArgument(
                    "Unknown output stream: ", stream_,
                    ", must be stdout, stderr, log(info), log(warning), "
                    "log(error) or file://<path>"));
  }

  void Compute(OpKernelContext* ctx) override {
    const Tensor& in = ctx->input(0);
    OP_REQUIRES(ctx, in.dims() == 0,
                errors::InvalidArgument("Input is expected to be scalar, but "
                                        "got ",
                                        in.shape().DebugString()));
    const tstring& value = in.scalar<tstring>();
    std::string text(value.data(), value.size());
    text += end_;
    if (absl::StartsWith(stream_, "file://")) {
      const std::string path(absl::StripPrefix(stream_, "file://"));
      std::FILE* file = std::fopen(path.c_str(), "ab");
      OP_REQUIRES(ctx, file != nullptr,
                  errors::InvalidArgument("cannot append to ", path));
      const bool ok =
          std::fwrite(text.data(), 1, text.size(), file) == text.size();
      OP_REQUIRES(ctx, std::fclose(file) == 0 && ok,
                  errors::Unknown("cannot write to ", path));
      return;
    }
    if (PrintToListeners(text)) return;
    std::FILE* to = stream_ == "stdout" ? stdout : stderr;
    std::fwrite(text.data(), 1, text.size(), to);
    std::fflush(to);
  }

 private:
  std::string stream_, end_;
};
REGISTER_KERNEL_BUILDER(Name("PrintV2").Device(DEVICE_CPU), PrintV2Op);

// Seconds since 1970.
class TimestampOp : public OpKernel {
 public:
  explicit TimestampOp(OpKernelConstruction* ctx) : OpKernel(ctx) {
    expensive_ = false;
  }
  void Compute(OpKernelContext* ctx) override {
    const auto now = std::chrono::system_clock::now().time_since_epoch();
    ctx->set_output(
        0, Tensor::Scalar<double>(std::chrono::duration<double>(now).count()));
  }
};
REGISTER_KERNEL_BUILDER(Name("Timestamp").Device(DEVICE_CPU), TimestampOp);

}  // namespace
}  // namespace headrace
