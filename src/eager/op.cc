#include "eager/op.h"

#include <utility>

#include "absl/strings/str_cat.h"

namespace headrace {
namespace {

bool IsList(const OpDef::Arg& arg) {
  return arg.number_attr >= 0 || arg.type_list_attr >= 0;
}

// The number of tensors of an argument whose attrs are set.
Status LengthOf(const OpDef& def, const OpDef::Arg& arg, const AttrMap& attrs,
                int* length) {
  *length = 1;
  if (!IsList(arg)) return OkStatus();
  const bool is_number = arg.number_attr >= 0;
  const std::string& attr =
      def.attrs[is_number ? arg.number_attr : arg.type_list_attr].name;
  if (is_number) return attrs.Get(attr, length);
  DataTypeVector types;
  HR_RETURN_IF_ERROR(attrs.Get(attr, &types));
  *length = static_cast<int>(types.size());
  return OkStatus();
}

}  // namespace

Status EagerOp::Reset(std::shared_ptr<EagerContext> context, std::string name) {
  std::shared_ptr<const OpDef> def;
  HR_RETURN_IF_ERROR(context->FindOpDef(name, &def));
  *this = EagerOp();
  context_ = std::move(context);
  call_.name = std::move(name);
  call_.op_def = std::move(def);
  return OkStatus();
}

Status EagerOp::SetDevice(absl::string_view device) {
  DeviceName name;
  if (!device.empty()) {
    Status s = DeviceName::Parse(device, &name);
    if (s.ok() && device[0] != '/' && !name.has_id) {  // a word alone
      s = errors::InvalidArgument("Malformed device specification '", device,
                                  "'");
    }
    HR_RETURN_IF_ERROR(Annotate(s, StrCat(" in eager op ", call_.name)));
  }
  wanted_ = std::move(name);
  device_ = wanted_.ToString();
  return OkStatus();
}

void EagerOp::SetAttr(absl::string_view name, AttrValue value) {
  call_.attrs.Set(name, std::move(value));
}

void EagerOp::AddAttr(absl::string_view name, AttrValue value) {
  if (call_.attrs.Find(name) == nullptr) SetAttr(name, std::move(value));
}

void EagerOp::Fail(Status why) {
  if (error_.ok()) error_ = std::move(why);
}

void EagerOp::AddInput(RefPtr<TensorHandle> input) {
  const std::vector<OpDef::Arg>& args = call_.op_def->inputs;
  const size_t at = call_.arg_sizes.size();
  if (!sizes_unknown_ && at < args.size() && !IsList(args[at])) {
    call_.arg_sizes.push_back(1);
  } else {
    sizes_unknown_ = true;
    call_.arg_sizes.clear();
  }
  call_.input_types.push_back(input->dtype());
  inputs_.push_back(std::move(input));
}

void EagerOp::AddInputList(std::vector<RefPtr<TensorHandle>> inputs) {
  if (!sizes_unknown_) {
    call_.arg_sizes.push_back(static_cast<int>(inputs.size()));
  }
  for (RefPtr<TensorHandle>& h : inputs) {
    call_.input_types.push_back(h->dtype());
    inputs_.push_back(std::move(h));
  }
}

Status EagerOp::InputLength(absl::string_view argument, int* length) const {
  const int i = call_.op_def->FindInput(argument);
  if (i < 0) return errors::InvalidArgument("Input '", argument, "' not found");
  if (static_cast<size_t>(i) < call_.arg_sizes.size()) {
    *length = call_.arg_sizes[i];
    return OkStatus();
  }
  AttrMap attrs;
  HR_RETURN_IF_ERROR(CompleteAttrs(call_, &attrs));
  return LengthOf(*call_.op_def, call_.op_def->inputs[i], attrs, length);
}

Status EagerOp::OutputLength(absl::string_view argument, int* length) const {
  const int i = call_.op_def->FindOutput(argument);
  if (i < 0) {
    return errors::InvalidArgument("Output '", argument, "' not found");
  }
  AttrMap attrs;
  HR_RETURN_IF_ERROR(CompleteAttrs(call_, &attrs));
  return LengthOf(*call_.op_def, call_.op_def->outputs[i], attrs, length);
}

Status EagerOp::CheckArgs() const {
  const std::vector<OpDef::Arg>& args = call_.op_def->inputs;
  for (size_t i = 0; i < call_.arg_sizes.size(); ++i) {
    if (i >= args.size()) {
      return errors::InvalidArgument("expected inputs for ", args.size(),
                                     " arguments, got more for op ",
                                     call_.name);
    }
    if (call_.arg_sizes[i] != 1 && !IsList(args[i])) {
      return errors::InvalidArgument("input '", args[i].name, "' of op ",
                                     call_.name,
                                     " is one tensor, got a list "
                                     "of ",
                                     call_.arg_sizes[i]);
    }
  }
  return OkStatus();
}

Status EagerOp::Execute(int max_outputs,
                        std::vector<RefPtr<TensorHandle>>* outputs) {
  HR_RETURN_IF_ERROR(error_);
  HR_RETURN_IF_ERROR(CheckArgs());
  Device* used = nullptr;
  const Status s =
      context_->Execute(call_, wanted_, inputs_, cancellation_.get(),
                        max_outputs, outputs, &used);
  if (used != nullptr && device_ != used->name()) device_ = used->name();
  return s;
}

}  // namespace headrace
