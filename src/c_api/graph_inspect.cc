// TF_Operation: what a node is and what it is connected to.
#include <algorithm>

#include "c_api/internal.h"
#include "framework/op/tensor_proto.h"

using headrace::ArgRange;
using headrace::Edge;
using headrace::Node;
using headrace::OpDef;
using headrace::Status;
using namespace headrace::c_api;  // NOLINT: our own few helpers
namespace errors = headrace::errors;
namespace pb = headrace::pb;

namespace {

int ListLength(const Node* n, const std::vector<OpDef::Arg>& args,
               const char* arg_name, TF_Status* status) {
  std::vector<ArgRange> ranges;
  Status s = headrace::ArgRanges(args, n->op_def(), n->attrs(), &ranges);
  for (size_t i = 0; s.ok() && i < args.size(); ++i) {
    if (args[i].name == Text(arg_name)) {
      SetOk(status);
      return ranges[i].end - ranges[i].begin;
    }
  }
  if (s.ok()) {
    s = errors::InvalidArgument("op ", n->type_string(), " of node '",
                                n->name(), "' has no argument named '",
                                Text(arg_name), "'");
  }
  Set(status, std::move(s));
  return -1;
}

// Hands each consumer of an output to `f`.
template <typename F>
int ForEachConsumer(const Node* n, int index, F f) {
  int count = 0;
  for (const Edge* e : n->out_edges()) {
    if (e->src_output() == index) f(count++, e);
  }
  return count;
}

std::string InputName(const Edge* e) {
  if (e->IsControlEdge()) return absl::StrCat("^", e->src()->name());
  if (e->src_output() == 0) return e->src()->name();
  return absl::StrCat(e->src()->name(), ":", e->src_output());
}

}  // namespace

const char* TF_OperationName(TF_Operation* oper) {
  return oper == nullptr ? "" : ToNode(oper)->name().c_str();
}

const char* TF_OperationOpType(TF_Operation* oper) {
  return oper == nullptr ? "" : ToNode(oper)->type_string().c_str();
}

const char* TF_OperationDevice(TF_Operation* oper) {
  return oper == nullptr ? "" : ToNode(oper)->requested_device().c_str();
}

int TF_OperationNumOutputs(TF_Operation* oper) {
  return oper == nullptr ? 0 : ToNode(oper)->num_outputs();
}

TF_DataType TF_OperationOutputType(TF_Output oper_out) {
  if (!IsOutput(oper_out)) return FromDataType(headrace::DT_INVALID);
  return FromDataType(ToNode(oper_out.oper)->output_type(oper_out.index));
}

int TF_OperationOutputListLength(TF_Operation* oper, const char* arg_name,
                                 TF_Status* status) {
  if (oper == nullptr) {
    Set(status, errors::InvalidArgument("the operation is NULL"));
    return -1;
  }
  const Node* n = ToNode(oper);
  return ListLength(n, n->op_def().outputs, arg_name, status);
}

int TF_OperationNumInputs(TF_Operation* oper) {
  return oper == nullptr ? 0 : ToNode(oper)->num_inputs();
}

TF_DataType TF_OperationInputType(TF_Input oper_in) {
  if (oper_in.index < 0 ||
      oper_in.index >= TF_OperationNumInputs(oper_in.oper)) {
    return FromDataType(headrace::DT_INVALID);
  }
  return FromDataType(ToNode(oper_in.oper)->input_type(oper_in.index));
}

int TF_OperationInputListLength(TF_Operation* oper, const char* arg_name,
                                TF_Status* status) {
  if (oper == nullptr) {
    Set(status, errors::InvalidArgument("the operation is NULL"));
    return -1;
  }
  const Node* n = ToNode(oper);
  return ListLength(n, n->op_def().inputs, arg_name, status);
}

TF_Output TF_OperationInput(TF_Input oper_in) {
  if (oper_in.index < 0 ||
      oper_in.index >= TF_OperationNumInputs(oper_in.oper)) {
    return {nullptr, -1};
  }
  const Edge* e = ToNode(oper_in.oper)->input_edge(oper_in.index);
  if (e == nullptr) return {nullptr, -1};
  return {ToOperation(e->src()), e->src_output()};
}

void TF_OperationAllInputs(TF_Operation* oper, TF_Output* inputs,
                           int max_inputs) {
  if (inputs == nullptr) return;
  const int n = std::min(TF_OperationNumInputs(oper), max_inputs);
  for (int i = 0; i < n; ++i) inputs[i] = TF_OperationInput({oper, i});
}

int TF_OperationOutputNumConsumers(TF_Output oper_out) {
  if (!IsOutput(oper_out)) return 0;
  return ForEachConsumer(ToNode(oper_out.oper), oper_out.index,
                         [](int, const Edge*) {});
}

int TF_OperationOutputConsumers(TF_Output oper_out, TF_Input* consumers,
                                int max_consumers) {
  if (!IsOutput(oper_out)) return 0;
  return ForEachConsumer(
      ToNode(oper_out.oper), oper_out.index, [&](int i, const Edge* e) {
        if (consumers != nullptr && i < max_consumers) {
          consumers[i] = {ToOperation(e->dst()), e->dst_input()};
        }
      });
}

int TF_OperationNumControlInputs(TF_Operation* oper) {
  if (oper == nullptr) return 0;
  return static_cast<int>(ToNode(oper)->control_inputs().size());
}

int TF_OperationGetControlInputs(TF_Operation* oper,
                                 TF_Operation** control_inputs,
                                 int max_control_inputs) {
  const int n = TF_OperationNumControlInputs(oper);
  if (control_inputs == nullptr) return n;
  for (int i = 0; i < std::min(n, max_control_inputs); ++i) {
    control_inputs[i] = ToOperation(ToNode(oper)->control_inputs()[i]->src());
  }
  return n;
}

int TF_OperationNumControlOutputs(TF_Operation* oper) {
  if (oper == nullptr) return 0;
  return ForEachConsumer(ToNode(oper), headrace::kControlSlot,
                         [](int, const Edge*) {});
}

int TF_OperationGetControlOutputs(TF_Operation* oper,
                                  TF_Operation** control_outputs,
                                  int max_control_outputs) {
  if (oper == nullptr) return 0;
  return ForEachConsumer(
      ToNode(oper), headrace::kControlSlot, [&](int i, const Edge* e) {
        if (control_outputs != nullptr && i < max_control_outputs) {
          control_outputs[i] = ToOperation(e->dst());
        }
      });
}

void TF_OperationToNodeDef(TF_Operation* oper, TF_Buffer* output_node_def,
                           TF_Status* status) {
  if (oper == nullptr) {
    return Set(status, errors::InvalidArgument("TF_OperationToNodeDef: NULL"));
  }
  const Node* n = ToNode(oper);
  pb::NodeDef proto;
  headrace::NodeDefToProto(n->def(), &proto);
  proto.clear_input();
  for (const Edge* e : n->data_inputs()) {
    if (e != nullptr) proto.add_input(InputName(e));
  }
  for (const Edge* e : n->control_inputs()) proto.add_input(InputName(e));
  Set(status, ToBuffer(proto, output_node_def));
}
