// _FusedConvChain: convolutions that follow each other, as a graph pass puts
// them together. Band by band of the image where that pays (conv_bands.h);
// otherwise one after the other, each as RunConv does it.
#include <algorithm>
#include <deque>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_split.h"
#include "framework/allocation_size.h"
#include "framework/conv_attrs.h"
#include "framework/op_kernel.h"
#include "framework/stored_constant.h"
#include "framework/temporary_memory.h"
#include "kernels/cancellable_loops.h"
#include "kernels/conv/conv_bands.h"
#include "kernels/conv/conv_choice.h"
#include "kernels/conv/conv_lists.h"
#include "kernels/conv/prepared_filter.h"

namespace headrace {
namespace {

struct Stage {
  bool depthwise = false;
  ConvAttrs attrs;
  FusedOps fused;
  int first_arg = 0;  // among the node's inputs
  ConstantFilter filter;
};

}  // namespace

class FusedConvChainOp : public OpKernel,
                         public TemporaryMemory,
                         public StoredConstantReader {
 public:
  explicit FusedConvChainOp(OpKernelConstruction* ctx)
      : OpKernel(ctx), chooser_(*ctx) {
    OP_REQUIRES_OK(ctx, Init(*ctx));
  }

  void SetConstantInput(int i, const Tensor& value) final {
    if (i >= 1 && i <= static_cast<int>(stages_.size())) {
      stages_[i - 1].filter.Set(value);
    }
  }
  bool TakesStoredConstant(int input) const final {
    return input >= 1 && input <= static_cast<int>(stages_.size());
  }
  void DescribeTraits(KernelTraits* traits) override {
    traits->temporary_memory = this;
    traits->stored_constant_reader = this;
  }

  void Compute(OpKernelContext* ctx) override {
    const size_t n = stages_.size();
    std::vector<ConvParams> params(n);
    std::vector<TensorShape> shapes(n);
    std::vector<ConvEpilogue> epilogues(n);
    TensorShape shape = ctx->input(0).shape();
    for (size_t i = 0; i < n; ++i) {
      const Stage& s = stages_[i];
      OP_REQUIRES_OK(ctx, ConvSizesOf(s.attrs, shape, ctx->input(1 + i).shape(),
                                      s.depthwise, &params[i]));
      params[i].dtype = DT_FLOAT;
      params[i].constant_filter = s.filter.is_set();
      shape = shapes[i] = ConvOutputShape(s.attrs, params[i]);
      OP_REQUIRES_OK(ctx, ReadArgs(ctx, s, params[i], shape, &epilogues[i]));
    }
    Tensor* output = nullptr;
    OP_REQUIRES_OK(ctx, ctx->allocate_output(0, shape, &output));
    if (shape.num_elements() == 0) return;

    const ConvBands bands(params, ctx->thread_pool()->NumThreads());
    if (bands.fits()) {
      OP_REQUIRES_OK(ctx, RunBands(ctx, bands, params, epilogues, output));
      return;
    }
    Tensor from = ctx->input(0);
    for (size_t i = 0; i < n; ++i) {
      Tensor between;
      if (i + 1 < n) {
        OP_REQUIRES_OK(ctx, ctx->allocate_temp(DT_FLOAT, shapes[i], &between));
      }
      Tensor* const to = i + 1 < n ? &between : output;
      ConstantFilter* const constant =
          stages_[i].filter.is_set() ? &stages_[i].filter : nullptr;
      OP_REQUIRES_OK(ctx, RunConv(ctx, ConvDirection::kForward, params[i],
                                  &from, &ctx->input(1 + i), nullptr, to,
                                  epilogues[i], constant, &chooser_));
      from = *to;
    }
  }

  int64_t TemporaryBytes(absl::Span<const TensorShape> inputs,
                         absl::Span<const TensorShape> outputs,
                         ThreadPool* pool) override {
    const size_t n = stages_.size();
    std::vector<ConvParams> params(n);
    TensorShape shape = inputs[0];
    for (size_t i = 0; i < n; ++i) {
      const Stage& s = stages_[i];
      if (!ConvSizesOf(s.attrs, shape, inputs[1 + i], s.depthwise, &params[i])
               .ok()) {
        return 0;
      }
      params[i].dtype = DT_FLOAT;
      params[i].constant_filter = s.filter.is_set();
      shape = ConvOutputShape(s.attrs, params[i]);
    }
    if (shape.num_elements() == 0) return 0;
    const auto size = [](int64_t bytes) {
      return bytes <= 0 ? 0
                        : static_cast<int64_t>(
                              AllocationSize(static_cast<size_t>(bytes)));
    };
    const ConvBands bands(params, pool->NumThreads());
    int64_t total = 0;
    if (bands.fits()) {
      total = size(bands.WorkspaceBytes());
      for (size_t i = 0; i < n; ++i) {
        if (stages_[i].depthwise || params[i].constant_filter) continue;
        total += size(conv::Pointwise()->PreparedFilterBytes(params[i]));
      }
      return total;
    }
    // What a convolution reads, what it writes and what it needs meanwhile.
    int64_t read = 0;
    for (size_t i = 0; i < n; ++i) {
      const int64_t written =
          i + 1 < n ? size(params[i].out_elements() * 4) : 0;
      const int64_t temporary = ConvTemporaryBytes(
          pool, ConvDirection::kForward, params[i], params[i].constant_filter,
          stages_[i].fused.num_args() > 0 ||
              stages_[i].fused.activation != Activation::kNone,
          &chooser_);
      total = std::max(total, read + written + temporary);
      read = written;
    }
    return total;
  }

 private:
  Status Init(const OpKernelConstruction& ctx) {
    int64_t num_args = 0;
    std::vector<std::string> fused_ops;
    ConvChainAttrs attrs;
    HR_RETURN_IF_ERROR(ConvChainAttrs::Read(ctx, &attrs));
    HR_RETURN_IF_ERROR(ctx.GetAttr("num_args", &num_args));
    HR_RETURN_IF_ERROR(ctx.GetAttr("fused_ops", &fused_ops));
    const size_t n = attrs.convs.size();
    if (fused_ops.size() != n) {
      return errors::InvalidArgument("fused_ops: got ", fused_ops.size(),
                                     " elements, wanted num_convs = ", n);
    }
    int arg = 1 + static_cast<int>(n);
    for (size_t i = 0; i < n; ++i) {
      Stage& s = stages_.emplace_back();
      s.depthwise = attrs.depthwise[i];
      s.attrs = attrs.convs[i];
      s.first_arg = arg;
      if (fused_ops[i].empty()) continue;
      const std::vector<std::string> ops = absl::StrSplit(fused_ops[i], ',');
      HR_RETURN_IF_ERROR(FusedOps::Parse(ops, &s.fused));
      const Activation a = s.fused.activation;
      if (s.fused.batch_norm || (s.fused.add && i + 1 < n) ||
          (a != Activation::kNone && a != Activation::kRelu &&
           a != Activation::kRelu6)) {
        return errors::Unimplemented(
            "fused_ops[", i, "]: got ", fused_ops[i],
            ", wanted [Mul] [BiasAdd] [Add, of the last] [Relu | Relu6]");
      }
      arg += s.fused.num_args();
    }
    if (arg != ctx.num_inputs()) {
      return errors::InvalidArgument("args: fused_ops take ",
                                     arg - 1 - static_cast<int>(n),
                                     " arguments, got ", num_args);
    }
    return OkStatus();
  }

  static Status ReadArgs(OpKernelContext* ctx, const Stage& s,
                         const ConvParams& p, const TensorShape& shape,
                         ConvEpilogue* out) {
    int arg = s.first_arg;
    const auto vector = [&](const char* name, bool has, const Tensor** t) {
      if (!has) return OkStatus();
      *t = &ctx->input(arg++);
      if ((*t)->shape() == TensorShape({p.out_channels})) return OkStatus();
      return errors::InvalidArgument(name, ": got shape ",
                                     (*t)->shape().DebugString(),
                                     ", wanted one element for each of ",
                                     p.out_channels, " output channels");
    };
    HR_RETURN_IF_ERROR(vector("mul", s.fused.mul, &out->scale));
    HR_RETURN_IF_ERROR(vector("bias", s.fused.bias, &out->bias));
    if (s.fused.add) {
      out->addend = &ctx->input(arg);
      if (out->addend->shape() != shape) {
        return errors::InvalidArgument(
            "addend: got shape ", out->addend->shape().DebugString(),
            ", wanted the output's, ", shape.DebugString());
      }
    }
    out->activation = s.fused.activation;
    return OkStatus();
  }

  Status RunBands(OpKernelContext* ctx, const ConvBands& bands,
                  const std::vector<ConvParams>& params,
                  const std::vector<ConvEpilogue>& epilogues, Tensor* output) {
    ctx->set_algorithm(kBands);
    const auto data = [](const Tensor* t) {
      return t == nullptr ? nullptr : t->raw_data();
    };
    std::vector<BandStage> stages(params.size());
    std::vector<Tensor> forms(params.size());
    for (size_t i = 0; i < params.size(); ++i) {
      const ConvEpilogue& e = epilogues[i];
      stages[i].params = &params[i];
      stages[i].epilogue = {data(e.scale), data(e.bias), data(e.addend),
                            e.activation};
      chooser_.Report(ctx->thread_pool(), params[i], !e.empty(), kBands);
      const ConvImplementation& pointwise = *conv::Pointwise();
      if (!stages_[i].depthwise) {
        stages[i].filter =
            stages_[i].filter.Get(ctx->thread_pool(), pointwise, params[i]);
        if (stages[i].filter != nullptr) continue;
      }
      const Tensor* filter = &ctx->input(1 + i);
      if (stages_[i].filter.is_set()) {
        HR_RETURN_IF_ERROR(stages_[i].filter.Aligned(&filter));
      }
      stages[i].filter = filter->raw_data();
      if (stages_[i].depthwise) continue;
      HR_RETURN_IF_ERROR(ctx->allocate_temp(
          DT_UINT8, TensorShape({pointwise.PreparedFilterBytes(params[i])}),
          &forms[i], Tensor::kHeap));
      pointwise.PrepareFilter(ctx->thread_pool(), params[i], stages[i].filter,
                              forms[i].raw_data());
      stages[i].filter = forms[i].raw_data();
    }
    Tensor workspace;
    HR_RETURN_IF_ERROR(ctx->allocate_temp(DT_UINT8,
                                          TensorShape({bands.WorkspaceBytes()}),
                                          &workspace, Tensor::kHeap));
    CancellableLoops cancellable(ctx);
    bands.Run(ctx->thread_pool(), stages, ctx->input(0).data<float>(),
              output->data<float>(), workspace.raw_data());
    return OkStatus();
  }

  static constexpr char kBands[] = "bands";

  std::deque<Stage> stages_;  // none moves
  ConvChooser chooser_;
};

REGISTER_KERNEL_BUILDER(
    Name("_FusedConvChain").Device(DEVICE_CPU).TypeConstraint<float>("T"),
    FusedConvChainOp);

}  // namespace headrace
