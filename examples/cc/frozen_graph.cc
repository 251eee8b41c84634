// Runs a frozen graph: frozen_graph MODEL.pb (examples/models has one).
#include <cstdio>

#include "headrace/cc/client_session.h"
#include "headrace/cc/throwing.h"
#include "headrace/importer.h"

using namespace headrace;

int main(int argc, char** argv) try {
  if (argc != 2) return std::fprintf(stderr, "usage: frozen_graph MODEL\n"), 2;
  auto graph = std::make_shared<Graph>();
  OrThrow(ImportGraphDefFile({}, argv[1], graph.get()));
  const Scope root = Scope::OfGraph(graph);
  const Output in = root.FindOutput("input_1"),
               out = root.FindOutput("output_0");
  Tensor pixels(DT_FLOAT, TensorShape({1, 32, 32, 3}));
  for (float& v : pixels.flat<float>()) v = 128;
  std::vector<Tensor> results;
  OrThrow(ClientSession(root).Run({{in, pixels}}, {out}, &results));
  std::printf("%s\n", results[0].DebugString().c_str());
} catch (const StatusError& error) {
  return std::fprintf(stderr, "%s\n", error.what()), 1;
}
