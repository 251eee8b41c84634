// TF_Server.
#include "headrace/server.h"

#include <memory>
#include <string>
#include <utility>

#include "base/exceptions.h"
#include "c_api/internal.h"

struct TF_Server {
  std::unique_ptr<headrace::Server> server;
  std::string target;
};

namespace {

headrace::Status NullServer() {
  return headrace::errors::InvalidArgument("the server is NULL");
}

}  // namespace

TF_Server* TF_NewServer(const void* proto, size_t proto_len,
                        TF_Status* status) {
  std::unique_ptr<TF_Server> made;
  const headrace::Status s =
      headrace::CatchExceptions([&]() -> headrace::Status {
        headrace::pb::ServerDef def;
        HR_RETURN_IF_ERROR(
            headrace::c_api::ParseProto("a ServerDef", proto, proto_len, &def));
        auto server = std::make_unique<TF_Server>();
        HR_RETURN_IF_ERROR(
            headrace::MoveTo(headrace::NewServer(def), &server->server));
        server->target = server->server->target();
        made = std::move(server);
        return headrace::OkStatus();
      });
  headrace::c_api::Set(status, s);
  return made.release();
}

void TF_ServerStart(TF_Server* server, TF_Status* status) {
  headrace::c_api::Set(
      status, server == nullptr ? NullServer() : server->server->Start());
}

void TF_ServerStop(TF_Server* server, TF_Status* status) {
  headrace::c_api::Set(
      status, server == nullptr ? NullServer() : server->server->Stop());
}

void TF_ServerJoin(TF_Server* server, TF_Status* status) {
  headrace::c_api::Set(
      status, server == nullptr ? NullServer() : server->server->Join());
}

const char* TF_ServerTarget(TF_Server* server) {
  return server == nullptr ? nullptr : server->target.c_str();
}

void TF_DeleteServer(TF_Server* server) { delete server; }
