// Certificates of a cluster: a CA that signs one certificate for servers and
// one for clients. OpenSSL makes and reads them, which gRPC uses too.
#ifndef HEADRACE_DISTRIBUTED_CERTIFICATES_H_
#define HEADRACE_DISTRIBUTED_CERTIFICATES_H_

#include <functional>
#include <string>

#include "headrace/server.h"
#include "headrace/status.h"

namespace headrace {

// Names of PEM files.
struct TlsFiles {
  std::string ca, cert, key;
};
// Their contents.
struct TlsMaterial {
  std::string ca, cert, key;
};

Status MakeCertificateFiles(const CertificateOptions& options);

// Reads the files. NotFound or FailedPrecondition, with the file's name, if one
// is missing, is no PEM, is expired or not yet valid, was not signed by the CA,
// or if the key is another certificate's.
StatusOr<TlsMaterial> ReadTlsFiles(const TlsFiles& files);

// Says why no connection to a server comes to be, which gRPC does not tell a
// call that waits for its peer. `files` are null without encryption.
//   true: the server speaks what we speak, and accepts us
//   false: nobody is there, or nobody answers in some seconds
//   Unauthenticated: one side refuses the other, or only one encrypts
// Blocks. Returns false soon after `stop` returns true.
StatusOr<bool> TryConnection(const std::string& address, const TlsFiles* files,
                             const std::function<bool()>& stop);

}  // namespace headrace

#endif  // HEADRACE_DISTRIBUTED_CERTIFICATES_H_
