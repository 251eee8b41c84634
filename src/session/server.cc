#include "headrace/server.h"

#include <dlfcn.h>

#include <atomic>

#include "base/own_folder.h"
#include "headrace/mutex.h"
#include "session/distributed_library.h"

namespace headrace {
namespace {

constexpr char kLibrary[] = "libheadrace_distributed.so";

std::atomic<ServerFactory> server_factory{nullptr};
std::atomic<SessionsReset> sessions_reset{nullptr};
std::atomic<CertificateMaker> certificate_maker{nullptr};
std::atomic<WaitsReport> waits_report{nullptr};

Status Load() {
  const std::string path = OwnFolder() + kLibrary;
  if (dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL) == nullptr) {
    const char* const why = dlerror();
    return errors::Unimplemented("servers and remote sessions need ", kLibrary,
                                 ", which is built where gRPC is installed: ",
                                 why == nullptr ? "it cannot be loaded" : why);
  }
  if (server_factory == nullptr) {
    return errors::Internal(path, " registers no servers");
  }
  return OkStatus();
}

}  // namespace

Status LoadDistributedLibrary() {
  if (server_factory != nullptr) return OkStatus();
  static Mutex* const mu = new Mutex;
  MutexLock lock(mu);
  if (server_factory != nullptr) return OkStatus();
  return Load();
}

StatusOr<std::unique_ptr<Server>> NewServer(const pb::ServerDef& def) {
  if (def.protocol() != "grpc") {
    return errors::Unimplemented("ServerDef: protocol '", def.protocol(),
                                 "'; there is: 'grpc'");
  }
  HR_RETURN_IF_ERROR(LoadDistributedLibrary());
  return server_factory.load()(def);
}

Status MakeCertificates(const CertificateOptions& options) {
  HR_RETURN_IF_ERROR(LoadDistributedLibrary());
  const CertificateMaker maker = certificate_maker;
  if (maker == nullptr) {
    return errors::Internal(kLibrary, " cannot make certificates");
  }
  return maker(options);
}

void RegisterServerFactory(ServerFactory factory) { server_factory = factory; }
void RegisterCertificateMaker(CertificateMaker maker) {
  certificate_maker = maker;
}
void RegisterSessionsReset(SessionsReset reset) { sessions_reset = reset; }
void RegisterWaitsReport(WaitsReport report) { waits_report = report; }

StatusOr<std::string> DescribeWaits(const std::string& target,
                                    double timeout_seconds) {
  HR_RETURN_IF_ERROR(LoadDistributedLibrary());
  const WaitsReport report = waits_report;
  if (report == nullptr) {
    return errors::Internal(kLibrary, " cannot ask what steps wait for");
  }
  return report(target, timeout_seconds);
}

Status ResetRemoteSessions(const std::string& target,
                           const std::vector<std::string>& containers) {
  HR_RETURN_IF_ERROR(LoadDistributedLibrary());
  const SessionsReset reset = sessions_reset;
  if (reset == nullptr) {
    return errors::Internal(kLibrary, " cannot reset sessions");
  }
  return reset(target, containers);
}

}  // namespace headrace
