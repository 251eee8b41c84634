// ExecutorState: one run of a plan that is in progress. An executor has one for
// each run, and uses it again for later runs.
//
// Included by executor.cc alone. The class is in an unnamed namespace, so that
// the compiler inlines functions that are called once: every node passes here.
#ifndef HEADRACE_RUNTIME_EXECUTOR_STATE_H_
#define HEADRACE_RUNTIME_EXECUTOR_STATE_H_

#include <atomic>
#include <functional>
#include <memory>
#include <optional>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "base/env.h"
#include "base/exceptions.h"
#include "base/flush_denormals.h"
#include "base/require_memory.h"
#include "base/task_group.h"
#include "base/thread_pool.h"
#include "framework/kernel/kernel_counts.h"
#include "framework/memory/step_arena.h"
#include "runtime/call_site.h"
#include "runtime/kernel_call.h"
#include "runtime/pending_calls.h"
#include "runtime/plan.h"
#include "runtime/running_kernels.h"

namespace headrace {
namespace {

// The tasks of a run are the threads that work on it and the asynchronous
// kernels that have not called back. The last task to end reports the result.
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

  // A call of an asynchronous kernel, alive until the kernel has called back
  // and has dropped its callback.
  struct AsyncCall {
    KernelCall call;
    // Copies of the callback, and the thread that starts the kernel.
    std::atomic<int32_t> refs{1};
    std::atomic<bool> called{false};
    std::optional<OpKernelContext> ctx;
    Item item{};
    int64_t scheduled_ns = 0, start_ns = 0;
    PendingCalls::Entry pending;
    // Set by the callback before it is through.
    bool ok = true;
    ReadyList ready;
    // Set by the end of ComputeAsync and by the callback. The second of the two
    // runs what became ready.
    std::atomic<bool> first_is_through{false};
  };

  // What an asynchronous kernel calls when it is done. A kernel that runs out
  // of memory may drop it instead. Then the last copy to go fails the step,
  // which would never end otherwise.
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

  // Runs the _Arg kernels whose values are bound to inputs. False if the step
  // has failed.
  bool TakeArgs() {
    if (plan_.args.empty()) return true;
    KernelCall call;
    call.Init(plan_, args_);
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
      const TaskGroup::Scope scope(args_.group);
      if (args_.stats == nullptr) {
        ProcessReady</*kTraced=*/false>(ready, &at);
      } else {
        ProcessReady</*kTraced=*/true>(ready, &at);
      }
    });
    EndTask();
  }

  // Calls `fn`. If it throws, fails the step in the node `*at` and returns
  // false. Kernels have guards of their own: this one is for the executor's own
  // lists, which may find no memory.
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

  // Sets `*at` to the kernel of the node that it runs.
  template <bool kTraced>
  void ProcessReady(ReadyList* ready, const OpKernel** at) {
    KernelCall call;
    call.Init(plan_, args_);
    std::optional<OpKernelContext> ctx;
    int64_t scheduled_ns = kTraced ? Now() : 0;
    // Cheap nodes run first, so that the expensive ones that they make ready
    // reach the pool early.
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
        // The first one runs here, the others go to the pool, if there is one.
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

  // Calls an expensive kernel of a run that its caller may leave.
  void ComputeListed(const PlanNode& n, OpKernelContext* ctx) {
    const RunningKernels::Call call(args_.running, n.kernel);
    if (call.may_run()) {
      plan_.device->Compute(n.kernel, ctx);
    } else {
      ctx->CtxFailure(args_.cancellation->status());
    }
  }

  // True for a dead node, which does not run, and for a fetch inside a loop
  // after the first iteration, so that a step gives each result once.
  static bool IsSkipped(const Item& item, const PlanNode& n) {
    return (Propagator::IsDead(item) && !n.handles_dead) ||
           (n.is_retval && !Propagator::IsFirstIteration(item));
  }

  static int64_t Now() { return Env::Default()->NowNanos(); }

  // True if the calling thread is the only task. Then it stays so until that
  // thread starts another.
  bool IsAlone() const { return tasks_.load(std::memory_order_acquire) == 1; }

  void Spawn(const Item& item) {
    tasks_.fetch_add(1, std::memory_order_relaxed);
    try {
      args_.pool->Schedule(
          [this, item] {
            ReadyList ready;
            if (Guarded(nullptr, [&] { ready.push_back(item); })) {
              Process(&ready);
            } else {
              EndTask();
            }
          },
          args_.group);
    } catch (const std::exception&) {
      tasks_.fetch_sub(1, std::memory_order_relaxed);  // not the last: this one
      throw;
    }
  }

  // Does the action of a node, if it is not kCompute, in place of its kernel.
  // False if the kernel must be called after all, because an input is wrong and
  // the kernel knows the message.
  bool HandOn(const Item& item, const PlanNode& n, Entry* entries,
              ReadyList* ready, bool* ok) {
    const Tensor* const* const bound = bound_.data() + n.first_input;
    Entry copy;  // of a constant, which stays where it is
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

  // Fills the call's params and points its inputs at what was delivered. False
  // if the step has failed.
  bool PrepareCall(const Item& item, const PlanNode& n, Entry* entries,
                   KernelCall* call) {
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
    const Status s = PrepareSpecialInputs(plan_, n, entries, call->inputs);
    if (!s.ok()) Fail(n.kernel, s);
    return s.ok();
  }

  // After a kernel: hands its outputs on, or makes its failure the step's.
  // False if the step has failed. The next two functions return the same.
  bool Finish(const Item& item, const PlanNode& n, Entry* entries,
              OpKernelContext* ctx, ReadyList* ready) {
    if (!ctx->status().ok()) [[unlikely]] {
      Fail(n.kernel, ctx->status());
      return false;
    }
    const int count = ctx->num_outputs();
    if (memory_.notes != nullptr) [[unlikely]]
      NoteReuse(n, bound_.data() + n.first_input, entries, ctx, memory_.notes);
    return PassOn(
        item, n, entries,
        count == 0 ? Outputs() : Outputs(&ctx->output_slot(0), 0, count),
        ready);
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

  // Cancels the step with `why`, in which it names the kernel, which may be
  // null. Does not throw.
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

  void Record(const PlanNode& n, KernelCall* call, OpKernelContext* ctx,
              int64_t scheduled_ns, int64_t start_ns) {
    args_.stats->Add(plan_.device,
                     RecordOf(n, {scheduled_ns, start_ns, Now()}, call, ctx));
  }

  // Starts an asynchronous kernel. If the kernel calls back before it returns,
  // appends what became ready to `ready`; false if it failed so soon.
  bool StartAsync(const Item& item, const PlanNode& n, int64_t scheduled_ns,
                  ReadyList* ready) {
    if (const Status s = RequireMemoryReserve(); !s.ok()) [[unlikely]] {
      Fail(n.kernel, s);
      return false;
    }
    auto made = std::make_unique<AsyncCall>();
    AsyncCall* const a = made.get();
    a->call.Init(plan_, args_);
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

  // The kernel has called back. Runs what became ready, here or on the pool;
  // the thread that started the kernel does so if it is still in StartAsync.
  // Does not throw.
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
      return;  // the thread that started the kernel goes on
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
      args_.pool->Schedule(
          [this, a] {
            ReadyList ready = std::move(a->ready);
            Unref(a);
            Process(&ready);
          },
          args_.group);
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

  // A copy of a callback goes. If the callback was called, the step may be
  // gone, too. If it was not, and this is the last copy, nobody can call it any
  // more: the thread that starts a kernel keeps a copy meanwhile.
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
    // Kernels of such a device return before their work is done.
    if (!plan_.device->IsHostMemory()) [[unlikely]] {
      const Status s = plan_.device->Sync();
      if (!s.ok()) Fail(nullptr, s);
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

}  // namespace
}  // namespace headrace

#endif  // HEADRACE_RUNTIME_EXECUTOR_STATE_H_
