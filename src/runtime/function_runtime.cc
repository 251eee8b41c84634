#include "runtime/function_runtime.h"

#include <map>
#include <utility>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "base/interrupt.h"
#include "base/thread_pool.h"
#include "framework/kernel/rendezvous.h"
#include "gradients/function.h"
#include "graph/function_body.h"
#include "graph/partition.h"
#include "runtime/function_call.h"
#include "runtime/memory_types.h"
#include "runtime/passes/graph_pass.h"
#include "runtime/placer.h"

namespace headrace {
namespace {

// True if the node's kernel may keep something from one call to the next. What
// is kept in a resource is the resource's; datasets are as if they were not
// stateful; functions that the node calls have instances of their own.
bool KeepsState(const Node& n) {
  const auto is = [](DataType wanted) {
    return [wanted](DataType t) { return BaseType(t) == wanted; };
  };
  constexpr Effect kKeptNowhere = Effect::kStops | Effect::kPrints |
                                  Effect::kRunsCode | Effect::kWritesFiles |
                                  Effect::kTransfers;
  if (!n.op_def().is_stateful || !HasAny(n.effects(), ~kKeptNowhere) ||
      std::any_of(n.input_types().begin(), n.input_types().end(),
                  is(DT_RESOURCE))) {
    return false;
  }
  return n.num_outputs() == 0 ||
         !std::all_of(n.output_types().begin(), n.output_types().end(),
                      is(DT_VARIANT));
}

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

// Thread-safe.
class SessionFunctions::Scope : public FunctionScope {
 public:
  explicit Scope(std::shared_ptr<SessionFunctions> session)
      : session_(std::move(session)) {}

  const SessionFunctions* session() const { return session_.get(); }

  // The instance in place of `function`, which has state. Made when it is asked
  // for the first time, which others wait for.
  Status Own(const FunctionInstance& function, const FunctionInstance** out) {
    MutexLock lock(&mu_);
    std::unique_ptr<FunctionInstance>& own = own_[&function];
    if (own == nullptr) {
      NameAttrList f;
      f.name = function.name();
      HR_RETURN_IF_ERROR(
          session_->Compile(f, function.attrs, function.device(), &own));
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
  absl::flat_hash_map<const FunctionInstance*,
                      std::unique_ptr<FunctionInstance>>
      own_ GUARDED_BY(mu_);
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
  {
    MutexLock lock(&mu_);
    if (!shut_down_) {
      ++entered_;
      return OkStatus();
    }
  }
  gate_->Leave();  // not with the lock, which a child would find locked
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
  decltype(forgotten_) forgotten;
  decltype(scopes_) scopes;
  {
    MutexLock lock(&mu_);
    while (entered_ > 0) left_.Wait(&mu_);
    gone.swap(instances_);
    forgotten.swap(forgotten_);
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

Status SessionFunctions::InScope(FunctionScope* scope,
                                 const FunctionInstance& function,
                                 const FunctionInstance** out) {
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

void SessionFunctions::Forget(const std::string& name) {
  MutexLock lock(&mu_);
  const auto it = instances_.find(name);
  if (it == instances_.end()) return;
  for (auto& instance : it->second) forgotten_.push_back(std::move(instance));
  instances_.erase(it);
}

StatusOr<NameAttrList> SessionFunctions::Gradient(
    const NameAttrList& function) const {
  std::shared_ptr<FunctionLibrary> library;
  GraphVersions versions;
  {
    MutexLock lock(&mu_);
    library = library_;
    versions = versions_;
  }
  return SymbolicGradientOf(library, function, versions);
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

const FunctionInstance* SessionFunctions::FindLocked(
    const std::string& name, const AttrMap& attrs, const Device* device) const {
  const auto it = instances_.find(name);
  if (it == instances_.end()) return nullptr;
  for (const auto& i : it->second) {
    if (i->device() == device && i->attrs == attrs) return i.get();
  }
  return nullptr;
}

Status SessionFunctions::Instantiate(const NameAttrList& function,
                                     const std::string& device,
                                     const FunctionInstance** out) {
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
  std::unique_ptr<FunctionInstance> made;
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
                                 std::unique_ptr<FunctionInstance>* out) const {
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
  auto instance =
      std::make_unique<FunctionInstance>(function.name, attrs, device);
  instance->SetTypes(body.arg_types, body.ret_types);
  GraphPassContext context;
  context.devices = {device};
  for (const Node* n : body.effects) context.targets.insert(n->name());
  const std::string in_function =
      absl::StrCat("\n\t in function '", function.name, "'");
  HR_RETURN_IF_ERROR(Annotate(
      RunGraphPasses(context, disabled_passes_, body.graph.get(), nullptr),
      in_function));
  std::vector<Node*> unused;
  body.graph->ForEachNode([&](Node* n) {
    instance->has_state |= KeepsState(*n);
    if (n->IsArg() && n->out_edges().empty()) unused.push_back(n);
  });
  for (Node* n : unused) body.graph->RemoveNode(n);
  HR_RETURN_IF_ERROR(Annotate(
      MakeParts(device, std::move(body.graph), instance.get()), in_function));
  *out = std::move(instance);
  return OkStatus();
}

Device* SessionFunctions::HostBeside(Device* device) const {
  const DeviceName& own = device->parsed_name();
  for (Device* d : devices_) {
    const DeviceName& other = d->parsed_name();
    if (d->IsHostMemory() && other.job == own.job &&
        other.replica == own.replica && other.task == own.task) {
      return d;
    }
  }
  return device;
}

Status SessionFunctions::MakeParts(Device* device, std::unique_ptr<Graph> body,
                                   FunctionInstance* out) const {
  bool control_flow = false;
  std::vector<Device*> devices = {device};
  std::map<std::string, std::unique_ptr<Graph>> graphs;
  int transfers = 0;
  const auto count = [&transfers](const Node* n) {
    transfers += n->IsSend() || n->IsRecv() ? 1 : 0;
  };
  body->ForEachNode([&](Node* n) {
    control_flow |= n->IsControlFlow();
    count(n);
    if (device->IsHostMemory() || n->IsArg() || n->IsRetval()) {
      n->set_assigned_device(device->name());
    }
  });
  if (device->IsHostMemory()) {
    graphs[device->name()] = std::move(body);
  } else {
    Device* const host = HostBeside(device);
    if (host != device) devices.push_back(host);
    HR_RETURN_IF_ERROR(PlaceGraph({.allow_soft_placement = true}, devices,
                                  StatePlaces(), body.get()));
    const int before = std::exchange(transfers, 0);
    PartitionOptions partition;
    partition.incarnation = [&](const std::string& name) -> uint64_t {
      return (name == device->name() ? device : host)->attributes().incarnation;
    };
    partition.memory_of = MemoryOfNodes(devices);
    HR_RETURN_IF_ERROR(PartitionGraph(partition, std::move(body), &graphs));
    for (const auto& [name, graph] : graphs) graph->ForEachNode(count);
    out->crosses = transfers > before;
    if (out->crosses && before > 0) {
      return errors::Unimplemented(
          "a function that sends or receives values itself, and values in it "
          "cross between ",
          device->name(), " and the host");
    }
  }
  for (const auto& [name, graph] : graphs) {
    Device* const where = name == device->name() ? device : devices.back();
    HR_RETURN_IF_ERROR(Executor::Create(
        where, *graph, {.control_flow = control_flow},
        [where](const Node& n, std::shared_ptr<OpKernel>* kernel) {
          std::unique_ptr<OpKernel> made;
          HR_RETURN_IF_ERROR(CreateNodeKernel(where, n, &made));
          *kernel = std::move(made);
          return OkStatus();
        },
        &out->parts.emplace_back()));
  }
  return OkStatus();
}

Status StepFunctions::Instantiate(const NameAttrList& function,
                                  const std::string& device,
                                  const Function** out) {
  // Compiling a function is part of the step.
  const Interrupt interrupt([this] { return args_->cancellation->status(); });
  const FunctionInstance* instance;
  HR_RETURN_IF_ERROR(session_->Instantiate(function, device, &instance));
  *out = instance;
  return OkStatus();
}

void StepFunctions::Call(const Function& function, const OpKernel& caller,
                         std::vector<Tensor> args, DoneCallback done) {
  const int depth = site_ == nullptr ? 1 : site_->depth + 1;
  Status s = CheckCall(function, depth, args);
  const FunctionInstance* instance = nullptr;
  if (s.ok()) {
    s = session_->InScope(args_->function_scope,
                          static_cast<const FunctionInstance&>(function),
                          &instance);
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
