// Server: this process as a task of a cluster. It runs the parts of steps that
// other tasks give it, and serves sessions on target().
//
// The code is in a library of its own, libheadrace_distributed.so, which is
// loaded from beside libheadrace.so when a server or a session on a "grpc://"
// target is asked for.
#ifndef HEADRACE_SERVER_H_
#define HEADRACE_SERVER_H_

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "headrace/server.pb.h"
#include "headrace/status.h"

namespace headrace {

class CancellationManager;
class WaitHook;

// Thread-safe. The destructor stops it.
class Server {
 public:
  virtual ~Server() = default;
  // Begins to serve. Does nothing if it serves; FailedPrecondition if it was
  // stopped.
  virtual Status Start() = 0;
  // Ends what it serves and lets go of the port.
  virtual Status Stop() = 0;
  // Waits until it was stopped, or `cancellation` is cancelled: Cancelled. If
  // environment variable HEADRACE_JOIN_UNTIL has the name of another job, also
  // until the tasks of that job have served and are gone.
  // `hook` is called now and then. Both may be null.
  virtual Status Join(WaitHook* hook = nullptr,
                      const CancellationManager* cancellation = nullptr) = 0;
  // "grpc://localhost:2222", for sessions.
  virtual const std::string& target() const = 0;
  // The server's own def, with the port that it listens on.
  virtual const pb::ServerDef& server_def() const = 0;
};

// A server that listens on its task's address but does not serve yet.
// InvalidArgument for a cluster that makes no sense, Unimplemented for another
// protocol than "grpc" or if libheadrace_distributed.so is not there,
// Unavailable if the port is taken, PermissionDenied for an address beyond this
// machine without certificates (docs/security.md).
StatusOr<std::unique_ptr<Server>> NewServer(const pb::ServerDef& def);

struct CertificateOptions {
  std::string folder;
  // Names and addresses by which clients reach the servers.
  std::vector<std::string> hosts = {"localhost", "127.0.0.1", "::1"};
  int64_t seconds = int64_t{30} * 24 * 3600;  // until they expire
};
// Writes into the folder, which is made, ca.pem, server.pem, client.pem and
// their keys (".key"). A CA that is there signs the new ones. Unimplemented if
// libheadrace_distributed.so is not there.
Status MakeCertificates(const CertificateOptions& options);

// For libheadrace_distributed.so.
using CertificateMaker = Status (*)(const CertificateOptions& options);
void RegisterCertificateMaker(CertificateMaker maker);
// What the steps that run at the tasks of a cluster wait for, in words: which
// node of which task, for which tensor of which task, since when. `target` is
// the "grpc://" target of one task, which asks the others. Unavailable if it
// does not answer, Unimplemented if it is no server of Headrace.
StatusOr<std::string> DescribeWaits(const std::string& target,
                                    double timeout_seconds = 10);

// For libheadrace_distributed.so.
using WaitsReport = StatusOr<std::string> (*)(const std::string& target,
                                              double timeout_seconds);
// How DescribeWaits asks.
void RegisterWaitsReport(WaitsReport report);
using ServerFactory =
    StatusOr<std::unique_ptr<Server>> (*)(const pb::ServerDef& def);
void RegisterServerFactory(ServerFactory factory);
using SessionsReset = Status (*)(const std::string& target,
                                 const std::vector<std::string>& containers);
// How ResetSessions resets those of "grpc://" targets.
void RegisterSessionsReset(SessionsReset reset);

}  // namespace headrace

#endif  // HEADRACE_SERVER_H_
