#include "headrace/op_kernel.h"

#include <algorithm>
#include <cstring>

#include "absl/algorithm/container.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "base/exceptions.h"
#include "base/fork.h"
#include "base/push_front.h"
#include "base/require_memory.h"
#include "base/thread_pool.h"
#include "framework/kernel/step_budget.h"

namespace headrace {

OpKernel::~OpKernel() = default;

void OpKernelConstruction::CtxFailure(const Status& s) noexcept {
  SetStatus(s);
}

void OpKernelContext::CtxFailure(const Status& s) noexcept { SetStatus(s); }

OpKernel::OpKernel(OpKernelConstruction* ctx)
    : def_(ctx->def_),
      op_def_(ctx->op_def_),
      input_types_(ctx->input_types_),
      output_types_(ctx->output_types_),
      input_memory_(ctx->input_memory_),
      output_memory_(ctx->output_memory_) {}

void OpKernel::SetTraits() {
  traits_.is_expensive = expensive_;
  traits_.may_outlast_run =
      !op_def_->is_stateful && absl::c_none_of(input_types_, [](DataType t) {
        return IsRefType(t) || t == DT_RESOURCE;
      });
  DescribeTraits(&traits_);
}

namespace {
Status FindRange(const std::vector<OpDef::Arg>& args, const OpDef& op,
                 const AttrMap& attrs, absl::string_view name, const char* what,
                 int* begin, int* end) {
  std::vector<ArgRange> ranges;
  HR_RETURN_IF_ERROR(ArgRanges(args, op, attrs, &ranges));
  for (size_t i = 0; i < args.size(); ++i) {
    if (args[i].name == name) {
      *begin = ranges[i].begin;
      *end = ranges[i].end;
      return OkStatus();
    }
  }
  return errors::InvalidArgument("op ", op.name, " has no ", what, " named ",
                                 name);
}
}  // namespace

Status OpKernel::InputRange(absl::string_view name, int* begin,
                            int* end) const {
  return FindRange(op_def_->inputs, *op_def_, def_->attrs, name, "input", begin,
                   end);
}
Status OpKernel::OutputRange(absl::string_view name, int* begin,
                             int* end) const {
  return FindRange(op_def_->outputs, *op_def_, def_->attrs, name, "output",
                   begin, end);
}

void AsyncOpKernel::Compute(OpKernelContext* ctx) {
  Notification done;
  ComputeAsync(ctx, [&done] { done.Notify(); });
  done.WaitForNotification();
}

namespace {
[[gnu::noinline]] void Renew(size_t num_outputs,
                             absl::InlinedVector<OutputSlot, 1>* outputs,
                             Status* status) {
  for (OutputSlot& o : *outputs) {
    if (o.is_set) o = OutputSlot();
  }
  outputs->resize(num_outputs);
  *status = OkStatus();
}
}  // namespace

OpKernelContext::OpKernelContext(const Params* params) { Reset(params); }

void OpKernelContext::Reset(const Params* params) {
  params_ = params;
  const size_t n = params->kernel->num_outputs();
  bool as_new = outputs_.size() == n && status_.ok();
  for (const OutputSlot& o : outputs_) as_new &= !o.is_set;
  if (!as_new) [[unlikely]] {
    Renew(n, &outputs_, &status_);
  }
}

void OpKernelContext::ParallelFor(
    int64_t total, double cost,
    absl::FunctionRef<void(int64_t begin, int64_t end)> fn) {
  params_->device->thread_pool()->ParallelForCost(total, cost, fn);
}

Status OpKernelContext::input(absl::string_view name,
                              const Tensor** out) const {
  int begin = 0, end = 0;
  HR_RETURN_IF_ERROR(params_->kernel->InputRange(name, &begin, &end));
  if (end != begin + 1) {
    return errors::InvalidArgument("input ", name, " is a list of ",
                                   end - begin, " tensors, one was wanted");
  }
  *out = &input(begin);
  return OkStatus();
}

Status OpKernelContext::input_list(absl::string_view name,
                                   std::vector<const Tensor*>* out) const {
  int begin = 0, end = 0;
  HR_RETURN_IF_ERROR(params_->kernel->InputRange(name, &begin, &end));
  out->clear();
  for (int i = begin; i < end; ++i) out->push_back(&input(i));
  return OkStatus();
}

Tensor OpKernelContext::mutable_input(int i, bool lock_held) {
  const TensorValue& v = params_->inputs[i];
  if (lock_held || v.ref_mutex == nullptr) return *v.tensor;
  MutexLock lock(v.ref_mutex);
  return *v.tensor;
}

void OpKernelContext::replace_ref_input(int i, const Tensor& t,
                                        bool lock_held) {
  const TensorValue& v = params_->inputs[i];
  if (lock_held || v.ref_mutex == nullptr) {
    *v.tensor = t;
    return;
  }
  MutexLock lock(v.ref_mutex);
  *v.tensor = t;
}

void OpKernelContext::forward_ref_input_to_ref_output(int in, int out) {
  const TensorValue& v = params_->inputs[in];
  set_output_ref(out, v.ref_mutex, v.tensor);
}

namespace {
// What is inside of a Tensor is in the host's memory.
Tensor::Placement PlacementIn(const Device& device, MemoryType where) {
  return where == HOST_MEMORY || device.IsHostMemory() ? Tensor::kAuto
                                                       : Tensor::kHeap;
}
}  // namespace

Status OpKernelContext::allocate_output(int i, const TensorShape& shape,
                                        Tensor** out) {
  OutputSlot& slot = outputs_[i];
  const MemoryType where = params_->kernel->output_memory_type(i);
  Allocator* a = PlannedAllocator(i);
  if (a == nullptr) [[likely]]
    a = StepAllocator(where);
  HR_RETURN_IF_ERROR(
      Tensor::Allocate(a, BaseType(params_->kernel->output_type(i)), shape,
                       &slot.value, PlacementIn(*device(), where)));
  slot.is_set = true;
  *out = &slot.value;
  return OkStatus();
}

Status OpKernelContext::forward_input_or_allocate_output(
    absl::Span<const int> candidates, int output, const TensorShape& shape,
    Tensor** out, int* forwarded_input) {
  const DataType want = params_->kernel->output_type(output);
  if (PlannedAllocator(output) != nullptr) candidates = {};
  for (int i : candidates) {
    const TensorValue& v = params_->inputs[i];
    if (v.is_ref() || v.tensor->dtype() != want ||
        v.tensor->NumElements() != shape.num_elements() ||
        !v.tensor->OwnsExclusively() ||
        params_->kernel->input_memory_type(i) !=
            params_->kernel->output_memory_type(output)) {
      continue;
    }
    OutputSlot& slot = outputs_[output];
    // The shapes differ only by dims of size 1: elements were compared.
    if (!slot.value.CopyFrom(*v.tensor, shape)) continue;
    slot.value.AllowWrites();
    slot.is_set = true;
    *out = &slot.value;
    if (forwarded_input != nullptr) *forwarded_input = i;
    return OkStatus();
  }
  if (forwarded_input != nullptr) *forwarded_input = -1;
  return allocate_output(output, shape, out);
}

Allocator* OpKernelContext::AllocatorWithBudget(MemoryType where) const {
  const bool of_host = where == HOST_MEMORY || device()->IsHostMemory();
  return of_host ? params_->budget : device()->allocator(where);
}

Status OpKernelContext::allocate_temp(DataType dtype, const TensorShape& shape,
                                      Tensor* out,
                                      Tensor::Placement placement) {
  if (placement == Tensor::kAuto) {
    placement = PlacementIn(*device(), DEVICE_MEMORY);
  }
  // The list of allocators has one more than there are outputs.
  Allocator* from = PlannedAllocator(num_outputs());
  if (from == nullptr) from = StepAllocator(DEVICE_MEMORY);
  return Tensor::Allocate(from, dtype, shape, out, placement);
}

void OpKernelContext::set_output(int i, Tensor value) {
  outputs_[i].value = std::move(value);
  outputs_[i].is_set = true;
}

void OpKernelContext::set_output_ref(int i, Mutex* mu, Tensor* ref) {
  outputs_[i].ref = ref;
  outputs_[i].ref_mutex = mu;
  outputs_[i].is_set = true;
}

Tensor* OpKernelContext::mutable_output(int i) {
  OutputSlot& slot = outputs_[i];
  if (!slot.is_set) return nullptr;
  return slot.ref != nullptr ? slot.ref : &slot.value;
}

namespace {
// Registrars run before main and while libraries are loaded, one at a time per
// the dynamic linker's lock; readers take what was added since.
constinit std::atomic<const KernelEntry*> g_kernels{nullptr};

// Of literals, which are mostly one.
bool SameText(const char* a, const char* b) {
  return a == b || std::strcmp(a, b) == 0;
}
}  // namespace

void KernelRegistrar::Link(KernelEntry* newest, KernelEntry* oldest) {
  PushFront(&g_kernels, newest, &oldest->next);
}

KernelRegistry* KernelRegistry::Global() {
  static KernelRegistry* const registry = [] {
    auto* made = new KernelRegistry;
    HoldDuringFork(&made->mu_);
    return made;
  }();
  return registry;
}

void KernelRegistry::TakePending() {
  const KernelEntry* head = g_kernels.load(std::memory_order_acquire);
  for (const KernelEntry* e = head; e != taken_; e = e->next) {
    by_op_[e->op].push_back(e);
  }
  taken_ = head;
}

const KernelEntry* KernelRegistry::Find(const std::string& device_type,
                                        const NodeDef& node) {
  const AttrValue* const label_attr = node.attrs.Find("_kernel");
  const std::string* const label =
      label_attr == nullptr ? nullptr : label_attr->Get<std::string>();
  // Most constraints of an op are on one attr, most kernels for one device.
  const char* last_attr = "";
  const AttrValue* last_value = nullptr;
  const DataType* last_type = nullptr;  // if it is one
  const char* last_device = nullptr;
  bool exact = false, on_device = false;
  MutexLock lock(&mu_);
  TakePending();
  auto it = by_op_.find(node.op);
  if (it == by_op_.end()) return nullptr;
  const KernelEntry* best = nullptr;
  bool best_exact = false;
  for (const KernelEntry* e : it->second) {
    if (e->device != last_device) {
      last_device = e->device;
      exact = device_type == e->device;
      on_device = exact || SameText(e->device, DEVICE_DEFAULT);
    }
    if (!on_device) continue;
    // One constraint on the attr of the kernel before.
    if (e->num_constraints == 1 && last_type != nullptr &&
        e->clauses[0].name == last_attr && e->clauses[0].type != *last_type) {
      continue;
    }
    if (label == nullptr ? *e->label != '\0' : *label != e->label) continue;
    const absl::Span<const KernelClause> constraints = e->constraints();
    bool fits = true;
    for (size_t i = 0; i < constraints.size() && fits; ++i) {
      const char* attr = constraints[i].name;
      // Alternatives for one attr add up; each attr is judged at its first
      // mention.
      bool seen = false;
      for (size_t j = 0; j < i; ++j)
        seen |= SameText(constraints[j].name, attr);
      if (seen) continue;
      if (!SameText(attr, last_attr)) {
        last_attr = attr;
        last_value = node.attrs.Find(attr);
        last_type =
            last_value == nullptr ? nullptr : last_value->Get<DataType>();
      }
      if (last_value == nullptr) {
        fits = false;
        break;
      }
      auto allowed = [&](DataType t) {
        for (const KernelClause& c : constraints.subspan(i)) {
          if (c.type == t && SameText(c.name, attr)) {
            return true;
          }
        }
        return false;
      };
      if (last_type != nullptr) {
        fits = allowed(*last_type);
      } else if (const auto* list = last_value->GetList<DataType>()) {
        for (DataType t : *list) fits = fits && allowed(t);
      } else {
        fits = false;
      }
    }
    if (!fits) continue;
    if (best == nullptr || (exact && !best_exact) ||
        (exact == best_exact && e->priority > best->priority)) {
      best = e;
      best_exact = exact;
    }
  }
  return best;
}

std::vector<std::string> KernelRegistry::SupportedDevices(const NodeDef& node) {
  absl::InlinedVector<const char*, 4> types;
  {
    MutexLock lock(&mu_);
    TakePending();
    auto it = by_op_.find(node.op);
    if (it == by_op_.end()) return {};
    for (const KernelEntry* e : it->second) {
      const char* const type = e->device;
      if (absl::c_none_of(
              types, [type](const char* t) { return SameText(t, type); })) {
        types.push_back(type);
      }
    }
  }
  std::vector<std::string> out;
  for (const char* t : types) {
    if (HasKernel(t, node)) out.push_back(t);
  }
  std::sort(out.begin(), out.end());
  return out;
}

namespace {
std::string ConstraintString(
    const std::vector<std::pair<std::string, std::vector<std::string>>>& c) {
  std::string out;
  for (const auto& [attr, types] : c) {
    absl::StrAppend(&out, out.empty() ? "" : "; ", attr, " in [",
                    absl::StrJoin(types, ", "), "]");
  }
  return out;
}
}  // namespace

std::vector<KernelRegistry::Info> KernelRegistry::All() {
  MutexLock lock(&mu_);
  TakePending();
  std::vector<Info> out;
  for (const auto& [op, entries] : by_op_) {
    for (const KernelEntry* e : entries) {
      std::vector<std::pair<std::string, std::vector<std::string>>> c;
      for (const KernelClause& k : e->constraints()) {
        auto at = std::find_if(c.begin(), c.end(), [&](const auto& p) {
          return p.first == k.name;
        });
        if (at == c.end()) at = c.insert(c.end(), {k.name, {}});
        at->second.push_back(DataTypeString(k.type));
      }
      out.push_back({e->op, e->device, e->kernel_class, ConstraintString(c)});
    }
  }
  std::sort(out.begin(), out.end(), [](const Info& a, const Info& b) {
    return std::tie(a.op, a.device, a.constraints) <
           std::tie(b.op, b.device, b.constraints);
  });
  return out;
}

std::string KernelRegistry::Describe(const std::string& op) {
  std::string out;
  for (const Info& i : All()) {
    if (i.op != op) continue;
    absl::StrAppend(&out, "\n  device='", i.device, "'",
                    i.constraints.empty() ? "" : "; ", i.constraints);
  }
  return out.empty() ? "\n  <no registered kernels>" : out;
}

namespace {
// Objects cannot be in another memory. The kernels of every device pass values
// on; where they pass int32, these are counters and shapes, which other kernels
// want on the host.
bool StaysOnHost(DataType type, bool for_every_device) {
  return !DataTypeCanUseMemcpy(type) || (for_every_device && type == DT_INT32);
}

// `side` 0: of the inputs, whose types are `types`; 1: of the outputs.
Status MemoryTypesOf(const KernelEntry& entry, const OpDef& op,
                     const NodeDef& node, int side, const DataTypeVector& types,
                     absl::InlinedVector<MemoryType, 4>* memory) {
  const bool for_all = SameText(entry.device, DEVICE_DEFAULT);
  memory->assign(types.size(), DEVICE_MEMORY);
  for (size_t k = 0; k < types.size(); ++k) {
    if (StaysOnHost(BaseType(types[k]), for_all)) (*memory)[k] = HOST_MEMORY;
  }
  if (entry.host_memory().empty()) return OkStatus();
  const auto& args = side == 0 ? op.inputs : op.outputs;
  std::vector<ArgRange> ranges;
  HR_RETURN_IF_ERROR(ArgRanges(args, op, node.attrs, &ranges));
  for (const KernelClause& host : entry.host_memory()) {
    for (size_t i = 0; i < args.size(); ++i) {
      if (args[i].name != host.name) continue;
      for (int k = ranges[i].begin; k < ranges[i].end; ++k) {
        (*memory)[k] = HOST_MEMORY;
      }
    }
  }
  return OkStatus();
}
}  // namespace

Status KernelRegistry::MemoryTypes(
    const KernelEntry& entry, const OpDef& op, const NodeDef& node,
    absl::InlinedVector<MemoryType, 4>* inputs,
    absl::InlinedVector<MemoryType, 4>* outputs) {
  DataTypeVector input_types, output_types;
  HR_RETURN_IF_ERROR(InOutTypes(op, node.attrs, &input_types, &output_types));
  HR_RETURN_IF_ERROR(MemoryTypesOf(entry, op, node, 0, input_types, inputs));
  return MemoryTypesOf(entry, op, node, 1, output_types, outputs);
}

Status CreateOpKernel(Device* device, std::shared_ptr<const NodeDef> node,
                      const OpDef* op_def, std::unique_ptr<OpKernel>* kernel) {
  HR_RETURN_IF_ERROR(RequireMemoryReserve());
  const KernelEntry* entry =
      KernelRegistry::Global()->Find(device->device_type(), *node);
  if (entry == nullptr) {
    return errors::InvalidArgument(
        "No OpKernel was registered to support Op '", node->op, "' used by ",
        NodeErrorSuffix(*node), " with these attrs: ", SummarizeNodeDef(*node),
        " on device type ", device->device_type(),
        "\nRegistered kernels:", KernelRegistry::Global()->Describe(node->op));
  }
  OpKernelConstruction ctx;
  ctx.device_ = device;
  ctx.def_ = node;
  ctx.op_def_ = op_def;
  HR_RETURN_IF_ERROR(
      InOutTypes(*op_def, node->attrs, &ctx.input_types_, &ctx.output_types_));
  HR_RETURN_IF_ERROR(MemoryTypesOf(*entry, *op_def, *node, 0, ctx.input_types_,
                                   &ctx.input_memory_));
  HR_RETURN_IF_ERROR(MemoryTypesOf(*entry, *op_def, *node, 1, ctx.output_types_,
                                   &ctx.output_memory_));
  std::unique_ptr<OpKernel> made;
  ctx.SetStatus(CatchExceptions([&] {
    made.reset(entry->factory(&ctx));
    return OkStatus();
  }));
  if (!ctx.status().ok()) {
    return Annotate(ctx.status(),
                    absl::StrCat("\n\t [[", NodeErrorSuffix(*node), "]]"));
  }
  made->kernel_class_ = entry->kernel_class;
  made->SetTraits();
  *kernel = std::move(made);
  return OkStatus();
}

}  // namespace headrace
