#include "session/step_compiler.h"

#include <map>
#include <utility>

#include "absl/strings/str_cat.h"
#include "graph/client_graph.h"
#include "graph/partition.h"
#include "runtime/memory_types.h"
#include "runtime/passes/graph_pass.h"
#include "session/partial_run.h"
#include "session/session_handles.h"

namespace headrace {
namespace {

bool MakesStrings(const Graph& graph) {
  bool makes = false;
  graph.ForEachNode([&](const Node* n) {
    for (DataType t : n->output_types()) makes |= BaseType(t) == DT_STRING;
  });
  return makes;
}

// Finds out about a step whose parts are complete what its runs ask.
void Describe(CompiledStep* step) {
  for (const CompiledStep::Part& part : step->parts) {
    step->needs_rendezvous |= part.executor->needs_rendezvous();
    step->may_run_long |= part.executor->may_run_long();
    step->has_strings |= MakesStrings(*part.graph);
  }
  step->may_have_arena = step->parts.size() == 1 &&
                         step->parts[0].device->device_type() == DEVICE_CPU &&
                         MayHaveArena(*step->parts[0].graph);
}

}  // namespace

StepCompiler::StepCompiler(const Session* session,
                           const SessionOptions* options,
                           std::vector<Device*> devices,
                           std::shared_ptr<const void> resources,
                           SessionFunctions* functions)
    : session_(session),
      options_(options),
      devices_(std::move(devices)),
      resources_(std::move(resources)),
      functions_(functions) {}

Status StepCompiler::Compile(const Request& request,
                             std::shared_ptr<const CompiledStep>* out) {
  if (request.fetches.empty() && request.targets.empty()) {
    return errors::InvalidArgument(
        "Must specify at least one target to fetch or execute.");
  }
  auto step = std::make_shared<CompiledStep>();
  step->resources = resources_;
  step->session = session_;
  step->feed_endpoints.assign(request.feeds.begin(), request.feeds.end());
  step->fetch_endpoints.assign(request.fetches.begin(), request.fetches.end());
  step->targets.assign(request.targets.begin(), request.targets.end());
  GraphPassContext context;
  context.devices.assign(devices_.begin(), devices_.end());
  std::unique_ptr<Graph> client;
  HR_RETURN_IF_ERROR(BuildClient(request, step.get(), &context, &client));
  if (request.shapes == FedShapes::kAny) {
    HR_RETURN_IF_ERROR(ForgetFedShapes(client.get()));
  }
  if (request.partial) {
    HR_RETURN_IF_ERROR(PartialRun::Adapt(client.get(), step.get()));
  }
  HR_RETURN_IF_ERROR(RunGraphPasses(context, options_->disabled_passes,
                                    client.get(), &step->passes));
  {
    MutexLock lock(&places_mu_);
    HR_RETURN_IF_ERROR(
        PlaceGraph(placer_options(), devices_, places_, client.get()));
  }
  HR_RETURN_IF_ERROR(BuildParts(std::move(client), step.get()));
  Describe(step.get());
  *out = std::move(step);
  return OkStatus();
}

// Copies what the step needs, under the lock of the client's graph.
Status StepCompiler::BuildClient(const Request& request, CompiledStep* step,
                                 GraphPassContext* context,
                                 std::unique_ptr<Graph>* client) {
  const Graph& graph = *session_->graph();
  ReaderMutexLock lock(&graph.mu());
  for (const Endpoint& f : request.feeds) {
    step->feeds.push_back({EndpointName(f),
                           BaseType(f.node->output_type(f.index)),
                           request.shapes == FedShapes::kStatic
                               ? f.node->output_shape(f.index)
                               : PartialTensorShape::UnknownRank()});
  }
  for (const Endpoint& f : request.fetches) {
    if (IsSessionHandle(f)) {
      step->handle_fetches.push_back(static_cast<int>(step->fetches.size()));
    }
    step->fetches.push_back(EndpointName(f));
  }
  for (const Node* t : request.targets) context->targets.insert(t->name());
  HR_ASSIGN_OR_RETURN(
      *client, BuildClientGraph(graph, request.feeds, request.fetches,
                                request.targets, devices_.front()->name()));
  functions_->SetLibrary(graph);
  MutexLock places_lock(&places_mu_);
  return places_.Extend(placer_options(), devices_, graph);
}

PlacerOptions StepCompiler::placer_options() const {
  return {.allow_soft_placement = options_->allow_soft_placement,
          .log_placement = options_->log_device_placement};
}

Status StepCompiler::BuildParts(std::unique_ptr<Graph> client,
                                CompiledStep* step) {
  PartitionOptions partition;
  partition.incarnation = [this](const std::string& name) {
    const Device* d = FindDevice(name);
    return d == nullptr ? 0 : d->attributes().incarnation;
  };
  partition.memory_of = MemoryOfNodes(devices_);
  bool control_flow = false;
  client->ForEachNode(
      [&](const Node* n) { control_flow |= n->IsControlFlow(); });
  std::map<std::string, std::unique_ptr<Graph>> graphs;
  HR_RETURN_IF_ERROR(PartitionGraph(partition, std::move(client), &graphs));
  for (auto& [name, graph] : graphs) {
    CompiledStep::Part part;
    part.device = FindDevice(name);
    if (part.device == nullptr) {
      return errors::Internal("a partition is for unknown device ", name);
    }
    HR_RETURN_IF_ERROR(Executor::Create(
        part.device, *graph,
        {.control_flow = control_flow, .args_are_kept = true},
        [&](const Node& n, std::shared_ptr<OpKernel>* kernel) {
          return kernels_.FindOrCreate(part.device, n, kernel);
        },
        &part.executor));
    part.graph = std::move(graph);
    step->parts.push_back(std::move(part));
  }
  return OkStatus();
}

Device* StepCompiler::FindDevice(const std::string& name) const {
  for (Device* d : devices_) {
    if (d->name() == name) return d;
  }
  return nullptr;
}

}  // namespace headrace
