// The requests of a client to a master, in any order, changed: sessions,
// extensions, steps, partial runs, callables.
#include "services.h"

namespace headrace {
namespace {

using fuzz::AddAttrType;
using fuzz::AddNode;

// A client as the server knows it.
struct Client {
  std::string session, partial;
  int64_t callable = 0, version = 0;
  int nodes = 0;
};

// x: fed; y = x + x; a variable and its assignment; a loop; a call; a file.
void FillGraph(pb::GraphDef* graph) {
  AddNode(graph, "x", "Placeholder", {}, "dtype");
  AddNode(graph, "y", "AddV2", {"x", "x"}, "T");
  (*AddNode(graph, "v", "VariableV2", {}, "dtype")->mutable_attr())["shape"]
      .mutable_shape();
  AddNode(graph, "set", "Assign", {"v", "x"}, "T");
  AddNode(graph, "read", "Identity", {"v"}, "T");
  pb::NodeDef* n = AddNode(graph, "enter", "Enter", {"x"}, "T");
  (*n->mutable_attr())["frame_name"].set_s("f");
  AddNode(graph, "merge", "Merge", {"enter", "next"}, "T");
  (*graph->mutable_node(6)->mutable_attr())["N"].set_i(2);
  n = AddNode(graph, "ten", "Const", {"^enter"}, "dtype");
  TensorToProto(Tensor::Scalar<float>(10),
                (*n->mutable_attr())["value"].mutable_tensor());
  AddNode(graph, "less", "Less", {"merge", "ten"}, "T");
  AddNode(graph, "cond", "LoopCond", {"less"}, nullptr);
  AddNode(graph, "switch", "Switch", {"merge", "cond"}, "T");
  AddNode(graph, "more", "AddV2", {"switch:1", "ten"}, "T");
  AddNode(graph, "next", "NextIteration", {"more"}, "T");
  AddNode(graph, "exit", "Exit", {"switch"}, "T");
  AddNode(graph, "call", "F", {"x"}, nullptr);
  n = AddNode(graph, "name", "Placeholder", {}, nullptr);
  AddAttrType("dtype", pb::DT_STRING, n);
  AddNode(graph, "file", "ReadFile", {"name"}, nullptr);
  pb::FunctionDef* const f = graph->mutable_library()->add_function();
  f->mutable_signature()->set_name("F");
  pb::OpDef::ArgDef* arg = f->mutable_signature()->add_input_arg();
  arg->set_name("a");
  arg->set_type(pb::DT_FLOAT);
  arg = f->mutable_signature()->add_output_arg();
  arg->set_name("b");
  arg->set_type(pb::DT_FLOAT);
  n = f->add_node_def();
  n->set_name("neg");
  n->set_op("Neg");
  n->add_input("a");
  AddAttrType("T", pb::DT_FLOAT, n);
  (*f->mutable_ret())["b"] = "neg:y:0";
}

void AddFeed(pb::RunStepRequest* request) {
  pb::NamedTensorProto* const feed = request->add_feed();
  feed->set_name("x:0");
  TensorToProto(Tensor::Scalar<float>(1), feed->mutable_tensor());
}

constexpr const char* kMethods[] = {
    "CreateSession", "ExtendSession", "PartialRunSetup", "RunStep",
    "RunStep",       "CloseSession",  "ListDevices",     "Reset",
    "MakeCallable",  "RunCallable",   "ReleaseCallable", "RunStep"};

// A request that a real client could make now.
std::string RealRequest(uint32_t kind, const Client& c, fuzz::Choices* in) {
  switch (kind) {
    case 0: {
      pb::CreateSessionRequest r;
      FillGraph(r.mutable_graph_def());
      r.mutable_config()->add_device_filters("/job:local");
      r.mutable_config()->set_operation_timeout_in_ms(1000);
      return r.SerializeAsString();
    }
    case 1: {
      pb::ExtendSessionRequest r;
      r.set_session_handle(c.session);
      r.set_current_graph_version(c.version);
      AddNode(r.mutable_graph_def(), StrCat("n", c.nodes).c_str(), "Neg", {"y"},
              "T");
      return r.SerializeAsString();
    }
    case 2: {
      pb::PartialRunSetupRequest r;
      r.set_session_handle(c.session);
      r.add_feed("x:0");
      r.add_fetch("y:0");
      r.add_fetch("exit:0");
      return r.SerializeAsString();
    }
    case 3: {
      pb::RunStepRequest r;
      r.set_session_handle(c.session);
      AddFeed(&r);
      constexpr const char* kFetches[] = {"y:0", "read:0", "exit:0", "call:0"};
      r.add_fetch(kFetches[in->Below(4)]);
      r.add_target("set");
      r.set_store_errors_in_response_body(in->OneIn(2));
      return r.SerializeAsString();
    }
    case 4: {
      pb::RunStepRequest r;
      r.set_session_handle(c.session);
      r.set_partial_run_handle(c.partial);
      if (in->OneIn(2)) AddFeed(&r);
      r.add_fetch(in->OneIn(2) ? "y:0" : "exit:0");
      return r.SerializeAsString();
    }
    case 5: {
      pb::CloseSessionRequest r;
      r.set_session_handle(c.session);
      return r.SerializeAsString();
    }
    case 6: {
      pb::ListDevicesRequest r;
      r.set_session_handle(c.session);
      return r.SerializeAsString();
    }
    case 7: {
      pb::ResetRequest r;
      r.add_container("localhost");
      return r.SerializeAsString();
    }
    case 8: {
      pb::MakeCallableRequest r;
      r.set_session_handle(c.session);
      r.mutable_options()->add_feed("x:0");
      r.mutable_options()->add_fetch("y:0");
      r.mutable_options()->add_target("set");
      return r.SerializeAsString();
    }
    case 9: {
      pb::RunCallableRequest r;
      r.set_session_handle(c.session);
      r.set_handle(c.callable);
      TensorToProto(Tensor::Scalar<float>(2), r.add_feed());
      return r.SerializeAsString();
    }
    case 10: {
      pb::ReleaseCallableRequest r;
      r.set_session_handle(c.session);
      r.set_handle(c.callable);
      return r.SerializeAsString();
    }
    default: {
      pb::RunStepRequest r;
      r.set_session_handle(c.session);
      pb::NamedTensorProto* const feed = r.add_feed();
      feed->set_name("name:0");
      Tensor name(DT_STRING, TensorShape());
      name.scalar<tstring>() = "/etc/hostname";
      TensorToProto(name, feed->mutable_tensor());
      r.add_fetch("file:0");
      return r.SerializeAsString();
    }
  }
}

// What a client remembers of an answer.
void Learn(uint32_t kind, const std::string& response, Client* c) {
  if (kind == 0) {
    pb::CreateSessionResponse r;
    if (!r.ParseFromString(response)) return;
    c->session = r.session_handle();
    c->version = r.graph_version();
  } else if (kind == 1) {
    pb::ExtendSessionResponse r;
    if (r.ParseFromString(response)) c->version = r.new_graph_version();
    ++c->nodes;
  } else if (kind == 2) {
    pb::PartialRunSetupResponse r;
    if (r.ParseFromString(response)) c->partial = r.partial_run_handle();
  } else if (kind == 8) {
    pb::MakeCallableResponse r;
    if (r.ParseFromString(response)) c->callable = r.handle();
  }
}

FUZZ_TARGET(master_service) {
  constexpr int kMaxCalls = 16;
  fuzz::Choices in(bytes);
  fuzz::Service* const service = fuzz::Service::Get();
  Client client;
  for (int i = 0; i < kMaxCalls && !in.done(); ++i) {
    // Most of what a client asks needs a session.
    const uint32_t kind =
        i == 0 ? 0 : in.Below(static_cast<uint32_t>(std::size(kMethods)));
    const std::string request =
        fuzz::Changed(RealRequest(kind, client, &in), &in);
    std::string response;
    const Status s = service->Ask(StrCat("MasterService/", kMethods[kind]),
                                  request, &response);
    if (s.ok()) Learn(kind, response, &client);
  }
  service->master()->Reset({}, {}).IgnoreError();
}

}  // namespace
}  // namespace headrace
