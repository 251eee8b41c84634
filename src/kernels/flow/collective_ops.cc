// Collective ops. A reduction sums in the order of ranks, whatever comes first:
// all members get the same bits. Of a large tensor each member reduces one
// chunk, which the others send it, and sends the result to the others; what is
// sent is as much as in a ring, in two hops. A small one is sent whole to all.
// A broadcast goes along a binomial tree. An op has ended on a device when the
// others have taken what it sends.
#include <algorithm>
#include <atomic>
#include <cstring>
#include <map>
#include <utility>

#include "absl/strings/str_join.h"
#include "base/thread_pool.h"
#include "base/waiting_threads.h"
#include "framework/kernel/collective.h"
#include "headrace/op_kernel.h"

namespace headrace {
namespace {

// Below that one hop costs less than fewer bytes.
constexpr size_t kWholeBelow = 16384;

// acc[i] = acc[i] op x[i], for n elements.
using MergeFn = void (*)(void* acc, const void* x, int64_t n);
// acc[i] /= divisor.
using DivideFn = void (*)(void* acc, int64_t n, int divisor);

template <typename T, typename F>
void MergeWith(void* acc, const void* x, int64_t n, F merge) {
  T* const a = static_cast<T*>(acc);
  const T* const b = static_cast<const T*>(x);
  for (int64_t i = 0; i < n; ++i) a[i] = merge(a[i], b[i]);
}

template <typename T>
MergeFn FindMerge(absl::string_view op) {
  if (op == "Add") {
    return [](void* a, const void* x, int64_t n) {
      MergeWith<T>(a, x, n, [](T p, T q) { return static_cast<T>(p + q); });
    };
  }
  if (op == "Mul") {
    return [](void* a, const void* x, int64_t n) {
      MergeWith<T>(a, x, n, [](T p, T q) { return static_cast<T>(p * q); });
    };
  }
  if (op == "Min") {
    return [](void* a, const void* x, int64_t n) {
      MergeWith<T>(a, x, n, [](T p, T q) { return q < p ? q : p; });
    };
  }
  return [](void* a, const void* x, int64_t n) {
    MergeWith<T>(a, x, n, [](T p, T q) { return p < q ? q : p; });
  };
}

template <typename T>
void DivideBy(void* acc, int64_t n, int divisor) {
  T* const a = static_cast<T*>(acc);
  const T d = static_cast<T>(divisor);
  for (int64_t i = 0; i < n; ++i) a[i] = static_cast<T>(a[i] / d);
}

// What the nodes of one op have in common.
struct Settings {
  enum Kind { kReduce, kReduceScatter, kGather, kAllToAll, kSend, kRecv };
  Kind kind = kReduce;
  MergeFn merge = nullptr;
  DivideFn divide = nullptr;  // null: no division
  double timeout_seconds = 0;
};

// One call of a collective op. Its callbacks share it.
class Run : public std::enable_shared_from_this<Run> {
 public:
  Run(const Settings& settings, OpKernelContext* ctx,
      RefPtr<CollectiveExecutor> executor, CollectiveMember member,
      int32_t instance, TensorShape shape, std::function<void()> done)
      : settings_(settings),
        ctx_(ctx),
        executor_(std::move(executor)),
        member_(std::move(member)),
        instance_(instance),
        shape_(std::move(shape)),
        done_(std::move(done)),
        key_(absl::StrCat(member_.group_key, ":", instance, ":",
                          ctx->params().frame_id, ":",
                          ctx->params().frame_iter)) {}

  void Start() {
    const auto cancel = [weak = weak_from_this()](const Status& why) {
      if (const auto self = weak.lock()) self->cancellation_.StartCancel(why);
    };
    CancellationManager* const step = ctx_->cancellation_manager();
    if (step != nullptr) {
      token_ = step->NextToken();
      const auto stop = [cancel, step] { cancel(step->status()); };
      if (!step->RegisterCallback(token_, stop)) stop();
    }
    if (settings_.timeout_seconds > 0) {
      const auto wait = [cancel, ended = ended_,
                         name = ctx_->op_kernel().name(),
                         seconds = settings_.timeout_seconds] {
        if (ended->WaitForNotificationWithTimeout(absl::Seconds(seconds))) {
          return;
        }
        cancel(errors::DeadlineExceeded("node '", name,
                                        "': the collective op has not ended "
                                        "after timeout_seconds = ",
                                        seconds));
      };
      if (!StartWaitingThread(wait)) {
        return End(errors::ResourceExhausted("no thread for timeout_seconds"));
      }
    }
    SetWaitsFor("the other members of its group");
    executor_->FindGroup(
        member_, &cancellation_,
        [self = shared_from_this()](const Status& s,
                                    const std::vector<std::string>& devices) {
          if (!s.ok()) return self->End(s);
          self->Grouped(devices);
        });
  }

  std::string WaitsFor() {
    std::string group = executor_->DescribeGroup(member_.group_key);
    MutexLock lock(&mu_);
    if (!group.empty()) group = absl::StrCat(" (", group, ")");
    if (peers_.empty()) {
      return absl::StrCat(waits_for_, " ", member_.group_key, group);
    }
    std::vector<std::string> names;
    for (const auto& [peer, n] : peers_) names.push_back(devices_[peer]);
    return absl::StrCat(waits_for_, " ", absl::StrJoin(names, ", "));
  }

 private:
  size_t size() const { return devices_.size(); }
  int64_t element() const {
    return DataTypeSize(ctx_->expected_output_dtype(0));
  }
  char* out() {
    return static_cast<char*>(ctx_->mutable_output(0)->raw_data());
  }
  void SetWaitsFor(std::string what) {
    MutexLock lock(&mu_);
    waits_for_ = std::move(what);
  }

  void Grouped(const std::vector<std::string>& devices) {
    const auto at = std::find(devices.begin(), devices.end(), member_.device);
    if (at == devices.end()) {
      return End(errors::Internal("group ", member_.group_key,
                                  " does not have ", member_.device));
    }
    {
      MutexLock lock(&mu_);
      devices_ = devices;
    }
    rank_ = static_cast<size_t>(at - devices.begin());
    const Status s = Begin();
    if (!s.ok()) End(s);
  }

  Status Allocate(const TensorShape& shape) {
    Tensor* unused = nullptr;
    return ctx_->allocate_output(0, shape, &unused);
  }

  Status Begin() {
    const int n = static_cast<int>(size());
    if (settings_.kind == Settings::kSend ||
        settings_.kind == Settings::kRecv) {
      FindSource();
      return OkStatus();
    }
    const Tensor& in = ctx_->input(0);
    switch (settings_.kind) {
      case Settings::kGather: {
        TensorShape shape = in.shape();
        int64_t rows = MultiplyWithoutOverflow(in.dim_size(0), n);
        if (rows < 0) return errors::InvalidArgument("the result is too large");
        shape.set_dim(0, rows);
        HR_RETURN_IF_ERROR(Allocate(shape));
        Gather(in);
        return OkStatus();
      }
      case Settings::kAllToAll:
      case Settings::kReduceScatter: {
        if (in.dim_size(0) % n != 0) {
          return errors::InvalidArgument(
              "the input has shape ", in.shape().DebugString(),
              "; its first dimension does not divide by the group's size ", n);
        }
        TensorShape shape = in.shape();
        if (settings_.kind == Settings::kReduceScatter) {
          shape.set_dim(0, in.dim_size(0) / n);
        }
        HR_RETURN_IF_ERROR(Allocate(shape));
        if (settings_.kind == Settings::kAllToAll) {
          AllToAll(in);
          return OkStatus();
        }
        return Reduce(in, false);
      }
      default:
        HR_RETURN_IF_ERROR(Allocate(in.shape()));
        return Reduce(in, true);
    }
  }

  // ---- Exchanges ------------------------------------------------------------

  struct Transfer {
    size_t peer = 0;
    absl::string_view from;  // what is sent
    std::shared_ptr<const void> owner;
    char* to = nullptr;  // or where it is received
    size_t bytes = 0;
  };
  Transfer SendTo(size_t peer, const char* data, size_t bytes,
                  std::shared_ptr<const void> owner) const {
    return {peer, absl::string_view(data, bytes), std::move(owner), nullptr,
            bytes};
  }
  Transfer RecvFrom(size_t peer, char* to, size_t bytes) const {
    return {peer, {}, nullptr, to, bytes};
  }

  // Calls `next` when all have ended, unless one fails: then the op fails when
  // all have ended. `phase` tells the exchanges of a call apart.
  void Exchange(int phase, std::vector<Transfer> transfers,
                std::function<void()> next) {
    {
      MutexLock lock(&mu_);
      left_ = transfers.size() + 1;
      waits_for_ = "what it exchanges with";
      for (const Transfer& t : transfers) ++peers_[t.peer];
    }
    const auto self = shared_from_this();
    const auto shared_next =
        std::make_shared<std::function<void()>>(std::move(next));
    for (Transfer& t : transfers) {
      const bool sends = t.to == nullptr;
      const size_t from = sends ? rank_ : t.peer;
      const size_t to = sends ? t.peer : rank_;
      const std::string key =
          absl::StrCat(key_, ":", phase, ":", from, ":", to);
      auto ended = [self, peer = t.peer, shared_next](const Status& s) {
        self->TransferEnded(s, static_cast<int64_t>(peer), *shared_next);
      };
      if (sends) {
        executor_->Send(ctx_->step_id(), key, t.from, std::move(t.owner),
                        &cancellation_, std::move(ended));
      } else {
        executor_->Recv(ctx_->step_id(), key, devices_[t.peer], t.to, t.bytes,
                        &cancellation_, std::move(ended));
      }
    }
    TransferEnded(OkStatus(), -1, *shared_next);
  }

  void TransferEnded(const Status& s, int64_t peer,
                     const std::function<void()>& next) {
    bool last = false, failed = false;
    Status why;
    {
      MutexLock lock(&mu_);
      if (peer >= 0) {
        const auto it = peers_.find(static_cast<size_t>(peer));
        if (it != peers_.end() && --it->second == 0) peers_.erase(it);
      }
      failed = !s.ok() && status_.ok();
      if (failed) status_ = s;
      last = --left_ == 0;
      why = status_;
    }
    if (failed) cancellation_.StartCancel(s);
    if (!last) return;
    if (!why.ok()) return End(why);
    next();
  }

  // Large work leaves the thread that brought the last bytes.
  void Compute(size_t bytes, std::function<void()> work) {
    if (bytes < kWholeBelow) return work();
    ctx_->thread_pool()->Schedule(std::move(work));
  }

  // ---- Algorithms -----------------------------------------------------------

  // Chunk c of `elements`.
  int64_t ChunkBegin(int64_t elements, size_t c) const {
    const int64_t n = static_cast<int64_t>(size());
    const int64_t at = static_cast<int64_t>(c);
    return elements / n * at + std::min<int64_t>(elements % n, at);
  }

  void MergeParts(char* to, int64_t elements) {
    const size_t bytes = static_cast<size_t>(elements * element());
    const char* const parts = static_cast<const char*>(parts_.raw_data());
    if (bytes == 0) return;
    std::memcpy(to, parts, bytes);
    for (size_t p = 1; p < size(); ++p) {
      settings_.merge(to, parts + p * bytes, elements);
    }
    if (settings_.divide != nullptr) {
      settings_.divide(to, elements, static_cast<int>(size()));
    }
  }

  // `all`: every member gets the whole result; otherwise its chunk.
  Status Reduce(const Tensor& in, bool all) {
    const auto owner = std::make_shared<const Tensor>(in);
    const char* const data = owner->tensor_data().data();
    const int64_t elements = in.NumElements();
    const bool whole = all && in.TotalBytes() < kWholeBelow;
    // The elements of which this member merges all parts.
    const int64_t begin = whole ? 0 : ChunkBegin(elements, rank_);
    const int64_t end = whole ? elements : ChunkBegin(elements, rank_ + 1);
    const size_t bytes = static_cast<size_t>((end - begin) * element());
    HR_RETURN_IF_ERROR(ctx_->allocate_temp(
        DT_UINT8, TensorShape({static_cast<int64_t>(bytes * size())}), &parts_,
        Tensor::kHeap));
    char* const parts = static_cast<char*>(parts_.raw_data());
    std::vector<Transfer> transfers;
    for (size_t p = 0; p < size(); ++p) {
      if (p == rank_) {
        if (bytes > 0) {
          std::memcpy(parts + p * bytes, data + begin * element(), bytes);
        }
        continue;
      }
      const int64_t from = whole ? 0 : ChunkBegin(elements, p);
      const int64_t to = whole ? elements : ChunkBegin(elements, p + 1);
      transfers.push_back(SendTo(p, data + from * element(),
                                 static_cast<size_t>((to - from) * element()),
                                 owner));
      transfers.push_back(RecvFrom(p, parts + p * bytes, bytes));
    }
    Exchange(
        0, std::move(transfers),
        [self = shared_from_this(), all, whole, begin, end, bytes, elements] {
          self->Compute(bytes * self->size(), [=] {
            const int64_t skip = all && !whole ? begin * self->element() : 0;
            self->MergeParts(self->out() + skip, end - begin);
            self->parts_ = Tensor();
            if (!all || whole) return self->End(OkStatus());
            self->ShareChunks(elements);
          });
        });
    return OkStatus();
  }

  void ShareChunks(int64_t elements) {
    const auto owner = std::make_shared<const Tensor>(*ctx_->mutable_output(0));
    std::vector<Transfer> transfers;
    const auto at = [&](size_t c) {
      return static_cast<size_t>(ChunkBegin(elements, c) * element());
    };
    for (size_t p = 0; p < size(); ++p) {
      if (p == rank_) continue;
      transfers.push_back(SendTo(p, owner->tensor_data().data() + at(rank_),
                                 at(rank_ + 1) - at(rank_), owner));
      transfers.push_back(RecvFrom(p, out() + at(p), at(p + 1) - at(p)));
    }
    Exchange(1, std::move(transfers),
             [self = shared_from_this()] { self->End(OkStatus()); });
  }

  void Gather(const Tensor& in) {
    const auto owner = std::make_shared<const Tensor>(in);
    const absl::string_view data = owner->tensor_data();
    std::vector<Transfer> transfers;
    for (size_t p = 0; p < size(); ++p) {
      char* const to = out() + p * data.size();
      if (p == rank_) {
        if (!data.empty()) std::memcpy(to, data.data(), data.size());
        continue;
      }
      transfers.push_back(SendTo(p, data.data(), data.size(), owner));
      transfers.push_back(RecvFrom(p, to, data.size()));
    }
    Exchange(0, std::move(transfers),
             [self = shared_from_this()] { self->End(OkStatus()); });
  }

  void AllToAll(const Tensor& in) {
    const auto owner = std::make_shared<const Tensor>(in);
    const char* const data = owner->tensor_data().data();
    const size_t bytes = in.TotalBytes() / size();
    std::vector<Transfer> transfers;
    for (size_t p = 0; p < size(); ++p) {
      if (p == rank_) {
        if (bytes > 0) {
          std::memcpy(out() + p * bytes, data + p * bytes, bytes);
        }
        continue;
      }
      transfers.push_back(SendTo(p, data + p * bytes, bytes, owner));
      transfers.push_back(RecvFrom(p, out() + p * bytes, bytes));
    }
    Exchange(0, std::move(transfers),
             [self = shared_from_this()] { self->End(OkStatus()); });
  }

  void FindSource() {
    SetWaitsFor("the device that sends in group");
    executor_->FindSource(
        member_, instance_, settings_.kind == Settings::kSend, &cancellation_,
        [self = shared_from_this()](const Status& s,
                                    const std::string& device) {
          if (!s.ok()) return self->End(s);
          const auto at =
              std::find(self->devices_.begin(), self->devices_.end(), device);
          if (at == self->devices_.end()) {
            return self->End(errors::Internal("group ", self->member_.group_key,
                                              " does not have '", device,
                                              "', which sends"));
          }
          const Status begun =
              self->Broadcast(static_cast<size_t>(at - self->devices_.begin()));
          if (!begun.ok()) self->End(begun);
        });
  }

  Status Broadcast(size_t source) {
    const size_t at = (rank_ + size() - source) % size();  // source is 0
    const auto member = [this, source](size_t n) {
      return (n + source) % size();
    };
    if (settings_.kind == Settings::kSend) {
      ctx_->set_output(0, ctx_->input(0));
      PassOn(at, source);
      return OkStatus();
    }
    if (at == 0) {
      return errors::InvalidArgument(member_.device,
                                     " both sends and receives in group ",
                                     member_.group_key);
    }
    HR_RETURN_IF_ERROR(Allocate(shape_));
    const size_t parent = member(at & (at - 1));
    Exchange(
        0, {RecvFrom(parent, out(), ctx_->mutable_output(0)->TotalBytes())},
        [self = shared_from_this(), at, source] { self->PassOn(at, source); });
    return OkStatus();
  }

  void PassOn(size_t at, size_t source) {
    const auto owner = std::make_shared<const Tensor>(*ctx_->mutable_output(0));
    std::vector<Transfer> transfers;
    for (size_t step = 1; at + step < size(); step *= 2) {
      if (at != 0 && (at & step) != 0) break;
      transfers.push_back(SendTo((at + step + source) % size(),
                                 owner->tensor_data().data(),
                                 owner->TotalBytes(), owner));
    }
    Exchange(0, std::move(transfers),
             [self = shared_from_this()] { self->End(OkStatus()); });
  }

  // Once.
  void End(const Status& s) {
    if (!s.ok()) {
      executor_->Forget(member_.group_key);
      ctx_->SetStatus(s);
    }
    if (CancellationManager* const step = ctx_->cancellation_manager()) {
      step->TryDeregisterCallback(token_);
    }
    ended_->Notify();
    const std::function<void()> done = std::move(done_);
    done();
  }

  const Settings& settings_;  // of the kernel, which outlives the call
  OpKernelContext* const ctx_;
  const RefPtr<CollectiveExecutor> executor_;
  const CollectiveMember member_;
  const int32_t instance_;
  const TensorShape shape_;  // of what is received
  std::function<void()> done_;
  const std::string key_;
  CancellationManager cancellation_;
  CancellationManager::Token token_ = 0;
  const std::shared_ptr<Notification> ended_ = std::make_shared<Notification>();
  std::vector<std::string> devices_;  // const from Grouped on
  size_t rank_ = 0;
  Tensor parts_;  // of all members, by rank
  Mutex mu_;
  size_t left_ GUARDED_BY(mu_) = 0;
  Status status_ GUARDED_BY(mu_);
  std::string waits_for_ GUARDED_BY(mu_);
  std::map<size_t, int> peers_ GUARDED_BY(mu_);  // transfers left, by rank
};

Status ReadScalar(OpKernelContext* ctx, absl::string_view name, int32_t* out) {
  const Tensor* t = nullptr;
  HR_RETURN_IF_ERROR(ctx->input(name, &t));
  if (t->NumElements() != 1) {
    return errors::InvalidArgument(
        name, " has shape ", t->shape().DebugString(), ", wanted one number");
  }
  *out = t->data<int32_t>()[0];
  return OkStatus();
}

template <Settings::Kind kKind, bool kKeysAreInputs>
class CollectiveOp : public AsyncOpKernel {
 public:
  explicit CollectiveOp(OpKernelConstruction* ctx) : AsyncOpKernel(ctx) {
    settings_.kind = kKind;
    float timeout = 0;
    OP_REQUIRES_OK(ctx, ctx->GetAttr("timeout_seconds", &timeout));
    settings_.timeout_seconds = timeout;
    if constexpr (kKind == Settings::kReduce ||
                  kKind == Settings::kReduceScatter) {
      std::string merge, final;
      OP_REQUIRES_OK(ctx, ctx->GetAttr("merge_op", &merge));
      OP_REQUIRES_OK(ctx, ctx->GetAttr("final_op", &final));
      OP_REQUIRES_OK(ctx, SetFunctions(merge, final == "Div"));
    }
    if constexpr (!kKeysAreInputs) {
      OP_REQUIRES_OK(ctx, ctx->GetAttr("group_size", &size_));
      OP_REQUIRES_OK(ctx, ctx->GetAttr("group_key", &group_));
      OP_REQUIRES_OK(ctx, ctx->GetAttr("instance_key", &instance_));
      OP_REQUIRES(
          ctx, size_ > 1,
          errors::InvalidArgument("group_size must be > 1 and is ", size_));
      if constexpr (kKind == Settings::kSend || kKind == Settings::kRecv) {
        OP_REQUIRES_OK(ctx, ctx->GetAttr("shape", &shape_));
        OP_REQUIRES(
            ctx, shape_.AsTensorShape(&static_shape_),
            errors::InvalidArgument("shape must be fully defined and is ",
                                    shape_.DebugString()));
      }
    }
  }

  void ComputeAsync(OpKernelContext* ctx, DoneCallback done) override {
    RefPtr<CollectiveExecutor> executor;
    OP_REQUIRES_ASYNC(
        ctx,
        ctx->resource_manager()
            ->Lookup<CollectiveExecutor>(CollectiveExecutor::kContainer,
                                         CollectiveExecutor::kName, &executor)
            .ok(),
        errors::Unimplemented(
            "collective ops run in sessions; nothing here connects ",
            ctx->device()->name(), " with other devices"),
        done);
    CollectiveMember member;
    member.device = ctx->device()->name();
    member.device_type = ctx->device()->device_type();
    int32_t instance = instance_;
    TensorShape shape = static_shape_;
    member.group_key = group_;
    member.group_size = size_;
    OP_REQUIRES_OK_ASYNC(ctx, Read(ctx, &member, &instance, &shape), done);
    auto run = std::make_shared<Run>(
        settings_, ctx, std::move(executor), std::move(member), instance,
        std::move(shape), [this, ctx, done = std::move(done)] {
          {
            MutexLock lock(&mu_);
            runs_.erase(ctx);
          }
          done();
        });
    {
      MutexLock lock(&mu_);
      runs_[ctx] = run;
    }
    run->Start();
  }

  std::string WaitsFor(OpKernelContext* ctx) const override {
    std::shared_ptr<Run> run;
    {
      MutexLock lock(&mu_);
      const auto it = runs_.find(ctx);
      if (it != runs_.end()) run = it->second.lock();
    }
    return run == nullptr ? "" : run->WaitsFor();
  }

 private:
  Status SetFunctions(const std::string& merge, bool divides) {
    switch (output_type(0)) {
#define HR_CASE(T)                               \
  case DataTypeToEnum<T>::value:                 \
    settings_.merge = FindMerge<T>(merge);       \
    if (divides) settings_.divide = DivideBy<T>; \
    return OkStatus();
      HR_CALL_FLOAT_TYPES(HR_CASE)
      HR_CASE(int32_t)
      HR_CASE(int64_t)
#undef HR_CASE
      default:
        return errors::InvalidArgument("T is ", DataTypeString(output_type(0)));
    }
  }

  Status Read(OpKernelContext* ctx, CollectiveMember* member, int32_t* instance,
              TensorShape* shape) const {
    if constexpr (kKeysAreInputs) {
      HR_RETURN_IF_ERROR(ReadScalar(ctx, "group_size", &member->group_size));
      HR_RETURN_IF_ERROR(ReadScalar(ctx, "group_key", &member->group_key));
      HR_RETURN_IF_ERROR(ReadScalar(ctx, "instance_key", instance));
      if constexpr (kKind == Settings::kRecv) {
        const Tensor* dims = nullptr;
        HR_RETURN_IF_ERROR(ctx->input("shape", &dims));
        if (dims->dims() != 1) {
          return errors::InvalidArgument("shape must be a vector, got shape ",
                                         dims->shape().DebugString());
        }
        std::vector<int64_t> sizes;
        for (int64_t i = 0; i < dims->NumElements(); ++i) {
          sizes.push_back(dims->dtype() == DT_INT32 ? dims->data<int32_t>()[i]
                                                    : dims->data<int64_t>()[i]);
        }
        HR_RETURN_IF_ERROR(TensorShape::Build(sizes, shape));
      }
    }
    if constexpr (kKind == Settings::kRecv) return OkStatus();
    const TensorShape& in = ctx->input(0).shape();
    if constexpr (kKind == Settings::kSend && !kKeysAreInputs) {
      if (in != static_shape_) {
        return errors::InvalidArgument(
            "Declared shape of op ", name(),
            " does not match shape of input: ", static_shape_.DebugString(),
            " and ", in.DebugString());
      }
    }
    if constexpr (kKind == Settings::kGather || kKind == Settings::kAllToAll ||
                  kKind == Settings::kReduceScatter) {
      if (in.dims() == 0) {
        return errors::InvalidArgument("the input is a scalar, wanted rows");
      }
    }
    return OkStatus();
  }

  Settings settings_;
  int32_t size_ = 0, group_ = 0, instance_ = 0;
  PartialTensorShape shape_;
  TensorShape static_shape_;
  mutable Mutex mu_;
  std::map<OpKernelContext*, std::weak_ptr<Run>> runs_ GUARDED_BY(mu_);
};

REGISTER_KERNEL_BUILDER(Name("CollectiveReduce").Device(DEVICE_CPU),
                        CollectiveOp<Settings::kReduce, false>);
REGISTER_KERNEL_BUILDER(Name("CollectiveGather").Device(DEVICE_CPU),
                        CollectiveOp<Settings::kGather, false>);
REGISTER_KERNEL_BUILDER(Name("CollectiveBcastSend").Device(DEVICE_CPU),
                        CollectiveOp<Settings::kSend, false>);
REGISTER_KERNEL_BUILDER(Name("CollectiveBcastRecv").Device(DEVICE_CPU),
                        CollectiveOp<Settings::kRecv, false>);
REGISTER_KERNEL_BUILDER(Name("CollectiveReduceV2").Device(DEVICE_CPU),
                        CollectiveOp<Settings::kReduce, true>);
REGISTER_KERNEL_BUILDER(Name("CollectiveReduceScatterV2").Device(DEVICE_CPU),
                        CollectiveOp<Settings::kReduceScatter, true>);
REGISTER_KERNEL_BUILDER(Name("CollectiveGatherV2").Device(DEVICE_CPU),
                        CollectiveOp<Settings::kGather, true>);
REGISTER_KERNEL_BUILDER(Name("CollectiveAllToAllV2").Device(DEVICE_CPU),
                        CollectiveOp<Settings::kAllToAll, true>);
REGISTER_KERNEL_BUILDER(Name("CollectiveBcastSendV2").Device(DEVICE_CPU),
                        CollectiveOp<Settings::kSend, true>);
REGISTER_KERNEL_BUILDER(Name("CollectiveBcastRecvV2").Device(DEVICE_CPU),
                        CollectiveOp<Settings::kRecv, true>);

}  // namespace
}  // namespace headrace
