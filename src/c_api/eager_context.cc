// Contexts of eager execution, their functions and executors.
#include <atomic>

#include "base/exceptions.h"
#include "c_api/eager.h"

using headrace::EagerContext;
using headrace::OkStatus;
using headrace::PlacementPolicy;
using headrace::Status;
using namespace headrace::c_api;  // NOLINT: our own few helpers
namespace errors = headrace::errors;
namespace pb = headrace::pb;

static_assert(TFE_DEVICE_PLACEMENT_EXPLICIT ==
              static_cast<int>(PlacementPolicy::kExplicit));
static_assert(TFE_DEVICE_PLACEMENT_WARN ==
              static_cast<int>(PlacementPolicy::kWarn));
static_assert(TFE_DEVICE_PLACEMENT_SILENT ==
              static_cast<int>(PlacementPolicy::kSilent));
static_assert(TFE_DEVICE_PLACEMENT_SILENT_FOR_INT32 ==
              static_cast<int>(PlacementPolicy::kSilentForInt32));

namespace {

// The client may give any int.
PlacementPolicy PolicyOf(TFE_ContextDevicePlacementPolicy policy) {
  switch (static_cast<int>(policy)) {
    case TFE_DEVICE_PLACEMENT_EXPLICIT:
      return PlacementPolicy::kExplicit;
    case TFE_DEVICE_PLACEMENT_WARN:
      return PlacementPolicy::kWarn;
    case TFE_DEVICE_PLACEMENT_SILENT_FOR_INT32:
      return PlacementPolicy::kSilentForInt32;
    default:
      return PlacementPolicy::kSilent;
  }
}

Status NoServers(absl::string_view function) {
  return errors::Unimplemented(
      function,
      ": eager execution on other processes is not supported; a context has "
      "the devices of this process");
}

Status NoCollectives(absl::string_view function) {
  return errors::Unimplemented(
      function,
      ": an eager context runs collective ops among the devices of this "
      "process; among processes run them in a graph, in sessions of servers "
      "(TF_SetTarget)");
}

Status ContextOf(TFE_Context* ctx, absl::string_view function,
                 EagerContext** out) {
  if (ctx == nullptr) return IsNull(function, "context");
  *out = ctx->context.get();
  return OkStatus();
}

}  // namespace

TFE_ContextOptions* TFE_NewContextOptions() { return new TFE_ContextOptions; }

void TFE_ContextOptionsSetConfig(TFE_ContextOptions* options, const void* proto,
                                 size_t proto_len, TF_Status* status) {
  if (options == nullptr) {
    return Set(status, IsNull("TFE_ContextOptionsSetConfig", "options"));
  }
  pb::ConfigProto config;
  const Status s =
      ParseProto("TFE_ContextOptionsSetConfig", proto, proto_len, &config);
  if (s.ok()) options->options.config = std::move(config);
  Set(status, s);
}

void TFE_ContextOptionsSetAsync(TFE_ContextOptions* options,
                                unsigned char enable) {
  if (options != nullptr) options->options.is_async = enable != 0;
}

void TFE_ContextOptionsSetDevicePlacementPolicy(
    TFE_ContextOptions* options, TFE_ContextDevicePlacementPolicy policy) {
  if (options != nullptr) options->options.policy = PolicyOf(policy);
}

void TFE_ContextOptionsSetTfrt(TFE_ContextOptions*, bool) {}

void TFE_DeleteContextOptions(TFE_ContextOptions* options) { delete options; }

TFE_Context* TFE_NewContext(const TFE_ContextOptions* opts, TF_Status* status) {
  static std::atomic<uint64_t> next_id{1};
  TFE_Context* made = nullptr;
  Set(status, headrace::CatchExceptions([&]() -> Status {
        const EagerContext::Options none;
        HR_ASSIGN_OR_RETURN(
            auto context,
            EagerContext::Create(opts == nullptr ? none : opts->options));
        made = new TFE_Context;
        made->context = std::move(context);
        made->id = next_id.fetch_add(1);
        return OkStatus();
      }));
  return made;
}

void TFE_DeleteContext(TFE_Context* ctx) {
  if (ctx != nullptr) ctx->Unref();
}

uint64_t TFE_GetContextId(TFE_Context* ctx) {
  return ctx == nullptr ? 0 : ctx->id;
}

TF_DeviceList* TFE_ContextListDevices(TFE_Context* ctx, TF_Status* status) {
  EagerContext* context;
  const Status s = ContextOf(ctx, "TFE_ContextListDevices", &context);
  Set(status, s);
  if (!s.ok()) return nullptr;
  auto* const list = new TF_DeviceList;
  for (const headrace::Device* d : context->devices()) {
    list->devices.push_back(d->attributes());
  }
  return list;
}

void TFE_ContextClearCaches(TFE_Context* ctx) {
  if (ctx != nullptr) ctx->context->ClearCaches();
}

void TFE_ContextSetThreadLocalDevicePlacementPolicy(
    TFE_Context* ctx, TFE_ContextDevicePlacementPolicy policy) {
  if (ctx != nullptr) ctx->context->SetThreadPolicy(PolicyOf(policy));
}

TFE_ContextDevicePlacementPolicy TFE_ContextGetDevicePlacementPolicy(
    TFE_Context* ctx) {
  return ctx == nullptr ? TFE_DEVICE_PLACEMENT_SILENT
                        : static_cast<TFE_ContextDevicePlacementPolicy>(
                              ctx->context->ThreadPolicy());
}

void TFE_ContextSetSoftDevicePlacement(TFE_Context* ctx, unsigned char enable,
                                       TF_Status* status) {
  EagerContext* context;
  const Status s =
      ContextOf(ctx, "TFE_ContextSetSoftDevicePlacement", &context);
  if (s.ok()) context->SetSoftPlacement(enable != 0);
  Set(status, s);
}

void TFE_ContextSetLogDevicePlacement(TFE_Context* ctx, unsigned char enable,
                                      TF_Status* status) {
  EagerContext* context;
  const Status s = ContextOf(ctx, "TFE_ContextSetLogDevicePlacement", &context);
  if (s.ok()) context->SetLogPlacement(enable != 0);
  Set(status, s);
}

void TFE_HostAddressSpace(TFE_Context* ctx, TF_Buffer* buf) {
  if (ctx == nullptr || buf == nullptr || buf->data != nullptr) return;
  const std::string& name = ctx->context->devices().front()->name();
  TF_Buffer* const made =
      TF_NewBufferFromString(name.data(), name.rfind("/device:"));
  *buf = *made;
  made->data = nullptr;
  made->data_deallocator = nullptr;
  TF_DeleteBuffer(made);
}

// ---- Other processes --------------------------------------------------------

void TFE_ContextSetServerDef(TFE_Context*, int, const void*, size_t,
                             TF_Status* status) {
  Set(status, NoServers("TFE_ContextSetServerDef"));
}

void TFE_ContextUpdateServerDef(TFE_Context*, int, const void*, size_t,
                                TF_Status* status) {
  Set(status, NoServers("TFE_ContextUpdateServerDef"));
}

bool TFE_ContextCheckAlive(TFE_Context*, const char*, TF_Status* status) {
  Set(status, NoServers("TFE_ContextCheckAlive"));
  return false;
}

void TFE_EnableCollectiveOps(TFE_Context*, const void*, size_t,
                             TF_Status* status) {
  Set(status, NoCollectives("TFE_EnableCollectiveOps"));
}

void TFE_AbortCollectiveOps(TFE_Context*, TF_Status* status) {
  Set(status, NoCollectives("TFE_AbortCollectiveOps"));
}

void TFE_CollectiveOpsCheckPeerHealth(TFE_Context*, const char*, int64_t,
                                      TF_Status* status) {
  Set(status, NoCollectives("TFE_CollectiveOpsCheckPeerHealth"));
}

// ---- Functions --------------------------------------------------------------

void TFE_ContextAddFunctionDef(TFE_Context* ctx,
                               const char* serialized_function_def, size_t size,
                               TF_Status* status) {
  Set(status, headrace::CatchExceptions([&]() -> Status {
        EagerContext* context;
        HR_RETURN_IF_ERROR(
            ContextOf(ctx, "TFE_ContextAddFunctionDef", &context));
        pb::FunctionDef def;
        HR_RETURN_IF_ERROR(ParseProto("Invalid FunctionDef proto",
                                      serialized_function_def, size, &def));
        return context->AddFunction(def);
      }));
}

void TFE_ContextAddFunction(TFE_Context* ctx, TF_Function* function,
                            TF_Status* status) {
  Set(status, headrace::CatchExceptions([&]() -> Status {
        EagerContext* context;
        HR_RETURN_IF_ERROR(ContextOf(ctx, "TFE_ContextAddFunction", &context));
        if (function == nullptr) {
          return IsNull("TFE_ContextAddFunction", "function");
        }
        return context->AddFunction(function->def);
      }));
}

void TFE_ContextRemoveFunction(TFE_Context* ctx, const char* name,
                               TF_Status* status) {
  Set(status, headrace::CatchExceptions([&]() -> Status {
        EagerContext* context;
        HR_RETURN_IF_ERROR(
            ContextOf(ctx, "TFE_ContextRemoveFunction", &context));
        return context->RemoveFunction(std::string(Text(name)));
      }));
}

unsigned char TFE_ContextHasFunction(TFE_Context* ctx, const char* name) {
  return ctx != nullptr && ctx->context->FindFunction(Text(name)) != nullptr;
}

void TFE_ContextGetFunctionDef(TFE_Context* ctx, const char* function_name,
                               TF_Buffer* buf, TF_Status* status) {
  EagerContext* context;
  const Status s = ContextOf(ctx, "TFE_ContextGetFunctionDef", &context);
  if (!s.ok()) return Set(status, s);
  const auto def = context->FindFunction(Text(function_name));
  Set(status, def == nullptr
                  ? errors::NotFound("Unable to find FunctionDef with name: ",
                                     Text(function_name))
                  : ToBuffer(*def, buf));
}

TF_Function* TFE_ContextGetFunction(TFE_Context* ctx, const char* name,
                                    TF_Status* status) {
  EagerContext* context;
  Status s = ContextOf(ctx, "TFE_ContextGetFunction", &context);
  TF_Function* found = nullptr;
  if (s.ok()) {
    if (const auto def = context->FindFunction(Text(name))) {
      found = new TF_Function;
      found->def = *def;
    } else {
      s = errors::NotFound("Unable to find Function with name: ", Text(name));
    }
  }
  Set(status, s);
  return found;
}

// ---- Traces and steps -------------------------------------------------------

void TFE_ContextEnableRunMetadata(TFE_Context* ctx) {
  if (ctx != nullptr) ctx->context->EnableRunMetadata();
}

void TFE_ContextDisableRunMetadata(TFE_Context* ctx) {
  if (ctx != nullptr) ctx->context->DisableRunMetadata();
}

void TFE_ContextEnableGraphCollection(TFE_Context*) {}
void TFE_ContextDisableGraphCollection(TFE_Context*) {}

void TFE_ContextExportRunMetadata(TFE_Context* ctx, TF_Buffer* buf,
                                  TF_Status* status) {
  EagerContext* context;
  const Status s = ContextOf(ctx, "TFE_ContextExportRunMetadata", &context);
  if (!s.ok()) return Set(status, s);
  pb::RunMetadata metadata;
  context->ExportRunMetadata(&metadata);
  Set(status, ToBuffer(metadata, buf));
}

void TFE_ContextStartStep(TFE_Context* ctx) {
  if (ctx != nullptr) ctx->context->StartStep();
}

void TFE_ContextEndStep(TFE_Context* ctx) {
  if (ctx != nullptr) ctx->context->EndStep();
}

// ---- Executors --------------------------------------------------------------

TFE_Executor* TFE_NewExecutor(bool is_async, bool, int) {
  return new TFE_Executor{is_async};
}

void TFE_DeleteExecutor(TFE_Executor* executor) { delete executor; }

bool TFE_ExecutorIsAsync(TFE_Executor* executor) {
  return executor != nullptr && executor->is_async;
}

void TFE_ExecutorWaitForAllPendingNodes(TFE_Executor* executor,
                                        TF_Status* status) {
  Set(status, executor == nullptr
                  ? IsNull("TFE_ExecutorWaitForAllPendingNodes", "executor")
                  : OkStatus());
}

void TFE_ExecutorClearError(TFE_Executor*) {}

void TFE_ContextSetExecutorForThread(TFE_Context* ctx, TFE_Executor* executor) {
  if (ctx != nullptr && executor != nullptr) {
    ctx->context->SetThreadAsync(executor->is_async);
  }
}

TFE_Executor* TFE_ContextGetExecutorForThread(TFE_Context* ctx) {
  return ctx == nullptr ? nullptr
                        : new TFE_Executor{ctx->context->ThreadAsync()};
}

void TFE_ContextAsyncWait(TFE_Context* ctx, TF_Status* status) {
  Set(status,
      ctx == nullptr ? IsNull("TFE_ContextAsyncWait", "context") : OkStatus());
}

void TFE_ContextSetAsyncForThread(TFE_Context* ctx, unsigned char enable,
                                  TF_Status* status) {
  EagerContext* context;
  const Status s = ContextOf(ctx, "TFE_ContextSetAsyncForThread", &context);
  if (s.ok()) context->SetThreadAsync(enable != 0);
  Set(status, s);
}

void TFE_ContextAsyncClearError(TFE_Context*) {}

// ---- Cancellation -----------------------------------------------------------

TFE_CancellationManager* TFE_NewCancellationManager() {
  return new TFE_CancellationManager;
}

bool TFE_CancellationManagerIsCancelled(TFE_CancellationManager* manager) {
  return manager != nullptr && manager->manager->IsCancelled();
}

bool TFE_CancellationManagerIsCancelling(TFE_CancellationManager* manager) {
  return TFE_CancellationManagerIsCancelled(manager);
}

void TFE_CancellationManagerStartCancel(TFE_CancellationManager* manager) {
  if (manager != nullptr) manager->manager->StartCancel();
}

void TFE_DeleteCancellationManager(TFE_CancellationManager* manager) {
  delete manager;
}
