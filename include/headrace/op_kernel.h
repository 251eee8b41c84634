// OpKernel: what a node does. A kernel is made once per node and device and is
// then called for each step, from any thread, several at a time: Compute is
// const in spirit, and a kernel that keeps state guards it.
//
//   class SoftplusOp : public OpKernel {
//    public:
//     using OpKernel::OpKernel;
//     void Compute(OpKernelContext* ctx) override;
//   };
//   REGISTER_KERNEL_BUILDER(
//       Name("Softplus").Device(DEVICE_CPU).TypeConstraint<float>("T"),
//       SoftplusOp<float>);
#ifndef HEADRACE_OP_KERNEL_H_
#define HEADRACE_OP_KERNEL_H_

#include <array>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "absl/container/inlined_vector.h"
#include "absl/functional/function_ref.h"
#include "absl/types/span.h"
#include "headrace/cancellation.h"
#include "headrace/device.h"
#include "headrace/kernel_traits.h"
#include "headrace/mutex.h"
#include "headrace/node_def.h"
#include "headrace/op_def.h"
#include "headrace/resource_mgr.h"
#include "headrace/tensor.h"

namespace headrace {

class OpKernelConstruction;
class OpKernelContext;
class AsyncCallFrame;  // framework/kernel/async_call_frame.h
class AsyncOpKernel;
class Rendezvous;
class FunctionRuntime;  // framework/kernel/function_runtime.h
class StepBudget;       // framework/kernel/step_budget.h

// Report a failure and return from a kernel's constructor or Compute.
#define OP_REQUIRES(CTX, COND, ...)     \
  do {                                  \
    if (!(COND)) [[unlikely]] {         \
      (CTX)->CtxFailure((__VA_ARGS__)); \
      return;                           \
    }                                   \
  } while (0)
#define OP_REQUIRES_OK(CTX, ...)                \
  do {                                          \
    ::headrace::Status hr_status_(__VA_ARGS__); \
    if (!hr_status_.ok()) [[unlikely]] {        \
      (CTX)->CtxFailure(hr_status_);            \
      return;                                   \
    }                                           \
  } while (0)
// In ComputeAsync: also calls done.
#define OP_REQUIRES_ASYNC(CTX, COND, STATUS, DONE) \
  do {                                             \
    if (!(COND)) [[unlikely]] {                    \
      (CTX)->CtxFailure(STATUS);                   \
      (DONE)();                                    \
      return;                                      \
    }                                              \
  } while (0)
#define OP_REQUIRES_OK_ASYNC(CTX, STATUS, DONE) \
  do {                                          \
    ::headrace::Status hr_status_(STATUS);      \
    if (!hr_status_.ok()) [[unlikely]] {        \
      (CTX)->CtxFailure(hr_status_);            \
      (DONE)();                                 \
      return;                                   \
    }                                           \
  } while (0)

class OpKernel {
 public:
  // Both are cold, and so are those of every kernel class that calls them: they
  // run once for a node, and the compiler makes them small.
  [[gnu::cold]] explicit OpKernel(OpKernelConstruction* ctx);
  [[gnu::cold]] virtual ~OpKernel();
  OpKernel(const OpKernel&) = delete;
  OpKernel& operator=(const OpKernel&) = delete;

  // Sets every output or a failure status; what it throws for want of memory is
  // its failure (Device::Compute). Must not block: an op that waits is an
  // AsyncOpKernel.
  virtual void Compute(OpKernelContext* ctx) = 0;
  virtual AsyncOpKernel* AsAsync() { return nullptr; }
  // A kernel whose output is always this tensor (Const): the executor takes it
  // without calling Compute. Null otherwise.
  virtual const Tensor* const_tensor() const { return nullptr; }
  // Input i will be `value` in every call. For kernels that prepare what does
  // not change (packed weights); the buffer stays alive as long as the kernel.
  // Called on one thread, once for each plan that has the kernel, while it is
  // compiled; a kernel that the session keeps may be called again, with the
  // same value.
  virtual void SetConstantInput(int i, const Tensor& value) {}

  const std::string& name() const { return def_->name; }
  const std::string& type_string() const { return def_->op; }
  const NodeDef& def() const { return *def_; }
  // "MatMulOp<float>": the class given to REGISTER_KERNEL_BUILDER.
  const char* kernel_class() const { return kernel_class_; }

  int num_inputs() const { return static_cast<int>(input_types_.size()); }
  int num_outputs() const { return static_cast<int>(output_types_.size()); }
  DataType input_type(int i) const { return input_types_[i]; }
  DataType output_type(int i) const { return output_types_[i]; }
  const DataTypeVector& input_types() const { return input_types_; }
  const DataTypeVector& output_types() const { return output_types_; }
  const KernelTraits& traits() const { return traits_; }
  MemoryType input_memory_type(int i) const { return input_memory_[i]; }
  MemoryType output_memory_type(int i) const { return output_memory_[i]; }
  Status InputRange(absl::string_view name, int* begin, int* end) const;
  Status OutputRange(absl::string_view name, int* begin, int* end) const;

 protected:
  // Changes what `traits` says by default. Called once, after the constructor.
  // A class with a base that overrides it calls the base's.
  virtual void DescribeTraits(KernelTraits* traits) {}

  // The default of traits().is_expensive; a constructor may set it to false.
  bool expensive_ = true;

 private:
  friend Status CreateOpKernel(Device*, std::shared_ptr<const NodeDef>,
                               const OpDef*, std::unique_ptr<OpKernel>*);
  void SetTraits();

  std::shared_ptr<const NodeDef> def_;
  const OpDef* op_def_;
  KernelTraits traits_;
  DataTypeVector input_types_, output_types_;
  absl::InlinedVector<MemoryType, 4> input_memory_, output_memory_;
  const char* kernel_class_ = "";
};

// A kernel that may wait for something: it returns at once and calls `done`
// exactly once, from any thread; until then `ctx` stays alive. Where it throws
// or drops `done` instead, for want of memory, the executor fails its step.
class AsyncOpKernel : public OpKernel {
 public:
  using OpKernel::OpKernel;
  using DoneCallback = std::function<void()>;
  virtual void ComputeAsync(OpKernelContext* ctx, DoneCallback done) = 0;
  AsyncOpKernel* AsAsync() final { return this; }
  // What a call that has not called back waits for, for the message of a
  // deadline: "an element in queue 'q'". Empty if there is nothing to say. May
  // run beside ComputeAsync on another thread: reads `ctx`'s inputs only.
  virtual std::string WaitsFor(OpKernelContext* ctx) const { return ""; }
  // Runs ComputeAsync and waits; for callers without an executor.
  void Compute(OpKernelContext* ctx) final;
};

// What a kernel's constructor sees. Used by one thread.
class OpKernelConstruction {
 public:
  const NodeDef& def() const { return *def_; }
  const OpDef& op_def() const { return *op_def_; }
  Device* device() const { return device_; }
  const std::string& device_type() const { return device_->device_type(); }
  int num_inputs() const { return static_cast<int>(input_types_.size()); }
  int num_outputs() const { return static_cast<int>(output_types_.size()); }
  DataType input_type(int i) const { return input_types_[i]; }
  DataType output_type(int i) const { return output_types_[i]; }
  const DataTypeVector& input_types() const { return input_types_; }
  const DataTypeVector& output_types() const { return output_types_; }
  bool HasAttr(absl::string_view name) const {
    return def_->attrs.Find(name) != nullptr;
  }
  template <typename T>
  Status GetAttr(absl::string_view name, T* v) const {
    return def_->attrs.Get(name, v);
  }

  void SetStatus(Status s) {
    if (status_.ok()) status_ = std::move(s);
  }
  [[gnu::cold]] void CtxFailure(const Status& s) noexcept;
  const Status& status() const { return status_; }

 private:
  friend class OpKernel;
  friend Status CreateOpKernel(Device*, std::shared_ptr<const NodeDef>,
                               const OpDef*, std::unique_ptr<OpKernel>*);
  Device* device_ = nullptr;
  std::shared_ptr<const NodeDef> def_;
  const OpDef* op_def_ = nullptr;
  DataTypeVector input_types_, output_types_;
  absl::InlinedVector<MemoryType, 4> input_memory_, output_memory_;
  Status status_;
};

// An input as the executor hands it over: a value, or a reference to a
// variable's tensor and the mutex that guards it.
struct TensorValue {
  Tensor* tensor = nullptr;
  Mutex* ref_mutex = nullptr;  // set for references
  bool is_ref() const { return ref_mutex != nullptr; }
};

// What a kernel leaves in an output: a value, or a reference.
struct OutputSlot {
  Tensor value;
  Tensor* ref = nullptr;
  Mutex* ref_mutex = nullptr;
  bool is_set = false;
};

// Arguments and results of a graph that is called: _Arg nodes read the former,
// _Retval nodes write the latter. Thread-safe for distinct indices.
class CallFrame {
 public:
  virtual ~CallFrame() = default;
  // Null if the index is out of range.
  virtual const Tensor* GetArg(int index) const = 0;
  // Moves argument `index` out, if the frame owns it; then nobody asks for it
  // again. False, and `out` is left as it is, if not.
  virtual bool TakeArg(int index, Tensor* out) { return false; }
  // Null if all arguments are there from the beginning.
  virtual AsyncCallFrame* AsAsync() { return nullptr; }
  virtual Status SetRetval(int index, const Tensor& value) = 0;
};

// What a kernel tells about how it worked, when somebody traces the step.
struct KernelTrace {
  std::string algorithm;  // "winograd_f4x4"; see kernels/conv
};

// What a kernel's Compute sees of a step: its inputs, outputs and helpers. One
// per call; used by one thread at a time.
class OpKernelContext {
 public:
  struct Params {
    int64_t step_id = 0;
    OpKernel* kernel = nullptr;
    Device* device = nullptr;
    absl::Span<const TensorValue> inputs;
    // Resources of the step alone; dropped when it ends.
    ResourceMgr* step_resources = nullptr;
    Rendezvous* rendezvous = nullptr;
    CancellationManager* cancellation = nullptr;
    CallFrame* call_frame = nullptr;
    FunctionRuntime* functions = nullptr;
    const std::string* session_handle = nullptr;
    uint64_t frame_id = 0;  // of the control-flow frame; 0 at top level
    int64_t frame_iter = 0;
    bool is_input_dead = false;  // only kernels that handle it see true
    // Outputs that the executor can take only as values are never references.
    KernelTrace* trace = nullptr;  // null: nobody traces
    // By output, from where to allocate it, and one more for temporary memory.
    // Null there, or no such list: an output may take over the buffer of an
    // input.
    Allocator* const* output_allocators = nullptr;
    // Counts and limits all other tensors in the host's memory, and the scratch
    // memory of the call. Null: the device's allocator, without a limit.
    StepBudget* budget = nullptr;
  };

  explicit OpKernelContext(const Params* params);
  // For a context that is used again for another call.
  void Reset(const Params* params);

  const Params& params() const { return *params_; }
  int64_t step_id() const { return params_->step_id; }
  OpKernel& op_kernel() const { return *params_->kernel; }
  Device* device() const { return params_->device; }
  ResourceMgr* resource_manager() const {
    return params_->device->resource_manager();
  }
  ResourceMgr* step_resources() const { return params_->step_resources; }
  Rendezvous* rendezvous() const { return params_->rendezvous; }
  CancellationManager* cancellation_manager() const {
    return params_->cancellation;
  }
  CallFrame* call_frame() const { return params_->call_frame; }
  FunctionRuntime* functions() const { return params_->functions; }
  bool is_input_dead() const { return params_->is_input_dead; }
  // For a traced run: the name of the implementation that the kernel chose.
  void set_algorithm(absl::string_view name) {
    if (params_->trace != nullptr)
      params_->trace->algorithm = std::string(name);
  }

  // Inputs.
  int num_inputs() const { return static_cast<int>(params_->inputs.size()); }
  DataType input_dtype(int i) const {
    return params_->inputs[i].tensor->dtype();
  }
  bool input_is_ref(int i) const { return params_->inputs[i].is_ref(); }
  // The value of input i; of a reference, what the variable holds at this
  // moment (take input_ref_mutex to be sure that it stays).
  const Tensor& input(int i) const { return *params_->inputs[i].tensor; }
  Status input(absl::string_view name, const Tensor** out) const;
  Status input_list(absl::string_view name,
                    std::vector<const Tensor*>* out) const;
  Mutex* input_ref_mutex(int i) const { return params_->inputs[i].ref_mutex; }
  // A copy (sharing the buffer) of the variable's tensor behind reference i.
  // With lock_held the caller holds input_ref_mutex(i).
  Tensor mutable_input(int i, bool lock_held);
  // Puts another tensor into the variable behind reference i.
  void replace_ref_input(int i, const Tensor& t, bool lock_held);
  void forward_ref_input_to_ref_output(int input, int output);

  // Outputs.
  int num_outputs() const { return static_cast<int>(outputs_.size()); }
  DataType expected_output_dtype(int i) const {
    return params_->kernel->output_type(i);
  }
  // Not initialised for plain data.
  Status allocate_output(int i, const TensorShape& shape, Tensor** out);
  // Takes over the buffer of one of the inputs if nobody else holds it and it
  // has the output's type and as many elements; otherwise allocates.
  Status forward_input_or_allocate_output(absl::Span<const int> candidates,
                                          int output, const TensorShape& shape,
                                          Tensor** out,
                                          int* forwarded_input = nullptr);
  Status forward_input_or_allocate_output(std::initializer_list<int> candidates,
                                          int output, const TensorShape& shape,
                                          Tensor** out,
                                          int* forwarded_input = nullptr) {
    return forward_input_or_allocate_output(
        absl::MakeConstSpan(candidates.begin(), candidates.size()), output,
        shape, out, forwarded_input);
  }
  Status allocate_temp(DataType dtype, const TensorShape& shape, Tensor* out,
                       Tensor::Placement placement = Tensor::kAuto);
  void set_output(int i, Tensor value);
  // The reference stays valid as long as the variable: its kernel or resource
  // must outlive the step.
  void set_output_ref(int i, Mutex* mu, Tensor* ref);
  Tensor* mutable_output(int i);  // null if not set
  OutputSlot& output_slot(int i) { return outputs_[i]; }
  Status output_list_range(absl::string_view name, int* begin, int* end) const {
    return params_->kernel->OutputRange(name, begin, end);
  }

  // Splits [0, total) into blocks whose size depends on the cost alone, so that
  // results do not depend on the number of threads, and runs them on the
  // device's pool; the caller takes part. `cost` is ns per unit on one core.
  void ParallelFor(int64_t total, double cost,
                   absl::FunctionRef<void(int64_t begin, int64_t end)> fn);
  ThreadPool* thread_pool() const { return params_->device->thread_pool(); }

  const Status& status() const { return status_; }
  void SetStatus(Status s) {
    if (status_.ok()) status_ = std::move(s);
  }
  [[gnu::cold]] void CtxFailure(const Status& s) noexcept;

 private:
  Allocator* PlannedAllocator(int output) const {
    return params_->output_allocators == nullptr
               ? nullptr
               : params_->output_allocators[output];
  }
  Allocator* StepAllocator(MemoryType where) const {
    if (params_->budget == nullptr) [[likely]]
      return device()->allocator(where);
    return AllocatorWithBudget(where);
  }
  Allocator* AllocatorWithBudget(MemoryType where) const;

  const Params* params_;
  absl::InlinedVector<OutputSlot, 1> outputs_;
  Status status_;
};

// ---- Registration ----------------------------------------------------------

using KernelFactory = OpKernel* (*)(OpKernelConstruction*);

// A type that an attr may have, or an argument that lives in host memory.
struct KernelClause {
  const char* name;
  DataType type;  // DT_INVALID for arguments
};

// A registered kernel, in static storage.
struct KernelEntry {
  const char* op;
  const char* device = DEVICE_CPU;
  const char* label = "";
  const char* kernel_class = "";
  KernelFactory factory = nullptr;
  const KernelClause* clauses = nullptr;  // constraints, then host memory
  const KernelEntry* next = nullptr;      // the list that all are linked into
  int priority = 0;
  uint16_t num_constraints = 0, num_host = 0;

  absl::Span<const KernelClause> constraints() const {
    return {clauses, num_constraints};
  }
  absl::Span<const KernelClause> host_memory() const {
    return {clauses + num_constraints, num_host};
  }
};

// What Name("Op")... collects: an entry with N clauses. Every call gives a new
// value.
template <int N>
class KernelSpec {
 public:
  constexpr explicit KernelSpec(const char* op) : entry_{op} {}
  constexpr KernelSpec Device(const char* type) const {
    return With(&KernelEntry::device, type);
  }
  // Constraints on one attr add up: TypeConstraint<float>("T") twice with two
  // types allows both.
  template <typename T>
  constexpr KernelSpec<N + 1> TypeConstraint(const char* attr) const {
    return TypeConstraint(attr, DataTypeToEnum<T>::value);
  }
  constexpr KernelSpec<N + 1> TypeConstraint(const char* attr,
                                             DataType t) const {
    KernelSpec<N + 1> more(entry_, clauses_);
    for (int i = N; i > entry_.num_constraints; --i) {
      more.clauses_[i] = more.clauses_[i - 1];
    }
    more.clauses_[more.entry_.num_constraints++] = {attr, t};
    return more;
  }
  constexpr KernelSpec<N + 1> HostMemory(const char* arg) const {
    KernelSpec<N + 1> more(entry_, clauses_);
    more.clauses_[N] = {arg, DT_INVALID};
    ++more.entry_.num_host;
    return more;
  }
  constexpr KernelSpec Label(const char* label) const {
    return With(&KernelEntry::label, label);
  }
  constexpr KernelSpec Priority(int p) const {
    return With(&KernelEntry::priority, p);
  }
  constexpr const char* op() const { return entry_.op; }

 private:
  template <int M>
  friend class KernelSpec;
  template <int M>
  friend struct KernelDefinition;

  template <size_t kFewer>
  constexpr KernelSpec(const KernelEntry& entry,
                       const std::array<KernelClause, kFewer>& clauses)
      : entry_(entry) {
    for (size_t i = 0; i < kFewer; ++i) clauses_[i] = clauses[i];
  }
  template <typename T>
  constexpr KernelSpec With(T KernelEntry::*member, T value) const {
    KernelSpec copy = *this;
    copy.entry_.*member = value;
    return copy;
  }

  KernelEntry entry_;
  std::array<KernelClause, N> clauses_ = {};
};

// Inside REGISTER_KERNEL_BUILDER, as in TensorFlow.
constexpr KernelSpec<0> Name(const char* op) { return KernelSpec<0>(op); }

// An entry with its clauses; it does not move.
template <int N>
struct KernelDefinition : KernelEntry {
  constexpr KernelDefinition(const KernelSpec<N>& spec, const char* cls,
                             KernelFactory f)
      : KernelEntry(spec.entry_), own_clauses(spec.clauses_) {
    kernel_class = cls;
    factory = f;
    clauses = own_clauses.data();
  }
  KernelDefinition(const KernelDefinition&) = delete;
  KernelDefinition& operator=(const KernelDefinition&) = delete;

  const std::array<KernelClause, N> own_clauses;
};

// Whether the library has kernels of `op`: all, unless it is built for a list
// of ops (the option HEADRACE_OPS). Kernels that are not wanted are never
// linked into the registry, so the compiler and the linker leave them out.
#ifdef HEADRACE_ONLY_OPS
consteval bool IsWanted(std::string_view op) {
  constexpr std::string_view kOps[] = {
#include HEADRACE_ONLY_OPS
  };
  for (const std::string_view wanted : kOps) {
    if (op == wanted) return true;
  }
  return false;
}
#else
constexpr bool IsWanted(std::string_view op) { return true; }
#endif

// What runs when a library is loaded: links kernels, which are constants until
// then.
class KernelRegistrar {
 public:
  explicit KernelRegistrar(KernelEntry* kernel, bool wanted = true) {
    if (wanted) Link(kernel, kernel);
  }
  // Those of one table, linked among themselves by ChainKernels.
  template <int N, size_t kCount>
  explicit KernelRegistrar(KernelDefinition<N> (&table)[kCount],
                           bool wanted = true) {
    if (wanted) Link(&table[kCount - 1], &table[0]);
  }

 private:
  static void Link(KernelEntry* newest, KernelEntry* oldest);
};

template <int N, size_t kCount>
constexpr void ChainKernels(KernelDefinition<N> (&table)[kCount]) {
  for (size_t i = 1; i < kCount; ++i) table[i].next = &table[i - 1];
}

#define REGISTER_KERNEL_BUILDER(SPEC, ...) \
  HR_REGISTER_KERNEL_UNIQ(__COUNTER__, SPEC, __VA_ARGS__)
#define HR_REGISTER_KERNEL_UNIQ(CTR, SPEC, ...) \
  HR_REGISTER_KERNEL_UNIQ2(CTR, SPEC, __VA_ARGS__)
#define HR_REGISTER_KERNEL_UNIQ2(CTR, SPEC, ...)                           \
  static constinit ::headrace::KernelDefinition hr_kernel##CTR(            \
      ::headrace::SPEC, #__VA_ARGS__,                                      \
      [](::headrace::OpKernelConstruction* ctx) -> ::headrace::OpKernel* { \
        return new __VA_ARGS__(ctx);                                       \
      });                                                                  \
  static const ::headrace::KernelRegistrar hr_register_kernel##CTR         \
      [[maybe_unused]] (&hr_kernel##CTR,                                   \
                        ::headrace::IsWanted(::headrace::SPEC.op()))

// The kernels of this process, found by op, device type and attrs. Thread-safe.
class KernelRegistry {
 public:
  static KernelRegistry* Global();

  // Null if no registered kernel fits; among those that fit the highest
  // priority wins. The node's "_kernel" attr selects a label.
  const KernelEntry* Find(const std::string& device_type, const NodeDef& node);
  bool HasKernel(const std::string& device_type, const NodeDef& node) {
    return Find(device_type, node) != nullptr;
  }
  // Device types that have any kernel for this node.
  std::vector<std::string> SupportedDevices(const NodeDef& node);
  // "device='CPU'; T in [DT_FLOAT]; ..." for every kernel of the op: for
  // messages.
  std::string Describe(const std::string& op);
  // Every registered (op, device, kernel class), for documentation.
  struct Info {
    std::string op, device, kernel_class, constraints;
  };
  std::vector<Info> All();

  // Indices that live in host memory.
  static Status MemoryTypes(const KernelEntry& entry, const OpDef& op_def,
                            const NodeDef& node,
                            absl::InlinedVector<MemoryType, 4>* inputs,
                            absl::InlinedVector<MemoryType, 4>* outputs);

 private:
  void TakePending() REQUIRES(mu_);
  Mutex mu_;
  const KernelEntry* taken_ GUARDED_BY(mu_) = nullptr;
  absl::flat_hash_map<absl::string_view, std::vector<const KernelEntry*>> by_op_
      GUARDED_BY(mu_);
};

// Makes the kernel of `node` on `device`. InvalidArgument "No OpKernel was
// registered to support Op ..." with what is registered; the constructor's own
// failure otherwise, with the node named.
Status CreateOpKernel(Device* device, std::shared_ptr<const NodeDef> node,
                      const OpDef* op_def, std::unique_ptr<OpKernel>* kernel);

}  // namespace headrace

#endif  // HEADRACE_OP_KERNEL_H_
