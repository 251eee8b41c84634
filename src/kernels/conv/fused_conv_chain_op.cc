// _FusedConvChain: convolutions that follow each other, as a graph pass puts
// them together. Band by band of the image where that pays (conv_bands.h);
// otherwise one after the other, each as RunConv does it.
#include <algorithm>
#include <deque>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_split.h"
#include "base/thread_pool.h"
#include "framework/kernel/temporary_memory.h"
#include "framework/shape_fns/conv_attrs.h"
#include "framework/tensor/stored_constant.h"
#include "headrace/op_kernel.h"
#include "kernels/conv/conv_bands.h"
#include "kernels/conv/conv_choice.h"
#include "kernels/conv/conv_lists.h"
#include "kernels/conv/conv_plan.h"
#include "kernels/conv/prepared_filter.h"
#include "kernels/lib/cancellable_loops.h"
#include "kernels/lib/temporary_peak.h"

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
    std::vector<Epilogue> epilogues(n);
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
      ConvPlan plan;
      OP_REQUIRES_OK(
          ctx, PlanStage(ctx->thread_pool(), stages_[i], params[i], &plan));
      OP_REQUIRES_OK(ctx, RunConv(ctx, plan, {&from, &ctx->input(1 + i)},
                                  epilogues[i], constant, to));
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
    const ConvBands bands(params, pool->NumThreads());
    int64_t total = 0;
    if (bands.fits()) {
      total = TemporarySize(bands.WorkspaceBytes(), Tensor::kHeap);
      for (size_t i = 0; i < n; ++i) {
        if (stages_[i].depthwise || params[i].constant_filter) continue;
        total += TemporarySize(
            conv::Pointwise()->PreparedFilterBytes(params[i]), Tensor::kHeap);
      }
      return total;
    }
    // What a convolution reads, what it writes and what it needs meanwhile.
    int64_t read = 0;
    for (size_t i = 0; i < n; ++i) {
      const int64_t written =
          i + 1 < n
              ? TemporarySize(params[i].out_elements() * int64_t{sizeof(float)})
              : 0;
      ConvPlan plan;
      if (!PlanStage(pool, stages_[i], params[i], &plan).ok()) return 0;
      total = std::max(total, read + written + plan.TemporaryBytes());
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
      if (s.fused.batch_norm || s.fused.rounds || (s.fused.add && i + 1 < n) ||
          s.fused.activation >= Activation::kFirstFunction) {
        return errors::Unimplemented(
            "fused_ops[", i, "]: got ", fused_ops[i],
            ", wanted [Mul] [BiasAdd] [Add, of the last] [an activation that "
            "is bounds, such as Relu]");
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

  Status PlanStage(ThreadPool* pool, const Stage& s, const ConvParams& p,
                   ConvPlan* plan) {
    return PlanConv(pool, ConvDirection::kForward, p, s.fused.Types(DT_FLOAT),
                    &chooser_, plan);
  }

  static Status ReadArgs(OpKernelContext* ctx, const Stage& s,
                         const ConvParams& p, const TensorShape& shape,
                         Epilogue* out) {
    *out = s.fused.Begin();
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
    return OkStatus();
  }

  Status RunBands(OpKernelContext* ctx, const ConvBands& bands,
                  const std::vector<ConvParams>& params,
                  const std::vector<Epilogue>& epilogues, Tensor* output) {
    ctx->set_algorithm(kBands);
    std::vector<BandStage> stages(params.size());
    std::vector<Tensor> forms(params.size());
    for (size_t i = 0; i < params.size(); ++i) {
      stages[i].params = &params[i];
      stages[i].epilogue = epilogues[i];
      chooser_.Report(ctx->thread_pool(), params[i], !epilogues[i].empty(),
                      kBands);
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
