// The transport "mpi": this task's end of the process's MpiEngine.
#include <memory>
#include <utility>

#include "framework/kernel/collective_transport.h"
#include "mpi/mpi_engine.h"

namespace headrace {
namespace {

class MpiTransport : public CollectiveTransport {
 public:
  explicit MpiTransport(MpiEngine* engine) : engine_(engine) {}
  ~MpiTransport() override { engine_->Detach(); }

  bool Reaches(const std::string& task) const override {
    return engine_->Reaches(task);
  }
  void Recv(const std::string& task, int64_t step_id, const std::string& key,
            void* to, size_t size, CancellationManager* cancellation,
            DoneCallback done) override {
    engine_->Recv(task, step_id, key, to, size, cancellation, std::move(done));
  }
  void Expect() override { engine_->Expect(); }

 private:
  MpiEngine* const engine_;
};

StatusOr<std::unique_ptr<CollectiveTransport>> NewMpiTransport(
    const std::string& task, CollectiveTransport::Serve serve) {
  HR_ASSIGN_OR_RETURN(MpiEngine * engine, MpiEngine::Start(task));
  HR_RETURN_IF_ERROR(engine->Attach(std::move(serve)));
  return std::unique_ptr<CollectiveTransport>(new MpiTransport(engine));
}

[[maybe_unused]] const bool registered = [] {
  RegisterCollectiveTransport("mpi", NewMpiTransport);
  return true;
}();

}  // namespace
}  // namespace headrace
