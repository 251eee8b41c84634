#include "kernels/conv/conv_plan.h"

#include <algorithm>
#include <cstring>

#include "base/thread_pool.h"
#include "kernels/conv/conv_choice.h"
#include "kernels/conv/layout.h"
#include "kernels/conv/prepared_filter.h"
#include "kernels/lib/cancellable_loops.h"
#include "kernels/lib/narrow_float.h"
#include "kernels/lib/temporary_peak.h"

namespace headrace {
namespace {

// The result, or one of the two tensors that are read, has no elements.
bool HasEmptyResult(ConvDirection d, const ConvParams& p) {
  switch (d) {
    case ConvDirection::kForward:
      return p.out_elements() == 0;
    case ConvDirection::kBackwardInput:
      return p.in_elements() == 0;
    case ConvDirection::kBackwardFilter:
      break;
  }
  return p.filter_elements() == 0;
}
bool SumsNothing(const ConvParams& p) {
  return p.in_elements() == 0 || p.filter_elements() == 0 ||
         p.out_elements() == 0;
}

// `t`, if there is one, as NHWC of type `dtype`. TemporaryBytes counts what
// this allocates.
Status Convert(OpKernelContext* ctx, const Tensor* t, bool transpose,
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
    CastToFloat(ctx->thread_pool(), *out, &wide);
    *out = wide;
  }
  return OkStatus();
}

// The implementation's run, from converted images to a result in its order and
// type. What it allocates is dropped when it ends.
Status RunImplementation(OpKernelContext* ctx, const ConvPlan& plan,
                         const Tensor* filter, ConstantFilter* constant,
                         ConvArgs* args) {
  const ConvImplementation& chosen = *plan.implementation;
  const ConvParams& p = plan.params;
  ThreadPool* const pool = ctx->thread_pool();
  Tensor converted, form, workspace;
  if (plan.filter_form == ConvPlan::FilterForm::kKept) {
    args->prepared_filter = constant->Get(pool, chosen, p);
  }
  if (args->prepared_filter == nullptr && filter != nullptr) {
    if (constant != nullptr &&
        (plan.casts() || !chosen.TakesUnalignedFilter(p))) {
      HR_RETURN_IF_ERROR(constant->Aligned(&filter));
    }
    HR_RETURN_IF_ERROR(Convert(ctx, filter, false, p.dtype, &converted));
    args->filter = converted.raw_data();
    if (plan.filter_form != ConvPlan::FilterForm::kNone) {
      HR_RETURN_IF_ERROR(ctx->allocate_temp(
          DT_UINT8, TensorShape({plan.form_bytes}), &form, Tensor::kHeap));
      chosen.PrepareFilter(pool, p, args->filter, form.raw_data());
      args->prepared_filter = form.raw_data();
    }
  }
  if (plan.workspace_bytes > 0) {
    HR_RETURN_IF_ERROR(ctx->allocate_temp(DT_UINT8,
                                          TensorShape({plan.workspace_bytes}),
                                          &workspace, Tensor::kHeap));
    args->workspace = workspace.raw_data();
  }
  // Not around what `constant` keeps for later calls.
  CancellableLoops cancellable(ctx);
  chosen.Run(*args);
  return OkStatus();
}

}  // namespace

ConvParams ConvPlan::ArithmeticOf(const ConvParams& p) {
  ConvParams out = p;
  if (IsNarrowFloat(p.dtype)) out.dtype = DT_FLOAT;
  out.format = DataFormat::kNHWC;
  if (SumsNothing(p)) return out;
  // Columns of the filter that lie side by side in the image, as patches do
  // and filters as wide as the image: they are one pixel of many channels.
  if (p.in[2] == p.out[2] * p.filter[2] && p.pad_before[2] == 0 &&
      (p.out[2] == 1 || p.stride[2] == p.filter[2]) && p.groups == 1 &&
      p.dilation[2] == 1 && !p.FilterIsInput()) {
    out.in_channels *= p.filter[2];
    out.in[2] = p.out[2];
    out.filter[2] = out.stride[2] = 1;
  }
  // A column of pixels is a row of them: the same bytes.
  if (out.in[2] == 1 && out.filter[2] == 1 && out.out[2] == 1 &&
      out.pad_before[2] == 0 && out.pad_after[2] == 0) {
    for (ConvSizes::Dims* dims :
         {&out.in, &out.filter, &out.out, &out.stride, &out.dilation,
          &out.pad_before, &out.pad_after}) {
      std::rotate(dims->begin(), dims->begin() + 2, dims->end());
    }
  }
  return out;
}

ConvPlan::ConvPlan(const ConvImplementation* chosen, ConvDirection d,
                   const ConvParams& p, const EpilogueTypes& e, int threads)
    : implementation(chosen),
      direction(d),
      params(ArithmeticOf(p)),
      dtype(p.dtype),
      transposes(p.format == DataFormat::kNCHW),
      epilogue(e) {
  if (chosen == nullptr) return;
  form_bytes = d == ConvDirection::kBackwardFilter
                   ? 0
                   : chosen->PreparedFilterBytes(params);
  if (form_bytes > 0) {
    // ConstantForms keep nothing for a constant that lives inside its Tensor.
    const bool keeps = params.constant_filter &&
                       params.filter_elements() * DataTypeSize(dtype) >
                           int64_t{Tensor::kInlineBytes};
    filter_form = keeps ? FilterForm::kKept : FilterForm::kPerCall;
  }
  workspace_bytes = chosen->WorkspaceBytes(params, threads);
  heap_bytes = chosen->HeapBytes(params);
  fuses_epilogue = chosen->AppliesEpilogue();
}

int64_t ConvPlan::result_elements() const {
  return direction == ConvDirection::kForward ? params.out_elements()
         : direction == ConvDirection::kBackwardInput
             ? params.in_elements()
             : params.filter_elements();
}

int64_t ConvPlan::TemporaryBytes() const {
  if (HasEmptyResult(direction, params)) return 0;
  const int64_t size = DataTypeSize(dtype), wide = DataTypeSize(params.dtype);
  TemporaryPeak peak;
  const auto convert = [&](int64_t elements, bool transpose, bool cast) {
    const int64_t nhwc = transpose ? peak.Take(elements * size) : 0;
    if (!cast) return nhwc;
    const int64_t widened = peak.Take(elements * wide);
    peak.Drop(nhwc);
    return widened;
  };
  const auto convert_part = [&](DataType type, int64_t elements,
                                bool transpose) {
    if (type == DT_INVALID) return;
    convert(elements, transpose, type != params.dtype);
  };
  using D = ConvDirection;
  if (direction != D::kBackwardInput) {
    convert(params.in_elements(), transposes, casts());
  }
  if (direction != D::kForward) {
    convert(params.out_elements(), transposes, casts());
  }
  convert_part(epilogue.scale, params.out_channels, false);
  convert_part(epilogue.bias, params.out_channels, false);
  convert_part(epilogue.addend, params.out_elements(), transposes);
  if (casts() || transposes_result()) peak.Take(result_elements() * wide);
  if (implementation != nullptr) {
    int64_t run = 0;
    if (direction != D::kBackwardFilter && filter_form != FilterForm::kKept) {
      run += convert(params.filter_elements(), false, casts());
      run += peak.Take(form_bytes, Tensor::kHeap);
    }
    run += peak.Take(workspace_bytes, Tensor::kHeap);
    run += peak.Take(heap_bytes, Tensor::kHeap);
    peak.Drop(run);
  }
  if (casts() && transposes_result()) peak.Take(result_elements() * size);
  return peak.bytes();
}

Status PlanConv(ThreadPool* pool, ConvDirection direction, const ConvParams& p,
                const EpilogueTypes& epilogue, ConvChooser* chooser,
                ConvPlan* plan) {
  const ConvParams arithmetic = ConvPlan::ArithmeticOf(p);
  const ConvImplementation* chosen = nullptr;
  // Sums of nothing need no algorithm.
  if (!SumsNothing(p)) {
    chosen = chooser == nullptr ? ChooseConv(direction, arithmetic)
                                : chooser->Choose(pool, direction, arithmetic,
                                                  !epilogue.empty());
    if (chosen == nullptr) {
      return errors::Unimplemented("no convolution algorithm for type ",
                                   DataTypeString(arithmetic.dtype));
    }
  }
  *plan = ConvPlan(chosen, direction, p, epilogue, pool->NumThreads());
  return OkStatus();
}

Status RunConv(OpKernelContext* ctx, const ConvPlan& plan,
               const ConvTensors& tensors, const Epilogue& epilogue,
               ConstantFilter* constant, Tensor* result) {
  if (result->NumElements() == 0) return OkStatus();
  ThreadPool* const pool = ctx->thread_pool();
  const ConvParams& p = plan.params;
  if (plan.implementation != nullptr) {
    ctx->set_algorithm(plan.implementation->Name());
  }
  Tensor in, dy, scale, bias, addend;
  const auto image = [&](const Tensor* t, Tensor* out) {
    return Convert(ctx, t, plan.transposes, p.dtype, out);
  };
  const auto channels = [&](const Tensor* t, Tensor* out) {
    return Convert(ctx, t, false, p.dtype, out);
  };
  HR_RETURN_IF_ERROR(image(tensors.input, &in));
  HR_RETURN_IF_ERROR(image(tensors.out_backprop, &dy));
  HR_RETURN_IF_ERROR(channels(epilogue.scale, &scale));
  HR_RETURN_IF_ERROR(channels(epilogue.bias, &bias));
  HR_RETURN_IF_ERROR(image(epilogue.addend, &addend));
  Epilogue after = epilogue;
  if (after.scale != nullptr) after.scale = &scale;
  if (after.bias != nullptr) after.bias = &bias;
  if (after.addend != nullptr) after.addend = &addend;

  // A small tensor keeps its bytes inside itself: `to` is the one that counts.
  Tensor computed;
  Tensor* to = result;
  if (plan.casts() || plan.transposes_result()) {
    HR_RETURN_IF_ERROR(ctx->allocate_temp(p.dtype,
                                          plan.transposes_result()
                                              ? ChannelsLast(result->shape())
                                              : result->shape(),
                                          &computed));
    to = &computed;
  }
  if (plan.implementation == nullptr) {
    std::memset(to->raw_data(), 0, to->TotalBytes());
  } else {
    ConvArgs args;
    args.pool = pool;
    args.params = &p;
    if (tensors.input != nullptr) args.input = in.raw_data();
    if (tensors.out_backprop != nullptr) args.out_backprop = dy.raw_data();
    args.result = to->raw_data();
    if (plan.fuses_epilogue) args.epilogue = after;
    HR_RETURN_IF_ERROR(
        RunImplementation(ctx, plan, tensors.filter, constant, &args));
  }
  if (!plan.fuses_epilogue) {
    ApplyEpilogue(pool, p.dtype, after, p.batch * p.out_pixels(),
                  p.out_channels, to->raw_data());
  }
  if (!plan.casts()) {
    if (plan.transposes_result()) NhwcToNchw(pool, computed, result);
    return OkStatus();
  }
  if (!plan.transposes_result()) {
    CastFromFloat(pool, computed, result);
    return OkStatus();
  }
  Tensor rounded;
  HR_RETURN_IF_ERROR(
      ctx->allocate_temp(result->dtype(), computed.shape(), &rounded));
  CastFromFloat(pool, computed, &rounded);
  NhwcToNchw(pool, rounded, result);
  return OkStatus();
}

}  // namespace headrace
