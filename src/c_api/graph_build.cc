// TF_OperationDescription: a node being described. Calls only collect; the
// first thing that is wrong is kept and reported by TF_FinishOperation, where
// the graph checks the rest.
#include "base/exceptions.h"
#include "c_api/internal.h"
#include "c_api/live_objects.h"
#include "headrace/op.h"

using headrace::AttrValue;
using headrace::DataType;
using headrace::Endpoint;
using headrace::Graph;
using headrace::MutexLock;
using headrace::Node;
using headrace::OkStatus;
using headrace::OpDef;
using headrace::Status;
using headrace::StatusOr;
using namespace headrace::c_api;  // NOLINT: our own few helpers
namespace errors = headrace::errors;

namespace {

// Records the error of a call that has no status argument.
void Fail(TF_OperationDescription* desc, Status s) {
  if (desc->error.ok()) desc->error = std::move(s);
}

// Runs `describe`, unless `desc` is null; that there is no memory for what it
// adds is an error of the description.
template <typename F>
void Describe(TF_OperationDescription* desc, const F& describe) {
  if (desc == nullptr) return;
  const Status s = headrace::CatchExceptions([&] {
    describe();
    return OkStatus();
  });
  if (!s.ok()) Fail(desc, s);
}

// For an invalid input TensorFlow returns InvalidArgument, whatever the cause.
Status BadInput(absl::string_view what, const TF_Output& o) {
  return errors::InvalidArgument(BadOutput(what, o).message());
}

// An attr that the lengths and types of an input list determine: set if it is
// missing, else it must agree.
Status SetOrCheck(const OpDef::Arg& arg, const std::string& attr,
                  AttrValue value, headrace::AttrMap* attrs) {
  const AttrValue* given = attrs->Find(attr);
  if (given == nullptr) {
    attrs->Set(attr, std::move(value));
  } else if (*given != value) {
    return errors::InvalidArgument(
        "input '", arg.name, "' was given ", value.DebugString(), " for attr '",
        attr, "', which was set to ", given->DebugString());
  }
  return OkStatus();
}

// Null if there is none.
const OpDef* FindOpDef(const TF_OperationDescription& desc) {
  const OpDef* def = nullptr;
  if (desc.graph->graph->functions() != nullptr) {
    def = desc.graph->graph->functions()->FindOpDef(desc.def.op);
  }
  return def != nullptr ? def
                        : headrace::OpRegistry::Global()->Find(desc.def.op);
}

// The graph gets a flat list of inputs. Only this function knows how many calls
// it came from. That separates the lists of an op with several list arguments,
// and a list of one tensor from a single tensor.
Status SetListAttrs(TF_OperationDescription* desc) {
  const OpDef* const def = FindOpDef(*desc);
  if (def == nullptr) return OkStatus();  // AddNode says so
  size_t at = 0;
  for (size_t i = 0; i < desc->calls.size() && i < def->inputs.size(); ++i) {
    const OpDef::Arg& arg = def->inputs[i];
    const int count = desc->calls[i];
    const bool is_list = arg.number_attr >= 0 || arg.type_list_attr >= 0;
    if (count == TF_OperationDescription::kSingle) {
      if (is_list) {
        return errors::InvalidArgument("Single tensor passed to '", arg.name,
                                       "', expected list");
      }
      ++at;
      continue;
    }
    if (!is_list) {
      return errors::InvalidArgument("List provided to input '", arg.name,
                                     "' when single Tensor expected, got ",
                                     count, " tensors");
    }
    if (arg.number_attr >= 0) {
      HR_RETURN_IF_ERROR(SetOrCheck(arg, def->attrs[arg.number_attr].name,
                                    int64_t{count}, &desc->def.attrs));
    } else {
      std::vector<DataType> types;
      for (int k = 0; k < count; ++k) {
        const Endpoint& e = desc->inputs[at + k];
        types.push_back(headrace::BaseType(e.node->output_type(e.index)));
      }
      HR_RETURN_IF_ERROR(SetOrCheck(arg, def->attrs[arg.type_list_attr].name,
                                    std::move(types), &desc->def.attrs));
    }
    at += count;
  }
  return OkStatus();
}

// The groups as the attr "_class".
Status SetColocation(TF_OperationDescription* desc) {
  AttrValue groups(std::vector<std::string>(desc->colocation.begin(),
                                            desc->colocation.end()));
  // Lists of groups are no attrs before this.
  if (const AttrValue* given = desc->def.attrs.Find("_class")) {
    return errors::InvalidArgument("Inconsistent values for attr '_class' ",
                                   given->DebugString(), " vs. ",
                                   groups.DebugString());
  }
  desc->def.attrs.Set("_class", std::move(groups));
  return OkStatus();
}

Status Complete(TF_OperationDescription* desc) {
  HR_RETURN_IF_ERROR(desc->error);
  for (const Endpoint& e : desc->inputs) {
    HR_RETURN_IF_ERROR(CheckOwned(*desc->graph->graph, e.node));
  }
  for (const Node* n : desc->control_inputs) {
    HR_RETURN_IF_ERROR(CheckOwned(*desc->graph->graph, n));
  }
  if (!desc->calls.empty()) HR_RETURN_IF_ERROR(SetListAttrs(desc));
  if (!desc->colocation.empty()) HR_RETURN_IF_ERROR(SetColocation(desc));
  return OkStatus();
}

Status Finish(TF_OperationDescription* desc, Node** out) {
  const Status s = Complete(desc);
  if (!s.ok()) {  // AddNode names the node itself
    const OpDef* const def = FindOpDef(*desc);
    return Status(
        s.code(),
        absl::StrCat(s.message(), " while building NodeDef '", desc->def.name,
                     "' using ",
                     def == nullptr ? desc->def.op : def->DebugString()));
  }
  StatusOr<Node*> made = desc->graph->graph->AddNode(
      std::move(desc->def), desc->inputs, desc->control_inputs);
  // A node of an unknown op is an error of its description: InvalidArgument.
  if (errors::IsNotFound(made.status())) {
    return errors::InvalidArgument(made.status().message());
  }
  HR_ASSIGN_OR_RETURN(*out, std::move(made));
  return OkStatus();
}

TF_Operation* FinishAndDelete(TF_OperationDescription* desc, bool lock,
                              TF_Status* status) {
  const auto refuse = [&](const auto&... why) -> TF_Operation* {
    Set(status, errors::InvalidArgument("TF_FinishOperation: the ", why...));
    return nullptr;
  };
  if (desc == nullptr) return refuse("description is NULL");
  if (!LiveObjects<TF_OperationDescription>::Remove(desc)) {
    return refuse("description was finished before");
  }
  const std::unique_ptr<TF_OperationDescription> owned(desc);
  if (desc->graph == nullptr) return refuse("graph is NULL");
  if (!LiveObjects<TF_Graph>::Contains(desc->graph)) {
    return refuse("graph of operation '", desc->def.name,
                  "' was deleted before");
  }
  Node* n = nullptr;
  const auto finish = [&] {
    return headrace::CatchExceptions([&] { return Finish(desc, &n); });
  };
  Status s;
  if (lock) {
    MutexLock l(&desc->graph->graph->mu());
    s = finish();
  } else {
    s = finish();
  }
  Set(status, std::move(s));
  return ToOperation(n);
}

}  // namespace

TF_OperationDescription* TF_NewOperationLocked(TF_Graph* graph,
                                               const char* op_type,
                                               const char* oper_name) {
  // NULL without memory. TF_FinishOperation then reports it.
  TF_OperationDescription* desc = nullptr;
  const auto make = [&] {
    desc = LiveObjects<TF_OperationDescription>::Release(
        std::make_unique<TF_OperationDescription>());
    return OkStatus();
  };
  (void)headrace::CatchExceptions(make).ok();
  if (desc != nullptr) desc->graph = graph;
  Describe(desc, [&] {
    desc->def.op = std::string(Text(op_type));
    desc->def.name = std::string(Text(oper_name));
  });
  return desc;
}

TF_OperationDescription* TF_NewOperation(TF_Graph* graph, const char* op_type,
                                         const char* oper_name) {
  return TF_NewOperationLocked(graph, op_type, oper_name);
}

void TF_SetDevice(TF_OperationDescription* desc, const char* device) {
  Describe(desc, [&] { desc->def.device = std::string(Text(device)); });
}

void TF_AddInput(TF_OperationDescription* desc, TF_Output input) {
  Describe(desc, [&] {
    if (!IsOutput(input)) return Fail(desc, BadInput("TF_AddInput", input));
    desc->inputs.push_back({ToNode(input.oper), input.index});
    desc->calls.push_back(TF_OperationDescription::kSingle);
  });
}

void TF_AddInputList(TF_OperationDescription* desc, const TF_Output* inputs,
                     int num_inputs) {
  Describe(desc, [&] {
    if (num_inputs < 0 || (inputs == nullptr && num_inputs > 0)) {
      return Fail(desc, errors::InvalidArgument("TF_AddInputList: ", num_inputs,
                                                " inputs"));
    }
    for (int i = 0; i < num_inputs; ++i) {
      if (!IsOutput(inputs[i])) {
        return Fail(desc, BadInput(absl::StrCat("TF_AddInputList[", i, "]"),
                                   inputs[i]));
      }
      desc->inputs.push_back({ToNode(inputs[i].oper), inputs[i].index});
    }
    desc->calls.push_back(num_inputs);
  });
}

void TF_AddControlInput(TF_OperationDescription* desc, TF_Operation* input) {
  Describe(desc, [&] {
    if (input == nullptr) {
      return Fail(desc,
                  errors::InvalidArgument("TF_AddControlInput: input is NULL"));
    }
    desc->control_inputs.push_back(ToNode(input));
  });
}

void TF_ColocateWith(TF_OperationDescription* desc, TF_Operation* op) {
  Describe(desc, [&] {
    if (op == nullptr) {
      return Fail(desc, errors::InvalidArgument("TF_ColocateWith: op is NULL"));
    }
    desc->colocation.insert(absl::StrCat("loc:@", ToNode(op)->name()));
  });
}

TF_Operation* TF_FinishOperation(TF_OperationDescription* desc,
                                 TF_Status* status) {
  return FinishAndDelete(desc, /*lock=*/true, status);
}

TF_Operation* TF_FinishOperationLocked(TF_OperationDescription* desc,
                                       TF_Status* status) {
  return FinishAndDelete(desc, /*lock=*/false, status);
}
