// What this library registers when it is loaded.
#include "distributed/certificates.h"
#include "distributed/grpc_session.h"
#include "distributed/task_server.h"
#include "distributed/waits_report.h"

namespace headrace {
namespace {

[[maybe_unused]] const bool registered = [] {
  RegisterSessionFactory("grpc://", NewGrpcSession);
  RegisterSessionsReset(ResetGrpcSessions);
  RegisterServerFactory(NewTaskServer);
  RegisterCertificateMaker(MakeCertificateFiles);
  RegisterWaitsReport(ReportWaits);
  return true;
}();

}  // namespace
}  // namespace headrace
