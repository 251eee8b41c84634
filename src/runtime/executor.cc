#include "runtime/executor.h"

#include <sys/syscall.h>
#include <unistd.h>

#include <atomic>
#include <optional>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "base/env.h"
#include "base/exceptions.h"
#include "base/flush_denormals.h"
#include "framework/kernel/kernel_counts.h"
#include "framework/memory/step_arena.h"
#include "runtime/call_site.h"
#include "runtime/frame_propagator.h"
#include "runtime/pending_calls.h"
#include "runtime/plan.h"
#include "runtime/reuse_notes.h"
#include "runtime/running_kernels.h"
#include "runtime/simple_propagator.h"

namespace headrace {
namespace {

uint32_t ThreadId() {
  thread_local const uint32_t id = static_cast<uint32_t>(syscall(SYS_gettid));
  return id;
}

// One step in progress. Tasks are the threads working on it and the
// asynchronous kernels that have not called back; the last one to end reports.
template <typename Propagator>
class ExecutorState {
 public:
  using RecycleCallback = std::function<void(ExecutorState*, bool complete)>;

  explicit ExecutorState(const Plan& plan)
      : plan_(plan),
        propagator_(plan),
        arg_values_(plan.args.size()),
        bound_(plan.bound) {
    for (const Plan::ArgInput& a : plan.arg_inputs) {
      bound_[a.input] = &arg_values_[a.arg];
    }
  }

  // May throw. Start does not, and always calls `done`.
  void Prepare(const StepArgs& args, const RunMemory& memory,
               RecycleCallback recycle) {
    args_ = args;
    memory_ = memory;
    recycle_ = std::move(recycle);
    propagator_.Start(&first_ready_);
    tasks_.store(1, std::memory_order_relaxed);
  }
  void Start(Executor::DoneCallback done) {
    done_ = std::move(done);
    bool ok = false;
    if (Guarded(nullptr, [&] { ok = TakeArgs(); }) && ok) {
      Process(&first_ready_);
    } else {
      EndTask();
    }
  }

 private:
  using Item = typename Propagator::Item;
  using ReadyList = typename Propagator::ReadyList;

  // Everything that a kernel call needs on this thread, used for one node after
  // the other.
  struct Call {
    OpKernelContext::Params params;
    absl::InlinedVector<TensorValue, 4> input_storage;
    TensorValue* inputs = nullptr;  // as many as any node has
    KernelTrace trace;
    std::optional<AllocationTrace> memory;  // while a traced kernel runs
  };
  // The same for an asynchronous kernel, alive until it has called back and has
  // dropped its callback.
  struct AsyncCall {
    Call call;
    std::atomic<int32_t> refs{1};  // copies of the callback, and who starts it
    std::atomic<bool> called{false};
    std::optional<OpKernelContext> ctx;
    Item item{};
    int64_t scheduled_ns = 0, start_ns = 0;
    PendingCalls::Entry pending;
    // Set by the callback before it is through.
    bool ok = true;
    ReadyList ready;
    // Set by the end of ComputeAsync and by the callback: the second of the two
    // goes on with what became ready.
    std::atomic<bool> first_is_through{false};
  };

  // What an asynchronous kernel is to call. A kernel that runs out of memory
  // may drop it: then the last copy to go calls in its place, or the step would
  // never end.
  class Callback {
   public:
    Callback(ExecutorState* step, AsyncCall* call) : step_(step), call_(call) {
      call_->refs.fetch_add(1, std::memory_order_relaxed);
    }
    Callback(const Callback& c) : Callback(c.step_, c.call_) {}
    Callback& operator=(const Callback&) = delete;
    ~Callback() { DropCallback(step_, call_); }
    void operator()() const {
      if (!call_->called.exchange(true)) step_->CallBack(call_);
    }

   private:
    ExecutorState* const step_;
    AsyncCall* const call_;
  };

  void InitCall(Call* c) {
    c->params.step_id = args_.step_id;
    c->params.device = plan_.device;
    c->params.step_resources = args_.step_resources;
    c->params.rendezvous = args_.rendezvous;
    c->params.cancellation = args_.cancellation;
    c->params.call_frame = args_.call_frame;
    c->params.functions = args_.functions;
    c->params.session_handle = args_.session_handle;
    c->params.host_allocator = args_.host_allocator;
    const bool traces =
        args_.stats != nullptr || KernelCounts::OfProcess() != nullptr;
    c->params.trace = traces ? &c->trace : nullptr;
    c->input_storage.resize(plan_.max_inputs);
    c->inputs = c->input_storage.data();
  }

  // Computes what the inputs that are bound to arguments read. False if the
  // step has failed.
  bool TakeArgs() {
    if (plan_.args.empty()) return true;
    Call call;
    InitCall(&call);
    for (size_t i = 0; i < plan_.args.size(); ++i) {
      call.params.kernel = plan_.args[i];
      OpKernelContext ctx(&call.params);
      plan_.device->Compute(plan_.args[i], &ctx);
      if (!ctx.status().ok()) [[unlikely]] {
        Fail(plan_.args[i], ctx.status());
        return false;
      }
      arg_values_[i] = std::move(ctx.output_slot(0).value);
    }
    return true;
  }

  // Runs ready nodes, and those that become ready, until none is left for this
  // thread; then ends the task.
  void Process(ReadyList* ready) {
    const FlushDenormals flush;
    const OpKernel* at = nullptr;
    Guarded(&at, [&] {
      if (args_.stats == nullptr) {
        ProcessReady</*kTraced=*/false>(ready, &at);
      } else {
        ProcessReady</*kTraced=*/true>(ready, &at);
      }
    });
    EndTask();
  }

  // Calls `fn`; what it throws becomes the failure of the step, in the node
  // `*at`, and the result is false. Kernels have guards of their own: this is
  // for the lists of the executor itself.
  template <typename F>
  bool Guarded(const OpKernel* const* at, F&& fn) {
    try {
      fn();
      return true;
    } catch (const std::exception& e) {
      Fail(at == nullptr ? nullptr : *at, StatusOf(e));
      return false;
    }
  }

  // `*at` is the node at which it is.
  template <bool kTraced>
  void ProcessReady(ReadyList* ready, const OpKernel** at) {
    Call call;
    InitCall(&call);
    std::optional<OpKernelContext> ctx;
    int64_t scheduled_ns = kTraced ? Now() : 0;
    // Inexpensive nodes are taken first, so that the expensive ones that
    // they make ready reach the pool early.
    ReadyList expensive;
    size_t next = 0;
    for (;;) {
      Item item;
      if (next == ready->size()) {
        ready->clear();
        next = 0;
      } else if (next == kMaxTaken) {
        // A loop always has something ready.
        ready->erase(ready->begin(), ready->begin() + kMaxTaken);
        next = 0;
      }
      if (next < ready->size()) {
        item = (*ready)[next++];
        if (propagator_.node(item).expensive && !Propagator::IsDead(item)) {
          expensive.push_back(item);
          continue;
        }
      } else if (!expensive.empty()) {
        // All but the first to others, if there are any; this one here.
        item = expensive.front();
        if (args_.pool == nullptr) {
          expensive.erase(expensive.begin());
        } else {
          for (size_t i = 1; i < expensive.size(); ++i) Spawn(expensive[i]);
          expensive.clear();
        }
      } else {
        break;
      }
      const PlanNode& n = propagator_.node(item);
      *at = n.kernel;
      // What was computed already is still handed out: an element that was
      // taken from a queue would be lost.
      if (args_.cancellation->IsCancelled() && !n.is_retval) [[unlikely]] {
        complete_.store(false, std::memory_order_relaxed);
        break;
      }
      Entry* const entries = propagator_.entries(item, n);
      bool ok = true;
      if (IsSkipped(item, n)) {
        ok = PassOn(item, n, entries, Outputs(), ready);
      } else if (n.action != PlanAction::kCompute && !kTraced &&
                 HandOn(item, n, entries, ready, &ok)) {
        // Done without a call.
      } else if (n.async != nullptr) {
        if (!StartAsync(item, n, scheduled_ns, ready)) break;
        continue;
      } else {
        if (!PrepareCall(item, n, entries, &call)) [[unlikely]]
          break;
        if (ctx.has_value()) {
          ctx->Reset(&call.params);
        } else {
          ctx.emplace(&call.params);
        }
        int64_t start_ns = 0;
        if constexpr (kTraced) {
          start_ns = Now();
          call.memory.emplace();
        }
        if (!n.expensive || args_.running == nullptr) [[likely]] {
          plan_.device->Compute(n.kernel, &*ctx);
        } else {
          ComputeListed(n, &*ctx);
        }
        if constexpr (kTraced) {
          Record(n, &call, &*ctx, scheduled_ns, start_ns);
        }
        ok = Finish(item, n, entries, &*ctx, ready);
      }
      if (!ok) [[unlikely]]
        break;
      if constexpr (kTraced) scheduled_ns = Now();
    }
  }

  // A dear kernel, of a step that may be left while it runs.
  void ComputeListed(const PlanNode& n, OpKernelContext* ctx) {
    const RunningKernels::Call call(args_.running, n.kernel);
    if (call.may_run()) {
      plan_.device->Compute(n.kernel, ctx);
    } else {
      ctx->CtxFailure(args_.cancellation->status());
    }
  }

  // Dead nodes do not run; nor do fetches inside loops after the first
  // iteration, so that a step gives each result once.
  static bool IsSkipped(const Item& item, const PlanNode& n) {
    return (Propagator::IsDead(item) && !n.handles_dead) ||
           (n.is_retval && !Propagator::IsFirstIteration(item));
  }

  static int64_t Now() { return Env::Default()->NowNanos(); }

  // True if nobody else works on this step: then nobody but the caller can make
  // that change.
  bool IsAlone() const { return tasks_.load(std::memory_order_acquire) == 1; }

  void Spawn(const Item& item) {
    tasks_.fetch_add(1, std::memory_order_relaxed);
    try {
      args_.pool->Schedule([this, item] {
        ReadyList ready;
        if (Guarded(nullptr, [&] { ready.push_back(item); })) {
          Process(&ready);
        } else {
          EndTask();
        }
      });
    } catch (const std::exception&) {
      tasks_.fetch_sub(1, std::memory_order_relaxed);  // not the last: this one
      throw;
    }
  }

  // What a node whose action is not kCompute does, without its kernel. False if
  // the kernel must be called after all: it finds fault with an input.
  bool HandOn(const Item& item, const PlanNode& n, Entry* entries,
              ReadyList* ready, bool* ok) {
    const Tensor* const* const bound = bound_.data() + n.first_input;
    Entry copy;  // of what stays where it is
    const auto input = [&](int first_output) {
      if (bound[0] == nullptr) return Outputs(&entries[0], first_output, 1);
      copy.value = *bound[0];
      copy.is_set = true;
      return Outputs(&copy, first_output, 1);
    };
    Outputs outputs;
    switch (n.action) {
      case PlanAction::kCompute:
        return false;
      case PlanAction::kNothing:
        break;
      case PlanAction::kConstant:
        copy.value = *n.kernel->const_tensor();
        copy.is_set = true;
        outputs = Outputs(&copy, 0, 1);
        break;
      case PlanAction::kLoopCond:
        if ((bound[0] == nullptr ? entries[0].value : *bound[0]).dims() != 0) {
          return false;
        }
        outputs = input(0);
        break;
      case PlanAction::kPass:
        outputs = input(0);
        break;
      case PlanAction::kSwitch: {
        const Tensor& pred = bound[1] == nullptr ? entries[1].value : *bound[1];
        if (pred.dims() != 0) return false;
        outputs = input(pred.scalar<bool>() ? 1 : 0);
        Clear(&entries[1]);
        break;
      }
      case PlanAction::kMerge: {
        int i = 0;
        while (i < n.num_inputs && !entries[i].is_set) ++i;
        if (i == n.num_inputs) return false;
        outputs = Outputs(&entries[i], 0, 1);
        break;
      }
    }
    *ok = Propagate(item, n, outputs, ready);
    return true;
  }

  // Describes the node to its kernel and points `inputs` at what was delivered.
  // False if the step has failed.
  bool PrepareCall(const Item& item, const PlanNode& n, Entry* entries,
                   Call* call) {
    OpKernelContext::Params& p = call->params;
    p.kernel = n.kernel;
    p.inputs = absl::MakeConstSpan(call->inputs, n.num_inputs);
    if (memory_.arena != nullptr) {
      p.output_allocators = memory_.arena->Outputs(&n - plan_.nodes.data());
    }
    if constexpr (Propagator::kHasFrames) {
      p.frame_id = Propagator::frame_id(item);
      p.frame_iter = Propagator::frame_iter(item);
      p.is_input_dead = Propagator::IsDead(item);
    }
    const Tensor* const* const bound = bound_.data() + n.first_input;
    for (int i = 0; i < n.num_inputs; ++i) {
      // Kernels do not write through inputs that they do not own.
      call->inputs[i].tensor = bound[i] != nullptr
                                   ? const_cast<Tensor*>(bound[i])
                                   : &entries[i].value;
      call->inputs[i].ref_mutex = nullptr;
    }
    if (!n.special_inputs) [[likely]]
      return true;
    return PrepareSpecialInputs(n, entries, call->inputs);
  }

  // References, read where the kernel wants values, and the inputs of a Merge
  // that have not come or are dead.
  [[gnu::noinline]] bool PrepareSpecialInputs(const PlanNode& n, Entry* entries,
                                              TensorValue* in) {
    for (int i = 0; i < n.num_inputs; ++i) {
      Entry& e = entries[i];
      if (n.is_merge && !e.is_set) e.value = Tensor();
      if (e.ref == nullptr) continue;
      const bool wants_ref = IsRefType(n.kernel->input_type(i));
      {
        MutexLock lock(e.ref_mutex);
        if (!e.ref->IsInitialized() && !n.allows_uninitialized) {
          Fail(n.kernel, errors::FailedPrecondition(
                             "Attempting to use uninitialized value ",
                             plan_.sources[n.first_input + i]->name()));
          return false;
        }
        if (!wants_ref) e.value = *e.ref;
      }
      if (wants_ref) {
        in[i] = {e.ref, e.ref_mutex};
      } else {
        e.ref = nullptr;
      }
    }
    return true;
  }

  // After a kernel: hands its outputs on, or makes its failure the step's.
  // False if the step has failed; so are the next two.
  bool Finish(const Item& item, const PlanNode& n, Entry* entries,
              OpKernelContext* ctx, ReadyList* ready) {
    if (!ctx->status().ok()) [[unlikely]] {
      Fail(n.kernel, ctx->status());
      return false;
    }
    const int count = ctx->num_outputs();
    if (memory_.notes != nullptr) [[unlikely]]
      NoteReuse(n, entries, ctx);
    return PassOn(
        item, n, entries,
        count == 0 ? Outputs() : Outputs(&ctx->output_slot(0), 0, count),
        ready);
  }

  [[gnu::noinline]] void NoteReuse(const PlanNode& n, const Entry* entries,
                                   OpKernelContext* ctx) {
    const Tensor* const* const bound = bound_.data() + n.first_input;
    for (int i = 0; i < ctx->num_outputs(); ++i) {
      const OutputSlot& o = ctx->output_slot(i);
      if (!o.is_set || o.ref != nullptr || o.value.IsInline()) continue;
      int input = ReuseNotes::kOwn;
      for (int k = 0; k < n.num_inputs; ++k) {
        const Tensor& in = entries[k].value;
        if (bound[k] == nullptr && entries[k].ref == nullptr &&
            !in.IsInline() && in.raw_data() == o.value.raw_data() &&
            in.TotalBytes() == o.value.TotalBytes()) {
          input = k;
        }
      }
      memory_.notes->Note(n.kernel, i, input,
                          static_cast<int64_t>(o.value.TotalBytes()));
    }
  }

  // Drops the inputs of a node and propagates its outputs.
  bool PassOn(const Item& item, const PlanNode& n, Entry* entries,
              const Outputs& outputs, ReadyList* ready) {
    if (n.special_inputs) [[unlikely]] {
      for (int i = 0; i < n.num_inputs; ++i) Clear(&entries[i]);
    } else {
      for (int i = 0; i < n.num_inputs; ++i) {
        if (!entries[i].value.IsInline()) DropTensor(&entries[i].value);
      }
    }
    return Propagate(item, n, outputs, ready);
  }

  bool Propagate(const Item& item, const PlanNode& n, const Outputs& outputs,
                 ReadyList* ready) {
    const Status s = propagator_.Propagate(item, n, outputs, IsAlone(), ready);
    if (!s.ok()) [[unlikely]] {
      Fail(n.kernel, s);
      return false;
    }
    return true;
  }

  // Does not throw. `kernel` may be null.
  [[gnu::noinline, gnu::cold]] void Fail(const OpKernel* kernel,
                                         const Status& why) {
    complete_.store(false, std::memory_order_relaxed);
    Status s = why;
    try {
      s = Annotate(
          why,
          absl::StrCat(kernel == nullptr ? "" : "\n\t [[",
                       kernel == nullptr ? "" : NodeErrorSuffix(kernel->def()),
                       kernel == nullptr ? "" : "]]",
                       DescribeCalls(args_.call_site)));
    } catch (const std::bad_alloc&) {
      // The failure is that there is no memory, or can do without its place.
    }
    args_.cancellation->StartCancel(s);
    if (args_.rendezvous != nullptr) args_.rendezvous->StartAbort(s);
  }

  void Record(const PlanNode& n, Call* call, OpKernelContext* ctx,
              int64_t scheduled_ns, int64_t start_ns) {
    StepStatsCollector::NodeRecord r;
    r.kernel = n.kernel;
    r.scheduled_ns = scheduled_ns;
    r.start_ns = start_ns;
    r.end_ns = Env::Default()->NowNanos();
    r.thread_id = ThreadId();
    r.algorithm = std::move(call->trace.algorithm);
    call->trace.algorithm.clear();
    if (call->memory.has_value()) r.memory = call->memory->counts();
    for (int i = 0; i < ctx->num_outputs(); ++i) {
      const OutputSlot& o = ctx->output_slot(i);
      if (!o.is_set || o.ref != nullptr) continue;
      r.outputs.push_back({i, o.value.dtype(), o.value.shape(),
                           static_cast<int64_t>(o.value.TotalBytes())});
      if (call->memory.has_value()) {
        r.outputs.back().made_here =
            call->memory->LiveBytes(o.value.raw_data());
      }
    }
    call->memory.reset();
    args_.stats->Add(plan_.device, std::move(r));
  }

  // Appends to `ready` if the kernel finished before it returned; false if it
  // failed so soon.
  bool StartAsync(const Item& item, const PlanNode& n, int64_t scheduled_ns,
                  ReadyList* ready) {
    auto made = std::make_unique<AsyncCall>();
    AsyncCall* const a = made.get();
    InitCall(&a->call);
    a->item = item;
    a->scheduled_ns = scheduled_ns;
    if (!PrepareCall(item, n, propagator_.entries(item, n), &a->call)) {
      return false;
    }
    a->ctx.emplace(&a->call.params);
    if (args_.stats != nullptr) a->start_ns = Now();
    const Callback callback(this, made.release());
    Unref(a);  // `callback` holds it
    tasks_.fetch_add(1, std::memory_order_relaxed);
    if (args_.pending != nullptr) {
      a->pending.kernel = n.async;
      a->pending.ctx = &*a->ctx;
      args_.pending->Add(&a->pending);
    }
    const OpKernel* const at = n.kernel;
    const bool returned =
        Guarded(&at, [&] { n.async->ComputeAsync(&*a->ctx, callback); });
    // With one reference left the kernel has no callback any more.
    if (a->refs.load(std::memory_order_acquire) == 1 &&
        !a->called.exchange(true)) {
      DropPending(a);
      if (returned) Fail(n.kernel, Dropped());
      tasks_.fetch_sub(1, std::memory_order_acq_rel);
      return false;
    }
    if (!a->first_is_through.exchange(true, std::memory_order_acq_rel)) {
      return returned;  // the callback goes on
    }
    tasks_.fetch_sub(1, std::memory_order_acq_rel);
    ready->insert(ready->end(), a->ready.begin(), a->ready.end());
    return returned && a->ok;
  }

  // The kernel has called back: does what follows, here or on the pool, unless
  // who started it is still there to do so. Does not throw.
  void CallBack(AsyncCall* a) {
    DropPending(a);
    const PlanNode& node = propagator_.node(a->item);
    const OpKernel* const at = node.kernel;
    bool ok = false;
    if (KernelCounts* const counts = KernelCounts::OfProcess()) [[unlikely]]
      counts->Add(*at, *a->ctx);
    Guarded(&at, [&] {
      if (args_.stats != nullptr) {
        Record(node, &a->call, &*a->ctx, a->scheduled_ns, a->start_ns);
      }
      ok = Finish(a->item, node, propagator_.entries(a->item, node), &*a->ctx,
                  &a->ready);
    });
    a->ok = ok;
    if (!a->first_is_through.exchange(true, std::memory_order_acq_rel)) {
      return;  // whoever started the kernel goes on
    }
    if (!a->ok || a->ready.empty()) {
      EndTask();
      return;
    }
    if (args_.pool == nullptr) {
      Process(&a->ready);
      return;
    }
    // The callback may come from a thread that has other work to do: go on
    // elsewhere.
    a->refs.fetch_add(1, std::memory_order_relaxed);
    try {
      args_.pool->Schedule([this, a] {
        ReadyList ready = std::move(a->ready);
        Unref(a);
        Process(&ready);
      });
    } catch (const std::exception&) {
      Unref(a);
      Process(&a->ready);
    }
  }

  void DropPending(AsyncCall* a) {
    if (args_.pending != nullptr) args_.pending->Remove(&a->pending);
  }

  // True if nobody else has it.
  static bool Unref(AsyncCall* a) {
    if (a->refs.fetch_sub(1, std::memory_order_acq_rel) != 1) return false;
    delete a;
    return true;
  }

  // A copy of a callback goes. If it was called the step may be gone, too. If
  // it is the last and was not, its kernel is not being started any more: who
  // does that has a copy.
  static void DropCallback(ExecutorState* step, AsyncCall* a) {
    if (a->refs.fetch_sub(1, std::memory_order_acq_rel) != 1) return;
    const std::unique_ptr<AsyncCall> owned(a);
    if (a->called.load(std::memory_order_acquire)) return;
    step->DropPending(a);
    step->Fail(step->propagator_.node(a->item).kernel, Dropped());
    step->EndTask();
  }

  static Status Dropped() {
    return errors::ResourceExhausted(
        "the kernel ended without a result: there was no memory to call back");
  }

  void EndTask() {
    if (tasks_.fetch_sub(1, std::memory_order_acq_rel) != 1) return;
    for (Tensor& t : arg_values_) {
      if (!t.IsInline()) DropTensor(&t);
    }
    const bool complete = complete_.load(std::memory_order_relaxed);
    // After `recycle` this object may serve another step, and after `done` the
    // executor may be gone.
    Executor::DoneCallback done = std::move(done_);
    RecycleCallback recycle = std::move(recycle_);
    recycle(this, complete);
    try {
      done(complete);
    } catch (const std::exception&) {
      // Who called a function from a kernel goes on in there. The kernel's own
      // callback goes with `done`, which fails the kernel's step.
    }
  }

  // How many items that were taken stay in the list.
  static constexpr size_t kMaxTaken = 1024;

  const Plan& plan_;
  Propagator propagator_;
  std::vector<Tensor> arg_values_;    // by Plan::args
  std::vector<const Tensor*> bound_;  // Plan::bound, with arguments
  ReadyList first_ready_;             // of the thread that starts the step
  // False when a node that was to run did not, or failed. tasks_ orders it.
  std::atomic<bool> complete_{true};
  StepArgs args_;
  RunMemory memory_;
  Executor::DoneCallback done_;
  RecycleCallback recycle_;
  std::atomic<int32_t> tasks_{0};
};

template <typename Propagator>
class ExecutorImpl : public Executor {
 public:
  explicit ExecutorImpl(std::unique_ptr<Plan> plan) : plan_(std::move(plan)) {
    idle_.reserve(kMaxIdle);  // giving back does not allocate
  }
  ~ExecutorImpl() override {
    for (State* s : idle_) delete s;
  }

  void RunAsync(const StepArgs& args, const RunMemory& memory,
                DoneCallback done) override {
    std::unique_ptr<State> state;
    const Status s = CatchExceptions([&] {
      state.reset(TakeState());
      state->Prepare(args, memory, [this](State* used, bool complete) {
        GiveBack(used, complete);
      });
      return OkStatus();
    });
    if (s.ok()) [[likely]] {
      state.release()->Start(std::move(done));
      return;
    }
    args.cancellation->StartCancel(s);
    if (args.rendezvous != nullptr) args.rendezvous->StartAbort(s);
    done(false);
  }

  bool Run(const StepArgs& args, const RunMemory& memory,
           WaitHook* hook) override {
    // Whoever of callback and caller comes second finds the other through.
    struct {
      std::atomic<bool> first_is_through{false};
      bool complete = false;
      Notification done;
    } run;
    RunAsync(args, memory, [&run](bool complete) {
      run.complete = complete;
      if (run.first_is_through.exchange(true)) run.done.Notify();
    });
    if (!run.first_is_through.exchange(true)) {
      WaitForNotification(run.done, hook);
    }
    return run.complete;
  }

  bool needs_rendezvous() const override { return plan_->needs_rendezvous; }
  bool may_run_long() const override { return plan_->may_run_long; }
  int num_nodes() const override {
    return static_cast<int>(plan_->nodes.size());
  }
  absl::Span<const std::shared_ptr<OpKernel>> kernels() const override {
    return plan_->kernels;
  }
  std::vector<const OpKernel*> RunKernels() const override {
    std::vector<const OpKernel*> kernels;
    for (const PlanNode& n : plan_->nodes) kernels.push_back(n.kernel);
    return kernels;
  }

 private:
  using State = ExecutorState<Propagator>;

  // States are kept between steps: making one is as dear as a small step.
  State* TakeState() {
    {
      MutexLock lock(&mu_);
      if (!idle_.empty()) {
        State* s = idle_.back();
        idle_.pop_back();
        return s;
      }
    }
    return new State(*plan_);
  }
  // One that is not complete still holds values that nobody took: they go now.
  void GiveBack(State* s, bool complete) {
    if (complete) {
      MutexLock lock(&mu_);
      if (idle_.size() < kMaxIdle) {
        idle_.push_back(s);
        return;
      }
    }
    delete s;
  }

  static constexpr size_t kMaxIdle = 8;
  const std::unique_ptr<Plan> plan_;
  Mutex mu_;
  std::vector<State*> idle_ GUARDED_BY(mu_);
};

}  // namespace

Status Executor::Create(Device* device, const Graph& graph,
                        const Options& options, const KernelFn& make_kernel,
                        std::unique_ptr<Executor>* out) {
  auto plan = std::make_unique<Plan>();
  HR_RETURN_IF_ERROR(
      BuildPlan(device, graph, options, make_kernel, plan.get()));
  if (options.control_flow) {
    *out = std::make_unique<ExecutorImpl<FramePropagator>>(std::move(plan));
  } else {
    *out = std::make_unique<ExecutorImpl<SimplePropagator>>(std::move(plan));
  }
  return OkStatus();
}

}  // namespace headrace
