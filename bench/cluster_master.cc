// The master's work for a large cluster, without its network: a graph of many
// nodes over many tasks is imported, pruned, placed, split by task, and each
// part written as the message that registers it. Prints seconds and MB of each
// phase.
//
//   bench/cluster_master [tasks] [nodes]
//
// Every tenth task holds parameters. Each other task reads some of them,
// computes with a chain of nodes, and adds its result to the parameters.
#include <sys/resource.h>
#include <unistd.h>

#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <ctime>
#include <fstream>
#include <map>
#include <string>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "distributed/remote_device.h"
#include "graph/client_graph.h"
#include "graph/partition.h"
#include "headrace/graph.h"
#include "headrace/importer.h"
#include "headrace/strings.h"
#include "headrace/worker.pb.h"
#include "runtime/placer.h"

namespace headrace {
namespace {

std::string Task(int i) {
  return StrCat(
      i % 10 == 0 ? "/job:ps/replica:0/task:" : "/job:worker/replica:0/task:",
      i % 10 == 0 ? i / 10 : i - i / 10 - 1);
}

// A node in text is not needed: messages are what a master gets.
pb::NodeDef* AddNode(const std::string& name, const char* op,
                     const std::string& task, pb::GraphDef* def) {
  pb::NodeDef* const n = def->add_node();
  n->set_name(name);
  n->set_op(op);
  n->set_device(StrCat(task, "/device:CPU:0"));
  (*n->mutable_attr())["T"].set_type(pb::DT_FLOAT);
  return n;
}

pb::GraphDef MakeGraph(int tasks, int nodes) {
  pb::GraphDef def;
  def.mutable_versions()->set_producer(134);
  std::vector<std::string> parameters;
  for (int t = 0; t < tasks; t += 10) {
    const std::string v = StrCat("ps", t);
    pb::NodeDef* const n = AddNode(v, "Placeholder", Task(t), &def);
    n->mutable_attr()->erase("T");
    (*n->mutable_attr())["dtype"].set_type(pb::DT_FLOAT);
    AddNode(v + "/read", "Identity", Task(t), &def)->add_input(v);
    parameters.push_back(v + "/read");
  }
  const int workers = tasks - static_cast<int>(parameters.size());
  if (workers < 1) return def;
  const int chain = std::max(1, (nodes - def.node_size()) / workers);
  for (int t = 0, w = 0; t < tasks; ++t) {
    if (t % 10 == 0) continue;
    std::string last = parameters[static_cast<size_t>(w) % parameters.size()];
    for (int i = 0; i < chain; ++i) {
      const std::string name = StrCat("w", w, "/n", i);
      pb::NodeDef* const n = AddNode(name, "AddV2", Task(t), &def);
      n->add_input(last);
      // Now and then another parameter server.
      n->add_input(
          i % 100 == 1
              ? parameters[static_cast<size_t>(w + i) % parameters.size()]
              : last);
      last = name;
    }
    ++w;
    AddNode(StrCat("push", t), "Identity", Task(t - t % 10), &def)
        ->add_input(last);
  }
  return def;
}

double ResidentMb() {
  std::ifstream in("/proc/self/statm");
  double pages = 0, resident = 0;
  in >> pages >> resident;
  return resident * static_cast<double>(sysconf(_SC_PAGESIZE)) / 1e6;
}

class Phase {
 public:
  explicit Phase(const char* name) : name_(name) {}
  ~Phase() {
    const std::chrono::duration<double> took =
        std::chrono::steady_clock::now() - begin_;
    const double cpu =
        static_cast<double>(std::clock() - cpu_begin_) / CLOCKS_PER_SEC;
    std::printf("%-12s %8.3f s  %8.3f s of CPU  %8.1f MB resident\n", name_,
                took.count(), cpu, ResidentMb());
    std::fflush(stdout);
  }

 private:
  const char* const name_;
  const std::chrono::steady_clock::time_point begin_ =
      std::chrono::steady_clock::now();
  const std::clock_t cpu_begin_ = std::clock();
};

Status Run(int tasks, int nodes) {
  std::vector<std::unique_ptr<Device>> owned;
  std::vector<Device*> devices;
  for (int t = 0; t < tasks; ++t) {
    pb::DeviceAttributes a;
    a.set_name(StrCat(Task(t), "/device:CPU:0"));
    a.set_device_type("CPU");
    a.set_incarnation(static_cast<uint64_t>(t) + 1);
    owned.push_back(std::make_unique<RemoteDevice>(a));
    devices.push_back(owned.back().get());
  }
  pb::GraphDef def;
  {
    const Phase phase("(make)");
    def = MakeGraph(tasks, nodes);
  }
  Graph graph;
  {
    const Phase phase("import");
    HR_RETURN_IF_ERROR(ImportGraphDef(ImportOptions(), def, &graph));
  }
  def.Clear();
  std::unique_ptr<Graph> client;
  {
    const Phase phase("prune");
    std::vector<Node*> targets;
    graph.ForEachNode([&](Node* n) {
      if (n->out_edges().empty()) targets.push_back(n);
    });
    std::vector<Endpoint> feeds;
    graph.ForEachNode([&](Node* n) {
      if (n->type_string() == "Placeholder") feeds.push_back({n, 0});
    });
    HR_ASSIGN_OR_RETURN(client, BuildClientGraph(graph, feeds, {}, targets,
                                                 devices[0]->name()));
  }
  StatePlaces places;
  {
    const Phase phase("place what has state");
    HR_RETURN_IF_ERROR(places.Extend(PlacerOptions(), devices, graph));
  }
  {
    const Phase phase("place");
    HR_RETURN_IF_ERROR(
        PlaceGraph(PlacerOptions(), devices, places, client.get()));
  }
  std::map<std::string, std::unique_ptr<Graph>> parts;
  {
    const Phase phase("split");
    absl::flat_hash_map<std::string, uint64_t> incarnations;
    for (const Device* d : devices) {
      incarnations[d->name()] = d->attributes().incarnation;
    }
    PartitionOptions options;
    options.incarnation = [&](const std::string& name) {
      const auto it = incarnations.find(name);
      return it == incarnations.end() ? 0 : it->second;
    };
    options.part_of = [](const std::string& device) {
      return device.substr(0, device.find("/device:"));
    };
    HR_RETURN_IF_ERROR(PartitionGraph(options, std::move(client), &parts));
  }
  {
    const Phase phase("register");
    size_t bytes = 0, largest = 0;
    for (auto& [task, part] : parts) {
      pb::RegisterGraphRequest request;
      GraphToGraphDef(*part, request.mutable_graph_def());
      const size_t size = request.SerializeAsString().size();
      bytes += size;
      largest = std::max(largest, size);
      part.reset();
    }
    std::printf("%zu parts, %.1f MB of messages, the largest %.3f MB\n",
                parts.size(), static_cast<double>(bytes) / 1e6,
                static_cast<double>(largest) / 1e6);
  }
  rusage usage = {};
  getrusage(RUSAGE_SELF, &usage);
  std::printf("peak %.1f MB\n", static_cast<double>(usage.ru_maxrss) / 1e3);
  return OkStatus();
}

}  // namespace
}  // namespace headrace

int main(int argc, char** argv) {
  const int tasks = argc > 1 ? std::atoi(argv[1]) : 1000;
  const int nodes = argc > 2 ? std::atoi(argv[2]) : 1000000;
  const headrace::Status s = headrace::Run(tasks, nodes);
  if (!s.ok()) std::fprintf(stderr, "%s\n", s.ToString().c_str());
  return s.ok() ? 0 : 1;
}
