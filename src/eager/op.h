// EagerOp: an op or a function that a client describes and executes, perhaps
// several times. Used by one thread at a time.
#ifndef HEADRACE_EAGER_OP_H_
#define HEADRACE_EAGER_OP_H_

#include <memory>
#include <string>
#include <vector>

#include "eager/context.h"

namespace headrace {

class EagerOp {
 public:
  // Describes another op from now on; inputs and attrs are forgotten. NotFound
  // if there is no op or function of that name.
  Status Reset(std::shared_ptr<EagerContext> context, std::string name);

  const std::shared_ptr<EagerContext>& context() const { return context_; }
  const std::string& name() const { return call_.name; }
  const OpDef& op_def() const { return *call_.op_def; }
  const AttrMap& attrs() const { return call_.attrs; }

  // "" for any. InvalidArgument if it is no name of a device.
  Status SetDevice(absl::string_view device);
  // What was asked for; after Execute the device where the op ran.
  const std::string& device() const { return device_; }

  // The first failure to set an attr is what Execute returns.
  void SetAttr(absl::string_view name, AttrValue value);
  // Keeps a value that is there.
  void AddAttr(absl::string_view name, AttrValue value);
  void Fail(Status why);

  void AddInput(RefPtr<TensorHandle> input);
  // The inputs of one argument.
  void AddInputList(std::vector<RefPtr<TensorHandle>> inputs);
  absl::Span<const RefPtr<TensorHandle>> inputs() const { return inputs_; }

  // How many tensors an argument has, as far as the inputs and attrs so far
  // tell. InvalidArgument if there is no such argument.
  Status InputLength(absl::string_view argument, int* length) const;
  Status OutputLength(absl::string_view argument, int* length) const;

  // May be null. Cancels an execution in progress, and all later ones.
  void SetCancellation(std::shared_ptr<CancellationManager> cancellation) {
    cancellation_ = std::move(cancellation);
  }

  // See EagerContext::Execute. The op can be executed again.
  Status Execute(int max_outputs, std::vector<RefPtr<TensorHandle>>* outputs);

 private:
  Status CheckArgs() const;
  std::shared_ptr<EagerContext> context_;
  EagerCall call_;
  DeviceName wanted_;
  std::string device_;
  absl::InlinedVector<RefPtr<TensorHandle>, 4> inputs_;
  std::shared_ptr<CancellationManager> cancellation_;
  Status error_;
  // Single inputs were added where the op wants a list: the client deals its
  // inputs out by attrs, and arg_sizes is empty.
  bool sizes_unknown_ = false;
};

}  // namespace headrace

#endif  // HEADRACE_EAGER_OP_H_
