// GraphDefs in and out: binary and text, with the checks of formats.md,
// section 3.
#ifndef HEADRACE_IMPORTER_H_
#define HEADRACE_IMPORTER_H_

#include <map>
#include <string>
#include <vector>

#include "headrace/graph.h"
#include "headrace/graph.pb.h"

namespace headrace {

struct GraphDefParts;  // graph/graph_def_reader.h

struct ImportOptions {
  std::string prefix;  // put before each name with "/"; "" for none
  bool uniquify_names = false;
  bool uniquify_prefix = false;
  // Inputs ("a:0", "^a") of the GraphDef taken from outputs of the graph
  // imported into; a control key maps to a control endpoint.
  std::vector<std::pair<std::string, Endpoint>> input_map;
  bool skip_mapped_nodes = false;
  std::vector<Node*> control_dependencies;  // of every imported root
  std::vector<std::string> return_tensors;  // "a:1"
  std::vector<std::string> return_nodes;
  std::string default_device;
  bool validate_shape = true;
  // What the graph's constants may take of memory; 0: what the machine has
  // free. A few values that stand for many take little: see
  // framework/tensor/splat_buffer.h.
  int64_t max_constant_bytes = 0;
  // The GraphDef goes on with the graph, as a session's does that is extended:
  // its inputs may name nodes that are there, its colocations any. What shape
  // inference refuses has no static shape; the kernels will tell.
  bool extends = false;
};

struct ImportResults {
  std::vector<Endpoint> return_tensors;
  std::vector<Node*> return_nodes;
  std::vector<std::string> missing_unused_input_map_keys;
  std::vector<Node*> nodes;  // all, in the GraphDef's order
};

// Adds every node or, on error, none. Unknown ops and attrs that do not fit are
// all listed in one message; a cycle names its nodes.
Status ImportGraphDef(const ImportOptions& options, const pb::GraphDef& def,
                      Graph* graph, ImportResults* results = nullptr);

// The same from bytes, binary or text, and from a file. Faster than by way of a
// message, and large constants take their own size in memory and no more:
// prefer these for models.
Status ImportGraphDefBytes(const ImportOptions& options,
                           absl::string_view bytes, Graph* graph,
                           ImportResults* results = nullptr);
// The largest constants become views of `bytes`, which they keep alive.
Status ImportGraphDefBytes(const ImportOptions& options,
                           const RefPtr<TensorBuffer>& bytes, Graph* graph,
                           ImportResults* results = nullptr);
// What ReadGraphDefParts made.
Status ImportGraphDefParts(const ImportOptions& options, GraphDefParts parts,
                           Graph* graph, ImportResults* results = nullptr);
// The file is mapped, and large constants stay in it until something is made of
// them: while the graph or a session of it lives it must not be cut or written
// over in place (another may be renamed over it).
Status ImportGraphDefFile(const ImportOptions& options, const std::string& path,
                          Graph* graph, ImportResults* results = nullptr);

// Parses binary or, when that fails and it looks like text, text format;
// InvalidArgument with line and column for bad text, with what was wrong for
// truncated binary.
Status ParseGraphDef(absl::string_view bytes, pb::GraphDef* def);
// True if the bytes look like text format.
bool IsGraphDefText(absl::string_view bytes);
// From a file, ".pb" or ".pbtxt", whatever the name.
Status ReadGraphDef(const std::string& path, pb::GraphDef* def);

// A placed node's device is where it was placed, otherwise what was asked for.
void GraphToGraphDef(const Graph& graph, pb::GraphDef* def);

}  // namespace headrace

#endif  // HEADRACE_IMPORTER_H_
