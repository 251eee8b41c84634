// The registry of ops. REGISTER_OP's records are pushed on a list without
// locks, also when a custom op library is loaded while other threads look ops
// up; each look-up that misses takes what is new on that list.
#include "headrace/op.h"

#include <unistd.h>

#include <algorithm>
#include <atomic>

#include "base/fork.h"
#include "base/log.h"
#include "base/push_front.h"
#include "framework/op/op_clashes.h"

namespace headrace {
namespace {

// Constant-initialised, so that it is ready before any OpRegistrar is made.
constinit std::atomic<const OpRecord*> g_records{nullptr};

// Of this machine, as TensorFlow names it in its message.
std::string HostName() {
  char name[256] = "";
  if (gethostname(name, sizeof(name)) != 0) return "localhost";
  name[sizeof(name) - 1] = '\0';
  return name;
}

bool SameSignature(const OpDef& a, const OpDef& b) {
  return a.DebugString() == b.DebugString();
}

struct Clashes {
  Mutex mu;
  std::vector<std::string> messages GUARDED_BY(mu);
  static Clashes* Get() {
    static Clashes* const c = new Clashes;
    return c;
  }
};

// Keeps a message if `late` differs from the op that has its name already.
void NoteClash(const OpRecord& late, const OpDef& first) {
  OpDef def;
  const Status built = late.Build(&def);
  if (built.ok() && SameSignature(def, first)) return;
  Clashes* const c = Clashes::Get();
  MutexLock lock(&c->mu);
  c->messages.push_back(
      built.ok()
          ? StrCat("Op with name ", first.name, " is registered already as ",
                   first.DebugString(), ", now as ", def.DebugString())
          : std::string(built.message()));
}

}  // namespace

std::vector<std::string> TakeOpClashes() {
  OpRegistry::Global()->All();  // takes what is new
  Clashes* const c = Clashes::Get();
  MutexLock lock(&c->mu);
  return std::move(c->messages);
}

OpRegistrar::OpRegistrar(const OpRecord& record) {
  PushFront(&g_records, &record, &record.next_);
}

Status OpRecord::Build(OpDef* def) const {
  def->name = name_;
  const char* const* line = lines_of_(*this);
  Status status;
  for (int i = 0; i < counts_[kAttr] && status.ok(); ++i) {
    OpDef::Attr attr;
    status = ParseAttrSpec(*line++, &attr);
    if (status.ok() && def->FindAttr(attr.name) >= 0) {
      status = errors::InvalidArgument("attr '", attr.name, "' given twice");
    }
    def->attrs.push_back(std::move(attr));
  }
  const int num_args = counts_[kInput] + counts_[kOutput];
  for (int i = 0; i < num_args && status.ok(); ++i) {
    OpDef::Arg arg;
    status = ParseArgSpec(*line++, def, &arg);
    auto& args = i < counts_[kInput] ? def->inputs : def->outputs;
    args.push_back(std::move(arg));
  }
  if (!status.ok()) {
    return errors::Internal("REGISTER_OP(\"", name_, "\"): ", status.message());
  }
  def->is_commutative = commutative_;
  def->is_aggregate = aggregate_;
  def->is_stateful = stateful_;
  def->allows_uninitialized_input = uninitialized_;
  def->deprecated_at = deprecated_at_;
  def->deprecation = deprecation_;
  def->shape_fn = shape_fn_;
  def->traits = &traits_;
  return OkStatus();
}

OpRegistry* OpRegistry::Global() {
  static OpRegistry* const registry = [] {
    auto* made = new OpRegistry();
    HoldDuringFork(&made->mu_);
    return made;
  }();
  return registry;
}

void OpRegistry::TakePending() {
  const OpRecord* const head = g_records.load(std::memory_order_acquire);
  // The list is newest first; a name belongs to who came first.
  std::vector<const OpRecord*> fresh;
  for (const OpRecord* r = head; r != taken_; r = r->next_) {
    fresh.push_back(r);
  }
  for (auto it = fresh.rbegin(); it != fresh.rend(); ++it) {
    const std::string name = (*it)->name();
    const auto def = defs_.find(name);
    if (def != defs_.end()) {
      NoteClash(**it, *def->second);
      continue;
    }
    const auto [spec, added] = specs_.try_emplace(name, *it);
    OpDef first;
    if (!added && spec->second->Build(&first).ok()) NoteClash(**it, first);
  }
  taken_ = head;
}

Status OpRegistry::LookUp(absl::string_view name, const OpDef** def) {
  *def = nullptr;
  MutexLock lock(&mu_);
  if (auto it = defs_.find(name); it != defs_.end()) {
    *def = it->second.get();
    return OkStatus();
  }
  TakePending();
  const auto spec = specs_.find(name);
  if (spec == specs_.end()) {
    return errors::NotFound(
        "Op type not registered '", name, "' in binary running on ", HostName(),
        ". Make sure the Op and Kernel are registered in the binary running "
        "in this process. If it is a custom op, load its library first.");
  }
  auto parsed = std::make_unique<OpDef>();
  HR_RETURN_IF_ERROR(spec->second->Build(parsed.get()));
  *def = parsed.get();
  defs_.emplace(name, std::move(parsed));
  return OkStatus();
}

const OpDef* OpRegistry::Find(absl::string_view name) {
  const OpDef* def = nullptr;
  return LookUp(name, &def).ok() ? def : nullptr;
}

Status OpRegistry::Register(OpDef def) {
  if (const OpDef* old = Find(def.name)) {
    if (SameSignature(*old, def)) return OkStatus();
    return errors::AlreadyExists("Op with name ", def.name,
                                 " is registered already as ",
                                 old->DebugString());
  }
  MutexLock lock(&mu_);
  const std::string name = def.name;
  const auto [it, added] = defs_.try_emplace(name);
  if (added) {
    it->second = std::make_unique<OpDef>(std::move(def));
  } else if (!SameSignature(*it->second, def)) {
    return errors::AlreadyExists("Op with name ", name,
                                 " is registered already as ",
                                 it->second->DebugString());
  }
  return OkStatus();
}

std::vector<const OpDef*> OpRegistry::All() {
  std::vector<std::string> names;
  {
    MutexLock lock(&mu_);
    TakePending();
    for (const auto& [name, spec] : specs_) names.push_back(name);
    for (const auto& [name, def] : defs_) {
      if (!specs_.contains(name)) names.push_back(name);
    }
  }
  std::sort(names.begin(), names.end());
  std::vector<const OpDef*> all;
  all.reserve(names.size());
  for (const std::string& name : names) {
    const OpDef* def = nullptr;
    if (Status s = LookUp(name, &def); s.ok()) {
      all.push_back(def);
    } else {
      HR_LOG(ERROR) << s;
    }
  }
  return all;
}

}  // namespace headrace
