#include <algorithm>
#include <climits>

#include "absl/strings/match.h"
#include "absl/strings/strip.h"
#include "base/random.h"
#include "distributed/tensor_pieces.h"
#include "distributed/worker_interface.h"
#include "framework/op/tensor_proto.h"
#include "headrace/mutex.h"

namespace headrace {
namespace {

constexpr char kDerivedMark[] = "[_Derived_]";

// How often a tensor is asked for whose answer a broken connection may have
// lost, and how long a new connection may take.
constexpr int kReceiveAttempts = 3;
constexpr absl::Duration kReconnect = absl::Milliseconds(500);
constexpr int kPiecesAtOnce = 4;

class RemoteWorker : public WorkerInterface {
 public:
  RemoteWorker(std::shared_ptr<RpcChannel> channel, std::string where)
      : channel_(std::move(channel)), where_(std::move(where)) {}

  void GetStatus(const CallOptions& options, pb::GetStatusResponse* response,
                 StatusCallback done) override {
    CallWith("GetStatus", options, pb::GetStatusRequest(), response,
             std::move(done));
  }
  void CreateWorkerSession(const CallOptions& options,
                           const pb::CreateWorkerSessionRequest& request,
                           StatusCallback done) override {
    CallWith("CreateWorkerSession", options, request, nullptr, std::move(done));
  }
  void DeleteWorkerSession(const CallOptions& options,
                           const pb::DeleteWorkerSessionRequest& request,
                           StatusCallback done) override {
    CallWith("DeleteWorkerSession", options, request, nullptr, std::move(done));
  }
  void RegisterGraph(const CallOptions& options,
                     pb::RegisterGraphRequest request,
                     pb::RegisterGraphResponse* response,
                     StatusCallback done) override {
    CallWith("RegisterGraph", options, request, response, std::move(done));
  }
  void DeregisterGraph(const CallOptions& options,
                       const pb::DeregisterGraphRequest& request,
                       StatusCallback done) override {
    CallWith("DeregisterGraph", options, request, nullptr, std::move(done));
  }
  void CleanupGraph(const CallOptions& options, int64_t step_id,
                    StatusCallback done) override {
    pb::CleanupGraphRequest request;
    request.set_step_id(step_id);
    CallWith("CleanupGraph", options, request, nullptr, std::move(done));
  }
  void CleanupAll(const CallOptions& options,
                  const pb::CleanupAllRequest& request,
                  StatusCallback done) override {
    CallWith("CleanupAll", options, request, nullptr, std::move(done));
  }

  void RunGraph(const CallOptions& options, RunGraphCall call,
                RunGraphResult* result, StatusCallback done) override {
    WireWriter writer;
    writer.AddFields(call.header);
    pb::RunGraphRequest keys;
    for (std::string& key : call.recv_keys) keys.add_recv_key(std::move(key));
    writer.AddFields(keys);
    for (const auto& [key, value] : call.send) {
      writer.AddNamedTensor(pb::RunGraphRequest::kSendFieldNumber, key, value);
    }
    channel_->Call(
        "/tensorflow.WorkerService/RunGraph", writer.Finish(), options,
        [where = where_, result, done = std::move(done)](
            const Status& s, const WireBytes& bytes) {
          if (!s.ok()) return done(Name(where, "RunGraph", s));
          const Status read = ReadNamedTensors(
              "RunGraphResponse", bytes, pb::RunGraphResponse::kRecvFieldNumber,
              &result->recv, &result->header);
          if (read.ok() && result->header.status_code() != 0) {
            return done(Status(
                static_cast<absl::StatusCode>(result->header.status_code()),
                result->header.status_error_message()));
          }
          done(Name(where, "RunGraph", read));
        });
  }

  void RecvTensor(const CallOptions& options, int64_t step_id,
                  absl::string_view key, int64_t request_id,
                  TensorCallback done) override {
    auto receive = std::make_shared<Receive>();
    receive->request.set_step_id(step_id);
    receive->request.set_rendezvous_key(std::string(key));
    receive->request.set_request_id(request_id);
    receive->request.mutable_transport_options()->set_type_url(kPiecesUrl);
    receive->channel = channel_;
    receive->where = where_;
    receive->options = options;
    receive->done = std::move(done);
    Receive::Ask(std::move(receive));
  }

  void RecvBuf(const CallOptions& options, const pb::RecvBufRequest& request,
               void* to, StatusCallback done) override {
    CallRecvBuf(channel_, options, request, to,
                [where = where_, done = std::move(done)](const Status& s) {
                  done(Name(where, "RecvBuf", s));
                });
  }
  void CompleteGroup(const CallOptions& options,
                     const pb::CompleteGroupRequest& request,
                     pb::CompleteGroupResponse* response,
                     StatusCallback done) override {
    CallWith("CompleteGroup", options, request, response, std::move(done));
  }
  void CompleteInstance(const CallOptions& options,
                        const pb::CompleteInstanceRequest& request,
                        pb::CompleteInstanceResponse* response,
                        StatusCallback done) override {
    CallWith("CompleteInstance", options, request, response, std::move(done));
  }
  void GetStepSequence(const CallOptions& options,
                       const pb::GetStepSequenceRequest& request,
                       pb::GetStepSequenceResponse* response,
                       StatusCallback done) override {
    CallWith("GetStepSequence", options, request, response, std::move(done));
  }
  void DescribeWaits(const CallOptions& options,
                     const pb::DescribeWaitsRequest& request,
                     pb::DescribeWaitsResponse* response,
                     StatusCallback done) override {
    channel_->Call(kDescribeWaitsMethod, ToWire(request), options,
                   [where = where_, response, done = std::move(done)](
                       const Status& s, const WireBytes& bytes) {
                     if (!s.ok()) return done(Name(where, "DescribeWaits", s));
                     done(FromWire("DescribeWaits", bytes, response));
                   });
  }

 private:
  // One RecvTensor: asked again if the connection breaks, and followed by
  // RecvBuf for the pieces of a large tensor.
  struct Receive {
    pb::RecvTensorRequest request;
    std::shared_ptr<RpcChannel> channel;
    std::string where;
    CallOptions options;
    TensorCallback done;
    int attempts = 0;
    // Of a tensor in pieces.
    pb::TensorPiecesResponse pieces;
    bool is_dead = false;
    Tensor value;
    Mutex mu;
    size_t next GUARDED_BY(mu) = 0;   // offset of the next piece
    int running GUARDED_BY(mu) = 0;   // calls for pieces
    int repeated GUARDED_BY(mu) = 0;  // pieces that were asked for again
    Status status GUARDED_BY(mu);
    using Ptr = std::shared_ptr<Receive>;

    static void Ask(Ptr r) {
      ++r->attempts;
      RpcChannel* const channel = r->channel.get();
      const WireBytes request = ToWire(r->request);
      const CallOptions& options = r->options;
      channel->Call(
          "/tensorflow.WorkerService/RecvTensor", request, options,
          [r](const Status& s, const WireBytes& bytes) {
            if (errors::IsUnavailable(s) && r->attempts < kReceiveAttempts) {
              return AskAgain(r, s);
            }
            Answered(r, s, bytes);
          });
    }

    // If the peer is there after all, it gives the same tensor for the same
    // request_id: the answer may have been lost on the way.
    static void AskAgain(const Ptr& r, const Status& why) {
      CallOptions probe;
      probe.cancellation = r->options.cancellation;
      probe.wait_for_ready = true;
      probe.timeout = kReconnect;
      r->channel->Call("/tensorflow.WorkerService/GetStatus",
                       ToWire(pb::GetStatusRequest()), probe,
                       [r, why](const Status& s, const WireBytes&) {
                         if (s.ok()) return Ask(r);
                         End(r, why);
                       });
    }

    static void Answered(const Ptr& r, const Status& s,
                         const WireBytes& bytes) {
      std::vector<Tensor> tensors;
      pb::RecvTensorResponse rest;
      Status read = s;
      if (read.ok()) {
        read = ReadTensors("RecvTensorResponse", bytes,
                           pb::RecvTensorResponse::kTensorFieldNumber, &tensors,
                           &rest);
      }
      r->is_dead = rest.is_dead();
      if (read.ok() && tensors.empty() &&
          rest.transport_options().type_url() == kPiecesUrl) {
        read = BeginPieces(r, rest.transport_options().value());
        if (read.ok()) return AskForPieces(r);
      } else if (read.ok() && tensors.size() != 1) {
        read = errors::Internal("RecvTensorResponse: ", tensors.size(),
                                " tensors, wanted 1");
      }
      if (read.ok()) r->value = std::move(tensors[0]);
      End(r, read);
    }

    static Status BeginPieces(const Ptr& r, const std::string& bytes) {
      pb::TensorPiecesResponse& p = r->pieces;
      PartialTensorShape partial;
      TensorShape shape;
      const auto malformed = [] {
        return errors::InvalidArgument(
            "RecvTensorResponse: no description of a tensor in pieces");
      };
      if (!p.ParseFromString(bytes)) return malformed();
      const auto dtype = static_cast<DataType>(p.dtype());
      HR_RETURN_IF_ERROR(ShapeFromProto(p.tensor_shape(), &partial));
      if (!partial.AsTensorShape(&shape) || !DataTypeCanUseMemcpy(dtype) ||
          DataTypeSize(dtype) <= 0 || p.piece_bytes() <= 0 ||
          p.piece_bytes() > INT_MAX) {
        return malformed();
      }
      return Tensor::Allocate(CpuAllocator(), dtype, shape, &r->value,
                              Tensor::kHeap);
    }

    static void AskForPieces(const Ptr& r) {
      const size_t bytes = r->value.TotalBytes();
      while (true) {
        size_t begin = 0, size = 0;
        bool ends = false;
        {
          MutexLock lock(&r->mu);
          if (r->next >= bytes || !r->status.ok()) {
            ends = r->running == 0;
            if (ends) r->running = -1;  // once
          } else if (r->running < kPiecesAtOnce) {
            begin = r->next;
            size = std::min<size_t>(
                bytes - begin, static_cast<size_t>(r->pieces.piece_bytes()));
            r->next += size;
            ++r->running;
          }
        }
        if (ends) return EndPieces(r);
        if (size == 0) return;
        AskForPiece(r, begin, size);
      }
    }

    static void AskForPiece(const Ptr& r, size_t begin, size_t size) {
      CallRecvBuf(r->channel, r->options, PieceRequest(*r, begin, size),
                  static_cast<char*>(r->value.raw_data()) + begin,
                  [r, begin, size](const Status& s) {
                    bool again = false;
                    {
                      MutexLock lock(&r->mu);
                      again = errors::IsUnavailable(s) && r->status.ok() &&
                              ++r->repeated <= kReceiveAttempts;
                      if (!again) {
                        r->status.Update(s);
                        --r->running;
                      }
                    }
                    // Reading a piece twice does no harm.
                    if (again) return AskForPiece(r, begin, size);
                    AskForPieces(r);
                  });
    }

    static void EndPieces(const Ptr& r) {
      // The sender lets go of the tensor. If this is lost, at the step's end.
      r->channel->Call("/tensorflow.WorkerService/RecvBuf",
                       ToWire(PieceRequest(*r, 0, 0)), CallOptions(),
                       [](const Status&, const WireBytes&) {});
      Status s;
      {
        MutexLock lock(&r->mu);
        s = r->status;
      }
      End(r, s);
    }

    static pb::RecvBufRequest PieceRequest(const Receive& r, size_t begin,
                                           size_t size) {
      pb::RecvBufRequest request;
      request.set_step_id(r.request.step_id());
      request.set_buf_rendezvous_key(
          StrCat(kPieceKey, r.pieces.id(), ":", begin));
      request.set_num_bytes(static_cast<int64_t>(size));
      return request;
    }

    static void End(const Ptr& r, const Status& s) {
      const TensorCallback done = std::move(r->done);
      if (!s.ok())
        return done(Name(r->where, "RecvTensor", s), Tensor(), false);
      done(s, r->value, r->is_dead);
    }
  };

  static void CallRecvBuf(const std::shared_ptr<RpcChannel>& channel,
                          const CallOptions& options,
                          const pb::RecvBufRequest& request, void* to,
                          StatusCallback done) {
    channel->Call(
        "/tensorflow.WorkerService/RecvBuf", ToWire(request), options,
        [to, size = static_cast<size_t>(request.num_bytes()),
         done = std::move(done)](const Status& s, const WireBytes& bytes) {
          if (!s.ok()) return done(s);
          pb::RecvBufResponse rest;
          done(ReadBuffer("RecvBufResponse", bytes,
                          pb::RecvBufResponse::kTransportOptionsFieldNumber, to,
                          size, &rest));
        });
  }

  // `response` may be null.
  void CallWith(const char* method, const CallOptions& options,
                const google::protobuf::MessageLite& request,
                google::protobuf::MessageLite* response, StatusCallback done) {
    channel_->Call(
        StrCat("/tensorflow.WorkerService/", method), ToWire(request), options,
        [where = where_, method, response, done = std::move(done)](
            const Status& s, const WireBytes& bytes) {
          if (!s.ok() || response == nullptr) {
            return done(Name(where, method, s));
          }
          done(Name(where, method, FromWire(method, bytes, response)));
        });
  }

  // Says who does not answer; what the task itself says needs no name.
  static Status Name(const std::string& where, absl::string_view method,
                     const Status& s) {
    if (!errors::IsUnavailable(s) && !errors::IsDeadlineExceeded(s)) return s;
    return Annotate(s, StrCat(" (", method, " of ", where, ")"));
  }

  const std::shared_ptr<RpcChannel> channel_;
  const std::string where_;
};

}  // namespace

std::unique_ptr<WorkerInterface> NewRemoteWorker(
    std::shared_ptr<RpcChannel> channel, std::string where) {
  return std::make_unique<RemoteWorker>(std::move(channel), std::move(where));
}

Status Derived(const Status& status) {
  if (status.ok() || IsDerived(status)) return status;
  return Status(status.code(), StrCat(kDerivedMark, status.message()));
}

bool IsDerived(const Status& status) {
  return absl::StartsWith(status.message(), kDerivedMark);
}

Status Plain(const Status& status) {
  if (!IsDerived(status)) return status;
  return Status(status.code(),
                absl::StripPrefix(status.message(), kDerivedMark));
}

int64_t NewRequestId() { return static_cast<int64_t>(RandomSeed64() | 1); }

}  // namespace headrace
