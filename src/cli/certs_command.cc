// headrace certs: certificates for the tasks and clients of a cluster.
#include <cstdint>
#include <cstdio>
#include <string>

#include "absl/strings/numbers.h"
#include "cli/command.h"
#include "headrace/server.h"

namespace headrace::cli {
namespace {

constexpr char kCertsHelp[] =
    "usage: headrace certs DIR [--host NAME]... [--days N]\n\n"
    "Makes certificates, so that tasks of a cluster on several machines and "
    "their clients\nknow each other and encrypt what they send. Writes into "
    "DIR:\n\n"
    "  ca.pem       whom to trust; everybody needs it\n"
    "  ca.key       signs certificates; keep it here, give it to nobody\n"
    "  server.pem   for tasks, with server.key\n"
    "  client.pem   for clients, with client.key\n\n"
    "Copy ca.pem and server.* to the tasks' machines, ca.pem and client.* to "
    "the clients',\nand set HEADRACE_TLS_DIR to the folder there. Called "
    "again, "
    "it makes new certificates\nwith the CA that is there.\n\n"
    "  --host NAME  a name or address in the cluster's addresses; localhost, "
    "127.0.0.1\n"
    "               and ::1 are always among them. May be given several times\n"
    "  --days N     until they expire; 30 if not given\n";

}  // namespace

int CertsCommand(const Args& args) {
  ArgReader reader(args);
  CertificateOptions options;
  std::string days, host;
  while (!reader.done()) {
    if (reader.Flag("--help") || reader.Flag("-h")) {
      std::fputs(kCertsHelp, stdout);
      return 0;
    }
    if (reader.Option("--host", &host)) {
      options.hosts.push_back(host);
      continue;
    }
    if (reader.Option("--days", &days)) continue;
    reader.TakeOnly("folder", &options.folder);
  }
  if (!reader.status().ok()) {
    return UsageError("certs", std::string(reader.status().message()));
  }
  if (options.folder.empty()) return UsageError("certs", "DIR is needed");
  if (!days.empty()) {
    int32_t n = 0;
    if (!absl::SimpleAtoi(days, &n) || n < 1 || n > 3650) {
      return UsageError("certs", StrCat("--days is '", days,
                                        "'; wanted a number from 1 to 3650"));
    }
    options.seconds = int64_t{n} * 24 * 3600;
  }
  const Status s = MakeCertificates(options);
  return s.ok() ? 0 : Fail(s);
}

}  // namespace headrace::cli
