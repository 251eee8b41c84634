#include "kernels/data/captured_function.h"

#include <utility>

#include "framework/tensor/borrowed_buffer.h"

namespace headrace {

Status CapturedFunction::Create(OpKernelContext* ctx, const NameAttrList& f,
                                absl::string_view captured,
                                std::shared_ptr<const CapturedFunction>* out) {
  if (ctx->functions() == nullptr) {
    return errors::FailedPrecondition("function '", f.name,
                                      "' cannot be called outside a session");
  }
  auto made = std::make_shared<CapturedFunction>();
  made->functions_ = ctx->functions()->Detach();
  // The part of a node that messages need; its attrs may be large.
  auto caller = std::make_shared<NodeDef>();
  const NodeDef& def = ctx->op_kernel().def();
  caller->name = def.name;
  caller->op = def.op;
  caller->device = def.device;
  caller->source = def.source;
  made->caller_ = std::move(caller);
  std::vector<const Tensor*> inputs;
  HR_RETURN_IF_ERROR(ctx->input_list(captured, &inputs));
  for (const Tensor* t : inputs) made->captured_.push_back(*t);
  HR_RETURN_IF_ERROR(OwnBytes(&made->captured_));
  HR_RETURN_IF_ERROR(made->functions_->Instantiate(f, ctx->device()->name(),
                                                   &made->function_));
  made->name_ = f.name;
  made->ret_types_ = made->function_->ret_types();
  *out = std::move(made);
  return OkStatus();
}

Status CapturedFunction::CheckResults(const DataTypeVector& types) const {
  if (ret_types_ == types) return OkStatus();
  return errors::InvalidArgument(
      caller_->op, ": function '", name(), "' has results of types ",
      DataTypeSliceString(ret_types_), ", wanted ", DataTypeSliceString(types));
}

void CapturedFunction::RunAsync(CancellationManager* cancellation,
                                FunctionScope* scope, TensorTuple args,
                                FunctionRuntime::DoneCallback done) const {
  args.insert(args.end(), captured_.begin(), captured_.end());
  functions_->Call(*function_, scope, caller_, std::move(args), cancellation,
                   std::move(done));
}

Status CapturedFunction::Run(const IteratorContext& ctx, TensorTuple args,
                             TensorTuple* results) const {
  args.insert(args.end(), captured_.begin(), captured_.end());
  return functions_->CallAndWait(*function_, ctx.scope, caller_,
                                 std::move(args), ctx.cancellation, results);
}

}  // namespace headrace
