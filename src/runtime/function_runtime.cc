#include "runtime/function_runtime.h"

#include <utility>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "base/exceptions.h"
#include "base/interrupt.h"
#include "graph/function_body.h"
#include "runtime/graph_pass.h"

namespace headrace {
namespace {

// A call runs on its caller's stack; every so many calls the stack would grow
// too deep, and the call goes on in a thread of the pool.
constexpr int kCallsOnOneStack = 32;

// True if the node's kernel may keep something from one call to the next. What
// is kept in a resource is the resource's; datasets are as if they were not
// stateful; functions that the node calls have instances of their own.
bool KeepsState(const Node& n) {
  const auto is = [](DataType wanted) {
    return [wanted](DataType t) { return BaseType(t) == wanted; };
  };
  if (!n.op_def().is_stateful || n.type_string()[0] == '_' ||
      std::any_of(n.input_types().begin(), n.input_types().end(),
                  is(DT_RESOURCE))) {
    return false;
  }
  if (n.num_outputs() > 0 &&
      std::all_of(n.output_types().begin(), n.output_types().end(),
                  is(DT_VARIANT))) {
    return false;
  }
  static const auto* const kWithEffectsOnly =
      new absl::flat_hash_set<std::string>(
          {"Assert", "Print", "PrintV2", "PyFunc", "EagerPyFunc"});
  return !kWithEffectsOnly->contains(n.type_string());
}

// How many calls at either end of a chain a message names.
constexpr int kNamedCalls = 4;

// Attrs beginning with "_" are remarks about a call, and do not make another
// function of it.
AttrMap InstanceAttrs(const AttrMap& attrs) {
  AttrMap out;
  for (const auto& [name, value] : attrs) {
    if (!absl::StartsWith(name, "_")) out.Set(name, value);
  }
  return out;
}

}  // namespace

std::string DescribeCalls(const CallSite* site) {
  std::string s;
  const int length = site == nullptr ? 0 : site->depth;
  for (; site != nullptr; site = site->outer) {
    const int from_inside = length - site->depth;
    if (from_inside >= kNamedCalls && site->depth > kNamedCalls) {
      if (from_inside == kNamedCalls) {
        absl::StrAppend(&s, "\n\t ... ", length - 2 * kNamedCalls,
                        " more calls");
      }
      continue;
    }
    absl::StrAppend(&s, "\n\t in function '", *site->function,
                    "', called by [[", NodeErrorSuffix(*site->caller), "]]");
  }
  return s;
}

class SessionFunctions::Instance : public FunctionRuntime::Function {
 public:
  Instance(std::string name, AttrMap attrs, Device* device)
      : attrs(std::move(attrs)), device(device) {
    name_ = std::move(name);
  }
  void SetTypes(DataTypeVector args, DataTypeVector rets) {
    arg_types_ = std::move(args);
    ret_types_ = std::move(rets);
  }

  const AttrMap attrs;
  Device* const device;
  std::unique_ptr<Executor> executor;
  bool has_state = false;  // in a kernel
};

// Thread-safe.
class SessionFunctions::Scope : public FunctionScope {
 public:
  explicit Scope(std::shared_ptr<SessionFunctions> session)
      : session_(std::move(session)) {}

  const SessionFunctions* session() const { return session_.get(); }

  // The instance in place of `function`, which has state. Made when it is asked
  // for the first time, which others wait for.
  Status Own(const Instance& function, const Instance** out) {
    MutexLock lock(&mu_);
    std::unique_ptr<Instance>& own = own_[&function];
    if (own == nullptr) {
      NameAttrList f;
      f.name = function.name();
      HR_RETURN_IF_ERROR(
          session_->Compile(f, function.attrs, function.device, &own));
    }
    *out = own.get();
    return OkStatus();
  }

  void Clear() {
    decltype(own_) gone;
    MutexLock lock(&mu_);
    gone.swap(own_);
  }

 private:
  const std::shared_ptr<SessionFunctions> session_;
  Mutex mu_;
  absl::flat_hash_map<const Instance*, std::unique_ptr<Instance>> own_
      GUARDED_BY(mu_);
};

SessionFunctions::SessionFunctions(
    std::vector<Device*> devices, ThreadPool* pool,
    absl::flat_hash_set<std::string> disabled_passes,
    std::shared_ptr<ForkGate> gate)
    : devices_(std::move(devices)),
      pool_(pool),
      disabled_passes_(std::move(disabled_passes)),
      gate_(std::move(gate)) {}

SessionFunctions::~SessionFunctions() = default;

Status SessionFunctions::Enter() {
  if (!gate_->Enter()) {
    return errors::FailedPrecondition(
        "the session was running when its process forked");
  }
  MutexLock lock(&mu_);
  if (!shut_down_) {
    ++entered_;
    return OkStatus();
  }
  gate_->Leave();
  return errors::Cancelled("Session has been closed.");
}

void SessionFunctions::Leave() {
  const std::shared_ptr<ForkGate> gate = gate_;
  {
    MutexLock lock(&mu_);
    // Under the lock: who waits may destroy this.
    if (--entered_ == 0) left_.SignalAll();
  }
  gate->Leave();
}

void SessionFunctions::Shutdown() {
  {
    MutexLock lock(&mu_);
    shut_down_ = true;
  }
  detached_.StartCancel(errors::Cancelled("Session has been closed."));
  decltype(instances_) gone;
  decltype(scopes_) scopes;
  {
    MutexLock lock(&mu_);
    while (entered_ > 0) left_.Wait(&mu_);
    gone.swap(instances_);
    scopes.swap(scopes_);
    library_ = nullptr;
  }
  for (const std::weak_ptr<Scope>& weak : scopes) {
    if (const std::shared_ptr<Scope> scope = weak.lock()) scope->Clear();
  }
}

std::shared_ptr<FunctionScope> SessionFunctions::NewScope() {
  auto scope = std::make_shared<Scope>(shared_from_this());
  MutexLock lock(&mu_);
  std::erase_if(scopes_, [](const auto& s) { return s.expired(); });
  scopes_.push_back(scope);
  return scope;
}

Status SessionFunctions::InScope(FunctionScope* scope, const Instance& function,
                                 const Instance** out) {
  *out = &function;
  if (scope == nullptr || !function.has_state) return OkStatus();
  auto* const own = static_cast<Scope*>(scope);
  return own->session() == this ? own->Own(function, out) : OkStatus();
}

void SessionFunctions::SetLibrary(const Graph& graph) {
  MutexLock lock(&mu_);
  if (graph.functions() != nullptr) library_ = graph.shared_functions();
  versions_ = graph.versions();
}

std::string SessionFunctions::Gradient(const std::string& function) const {
  std::shared_ptr<FunctionLibrary> library;
  {
    MutexLock lock(&mu_);
    library = library_;
  }
  return library == nullptr ? "" : library->FindGradient(function);
}

Device* SessionFunctions::FindDevice(const std::string& name) const {
  for (Device* d : devices_) {
    if (d->name() == name) return d;
  }
  DeviceName wanted;
  if (!DeviceName::Parse(name, &wanted).ok()) return nullptr;
  for (Device* d : devices_) {
    if (wanted.Matches(d->parsed_name())) return d;
  }
  return nullptr;
}

const SessionFunctions::Instance* SessionFunctions::FindLocked(
    const std::string& name, const AttrMap& attrs, const Device* device) const {
  const auto it = instances_.find(name);
  if (it == instances_.end()) return nullptr;
  for (const auto& i : it->second) {
    if (i->device == device && i->attrs == attrs) return i.get();
  }
  return nullptr;
}

Status SessionFunctions::Instantiate(const NameAttrList& function,
                                     const std::string& device,
                                     const Instance** out) {
  Device* const d = FindDevice(device);
  if (d == nullptr) {
    std::vector<std::string> names;
    for (const Device* known : devices_) names.push_back(known->name());
    return errors::InvalidArgument(
        "function '", function.name, "' is to run on unknown device '", device,
        "'; devices are ", absl::StrJoin(names, ", "));
  }
  const AttrMap attrs =
      function.attrs == nullptr ? AttrMap() : InstanceAttrs(*function.attrs);
  {
    MutexLock lock(&mu_);
    *out = FindLocked(function.name, attrs, d);
    if (*out != nullptr) return OkStatus();
  }
  std::unique_ptr<Instance> made;
  HR_RETURN_IF_ERROR(Compile(function, attrs, d, &made));
  MutexLock lock(&mu_);
  // Another thread may have been first, and its kernels may have state by now.
  *out = FindLocked(function.name, attrs, d);
  if (*out == nullptr) {
    *out = made.get();
    instances_[function.name].push_back(std::move(made));
  }
  return OkStatus();
}

Status SessionFunctions::Compile(const NameAttrList& function,
                                 const AttrMap& attrs, Device* device,
                                 std::unique_ptr<Instance>* out) const {
  std::shared_ptr<FunctionLibrary> library;
  GraphVersions versions;
  {
    MutexLock lock(&mu_);
    library = library_;
    versions = versions_;
  }
  HR_ASSIGN_OR_RETURN(
      FunctionBody body,
      BuildFunctionBody(library, function.name, attrs, versions));
  auto instance = std::make_unique<Instance>(function.name, attrs, device);
  instance->SetTypes(body.arg_types, body.ret_types);
  GraphPassContext context;
  for (const Node* n : body.effects) context.targets.insert(n->name());
  const std::string in_function =
      absl::StrCat("\n\t in function '", function.name, "'");
  HR_RETURN_IF_ERROR(Annotate(
      RunGraphPasses(context, disabled_passes_, body.graph.get(), nullptr),
      in_function));
  bool control_flow = false;
  std::vector<Node*> unused;
  body.graph->ForEachNode([&](Node* n) {
    control_flow |= n->IsControlFlow();
    instance->has_state |= KeepsState(*n);
    if (n->IsArg() && n->out_edges().empty()) unused.push_back(n);
    n->set_assigned_device(device->name());
  });
  for (Node* n : unused) body.graph->RemoveNode(n);
  HR_RETURN_IF_ERROR(
      Annotate(Executor::Create(
                   device, *body.graph, {.control_flow = control_flow},
                   [device](const Node& n, std::shared_ptr<OpKernel>* kernel) {
                     std::unique_ptr<OpKernel> made;
                     HR_RETURN_IF_ERROR(CreateNodeKernel(device, n, &made));
                     *kernel = std::move(made);
                     return OkStatus();
                   },
                   &instance->executor),
               in_function));
  *out = std::move(instance);
  return OkStatus();
}

namespace {

// A call in progress. Owns itself: deleted when the executor is done.
class FunctionCall final : public CallFrame {
 public:
  FunctionCall(SessionFunctions* session,
               const SessionFunctions::Instance& function, const StepArgs& step,
               const CallSite& site, std::vector<Tensor> args,
               FunctionRuntime::DoneCallback done)
      : function_(function),
        args_(std::move(args)),
        rets_(function.ret_types().size()),
        site_(site),
        step_(step),
        functions_(session, &step_, &site_),
        done_(std::move(done)) {
    step_.call_frame = this;
    step_.functions = &functions_;
    step_.call_site = &site_;
  }

  const Tensor* GetArg(int i) const override {
    return i >= 0 && i < static_cast<int>(args_.size()) ? &args_[i] : nullptr;
  }
  // A body has one node for each argument, and it runs once.
  bool TakeArg(int i, Tensor* out) override {
    if (i < 0 || i >= static_cast<int>(args_.size())) return false;
    *out = std::move(args_[i]);
    return true;
  }
  Status SetRetval(int i, const Tensor& value) override {
    if (i < 0 || i >= static_cast<int>(rets_.size())) {
      return errors::InvalidArgument("Retval index ", i, " of ", rets_.size());
    }
    rets_[i] = value;
    return OkStatus();
  }

  void Start() {
    if (site_.depth % kCallsOnOneStack != 0 || step_.pool == nullptr) {
      return Run();
    }
    try {
      step_.pool->Schedule([this] { Run(); });
    } catch (const std::exception& e) {
      End(StatusOf(e));
    }
  }

 private:
  void Run() {
    function_.executor->RunAsync(step_, [this](bool c) { Finish(c); });
  }

  void Finish(bool complete) {
    Status s;
    if (!complete) [[unlikely]]
      s = step_.cancellation->status();
    for (size_t i = 0; i < rets_.size() && s.ok(); ++i) {
      if (!rets_[i].IsInitialized()) [[unlikely]] {
        s = errors::InvalidArgument("Retval[", i,
                                    "] does not have value: a "
                                    "result of function '",
                                    function_.name(), "'");
      }
    }
    End(s);
  }

  void End(const Status& s) {
    const FunctionRuntime::DoneCallback done = std::move(done_);
    std::vector<Tensor> rets = std::move(rets_);
    delete this;
    done(s, std::move(rets));
  }

  const SessionFunctions::Instance& function_;
  std::vector<Tensor> args_, rets_;
  const CallSite site_;
  StepArgs step_;
  StepFunctions functions_;
  FunctionRuntime::DoneCallback done_;
};

Status CheckCall(const FunctionRuntime::Function& function, int depth,
                 const std::vector<Tensor>& args) {
  if (depth > kMaxCallDepth) {
    return errors::ResourceExhausted(
        "function '", function.name(), "' is called at depth ", depth,
        ", the limit is ", kMaxCallDepth, ": does its recursion end?");
  }
  if (args.size() != function.arg_types().size()) {
    return errors::InvalidArgument("function '", function.name(), "' has ",
                                   function.arg_types().size(),
                                   " arguments, was called with ", args.size());
  }
  for (size_t i = 0; i < args.size(); ++i) {
    if (args[i].dtype() != function.arg_types()[i]) {
      return errors::InvalidArgument(
          "argument ", i, " of function '", function.name(), "' is ",
          DataTypeString(function.arg_types()[i]), ", was called with ",
          DataTypeString(args[i].dtype()));
    }
  }
  return OkStatus();
}

// A detached call in progress: the step around a FunctionCall. Owns itself.
class DetachedCall {
 public:
  // The caller has entered the session.
  DetachedCall(std::shared_ptr<SessionFunctions> session, FunctionScope* scope,
               std::shared_ptr<const NodeDef> caller,
               CancellationManager* cancellation)
      : session_(std::move(session)),
        caller_(std::move(caller)),
        cancellation_(cancellation) {
    CancellationManager* const all = session_->detached();
    token_ = all->NextToken();
    if (!all->RegisterCallback(token_, [this, all] {
          cancellation_.StartCancel(all->status());
        })) {
      cancellation_.StartCancel(all->status());
    }
    step_.step_id = session_->NextDetachedCall();
    step_.cancellation = &cancellation_;
    step_.step_resources = &resources_;
    step_.pool = session_->pool();
    step_.function_scope = scope;
  }

  void Start(const SessionFunctions::Instance& function,
             std::vector<Tensor> args, FunctionRuntime::DoneCallback done) {
    done_ = std::move(done);
    FunctionCall* call = nullptr;
    const Status s = CatchExceptions([&] {
      if (function.executor->needs_rendezvous()) {
        rendezvous_ = NewLocalRendezvous();
        step_.rendezvous = rendezvous_.get();
      }
      const CallSite site{&function.name(), caller_.get(), nullptr, 1};
      call = new FunctionCall(
          session_.get(), function, step_, site, std::move(args),
          [this](const Status& s, std::vector<Tensor> results) {
            Finish(s, std::move(results));
          });
      return OkStatus();
    });
    if (s.ok()) {
      call->Start();
    } else {
      End(s, {});
    }
  }

 private:
  void Finish(const Status& s, std::vector<Tensor> results) {
    if (!cancellation_.IsCancelled()) {
      End(s, std::move(results));
      return;
    }
    // This may be a callback of the cancellation, and End waits for those.
    step_.pool->Schedule([this, s, results = std::move(results)]() mutable {
      End(s, std::move(results));
    });
  }

  void End(const Status& s, std::vector<Tensor> results) {
    session_->detached()->DeregisterCallback(token_);
    const std::shared_ptr<SessionFunctions> session = std::move(session_);
    const FunctionRuntime::DoneCallback done = std::move(done_);
    delete this;
    done(s, std::move(results));
    session->Leave();
  }

  std::shared_ptr<SessionFunctions> session_;
  const std::shared_ptr<const NodeDef> caller_;
  CancellationManager cancellation_;
  CancellationManager::Token token_ = 0;
  ResourceMgr resources_;
  RefPtr<Rendezvous> rendezvous_;
  StepArgs step_;
  FunctionRuntime::DoneCallback done_;
};

class DetachedSessionFunctions : public DetachedFunctions {
 public:
  explicit DetachedSessionFunctions(std::shared_ptr<SessionFunctions> session)
      : session_(std::move(session)) {}

  Status Instantiate(const NameAttrList& function, const std::string& device,
                     const Function** out) override {
    HR_RETURN_IF_ERROR(session_->Enter());
    const SessionFunctions::Instance* instance = nullptr;
    // Whatever happens, who has entered leaves.
    const Status s = CatchExceptions(
        [&] { return session_->Instantiate(function, device, &instance); });
    *out = instance;
    session_->Leave();
    return s;
  }

  bool Schedule(absl::AnyInvocable<void()> fn) override {
    if (!session_->Enter().ok()) return false;
    try {
      session_->pool()->Schedule(
          [session = session_, fn = std::move(fn)]() mutable {
            fn();
            fn = nullptr;
            session->Leave();
          });
      return true;
    } catch (const std::bad_alloc&) {
      session_->Leave();
      return false;
    }
  }

  std::shared_ptr<FunctionScope> NewScope() override {
    return session_->NewScope();
  }

  void Call(const Function& function, FunctionScope* scope,
            std::shared_ptr<const NodeDef> caller, std::vector<Tensor> args,
            CancellationManager* cancellation,
            FunctionRuntime::DoneCallback done) override {
    Status s = session_->Enter();
    if (!s.ok()) {
      done(s, {});
      return;
    }
    const SessionFunctions::Instance* instance = nullptr;
    s = CatchExceptions([&]() -> Status {
      if (cancellation->IsCancelled()) return cancellation->status();
      HR_RETURN_IF_ERROR(CheckCall(function, 1, args));
      return session_->InScope(
          scope, static_cast<const SessionFunctions::Instance&>(function),
          &instance);
    });
    if (!s.ok()) {
      done(s, {});
      session_->Leave();
      return;
    }
    DetachedCall* call = nullptr;
    s = CatchExceptions([&] {
      call = new DetachedCall(session_, scope, std::move(caller), cancellation);
      return OkStatus();
    });
    if (!s.ok()) {
      done(s, {});
      session_->Leave();
      return;
    }
    call->Start(*instance, std::move(args), std::move(done));
  }

 private:
  const std::shared_ptr<SessionFunctions> session_;
};

}  // namespace

std::shared_ptr<DetachedFunctions> SessionFunctions::Detach() {
  return std::make_shared<DetachedSessionFunctions>(shared_from_this());
}

Status StepFunctions::Instantiate(const NameAttrList& function,
                                  const std::string& device,
                                  const Function** out) {
  // Compiling a function is part of the step.
  const Interrupt interrupt([this] { return args_->cancellation->status(); });
  const SessionFunctions::Instance* instance;
  HR_RETURN_IF_ERROR(session_->Instantiate(function, device, &instance));
  *out = instance;
  return OkStatus();
}

void StepFunctions::Call(const Function& function, const OpKernel& caller,
                         std::vector<Tensor> args, DoneCallback done) {
  const int depth = site_ == nullptr ? 1 : site_->depth + 1;
  Status s = CheckCall(function, depth, args);
  const SessionFunctions::Instance* instance = nullptr;
  if (s.ok()) {
    s = session_->InScope(
        args_->function_scope,
        static_cast<const SessionFunctions::Instance&>(function), &instance);
  }
  if (!s.ok()) {
    done(s, {});
    return;
  }
  const CallSite site{&function.name(), &caller.def(), site_, depth};
  (new FunctionCall(session_, *instance, *args_, site, std::move(args),
                    std::move(done)))
      ->Start();
}

Status CreateNodeKernel(Device* device, const Node& node,
                        std::unique_ptr<OpKernel>* kernel) {
  if (!IsFunctionCall(node)) {
    return CreateOpKernel(device, node.shared_def(), &node.op_def(), kernel);
  }
  auto def = std::make_shared<NodeDef>();
  def->name = node.name();
  def->op =
      node.op_def().is_stateful ? "StatefulPartitionedCall" : "PartitionedCall";
  def->device = node.requested_device();
  def->source = node.def().source;
  NameAttrList f;
  f.name = node.type_string();
  f.attrs = std::make_shared<AttrMap>(InstanceAttrs(node.attrs()));
  def->attrs.Set("f", std::move(f));
  std::vector<DataType> in, out;
  for (DataType t : node.input_types()) in.push_back(BaseType(t));
  for (DataType t : node.output_types()) out.push_back(BaseType(t));
  def->attrs.Set("Tin", std::move(in));
  def->attrs.Set("Tout", std::move(out));
  const OpDef* op_def;
  HR_RETURN_IF_ERROR(OpRegistry::Global()->LookUp(def->op, &op_def));
  AddDefaultAttrs(*op_def, &def->attrs);
  return CreateOpKernel(device, std::move(def), op_def, kernel);
}

}  // namespace headrace
