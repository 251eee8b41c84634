// TF_GraphImportGraphDef... and what goes in and comes out of it.
#include "c_api/internal.h"
#include "tensorflow/c/c_api_experimental.h"

using headrace::Endpoint;
using headrace::ImportOptions;
using headrace::ImportResults;
using headrace::MutexLock;
using headrace::Node;
using headrace::OkStatus;
using headrace::Status;
using namespace headrace::c_api;  // NOLINT: our own few helpers
namespace errors = headrace::errors;

namespace {

Status Import(TF_Graph* graph, const TF_Buffer* graph_def,
              const TF_ImportGraphDefOptions* options, ImportResults* results) {
  if (graph == nullptr || graph_def == nullptr) {
    return errors::InvalidArgument(
        "import: the ", graph == nullptr ? "graph" : "graph_def", " is NULL");
  }
  if (graph_def->data == nullptr && graph_def->length != 0) {
    return errors::InvalidArgument("import: graph_def has ", graph_def->length,
                                   " bytes at NULL");
  }
  static const ImportOptions* const kDefault = new ImportOptions;
  MutexLock lock(&graph->graph->mu());
  return headrace::ImportGraphDefBytes(
      options == nullptr ? *kDefault : options->options,
      absl::string_view(static_cast<const char*>(graph_def->data),
                        graph_def->length),
      graph->graph.get(), results);
}

// "a:1" as name and index, "^a" as name and kControlSlot.
void SplitKey(const std::string& key, std::string* name, int* index) {
  if (!headrace::ParseEndpointName(key, name, index).ok()) {
    *name = key;
    *index = 0;
  }
}

std::string OutputName(const char* name, int index) {
  return absl::StrCat(Text(name), ":", index);
}

}  // namespace

TF_ImportGraphDefOptions* TF_NewImportGraphDefOptions() {
  return new TF_ImportGraphDefOptions;
}

void TF_DeleteImportGraphDefOptions(TF_ImportGraphDefOptions* opts) {
  delete opts;
}

void TF_ImportGraphDefOptionsSetPrefix(TF_ImportGraphDefOptions* opts,
                                       const char* prefix) {
  if (opts != nullptr) opts->options.prefix = std::string(Text(prefix));
}

void TF_ImportGraphDefOptionsSetDefaultDevice(TF_ImportGraphDefOptions* opts,
                                              const char* device) {
  if (opts != nullptr) opts->options.default_device = std::string(Text(device));
}

void TF_ImportGraphDefOptionsSetUniquifyNames(TF_ImportGraphDefOptions* opts,
                                              unsigned char uniquify_names) {
  if (opts != nullptr) opts->options.uniquify_names = uniquify_names != 0;
}

void TF_ImportGraphDefOptionsSetUniquifyPrefix(TF_ImportGraphDefOptions* opts,
                                               unsigned char uniquify_prefix) {
  if (opts != nullptr) opts->options.uniquify_prefix = uniquify_prefix != 0;
}

void TF_ImportGraphDefOptionsSetValidateColocationConstraints(
    TF_ImportGraphDefOptions* opts, unsigned char enable) {
  if (opts != nullptr) opts->options.validate_colocation = enable != 0;
}

void HR_ImportGraphDefOptionsSetMaxConstantBytes(TF_ImportGraphDefOptions* opts,
                                                 int64_t max_bytes) {
  if (opts != nullptr) opts->options.max_constant_bytes = max_bytes;
}

void TF_ImportGraphDefOptionsAddInputMapping(TF_ImportGraphDefOptions* opts,
                                             const char* src_name,
                                             int src_index, TF_Output dst) {
  if (opts == nullptr) return;
  opts->options.input_map.emplace_back(OutputName(src_name, src_index),
                                       Endpoint{ToNode(dst.oper), dst.index});
}

void TF_ImportGraphDefOptionsRemapControlDependency(
    TF_ImportGraphDefOptions* opts, const char* src_name, TF_Operation* dst) {
  if (opts == nullptr) return;
  opts->options.input_map.emplace_back(
      absl::StrCat("^", Text(src_name)),
      Endpoint{ToNode(dst), headrace::kControlSlot});
}

void TF_ImportGraphDefOptionsAddControlDependency(
    TF_ImportGraphDefOptions* opts, TF_Operation* oper) {
  if (opts == nullptr || oper == nullptr) return;
  opts->options.control_dependencies.push_back(ToNode(oper));
}

void TF_ImportGraphDefOptionsAddReturnOutput(TF_ImportGraphDefOptions* opts,
                                             const char* oper_name, int index) {
  if (opts == nullptr) return;
  opts->options.return_tensors.push_back(OutputName(oper_name, index));
}

int TF_ImportGraphDefOptionsNumReturnOutputs(
    const TF_ImportGraphDefOptions* opts) {
  if (opts == nullptr) return 0;
  return static_cast<int>(opts->options.return_tensors.size());
}

void TF_ImportGraphDefOptionsAddReturnOperation(TF_ImportGraphDefOptions* opts,
                                                const char* oper_name) {
  if (opts == nullptr) return;
  opts->options.return_nodes.push_back(std::string(Text(oper_name)));
}

int TF_ImportGraphDefOptionsNumReturnOperations(
    const TF_ImportGraphDefOptions* opts) {
  if (opts == nullptr) return 0;
  return static_cast<int>(opts->options.return_nodes.size());
}

void TF_ImportGraphDefResultsReturnOutputs(TF_ImportGraphDefResults* results,
                                           int* num_outputs,
                                           TF_Output** outputs) {
  if (num_outputs != nullptr) {
    *num_outputs =
        results == nullptr ? 0 : static_cast<int>(results->outputs.size());
  }
  if (outputs != nullptr) {
    *outputs = results == nullptr ? nullptr : results->outputs.data();
  }
}

void TF_ImportGraphDefResultsReturnOperations(TF_ImportGraphDefResults* results,
                                              int* num_opers,
                                              TF_Operation*** opers) {
  if (num_opers != nullptr) {
    *num_opers =
        results == nullptr ? 0 : static_cast<int>(results->operations.size());
  }
  if (opers != nullptr) {
    *opers = results == nullptr ? nullptr : results->operations.data();
  }
}

void TF_ImportGraphDefResultsMissingUnusedInputMappings(
    TF_ImportGraphDefResults* results, int* num_missing_unused_input_mappings,
    const char*** src_names, int** src_indexes) {
  if (num_missing_unused_input_mappings != nullptr) {
    *num_missing_unused_input_mappings =
        results == nullptr ? 0
                           : static_cast<int>(results->missing_names.size());
  }
  if (src_names != nullptr) {
    *src_names =
        results == nullptr ? nullptr : results->missing_name_pointers.data();
  }
  if (src_indexes != nullptr) {
    *src_indexes =
        results == nullptr ? nullptr : results->missing_indexes.data();
  }
}

void TF_DeleteImportGraphDefResults(TF_ImportGraphDefResults* results) {
  delete results;
}

TF_ImportGraphDefResults* TF_GraphImportGraphDefWithResults(
    TF_Graph* graph, const TF_Buffer* graph_def,
    const TF_ImportGraphDefOptions* options, TF_Status* status) {
  ImportResults got;
  const Status s = Import(graph, graph_def, options, &got);
  Set(status, s);
  if (!s.ok()) return nullptr;
  auto* results = new TF_ImportGraphDefResults;
  for (const Endpoint& e : got.return_tensors) {
    results->outputs.push_back(ToOutput(e));
  }
  for (Node* n : got.return_nodes) {
    results->operations.push_back(ToOperation(n));
  }
  for (const std::string& key : got.missing_unused_input_map_keys) {
    std::string name;
    int index = 0;
    SplitKey(key, &name, &index);
    results->missing_names.push_back(std::move(name));
    results->missing_indexes.push_back(index);
  }
  for (const std::string& name : results->missing_names) {
    results->missing_name_pointers.push_back(name.c_str());
  }
  return results;
}

void TF_GraphImportGraphDefWithReturnOutputs(
    TF_Graph* graph, const TF_Buffer* graph_def,
    const TF_ImportGraphDefOptions* options, TF_Output* return_outputs,
    int num_return_outputs, TF_Status* status) {
  const int wanted = TF_ImportGraphDefOptionsNumReturnOutputs(options);
  if (num_return_outputs != wanted ||
      (return_outputs == nullptr && wanted > 0)) {
    return Set(status, errors::InvalidArgument("import: expected room for ",
                                               wanted, " return_outputs, got ",
                                               num_return_outputs));
  }
  ImportResults got;
  const Status s = Import(graph, graph_def, options, &got);
  for (int i = 0; s.ok() && i < wanted; ++i) {
    return_outputs[i] = ToOutput(got.return_tensors[i]);
  }
  Set(status, s);
}

void TF_GraphImportGraphDef(TF_Graph* graph, const TF_Buffer* graph_def,
                            const TF_ImportGraphDefOptions* options,
                            TF_Status* status) {
  Set(status, Import(graph, graph_def, options, nullptr));
}
