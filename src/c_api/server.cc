// TF_Server: what the distributed plug-in makes, behind a handle.
#include "session/server.h"

#include "c_api/internal.h"

using headrace::Server;
using headrace::Status;
using namespace headrace::c_api;  // NOLINT: our own few helpers
namespace errors = headrace::errors;
namespace pb = headrace::pb;

struct TF_Server {
  std::unique_ptr<Server> server;
  std::string target;
};

namespace {

void CallServer(const char* function, TF_Server* server,
                Status (Server::*call)(), TF_Status* status) {
  Set(status, server == nullptr
                  ? errors::InvalidArgument(function, ": the server is NULL")
                  : (server->server.get()->*call)());
}

}  // namespace

TF_Server* TF_NewServer(const void* proto, size_t proto_len,
                        TF_Status* status) {
  auto made = std::make_unique<TF_Server>();
  pb::ServerDef def;
  Status s = ParseProto("TF_NewServer", proto, proto_len, &def);
  if (s.ok()) s = headrace::MoveTo(headrace::NewServer(def), &made->server);
  if (s.ok()) made->target = made->server->target();
  Set(status, s);
  return s.ok() ? made.release() : nullptr;
}

void TF_ServerStart(TF_Server* server, TF_Status* status) {
  CallServer("TF_ServerStart", server, &Server::Start, status);
}

void TF_ServerStop(TF_Server* server, TF_Status* status) {
  CallServer("TF_ServerStop", server, &Server::Stop, status);
}

void TF_ServerJoin(TF_Server* server, TF_Status* status) {
  CallServer("TF_ServerJoin", server, &Server::Join, status);
}

const char* TF_ServerTarget(TF_Server* server) {
  return server == nullptr ? nullptr : server->target.c_str();
}

void TF_DeleteServer(TF_Server* server) { delete server; }
