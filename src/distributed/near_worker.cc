#include "distributed/near_worker.h"

#include <utility>

#include "base/exceptions.h"
#include "base/thread_pool.h"
#include "distributed/worker.h"

namespace headrace {
namespace {

// What is no memory to copy has values that nobody changes.
Status CopyOf(const Tensor& value, Tensor* out) {
  if (!DataTypeCanUseMemcpy(value.dtype()) && value.dtype() != DT_STRING) {
    *out = value;
    return OkStatus();
  }
  return CatchExceptions([&] { return value.DeepCopyTo(out); });
}

class NearWorker : public WorkerInterface {
 public:
  NearWorker(std::string address, std::unique_ptr<WorkerInterface> far)
      : address_(std::move(address)), far_(std::move(far)) {}

  void GetStatus(const CallOptions& options, pb::GetStatusResponse* response,
                 StatusCallback done) override {
    const Target to(this);
    to->GetStatus(options, response, to.Keep(std::move(done)));
  }
  void CreateWorkerSession(const CallOptions& options,
                           const pb::CreateWorkerSessionRequest& request,
                           StatusCallback done) override {
    const Target to(this);
    to->CreateWorkerSession(options, request, to.Keep(std::move(done)));
  }
  void DeleteWorkerSession(const CallOptions& options,
                           const pb::DeleteWorkerSessionRequest& request,
                           StatusCallback done) override {
    const Target to(this);
    to->DeleteWorkerSession(options, request, to.Keep(std::move(done)));
  }
  void RegisterGraph(const CallOptions& options,
                     pb::RegisterGraphRequest request,
                     pb::RegisterGraphResponse* response,
                     StatusCallback done) override {
    const Target to(this);
    to->RegisterGraph(options, std::move(request), response,
                      to.Keep(std::move(done)));
  }
  void DeregisterGraph(const CallOptions& options,
                       const pb::DeregisterGraphRequest& request,
                       StatusCallback done) override {
    const Target to(this);
    to->DeregisterGraph(options, request, to.Keep(std::move(done)));
  }
  // Not on the caller's thread, which has other parts to start.
  void RunGraph(const CallOptions& options, RunGraphCall call,
                RunGraphResult* result, StatusCallback done) override {
    const Target to(this);
    if (to.near() == nullptr) {
      far_->RunGraph(options, std::move(call), result, std::move(done));
      return;
    }
    to.near()->pool()->Schedule(
        [near = to.near(), options, result, done = to.Keep(std::move(done)),
         call = std::make_shared<RunGraphCall>(std::move(call))]() mutable {
          near->RunGraph(options, std::move(*call), result, std::move(done));
        });
  }
  void CleanupGraph(const CallOptions& options, int64_t step_id,
                    StatusCallback done) override {
    const Target to(this);
    to->CleanupGraph(options, step_id, to.Keep(std::move(done)));
  }
  void CleanupAll(const CallOptions& options,
                  const pb::CleanupAllRequest& request,
                  StatusCallback done) override {
    const Target to(this);
    to->CleanupAll(options, request, to.Keep(std::move(done)));
  }
  void RecvTensor(const CallOptions& options, int64_t step_id,
                  absl::string_view key, int64_t request_id,
                  TensorCallback done) override {
    const Target to(this);
    if (to.near() == nullptr) {
      far_->RecvTensor(options, step_id, key, request_id, std::move(done));
      return;
    }
    // No answer is lost, so none is kept to be asked for again.
    to->RecvTensor(options, step_id, key, 0,
                   [near = to.near(), done = std::move(done)](
                       const Status& s, const Tensor& value, bool is_dead) {
                     Tensor copy;
                     Status copied = s;
                     if (s.ok() && !is_dead) copied = CopyOf(value, &copy);
                     done(copied, copy, is_dead);
                   });
  }
  void RecvBuf(const CallOptions& options, const pb::RecvBufRequest& request,
               void* bytes, StatusCallback done) override {
    const Target to(this);
    to->RecvBuf(options, request, bytes, to.Keep(std::move(done)));
  }
  void CompleteGroup(const CallOptions& options,
                     const pb::CompleteGroupRequest& request,
                     pb::CompleteGroupResponse* response,
                     StatusCallback done) override {
    const Target to(this);
    to->CompleteGroup(options, request, response, to.Keep(std::move(done)));
  }
  void CompleteInstance(const CallOptions& options,
                        const pb::CompleteInstanceRequest& request,
                        pb::CompleteInstanceResponse* response,
                        StatusCallback done) override {
    const Target to(this);
    to->CompleteInstance(options, request, response, to.Keep(std::move(done)));
  }
  void GetStepSequence(const CallOptions& options,
                       const pb::GetStepSequenceRequest& request,
                       pb::GetStepSequenceResponse* response,
                       StatusCallback done) override {
    const Target to(this);
    to->GetStepSequence(options, request, response, to.Keep(std::move(done)));
  }
  void DescribeWaits(const CallOptions& options,
                     const pb::DescribeWaitsRequest& request,
                     pb::DescribeWaitsResponse* response,
                     StatusCallback done) override {
    const Target to(this);
    to->DescribeWaits(options, request, response, to.Keep(std::move(done)));
  }

 private:
  // Where one call goes.
  class Target {
   public:
    explicit Target(NearWorker* worker)
        : near_(NearWorkers()->Find(worker->address_)),
          to_(near_ == nullptr ? worker->far_.get() : near_.get()) {}
    const std::shared_ptr<Worker>& near() const { return near_; }
    WorkerInterface* operator->() const { return to_; }
    StatusCallback Keep(StatusCallback done) const {
      if (near_ == nullptr) return done;
      return
          [near = near_, done = std::move(done)](const Status& s) { done(s); };
    }

   private:
    const std::shared_ptr<Worker> near_;
    WorkerInterface* const to_;
  };

  const std::string address_;
  const std::unique_ptr<WorkerInterface> far_;
};

}  // namespace

ServedHere<Worker>* NearWorkers() {
  static auto* const workers = new ServedHere<Worker>;
  return workers;
}

std::unique_ptr<WorkerInterface> NewNearWorker(
    std::string address, std::unique_ptr<WorkerInterface> far) {
  return std::make_unique<NearWorker>(std::move(address), std::move(far));
}

}  // namespace headrace
