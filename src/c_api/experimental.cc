// c_api_experimental.h: options, texts for people, ops and kernels, queues by
// number, lists of shapes, the process.
#include <netinet/in.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>

#include "absl/strings/numbers.h"
#include "absl/strings/strip.h"
#include "c_api/internal.h"
#include "framework/op/message_util.h"
#include "headrace/op.h"
#include "headrace/op_kernel.h"
#include "tensorflow/c/c_api_experimental.h"

using headrace::DataType;
using headrace::KernelRegistry;
using headrace::MutexLock;
using headrace::Node;
using headrace::OkStatus;
using headrace::OpDef;
using headrace::OpRegistry;
using headrace::Status;
using namespace headrace::c_api;  // NOLINT: our own few helpers
namespace errors = headrace::errors;
namespace pb = headrace::pb;

static_assert(sizeof(TF_ShapeAndType) == 24 &&
              sizeof(TF_ShapeAndTypeList) == 16);

struct TF_AttrBuilder {
  headrace::NodeDef def;
  Status error;  // the first
};

namespace {

// What clients set of a compiler that is not there.
struct XlaSettings {
  std::atomic<unsigned char> lazy_compilation{1}, cpu_global_jit{0},
      constant_folding_disabled{0};
  std::atomic<int> level_single_gpu{0}, level_general{0}, min_cluster_size{4};
};
constinit XlaSettings g_xla;

void SetJitLevel(unsigned char enable, pb::ConfigProto* config) {
  config->mutable_graph_options()
      ->mutable_optimizer_options()
      ->set_global_jit_level(enable != 0 ? pb::OptimizerOptions::ON_1
                                         : pb::OptimizerOptions::OFF);
}

char* TextOf(const headrace::AnyMessage& message, size_t* len) {
  const std::string text = headrace::MessageToText(message);
  if (len != nullptr) *len = text.size();
  return NewText(text);
}

Status FindOp(const char* name, const OpDef** def) {
  return OpRegistry::Global()->LookUp(Text(name), def);
}

// The node of that name and number in the session's graph.
Status FindNumbered(TF_Session* session, const char* name, int number,
                    Node** node) {
  if (session == nullptr) return errors::InvalidArgument("the session is NULL");
  const std::string whole = absl::StrCat(name, number);
  const std::shared_ptr<headrace::Graph>& graph = session->session->graph();
  MutexLock lock(&graph->mu());
  *node = graph->FindNode(whole);
  if (*node != nullptr) return OkStatus();
  return errors::Internal("Unable to find the node '", whole,
                          "' in the graph of the session");
}

Status EnqueueNamed(TF_Session* session, int id, const TF_Tensor* value) {
  if (value == nullptr) return errors::InvalidArgument("the tensor is NULL");
  Node *enqueue = nullptr, *arg = nullptr;
  HR_RETURN_IF_ERROR(
      FindNumbered(session, "fifo_queue_enqueue_", id, &enqueue));
  HR_RETURN_IF_ERROR(FindNumbered(session, "arg_tensor_enqueue_", id, &arg));
  FeedList feeds;
  feeds.emplace_back(headrace::Endpoint{arg, 0}, headrace::Tensor());
  HR_RETURN_IF_ERROR(ReadTensor(*value, &feeds.back().second));
  Node* const targets[] = {enqueue};
  return RunAndWrap(session->session.get(), nullptr, feeds, {}, targets,
                    nullptr, nullptr);
}

Status DequeueNamed(TF_Session* session, int id, TF_Tensor** value) {
  Node* dequeue = nullptr;
  HR_RETURN_IF_ERROR(
      FindNumbered(session, "fifo_queue_dequeue_", id, &dequeue));
  const headrace::Endpoint fetches[] = {{dequeue, 0}};
  return RunAndWrap(session->session.get(), nullptr, {}, fetches, {}, value,
                    nullptr);
}

TF_ShapeAndType* ItemOf(TF_ShapeAndTypeList* list, int index) {
  return list == nullptr || index < 0 || index >= list->num_items
             ? nullptr
             : &list->items[index];
}

void SetItemShape(TF_ShapeAndType* item, const int64_t* dims, int num_dims) {
  delete[] item->dims;
  item->dims = num_dims < 0 ? nullptr : new int64_t[num_dims];
  item->num_dims = num_dims;
  for (int i = 0; i < num_dims; ++i) item->dims[i] = dims[i];
}

void SetBuilderAttr(TF_AttrBuilder* builder, const char* attr,
                    const TF_DataType* values, int n,
                    headrace::AttrValue (*make)(std::vector<DataType>)) {
  if (builder == nullptr) return;
  if (Text(attr).empty() || n < 0 || (values == nullptr && n > 0)) {
    builder->error.Update(errors::InvalidArgument(
        "attr '", Text(attr), "' of op '", builder->def.op, "': ", n,
        " types at ", values == nullptr ? "NULL" : "an address"));
    return;
  }
  std::vector<DataType> types;
  for (int i = 0; i < n; ++i) types.push_back(ToDataType(values[i]));
  builder->def.attrs.Set(attr, make(std::move(types)));
}

Status CanRunOn(TF_AttrBuilder* builder, const char* device) {
  if (builder == nullptr || device == nullptr) {
    return errors::InvalidArgument(
        "TF_AttrBuilderCheckCanRunOnDevice: the ",
        builder == nullptr ? "builder" : "device type", " is NULL");
  }
  HR_RETURN_IF_ERROR(builder->error);
  const OpDef* op = nullptr;
  HR_RETURN_IF_ERROR(FindOp(builder->def.op.c_str(), &op));
  headrace::NodeDef node = builder->def;
  headrace::AddDefaultAttrs(*op, &node.attrs);
  if (KernelRegistry::Global()->HasKernel(device, node)) return OkStatus();
  return errors::NotFound(
      "No registered '", node.op, "' OpKernel for '", device,
      "' devices compatible with node ", SummarizeNodeDef(node),
      "\n\t.  Registered:", KernelRegistry::Global()->Describe(node.op));
}

}  // namespace

void TF_EnableXLACompilation(TF_SessionOptions* options, unsigned char enable) {
  if (options != nullptr) SetJitLevel(enable, &options->config);
}

unsigned char TF_SetXlaEnableLazyCompilation(unsigned char enable) {
  return g_xla.lazy_compilation.exchange(enable != 0);
}

unsigned char TF_SetTfXlaCpuGlobalJit(unsigned char enable) {
  return g_xla.cpu_global_jit.exchange(enable != 0);
}

void TF_SetXlaAutoJitMode(const char* mode) {
  absl::string_view word = Text(mode);
  int level = 0;
  if (word == "fusible") {
    g_xla.level_single_gpu = g_xla.level_general = 1;
  } else if (absl::SimpleAtoi(word, &level)) {
    g_xla.level_single_gpu = g_xla.level_general = level;
  } else if (absl::ConsumePrefix(&word, "single-gpu(") &&
             absl::ConsumeSuffix(&word, ")") &&
             absl::SimpleAtoi(word, &level)) {
    g_xla.level_single_gpu = level;
  }
}

unsigned char TF_GetXlaAutoJitEnabled() {
  return g_xla.level_single_gpu > 0 || g_xla.level_general > 0;
}

void TF_SetXlaMinClusterSize(int size) { g_xla.min_cluster_size = size; }

unsigned char TF_GetXlaConstantFoldingDisabled() {
  return g_xla.constant_folding_disabled;
}

void TF_SetXlaConstantFoldingDisabled(unsigned char should_enable) {
  g_xla.constant_folding_disabled = should_enable != 0;
}

TF_Buffer* TF_CreateConfig(unsigned char enable_xla_compilation,
                           unsigned char gpu_memory_allow_growth,
                           unsigned int num_cpu_devices) {
  pb::ConfigProto config;
  SetJitLevel(enable_xla_compilation, &config);
  if (enable_xla_compilation != 0) {  // as TensorFlow does
    g_xla.cpu_global_jit = 1;
    g_xla.min_cluster_size = 1;
  }
  config.mutable_gpu_options()->set_allow_growth(gpu_memory_allow_growth != 0);
  (*config.mutable_device_count())["CPU"] =
      static_cast<int>(std::min<unsigned int>(num_cpu_devices, INT32_MAX));
  config.set_inter_op_parallelism_threads(1);
  return NewBuffer(config);
}

TF_Buffer* TF_CreateRunOptions(unsigned char enable_full_trace) {
  pb::RunOptions options;
  options.set_trace_level(enable_full_trace != 0 ? pb::RunOptions::FULL_TRACE
                                                 : pb::RunOptions::NO_TRACE);
  return NewBuffer(options);
}

const char* TF_GraphDebugString(TF_Graph* graph, size_t* len) {
  if (graph == nullptr) return nullptr;
  pb::GraphDef def;
  {
    MutexLock lock(&graph->graph->mu());
    headrace::GraphToGraphDef(*graph->graph, &def);
  }
  return TextOf(def, len);
}

char* TF_FunctionDebugString(TF_Function* func, size_t* len) {
  return func == nullptr ? nullptr : TextOf(func->def, len);
}

int TF_OpIsStateful(const char* op_type, TF_Status* status) {
  const OpDef* op = nullptr;
  const Status s = FindOp(op_type, &op);
  Set(status, s);
  return s.ok() && op->is_stateful;
}

const char* TF_GetNumberAttrForOpListInput(const char* op_name, int input_index,
                                           TF_Status* status) {
  const OpDef* op = nullptr;
  Status s = FindOp(op_name, &op);
  if (s.ok() && (input_index < 0 ||
                 static_cast<size_t>(input_index) >= op->inputs.size())) {
    s = errors::InvalidArgument(input_index, " out of range for ", op_name,
                                ", which has ", op->inputs.size(), " inputs");
  } else if (s.ok() && op->inputs[input_index].number_attr < 0) {
    s = errors::NotFound(op_name,
                         " does not have number_attr() defined for "
                         "input ",
                         input_index);
  }
  Set(status, s);
  if (!s.ok()) return nullptr;
  return op->attrs[op->inputs[input_index].number_attr].name.c_str();
}

TF_AttrBuilder* TF_NewAttrBuilder(const char* op_name) {
  auto* const builder = new TF_AttrBuilder;
  builder->def.op = std::string(Text(op_name));
  return builder;
}

void TF_DeleteAttrBuilder(TF_AttrBuilder* builder) { delete builder; }

void TF_AttrBuilderSetType(TF_AttrBuilder* builder, const char* attr_name,
                           TF_DataType value) {
  SetBuilderAttr(builder, attr_name, &value, 1, [](std::vector<DataType> v) {
    return headrace::AttrValue(v[0]);
  });
}

void TF_AttrBuilderSetTypeList(TF_AttrBuilder* builder, const char* attr_name,
                               const TF_DataType* values, int num_values) {
  SetBuilderAttr(builder, attr_name, values, num_values,
                 [](std::vector<DataType> v) {
                   return headrace::AttrValue(std::move(v));
                 });
}

void TF_AttrBuilderCheckCanRunOnDevice(TF_AttrBuilder* builder,
                                       const char* device_type,
                                       TF_Status* status) {
  Set(status, CanRunOn(builder, device_type));
}

void TF_EnqueueNamedTensor(TF_Session* session, int tensor_id,
                           TF_Tensor* tensor, TF_Status* status) {
  Set(status, EnqueueNamed(session, tensor_id, tensor));
}

TF_Tensor* TF_DequeueNamedTensor(TF_Session* session, int tensor_id,
                                 TF_Status* status) {
  TF_Tensor* value = nullptr;
  Set(status, DequeueNamed(session, tensor_id, &value));
  return value;
}

TF_ShapeAndTypeList* TF_NewShapeAndTypeList(int num_shapes) {
  if (num_shapes < 0) return nullptr;
  auto* const list = new TF_ShapeAndTypeList;
  list->num_items = num_shapes;
  list->items = new TF_ShapeAndType[num_shapes];
  std::fill_n(list->items, num_shapes,
              TF_ShapeAndType{-1, nullptr, static_cast<TF_DataType>(0)});
  return list;
}

void TF_ShapeAndTypeListSetShape(TF_ShapeAndTypeList* shape_list, int index,
                                 const int64_t* dims, int num_dims) {
  TF_ShapeAndType* const item = ItemOf(shape_list, index);
  if (item == nullptr || num_dims < 0 || (dims == nullptr && num_dims > 0)) {
    return;
  }
  SetItemShape(item, dims, num_dims);
}

void TF_ShapeAndTypeListSetUnknownShape(TF_ShapeAndTypeList* shape_list,
                                        int index) {
  TF_ShapeAndType* const item = ItemOf(shape_list, index);
  if (item != nullptr) SetItemShape(item, nullptr, -1);
}

void TF_ShapeAndTypeListSetDtype(TF_ShapeAndTypeList* shape_list, int index,
                                 TF_DataType dtype) {
  TF_ShapeAndType* const item = ItemOf(shape_list, index);
  if (item != nullptr) item->dtype = dtype;
}

void TF_DeleteShapeAndTypeList(TF_ShapeAndTypeList* shape_list) {
  if (shape_list == nullptr) return;
  for (int i = 0; i < shape_list->num_items; ++i) {
    delete[] shape_list->items[i].dims;
  }
  delete[] shape_list->items;
  delete shape_list;
}

void TF_DeleteShapeAndTypeListArray(TF_ShapeAndTypeList** shape_list_array,
                                    int num_items) {
  if (shape_list_array == nullptr) return;
  for (int i = 0; i < num_items; ++i) {
    TF_DeleteShapeAndTypeList(shape_list_array[i]);
  }
  delete[] shape_list_array;
}

TF_Library* TF_LoadPluggableDeviceLibrary(const char* library_filename,
                                          TF_Status* status) {
  Set(status,
      errors::Unimplemented(
          "TF_LoadPluggableDeviceLibrary('", Text(library_filename),
          "'): devices of StreamExecutor's interface are not supported; a "
          "library adds a device by headrace/device_factory.h and is loaded by "
          "TF_LoadLibrary"));
  return nullptr;
}

void TF_DeletePluggableDeviceLibraryHandle(TF_Library* lib_handle) {
  delete lib_handle;
}

void TF_InitMain(const char*, int*, char***) {}

int TF_PickUnusedPortOrDie() {
  const int s = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
  if (s < 0) return -1;
  sockaddr_in address = {};
  address.sin_family = AF_INET;
  address.sin_addr.s_addr = htonl(INADDR_ANY);
  socklen_t size = sizeof(address);
  auto* const any = reinterpret_cast<sockaddr*>(&address);
  const bool ok =
      bind(s, any, sizeof(address)) == 0 && getsockname(s, any, &size) == 0;
  close(s);
  return ok ? ntohs(address.sin_port) : -1;
}

void TF_MakeInternalErrorStatus(TF_Status* status, const char* errMsg) {
  Set(status, errors::Internal(Text(errMsg)));
}
