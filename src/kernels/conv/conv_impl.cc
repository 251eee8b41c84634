#include "kernels/conv/conv_impl.h"

#include <algorithm>
#include <cstring>

#include "framework/memory/allocation_size.h"
#include "kernels/conv/conv_choice.h"
#include "kernels/conv/conv_lists.h"
#include "kernels/conv/layout.h"
#include "kernels/conv/prepared_filter.h"
#include "kernels/lib/cancellable_loops.h"

namespace headrace {

absl::Span<const ConvImplementation* const> ConvImplementations(
    ConvDirection direction) {
  using D = ConvDirection;
  static const ConvImplementation* const forward[] = {
      conv::Gemm1x1(D::kForward),  conv::GemmFull(D::kForward),
      conv::Depthwise3x3(),        conv::Depthwise(D::kForward),
      conv::WinogradF4(),          conv::WinogradF2(),
      conv::WinogradLine3(),       conv::WinogradLine5(),
      conv::WinogradLine7(),       conv::Narrow(),
      conv::Pointwise(),           conv::DirectForward(),
      conv::Im2colForward(),       conv::EigenForward(),
      conv::Reference(D::kForward)};
  static const ConvImplementation* const backward_input[] = {
      conv::Gemm1x1(D::kBackwardInput),   conv::GemmFull(D::kBackwardInput),
      conv::Depthwise(D::kBackwardInput), conv::TurnedWinogradF4(),
      conv::TurnedWinogradF2(),           conv::TurnedWinogradLine3(),
      conv::TurnedWinogradLine5(),        conv::TurnedWinogradLine7(),
      conv::DirectBackwardInput(),        conv::Reference(D::kBackwardInput)};
  static const ConvImplementation* const backward_filter[] = {
      conv::Gemm1x1(D::kBackwardFilter),   conv::GemmFull(D::kBackwardFilter),
      conv::Depthwise(D::kBackwardFilter), conv::WinogradF4BackwardFilter(),
      conv::WinogradF2BackwardFilter(),    conv::Im2colBackwardFilter(),
      conv::EigenBackwardFilter(),         conv::Reference(D::kBackwardFilter)};
  switch (direction) {
    case D::kForward:
      return forward;
    case D::kBackwardInput:
      return backward_input;
    case D::kBackwardFilter:
      break;
  }
  return backward_filter;
}

double PeakFlopsPerNs(const CpuFeatures& cpu) {
  if (!cpu.fma) return cpu.avx ? 48 : 24;
  // Two multiply-adds of 256 bits a cycle, or of 512 bits where the processor
  // has such units and not, as Zen 4, halves of them.
  const bool wide =
      cpu.avx512f && !(cpu.vendor == "AuthenticAMD" && cpu.family < 26);
  return wide ? 200 : 115;
}

double ConvCostNs(const ConvImplementation& i, const ConvParams& p,
                  const CpuFeatures& cpu) {
  // A millisecond for 33 MB.
  constexpr double kByteNs = 0.03;
  const double ns = i.EstimateNs(p, cpu);
  if (!p.constant_filter) return ns;
  const int64_t more =
      i.PreparedFilterBytes(p) - p.filter_elements() * DataTypeSize(p.dtype);
  return ns + kByteNs * std::max<int64_t>(more, 0);
}

const ConvImplementation* ChooseConv(ConvDirection direction,
                                     const ConvParams& p,
                                     const CpuFeatures& cpu) {
  const ConvImplementation* best = nullptr;
  double best_ns = 0;
  for (const ConvImplementation* i : ConvImplementations(direction)) {
    if (!i->Accepts(p, cpu)) continue;
    const double ns = ConvCostNs(*i, p, cpu);
    if (best == nullptr || ns < best_ns) {
      best = i;
      best_ns = ns;
    }
  }
  return best;
}

namespace {

// `t` (input or output, not the filter) as NHWC of type `dtype`.
Status Normalise(OpKernelContext* ctx, const Tensor* t, bool transpose,
                 DataType dtype, Tensor* out) {
  if (t == nullptr) return OkStatus();
  *out = *t;
  if (transpose) {
    Tensor nhwc;
    HR_RETURN_IF_ERROR(
        ctx->allocate_temp(t->dtype(), ChannelsLast(t->shape()), &nhwc));
    NchwToNhwc(ctx->thread_pool(), *out, &nhwc);
    *out = nhwc;
  }
  if (out->dtype() != dtype) {
    Tensor wide;
    HR_RETURN_IF_ERROR(ctx->allocate_temp(dtype, out->shape(), &wide));
    Widen(ctx->thread_pool(), *out, &wide);
    *out = wide;
  }
  return OkStatus();
}

}  // namespace

Status RunConv(OpKernelContext* ctx, ConvDirection direction,
               const ConvParams& params, const Tensor* input,
               const Tensor* filter, const Tensor* out_backprop, Tensor* result,
               const ConvEpilogue& epilogue, ConstantFilter* constant,
               ConvChooser* chooser) {
  if (result->NumElements() == 0) return OkStatus();
  ConvParams p = params;
  const bool narrow = p.dtype == DT_HALF || p.dtype == DT_BFLOAT16;
  if (narrow) p.dtype = DT_FLOAT;
  const bool nchw = p.format == DataFormat::kNCHW;
  p.format = DataFormat::kNHWC;
  p.constant_filter = constant != nullptr;
  // Sums of nothing need no algorithm.
  bool empty = false;
  for (const Tensor* t : {input, filter, out_backprop}) {
    empty |= t != nullptr && t->NumElements() == 0;
  }
  const ConvImplementation* chosen = nullptr;
  if (!empty) {
    chosen = chooser == nullptr ? ChooseConv(direction, p)
                                : chooser->Choose(ctx->thread_pool(), direction,
                                                  p, !epilogue.empty());
  }
  if (chosen != nullptr) {
    ctx->set_algorithm(chosen->Name());
  } else if (!empty) {
    return errors::Unimplemented("no convolution algorithm for type ",
                                 DataTypeString(p.dtype));
  }

  ThreadPool* pool = ctx->thread_pool();
  Tensor in, w, dy, scale, bias, addend;
  HR_RETURN_IF_ERROR(Normalise(ctx, input, nchw, p.dtype, &in));
  HR_RETURN_IF_ERROR(Normalise(ctx, out_backprop, nchw, p.dtype, &dy));
  HR_RETURN_IF_ERROR(Normalise(ctx, epilogue.scale, false, p.dtype, &scale));
  HR_RETURN_IF_ERROR(Normalise(ctx, epilogue.bias, false, p.dtype, &bias));
  HR_RETURN_IF_ERROR(Normalise(ctx, epilogue.addend, nchw, p.dtype, &addend));
  const bool transpose_result =
      nchw && direction != ConvDirection::kBackwardFilter;
  const bool direct = !narrow && !transpose_result;
  Tensor computed = *result;
  if (!direct) {
    const TensorShape shape =
        transpose_result ? ChannelsLast(result->shape()) : result->shape();
    HR_RETURN_IF_ERROR(ctx->allocate_temp(p.dtype, shape, &computed));
  }
  // Not `computed`'s own bytes: a small tensor keeps them inside itself.
  Tensor* const to = direct ? result : &computed;

  Epilogue after;
  if (epilogue.scale != nullptr) after.scale = scale.raw_data();
  if (epilogue.bias != nullptr) after.bias = bias.raw_data();
  if (epilogue.addend != nullptr) after.addend = addend.raw_data();
  after.activation = epilogue.activation;
  after.leaky_alpha = epilogue.leaky_alpha;

  if (empty) {
    std::memset(to->raw_data(), 0, to->TotalBytes());
  } else {
    ConvArgs args;
    Tensor form;
    const int64_t form_bytes = chosen->PreparedFilterBytes(p);
    if (form_bytes > 0 && constant != nullptr) {
      args.prepared_filter = constant->Get(pool, *chosen, p);
    }
    if (args.prepared_filter == nullptr) {
      if (constant != nullptr && (narrow || !chosen->TakesUnalignedFilter(p))) {
        HR_RETURN_IF_ERROR(constant->Aligned(&filter));
      }
      HR_RETURN_IF_ERROR(Normalise(ctx, filter, false, p.dtype, &w));
      if (filter != nullptr) args.filter = w.raw_data();
      if (form_bytes > 0) {
        HR_RETURN_IF_ERROR(ctx->allocate_temp(
            DT_UINT8, TensorShape({form_bytes}), &form, Tensor::kHeap));
        chosen->PrepareFilter(pool, p, args.filter, form.raw_data());
        args.prepared_filter = form.raw_data();
      }
    }
    Tensor workspace;
    const int64_t workspace_bytes =
        chosen->WorkspaceBytes(p, pool->NumThreads());
    if (workspace_bytes > 0) {
      HR_RETURN_IF_ERROR(ctx->allocate_temp(
          DT_UINT8, TensorShape({workspace_bytes}), &workspace, Tensor::kHeap));
    }
    args.pool = pool;
    args.params = &p;
    if (input != nullptr) args.input = in.raw_data();
    if (out_backprop != nullptr) args.out_backprop = dy.raw_data();
    args.result = to->raw_data();
    if (workspace_bytes > 0) args.workspace = workspace.raw_data();
    if (chosen->AppliesEpilogue()) args.epilogue = after;
    // Not around what `constant` keeps for later calls.
    CancellableLoops cancellable(ctx);
    chosen->Run(args);
  }
  if (empty || !chosen->AppliesEpilogue()) {
    ApplyEpilogue(pool, p.dtype, after, p.batch * p.out_pixels(),
                  p.out_channels, to->raw_data());
  }

  if (narrow) {
    Tensor rounded = *result;
    if (transpose_result) {
      HR_RETURN_IF_ERROR(
          ctx->allocate_temp(result->dtype(), computed.shape(), &rounded));
    }
    Narrow(pool, computed, transpose_result ? &rounded : result);
    computed = rounded;
  }
  if (transpose_result) NhwcToNchw(pool, computed, result);
  return OkStatus();
}

int64_t ConvTemporaryBytes(ThreadPool* pool, ConvDirection direction,
                           const ConvParams& params, bool constant, bool fused,
                           ConvChooser* chooser) {
  ConvParams p = params;
  if (p.in_elements() == 0 || p.filter_elements() == 0 ||
      p.out_elements() == 0) {
    return 0;
  }
  const bool narrow = p.dtype == DT_HALF || p.dtype == DT_BFLOAT16;
  if (narrow) p.dtype = DT_FLOAT;
  const bool nchw = p.format == DataFormat::kNCHW;
  p.format = DataFormat::kNHWC;
  p.constant_filter = constant;
  const ConvImplementation* const chosen =
      chooser->Choose(pool, direction, p, fused);
  if (chosen == nullptr) return 0;
  int64_t total = 0;
  const auto add = [&total](int64_t bytes) {
    if (bytes > 0) {
      total += static_cast<int64_t>(AllocationSize(static_cast<size_t>(bytes)));
    }
  };
  add(chosen->WorkspaceBytes(p, pool->NumThreads()));
  if (!constant) add(chosen->PreparedFilterBytes(p));
  // Copies of images in another order or a wider type, one after the other.
  const auto add_image = [&](int64_t elements) {
    if (nchw) add(elements * DataTypeSize(params.dtype));
    if (narrow) add(elements * DataTypeSize(p.dtype));
  };
  add_image(p.in_elements());
  add_image(p.out_elements());
  if (fused) add_image(p.out_elements());
  if (narrow) add(p.filter_elements() * DataTypeSize(p.dtype));
  return total;
}

}  // namespace headrace
