// TF_KernelBuilder: kernels of clients. An entry of the registry holds the
// client's functions; a kernel made from it calls them. The factory of such a
// kernel gets no argument of its own, so it looks its entry up once more.
#include <cstring>
#include <deque>

#include "absl/container/flat_hash_map.h"
#include "c_api/internal.h"
#include "c_api/kernel_internal.h"
#include "framework/op/library.h"
#include "headrace/op_def.pb.h"
#include "headrace/op_kernel.h"

using headrace::AsyncOpKernel;
using headrace::CondVar;
using headrace::DataType;
using headrace::KernelClause;
using headrace::KernelEntry;
using headrace::KernelRegistrar;
using headrace::KernelRegistry;
using headrace::Mutex;
using headrace::MutexLock;
using headrace::OkStatus;
using headrace::OpKernel;
using headrace::OpKernelConstruction;
using headrace::OpKernelContext;
using headrace::Status;
using namespace headrace::c_api;  // NOLINT: our own few helpers
namespace errors = headrace::errors;
namespace pb = headrace::pb;

namespace {

using CreateFn = void* (*)(TF_OpKernelConstruction*);
using ComputeFn = void (*)(void*, TF_OpKernelContext*);
using ComputeAsyncFn = void (*)(void*, TF_OpKernelContext*,
                                TF_AsyncOpKernelDoneCallback*);
using DeleteFn = void (*)(void*);

struct KernelFunctions {
  CreateFn create = nullptr;
  ComputeFn compute = nullptr;             // of a synchronous kernel
  ComputeAsyncFn compute_async = nullptr;  // of an asynchronous one
  DeleteFn destroy = nullptr;
};

// Never deleted: the registry keeps it.
struct ClientKernelEntry : KernelEntry {
  KernelFunctions functions;
  std::deque<std::string> texts;  // what the pointers of the entry point to
  std::vector<KernelClause> list;

  const char* Keep(absl::string_view text) {
    return texts.emplace_back(text).c_str();
  }
};

// Work of calls that goes on when the call has returned (TF_IncNumDeferredOps),
// and what to do when it ends.
class DeferredWork {
 public:
  static DeferredWork* Global() {
    static auto* const work = new DeferredWork;
    return work;
  }
  void Begin(OpKernelContext* ctx) {
    MutexLock lock(&mu_);
    ++calls_[ctx].count;
    any_ = true;
  }
  void End(OpKernelContext* ctx) {
    AsyncOpKernel::DoneCallback done;
    {
      MutexLock lock(&mu_);
      const auto it = calls_.find(ctx);
      if (it == calls_.end() || --it->second.count > 0) return;
      done = std::move(it->second.done);
      calls_.erase(it);
      any_ = !calls_.empty();
      changed_.SignalAll();
    }
    if (done) done();
  }
  // Waits until the call has no more work.
  void Wait(OpKernelContext* ctx) {
    if (!any_) return;
    MutexLock lock(&mu_);
    while (calls_.contains(ctx)) changed_.Wait(&mu_);
  }
  // Calls `done` when the call has no more work, perhaps at once.
  void WhenDone(OpKernelContext* ctx, AsyncOpKernel::DoneCallback done) {
    if (any_) {
      MutexLock lock(&mu_);
      const auto it = calls_.find(ctx);
      if (it != calls_.end()) {
        it->second.done = std::move(done);
        return;
      }
    }
    done();
  }

 private:
  struct Call {
    int count = 0;
    AsyncOpKernel::DoneCallback done;
  };
  std::atomic<bool> any_{false};  // the common case takes no lock
  Mutex mu_;
  CondVar changed_;
  absl::flat_hash_map<OpKernelContext*, Call> calls_ GUARDED_BY(mu_);
};

// Calls of asynchronous kernels that have not called back. Clients know them by
// numbers that are never used again, so a second call for one does no harm.
class PendingClientCalls {
 public:
  static PendingClientCalls* Global() {
    static auto* const calls = new PendingClientCalls;
    return calls;
  }
  TF_AsyncOpKernelDoneCallback* Add(OpKernelContext* ctx,
                                    AsyncOpKernel::DoneCallback done) {
    MutexLock lock(&mu_);
    calls_.emplace(++last_, Call{ctx, std::move(done)});
    return reinterpret_cast<TF_AsyncOpKernelDoneCallback*>(last_);
  }
  void Run(TF_AsyncOpKernelDoneCallback* which) {
    Call call;
    {
      MutexLock lock(&mu_);
      const auto it = calls_.find(reinterpret_cast<uintptr_t>(which));
      if (it == calls_.end()) return;
      call = std::move(it->second);
      calls_.erase(it);
    }
    DeferredWork::Global()->WhenDone(call.ctx, std::move(call.done));
  }

 private:
  struct Call {
    OpKernelContext* ctx = nullptr;
    AsyncOpKernel::DoneCallback done;
  };
  Mutex mu_;
  uintptr_t last_ GUARDED_BY(mu_) = 0;
  absl::flat_hash_map<uintptr_t, Call> calls_ GUARDED_BY(mu_);
};

// What a client's functions made for one kernel.
class ClientState {
 public:
  ClientState(const KernelFunctions& functions, OpKernelConstruction* ctx)
      : functions_(functions),
        state_(functions.create == nullptr ? nullptr
                                           : functions.create(ToC(ctx))) {}
  ~ClientState() {
    if (functions_.destroy != nullptr) functions_.destroy(state_);
  }
  ClientState(const ClientState&) = delete;
  ClientState& operator=(const ClientState&) = delete;

  const KernelFunctions& functions() const { return functions_; }
  void* get() const { return state_; }

 private:
  const KernelFunctions functions_;
  void* const state_;
};

class ClientKernel : public OpKernel {
 public:
  ClientKernel(const KernelFunctions& functions, OpKernelConstruction* ctx)
      : OpKernel(ctx), state_(functions, ctx) {}
  void Compute(OpKernelContext* ctx) override {
    state_.functions().compute(state_.get(), ToC(ctx));
    DeferredWork::Global()->Wait(ctx);
  }

 private:
  const ClientState state_;
};

class AsyncClientKernel : public AsyncOpKernel {
 public:
  AsyncClientKernel(const KernelFunctions& functions, OpKernelConstruction* ctx)
      : AsyncOpKernel(ctx), state_(functions, ctx) {}
  void ComputeAsync(OpKernelContext* ctx, DoneCallback done) override {
    TF_AsyncOpKernelDoneCallback* const call =
        PendingClientCalls::Global()->Add(ctx, std::move(done));
    state_.functions().compute_async(state_.get(), ToC(ctx), call);
  }

 private:
  const ClientState state_;
};

OpKernel* MakeClientKernel(OpKernelConstruction* ctx) {
  const KernelEntry* const entry =
      KernelRegistry::Global()->Find(ctx->device_type(), ctx->def());
  // Another kernel of higher priority may have been registered this moment.
  if (entry == nullptr || entry->factory != &MakeClientKernel) {
    ctx->CtxFailure(errors::Aborted("the kernels of op ", ctx->def().op,
                                    " changed while one was made for node '",
                                    ctx->def().name, "'"));
    return nullptr;
  }
  const KernelFunctions& f =
      static_cast<const ClientKernelEntry*>(entry)->functions;
  if (f.compute_async != nullptr) return new AsyncClientKernel(f, ctx);
  return new ClientKernel(f, ctx);
}

}  // namespace

struct TF_KernelBuilder {
  std::string op, device, label;
  int priority = 0;
  std::vector<std::pair<std::string, DataType>> constraints;
  std::vector<std::string> host_memory;
  KernelFunctions functions;
};

namespace {

TF_KernelBuilder* NewKernelBuilderOf(const char* op, const char* device,
                                     const KernelFunctions& functions) {
  auto* const b = new TF_KernelBuilder;
  b->op = std::string(Text(op));
  b->device = std::string(Text(device));
  b->functions = functions;
  return b;
}

Status RegisterClientKernel(const char* name, const TF_KernelBuilder* b) {
  if (b == nullptr) {
    return errors::InvalidArgument("TF_RegisterKernelBuilder: no builder");
  }
  const char* const missing =
      b->op.empty()       ? "op"
      : b->device.empty() ? "device type"
      : b->functions.compute == nullptr && b->functions.compute_async == nullptr
          ? "compute function"
          : nullptr;
  if (missing != nullptr) {
    return errors::InvalidArgument("kernel '", Text(name), "' of op '", b->op,
                                   "' has no ", missing);
  }
  auto* const entry = new ClientKernelEntry;
  entry->op = entry->Keep(b->op);
  entry->device = entry->Keep(b->device);
  entry->label = entry->Keep(b->label);
  entry->kernel_class = entry->Keep(Text(name));
  entry->factory = &MakeClientKernel;
  entry->priority = b->priority;
  entry->functions = b->functions;
  for (const auto& [attr, type] : b->constraints) {
    entry->list.push_back({entry->Keep(attr), type});
  }
  for (const std::string& arg : b->host_memory) {
    entry->list.push_back({entry->Keep(arg), headrace::DT_INVALID});
  }
  entry->clauses = entry->list.data();
  entry->num_constraints = static_cast<uint16_t>(b->constraints.size());
  entry->num_host = static_cast<uint16_t>(b->host_memory.size());
  KernelRegistrar registrar(entry);
  return OkStatus();
}

// Replaces what a builder says by what the message says.
Status ReadKernelDef(const char* serialized, TF_KernelBuilder* b) {
  pb::KernelDef def;
  HR_RETURN_IF_ERROR(ParseProto("the kernel's definition", serialized,
                                Text(serialized).size(), &def));
  if (!def.op().empty() && def.op() != b->op) {
    return errors::InvalidArgument("the definition is of a kernel of op '",
                                   def.op(), "', the builder of op '", b->op,
                                   "'");
  }
  b->label = def.label();
  b->priority = def.priority();
  b->host_memory.assign(def.host_memory_arg().begin(),
                        def.host_memory_arg().end());
  b->constraints.clear();
  for (const pb::KernelDef::AttrConstraint& c : def.constraint()) {
    if (c.allowed_values().list().type().empty()) {
      return errors::InvalidArgument("the constraint on attr '", c.name(),
                                     "' of op '", b->op, "' lists no types");
    }
    for (int type : c.allowed_values().list().type()) {
      b->constraints.emplace_back(c.name(), static_cast<DataType>(type));
    }
  }
  return OkStatus();
}

void ReportRegistration(const Status& s, TF_KernelBuilder* builder,
                        TF_Status* status) {
  delete builder;
  if (!s.ok()) headrace::NoteRegistrationFailure(s);
  Set(status, s);
}

}  // namespace

TF_KernelBuilder* TF_NewKernelBuilder(const char* op_name,
                                      const char* device_name,
                                      CreateFn create_func,
                                      ComputeFn compute_func,
                                      DeleteFn delete_func) {
  return NewKernelBuilderOf(
      op_name, device_name,
      {.create = create_func, .compute = compute_func, .destroy = delete_func});
}

TF_KernelBuilder* TF_NewAsyncKernelBuilder(const char* op_name,
                                           const char* device_name,
                                           CreateFn create_func,
                                           ComputeAsyncFn compute_async_func,
                                           DeleteFn delete_func) {
  return NewKernelBuilderOf(op_name, device_name,
                            {.create = create_func,
                             .compute_async = compute_async_func,
                             .destroy = delete_func});
}

void TF_RunAsyncOpKernelDoneCallback(TF_AsyncOpKernelDoneCallback* done) {
  PendingClientCalls::Global()->Run(done);
}

void TF_KernelBuilder_TypeConstraint(TF_KernelBuilder* kernel_builder,
                                     const char* attr_name, TF_DataType type,
                                     TF_Status* status) {
  if (kernel_builder == nullptr || Text(attr_name).empty()) {
    return Set(status, errors::InvalidArgument(
                           "TF_KernelBuilder_TypeConstraint: no ",
                           kernel_builder == nullptr ? "builder" : "attr"));
  }
  if (!headrace::IsValidDataType(type)) {
    return Set(status, errors::Unimplemented(
                           "TF_KernelBuilder_TypeConstraint: attr '", attr_name,
                           "' cannot have data type ", static_cast<int>(type)));
  }
  kernel_builder->constraints.emplace_back(attr_name, ToDataType(type));
  SetOk(status);
}

void TF_KernelBuilder_HostMemory(TF_KernelBuilder* kernel_builder,
                                 const char* arg_name) {
  if (kernel_builder == nullptr) return;
  kernel_builder->host_memory.emplace_back(Text(arg_name));
}

void TF_KernelBuilder_Priority(TF_KernelBuilder* kernel_builder,
                               int32_t priority_number) {
  if (kernel_builder != nullptr) kernel_builder->priority = priority_number;
}

void TF_KernelBuilder_Label(TF_KernelBuilder* kernel_builder,
                            const char* label) {
  if (kernel_builder != nullptr) {
    kernel_builder->label = std::string(Text(label));
  }
}

void TF_RegisterKernelBuilder(const char* kernel_name,
                              TF_KernelBuilder* builder, TF_Status* status) {
  ReportRegistration(RegisterClientKernel(kernel_name, builder), builder,
                     status);
}

void TF_RegisterKernelBuilderWithKernelDef(const char* serialized_kernel_def,
                                           const char* name,
                                           TF_KernelBuilder* builder,
                                           TF_Status* status) {
  Status s = builder == nullptr || serialized_kernel_def == nullptr
                 ? errors::InvalidArgument(
                       "TF_RegisterKernelBuilderWithKernelDef: no ",
                       builder == nullptr ? "builder" : "definition")
                 : ReadKernelDef(serialized_kernel_def, builder);
  if (s.ok()) s = RegisterClientKernel(name, builder);
  ReportRegistration(s, builder, status);
}

void TF_DeleteKernelBuilder(TF_KernelBuilder* builder) { delete builder; }

void TF_IncNumDeferredOps(TF_OpKernelContext* context) {
  if (context != nullptr) DeferredWork::Global()->Begin(ToCpp(context));
}

void TF_DecNumDeferredOps(TF_OpKernelContext* context) {
  if (context != nullptr) DeferredWork::Global()->End(ToCpp(context));
}
