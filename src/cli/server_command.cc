// headrace server: runs this process as a task of a cluster.
#include <cstdio>
#include <cstdlib>
#include <string>

#include "absl/strings/numbers.h"
#include "absl/strings/str_split.h"
#include "cli/command.h"
#include "headrace/server.h"

namespace headrace::cli {
namespace {

constexpr char kServerHelp[] =
    "usage: headrace server --cluster CLUSTER --job JOB --task INDEX\n\n"
    "Runs a task of a cluster until it is killed. Clients make sessions on its "
    "target,\n'grpc://HOST:PORT', which it prints when it serves.\n\n"
    "  --cluster CLUSTER  all tasks: "
    "'ps|HOST:PORT;HOST:PORT,worker|HOST:PORT'\n"
    "  --job JOB          the job of this task\n"
    "  --task INDEX       its index in the job; 0 if not given\n"
    "  --threads N        for loops inside kernels; the processors if not "
    "given\n"
    "  --tls DIR          encrypt, with the certificates that 'headrace "
    "certs' made; needed\n"
    "                     for addresses beyond this machine\n"
    "  --token FILE       clients must have the token in this file\n"
    "  --allow-folder DIR clients of other processes may have files read and "
    "written here;\n"
    "                     may be given several times. If not given: any folder "
    "for a\n"
    "                     server on localhost, none for others\n"
    "  --allow-ops WORDS  of code,network,custom: what their graphs may do "
    "besides\n"
    "  --allow-unencrypted-network\n"
    "                     serve addresses beyond this machine without "
    "certificates. Nothing\n"
    "                     is encrypted, and whoever reaches the port can run "
    "code here\n";

// "ps|host:port;host:port,worker|host:port"; what is malformed is for NewServer
// to say.
Status ParseCluster(const std::string& text, pb::ClusterDef* def) {
  for (absl::string_view part : absl::StrSplit(text, ',', absl::SkipEmpty())) {
    const std::vector<std::string> job = absl::StrSplit(part, '|');
    if (job.size() != 2) {
      return errors::InvalidArgument(
          "--cluster: '", part,
          "' is no job; wanted JOB|HOST:PORT;HOST:PORT,JOB|HOST:PORT");
    }
    pb::JobDef* const made = def->add_job();
    made->set_name(job[0]);
    int index = 0;
    for (absl::string_view address :
         absl::StrSplit(job[1], ';', absl::SkipEmpty())) {
      (*made->mutable_tasks())[index++] = std::string(address);
    }
  }
  return OkStatus();
}

}  // namespace

int ServerCommand(const Args& args) {
  ArgReader reader(args);
  std::string cluster, job, task = "0", threads, value, folders;
  while (!reader.done()) {
    if (reader.Flag("--help") || reader.Flag("-h")) {
      std::fputs(kServerHelp, stdout);
      return 0;
    }
    if (reader.Flag("--allow-unencrypted-network")) {
      setenv("HEADRACE_ALLOW_UNENCRYPTED_NETWORK", "1", 1);
      continue;
    }
    if (reader.Option("--tls", &value)) {
      setenv("HEADRACE_TLS_DIR", value.c_str(), 1);
      continue;
    }
    if (reader.Option("--token", &value)) {
      setenv("HEADRACE_TOKEN_FILE", value.c_str(), 1);
      continue;
    }
    if (reader.Option("--allow-folder", &value)) {
      StrAppend(&folders, folders.empty() ? "" : ":", value);
      setenv("HEADRACE_ALLOW_FOLDERS", folders.c_str(), 1);
      continue;
    }
    if (reader.Option("--allow-ops", &value)) {
      setenv("HEADRACE_ALLOW_OPS", value.c_str(), 1);
      continue;
    }
    if (reader.Option("--cluster", &cluster) || reader.Option("--job", &job) ||
        reader.Option("--task", &task) ||
        reader.Option("--threads", &threads)) {
      continue;
    }
    const std::string other = reader.Positional();
    if (reader.status().ok()) {
      return UsageError("server", StrCat("'", other, "' is too much"));
    }
  }
  if (!reader.status().ok()) {
    return UsageError("server", std::string(reader.status().message()));
  }
  if (cluster.empty() || job.empty()) {
    return UsageError("server", "--cluster and --job are needed");
  }
  pb::ServerDef def;
  def.set_protocol("grpc");
  def.set_job_name(job);
  int32_t n = 0;
  if (!absl::SimpleAtoi(task, &n)) {
    return UsageError("server",
                      StrCat("--task is '", task, "'; wanted a number"));
  }
  def.set_task_index(n);
  if (!threads.empty()) {
    if (!absl::SimpleAtoi(threads, &n)) {
      return UsageError(
          "server", StrCat("--threads is '", threads, "'; wanted a number"));
    }
    def.mutable_default_session_config()->set_intra_op_parallelism_threads(n);
  }
  Status s = ParseCluster(cluster, def.mutable_cluster());
  if (!s.ok()) return UsageError("server", std::string(s.message()));
  StatusOr<std::unique_ptr<Server>> server = NewServer(def);
  if (!server.ok()) return Fail(server.status());
  s = (*server)->Start();
  if (!s.ok()) return Fail(s);
  std::printf("%s\n", (*server)->target().c_str());
  std::fflush(stdout);
  s = (*server)->Join();
  return s.ok() ? 0 : Fail(s);
}

}  // namespace headrace::cli
