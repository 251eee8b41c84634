// What this library registers when it is loaded.
#include "distributed/certificates.h"
#include "distributed/grpc_session.h"
#include "distributed/task_server.h"

namespace headrace {
namespace {

[[maybe_unused]] const bool registered = [] {
  RegisterSessionFactory("grpc://", NewGrpcSession);
  RegisterSessionsReset(ResetGrpcSessions);
  RegisterServerFactory(NewTaskServer);
  RegisterCertificateMaker(MakeCertificateFiles);
  return true;
}();

}  // namespace
}  // namespace headrace
