// CapturedFunction: a function of the graph with the tensors that it captured
// when the dataset was created. It can be called as long as the session lives.
#ifndef HEADRACE_KERNELS_DATA_CAPTURED_FUNCTION_H_
#define HEADRACE_KERNELS_DATA_CAPTURED_FUNCTION_H_

#include <memory>
#include <string>
#include <utility>

#include "framework/kernel/function_runtime.h"
#include "kernels/data/dataset.h"

namespace headrace {

// Thread-safe.
class CapturedFunction {
 public:
  // Of the function `f` and the inputs of the list `captured`. Compiles it.
  static Status Create(OpKernelContext* ctx, const NameAttrList& f,
                       absl::string_view captured,
                       std::shared_ptr<const CapturedFunction>* out);

  const std::string& name() const { return name_; }
  const DataTypeVector& ret_types() const { return ret_types_; }
  const TensorTuple& captured() const { return captured_; }
  // InvalidArgument, with the function's name, unless its results have these
  // types.
  Status CheckResults(const DataTypeVector& types) const;

  // DetachedFunctions::CheckSavable.
  Status CheckSavable() const { return functions_->CheckSavable(name_); }

  // Calls the function with `args` and the captured tensors, and waits.
  Status Run(const IteratorContext& ctx, TensorTuple args,
             TensorTuple* results) const;
  // `cancellation` and `scope` live until `done`, which may run before this
  // returns, but not inside a callback of the former.
  void RunAsync(CancellationManager* cancellation, FunctionScope* scope,
                TensorTuple args, FunctionRuntime::DoneCallback done) const;
  // DetachedFunctions::Schedule.
  [[nodiscard]] bool Schedule(absl::AnyInvocable<void()> fn) const {
    return functions_->Schedule(std::move(fn));
  }

 private:
  std::shared_ptr<DetachedFunctions> functions_;
  std::shared_ptr<const NodeDef> caller_;  // for messages
  // Do not dereference: the session owns it and may be gone.
  const FunctionRuntime::Function* function_ = nullptr;
  std::string name_;
  DataTypeVector ret_types_;
  TensorTuple captured_;
};

// A dataset op with a function. Reads the attr and creates the
// CapturedFunction.
class FunctionDatasetOp : public UnaryDatasetOp {
 public:
  FunctionDatasetOp(OpKernelConstruction* ctx, const char* attr)
      : UnaryDatasetOp(ctx) {
    OP_REQUIRES_OK(ctx, ctx->GetAttr(attr, &f_));
  }

 protected:
  using UnaryDatasetOp::Make;
  Status Make(OpKernelContext* ctx, RefPtr<const Dataset> input,
              RefPtr<const Dataset>* out) final {
    std::shared_ptr<const CapturedFunction> f;
    HR_RETURN_IF_ERROR(
        CapturedFunction::Create(ctx, f_, "other_arguments", &f));
    return Make(ctx, std::move(input), std::move(f), out);
  }
  virtual Status Make(OpKernelContext* ctx, RefPtr<const Dataset> input,
                      std::shared_ptr<const CapturedFunction> f,
                      RefPtr<const Dataset>* out) = 0;

 private:
  NameAttrList f_;
};

}  // namespace headrace

#endif  // HEADRACE_KERNELS_DATA_CAPTURED_FUNCTION_H_
