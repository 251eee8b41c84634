// What tests of servers share.
#ifndef HEADRACE_DISTRIBUTED_SERVER_TEST_UTIL_H_
#define HEADRACE_DISTRIBUTED_SERVER_TEST_UTIL_H_

#include <cstdlib>
#include <string>

#include "headrace/server.pb.h"

namespace headrace {

// A variable of the environment, while this lives.
class Variable {
 public:
  Variable(const char* name, const std::string& value) : name_(name) {
    setenv(name, value.c_str(), 1);
  }
  ~Variable() { unsetenv(name_); }
  Variable(const Variable&) = delete;
  Variable& operator=(const Variable&) = delete;

 private:
  const char* const name_;
};

// The one task of the job "local", at a free port.
inline pb::ServerDef LocalServer() {
  pb::ServerDef def;
  def.set_protocol("grpc");
  def.set_job_name("local");
  pb::JobDef* const job = def.mutable_cluster()->add_job();
  job->set_name("local");
  (*job->mutable_tasks())[0] = "localhost:0";
  return def;
}

}  // namespace headrace

#endif  // HEADRACE_DISTRIBUTED_SERVER_TEST_UTIL_H_
