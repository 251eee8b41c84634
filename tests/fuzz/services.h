// What the fuzz targets of servers share. The bytes are a plan: which calls are
// made, one after the other, and how the bytes of each real request are
// changed. Every call must be answered, after it was cancelled at the latest.
#ifndef HEADRACE_TESTS_FUZZ_SERVICES_H_
#define HEADRACE_TESTS_FUZZ_SERVICES_H_

#include <cstdio>
#include <cstdlib>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "distributed/cluster_spec.h"
#include "distributed/load_policy.h"
#include "distributed/master.h"
#include "distributed/services.h"
#include "distributed/worker.h"
#include "framework/op/tensor_proto.h"
#include "fuzz_target.h"
#include "google/protobuf/stubs/logging.h"
#include "headrace/mutex.h"

namespace headrace::fuzz {

inline constexpr char kTask[] = "/job:local/replica:0/task:0";
inline constexpr char kCpu[] = "/job:local/replica:0/task:0/device:CPU:0";

// A call without a network. The handler and its caller hold it.
class Call : public RpcCall {
 public:
  explicit Call(std::string bytes) : request_(std::move(bytes)) {}
  const WireBytes& request() const override { return request_; }
  const std::string& peer() const override { return peer_; }
  CancellationManager* cancellation() override { return &cancellation_; }
  void Finish(const Status& status, WireBytes response) override {
    {
      MutexLock lock(&mu_);
      if (ended_) return;
      ended_ = true;
      status_ = status;
      response_ = response.Flatten();
    }
    done_.Notify();
  }
  // Cancels it if it takes long. An answer that does not come then is a bug.
  Status Wait(const std::string& method, std::string* response) {
    if (!done_.WaitForNotificationWithTimeout(absl::Milliseconds(200))) {
      cancellation_.StartCancel(errors::Cancelled("the client is gone"));
      if (!done_.WaitForNotificationWithTimeout(absl::Seconds(60))) {
        std::fprintf(stderr, "%s was cancelled and is not answered\n",
                     method.c_str());
        std::abort();
      }
    }
    MutexLock lock(&mu_);
    *response = response_;
    return status_;
  }

 private:
  const WireBytes request_;
  const std::string peer_ = "10.0.0.1";
  CancellationManager cancellation_;
  Notification done_;
  Mutex mu_;
  bool ended_ GUARDED_BY(mu_) = false;
  Status status_ GUARDED_BY(mu_);
  std::string response_ GUARDED_BY(mu_);
};

// A server without a port. A new one now and then, for hostile clients leave
// things behind.
class Service {
 public:
  static Service* Get() {
    static Service* service = nullptr;
    static int uses = 0;
    if (++uses % 500 == 0 || service == nullptr) {
      delete service;
      service = new Service;
    }
    return service;
  }
  ~Service() {
    handlers_.clear();
    master_->Shutdown();
    worker_->Shutdown();
  }

  Master* master() { return master_.get(); }
  Worker* worker() { return worker_.get(); }
  Status Ask(const std::string& method, std::string request,
             std::string* response) {
    const auto call = std::make_shared<Call>(std::move(request));
    handlers_.at("/tensorflow." + method)(call);
    return call->Wait(method, response);
  }

 private:
  Service() {
    google::protobuf::SetLogHandler(nullptr);  // of bytes that are no UTF-8
    pb::ClusterDef cluster;
    cluster.add_job()->set_name("local");
    (*cluster.mutable_job(0)->mutable_tasks())[0] = "localhost:1";
    ClusterSpec spec;
    std::unique_ptr<Worker> worker;
    pb::ConfigProto config;
    config.set_operation_timeout_in_ms(2000);
    Status s = MoveTo(ClusterSpec::FromProto(cluster), &spec);
    if (s.ok()) s = MoveTo(Worker::Create(kTask, spec, config), &worker);
    if (!s.ok()) {
      std::fprintf(stderr, "%s\n", s.ToString().c_str());
      std::abort();
    }
    LoadPolicy policy;
    policy.all_folders = policy.custom = false;
    ServerLimits limits;
    limits.graph_nodes = 1000;
    limits.callables = limits.partial_runs = 20;
    worker->SetLimits(policy, limits);
    worker_ = std::move(worker);
    master_ = std::make_shared<Master>(worker_, config);
    AddWorkerService(worker_, &handlers_);
    AddMasterService(master_, &handlers_);
  }

  std::shared_ptr<Worker> worker_;
  std::shared_ptr<Master> master_;
  RpcHandlers handlers_;
};

// Half of the requests stay as they are, so that later ones find something.
inline std::string Changed(std::string bytes, Choices* in) {
  if (in->Byte() % 2 == 0) return bytes;
  for (uint32_t n = 1 + in->Below(4); n > 0; --n) {
    const uint8_t kind = in->Byte();
    const size_t at = bytes.empty() ? 0 : in->Below(65536) % bytes.size();
    auto byte = static_cast<char>(in->Byte());
    if (kind % 2 == 0) byte = static_cast<char>(byte & 0x7f);  // keeps UTF-8
    if (kind < 24) {
      bytes.insert(at, 1, byte);
    } else if (kind < 48) {
      if (!bytes.empty()) bytes.erase(at, 1 + static_cast<uint8_t>(byte) % 8);
    } else if (kind < 56) {
      bytes.resize(at);
    } else if (kind < 80) {
      bytes += bytes.substr(at, static_cast<uint8_t>(byte));  // a field twice
    } else if (!bytes.empty()) {
      bytes[at] = byte;
    }
  }
  return bytes;
}

inline void AddAttrType(const char* name, pb::DataType type, pb::NodeDef* n) {
  (*n->mutable_attr())[name].set_type(type);
}
inline pb::NodeDef* AddNode(pb::GraphDef* graph, const char* name,
                            const char* op,
                            std::initializer_list<const char*> inputs,
                            const char* type_attr) {
  pb::NodeDef* const n = graph->add_node();
  n->set_name(name);
  n->set_op(op);
  for (const char* input : inputs) n->add_input(input);
  if (type_attr != nullptr) AddAttrType(type_attr, pb::DT_FLOAT, n);
  return n;
}

}  // namespace headrace::fuzz

#endif  // HEADRACE_TESTS_FUZZ_SERVICES_H_
