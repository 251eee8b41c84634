#include "py_server.h"

#include <nanobind/stl/string.h>

#include <memory>
#include <utility>

#include "gil.h"
#include "headrace/server.h"
#include "interrupt.h"
#include "message.h"
#include "py_support.h"

namespace headrace::python {
namespace {

class PyServer {
 public:
  explicit PyServer(nb::handle server_def) {
    const pb::ServerDef def =
        MessageAs<pb::ServerDef>(server_def, "server_def");
    std::unique_ptr<Server> server;
    Status s;
    {
      const GilRelease unlocked;
      s = MoveTo(NewServer(def), &server);
    }
    Check(s);
    server_ = std::move(server);
  }
  ~PyServer() {
    const GilRelease unlocked;
    server_.reset();
  }

  void Start() {
    Check(Unlocked([&] { return server_->Start(); }));
  }
  void Stop() {
    Check(Unlocked([&] { return server_->Stop(); }));
  }
  void Join() {
    const std::shared_ptr<Server> server = server_;
    Status s;
    InterruptScope interrupt(nullptr);
    {
      const GilRelease unlocked;
      s = server->Join(interrupt.hook(), interrupt.manager());
    }
    interrupt.Rethrow();
    if (PyErr_CheckSignals() != 0) throw nb::python_error();
    Check(s);
  }
  std::string target() const { return server_->target(); }
  nb::object server_def() const {
    pb::ServerDef* def = nullptr;
    nb::object made = NewMessage(&def);
    *def = server_->server_def();
    return made;
  }

 private:
  template <typename F>
  static Status Unlocked(F f) {
    const GilRelease unlocked;
    return f();
  }

  std::shared_ptr<Server> server_;
};

}  // namespace

void RegisterServer(nb::module_& m) {
  nb::class_<PyServer>(m, "Server")
      .def(nb::init<nb::handle>())
      .def("start", &PyServer::Start)
      .def("stop", &PyServer::Stop)
      .def("join", &PyServer::Join)
      .def_prop_ro("target", &PyServer::target)
      .def_prop_ro("server_def", &PyServer::server_def);
}

}  // namespace headrace::python
