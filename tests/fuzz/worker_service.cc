// The requests of masters and other tasks to a worker, in any order, changed:
// sessions, graphs, runs of all of a step or of pieces, tensors, clean-up.
#include "headrace/op_kernel.h"
#include "services.h"

namespace headrace {
namespace {

using fuzz::AddNode;
using fuzz::kCpu;

constexpr const char* kMethods[] = {"GetStatus",
                                    "CreateWorkerSession",
                                    "DeleteWorkerSession",
                                    "RegisterGraph",
                                    "DeregisterGraph",
                                    "RunGraph",
                                    "RunGraph",
                                    "CleanupGraph",
                                    "CleanupAll",
                                    "RecvTensor",
                                    "Logging",
                                    "Tracing",
                                    "RegisterGraph",
                                    "RecvBuf",
                                    "GetStepSequence",
                                    "CompleteGroup",
                                    "CompleteInstance",
                                    "RunGraph"};

struct Task {
  std::string graph = "0";
  uint64_t incarnation = 0;
  bool has_session = false;
  int64_t step = 1;
};

void AddTerminal(pb::GraphDef* graph, const char* name, const char* op,
                 std::initializer_list<const char*> inputs,
                 const char* type_attr, const char* tensor) {
  auto& attrs = *AddNode(graph, name, op, inputs, type_attr)->mutable_attr();
  attrs["tensor_name"].set_s(tensor);
  attrs["send_device"].set_s(kCpu);
  attrs["send_device_incarnation"].set_i(5);
  attrs["recv_device"].set_s(kCpu);
  attrs["client_terminated"].set_b(true);
}

std::string Key(const char* tensor) {
  return Rendezvous::CreateKey(kCpu, 5, kCpu, tensor);
}

// y = x + x, between a feed and a fetch; or a file that the feed names.
pb::RegisterGraphRequest Graph(const Task& t, bool file) {
  pb::RegisterGraphRequest r;
  if (t.has_session) {
    r.set_session_handle("s");
    r.set_create_worker_session_called(true);
  }
  pb::GraphDef* const g = r.mutable_graph_def();
  AddTerminal(g, "x", "_Recv", {}, "tensor_type", "x");
  if (file) {
    fuzz::AddAttrType("tensor_type", pb::DT_STRING, g->mutable_node(0));
    AddNode(g, "y", "ReadFile", {"x"}, nullptr);
  } else {
    AddNode(g, "y", "AddV2", {"x", "x"}, "T");
  }
  AddTerminal(g, "send", "_Send", {"y"}, "T", "y");
  if (file) fuzz::AddAttrType("T", pb::DT_STRING, g->mutable_node(2));
  for (pb::NodeDef& n : *g->mutable_node()) n.set_device(kCpu);
  return r;
}

std::string RealRequest(uint32_t kind, const Task& t, fuzz::Choices* in) {
  switch (kind) {
    case 1: {
      pb::CreateWorkerSessionRequest r;
      r.set_session_handle("s");
      r.set_isolate_session_state(in->OneIn(2));
      if (in->OneIn(4)) {
        pb::ServerDef* const def = r.mutable_server_def();
        def->set_job_name("brought");
        pb::JobDef* const job = def->mutable_cluster()->add_job();
        job->set_name("brought");
        (*job->mutable_tasks())[0] = "localhost:1";
      }
      return r.SerializeAsString();
    }
    case 2: {
      pb::DeleteWorkerSessionRequest r;
      r.set_session_handle("s");
      return r.SerializeAsString();
    }
    case 3:
    case 12:
      return Graph(t, kind == 12).SerializeAsString();
    case 4: {
      pb::DeregisterGraphRequest r;
      r.set_graph_handle(t.graph);
      if (t.has_session) {
        r.set_session_handle("s");
        r.set_create_worker_session_called(true);
      }
      return r.SerializeAsString();
    }
    case 5:
    case 6:
    case 17: {
      pb::RunGraphRequest r;
      r.set_graph_handle(t.graph);
      if (t.has_session) {
        r.set_session_handle("s");
        r.set_create_worker_session_called(true);
      }
      r.set_step_id(t.step);
      if (kind != 6 || in->OneIn(2)) {
        pb::NamedTensorProto* const send = r.add_send();
        send->set_name(Key("x"));
        Tensor value = Tensor::Scalar<float>(1);
        if (kind == 17) {
          value = Tensor(DT_STRING, TensorShape());
          value.scalar<tstring>() = "/etc/hostname";
        }
        TensorToProto(value, send->mutable_tensor());
      }
      r.add_recv_key(Key("y"));
      if (kind == 6) {
        r.set_is_partial(true);
        r.set_is_last_partial_run(in->OneIn(2));
      }
      r.mutable_exec_opts()->set_record_timeline(in->OneIn(3));
      r.set_store_errors_in_response_body(in->OneIn(2));
      return r.SerializeAsString();
    }
    case 7: {
      pb::CleanupGraphRequest r;
      r.set_step_id(t.step);
      return r.SerializeAsString();
    }
    case 8: {
      pb::CleanupAllRequest r;
      r.add_container("localhost");
      return r.SerializeAsString();
    }
    case 9: {
      pb::RecvTensorRequest r;
      r.set_step_id(t.step);
      r.set_rendezvous_key(
          Rendezvous::CreateKey(kCpu, t.incarnation, kCpu, "x"));
      return r.SerializeAsString();
    }
    case 10: {
      pb::LoggingRequest r;
      r.set_enable_rpc_logging(true);
      return r.SerializeAsString();
    }
    default:
      return "";
  }
}

FUZZ_TARGET(worker_service) {
  constexpr int kMaxCalls = 16;
  fuzz::Choices in(bytes);
  fuzz::Service* const service = fuzz::Service::Get();
  Task task;
  task.incarnation = service->worker()->devices()[0]->attributes().incarnation;
  static int64_t next_step = 1;
  std::vector<int64_t> steps;
  for (int i = 0; i < kMaxCalls && !in.done(); ++i) {
    const uint32_t kind =
        i == 0 ? 3 : in.Below(static_cast<uint32_t>(std::size(kMethods)));
    if (i == 0 || in.OneIn(4)) steps.push_back(task.step = ++next_step);
    const std::string request =
        fuzz::Changed(RealRequest(kind, task, &in), &in);
    std::string response;
    const Status s = service->Ask(StrCat("WorkerService/", kMethods[kind]),
                                  request, &response);
    if (!s.ok()) continue;
    if (kind == 1) task.has_session = true;
    if (kind == 2) task.has_session = false;
    if (kind == 3 || kind == 12) {
      pb::RegisterGraphResponse r;
      if (r.ParseFromString(response)) task.graph = r.graph_handle();
    }
  }
  std::string ignored;
  for (const int64_t step : steps) {
    pb::CleanupGraphRequest r;
    r.set_step_id(step);
    service->Ask("WorkerService/CleanupGraph", r.SerializeAsString(), &ignored)
        .IgnoreError();
  }
  pb::DeleteWorkerSessionRequest gone;
  gone.set_session_handle("s");
  service
      ->Ask("WorkerService/DeleteWorkerSession", gone.SerializeAsString(),
            &ignored)
      .IgnoreError();
}

}  // namespace
}  // namespace headrace
