// Reads GraphDefs, binary and text, into a Graph, and writes them.
//
// Functions that take a Graph change it: the caller holds Graph::mu() if the
// graph is shared. The others are thread-safe.
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
  std::string prefix;  // put before each name, with "/" between; "": none
  bool uniquify_names = false;
  bool uniquify_prefix = false;
  // Replaces inputs of the GraphDef ("a:0", "^a") by outputs of the target
  // graph. A control key must map to a control endpoint.
  std::vector<std::pair<std::string, Endpoint>> input_map;
  bool skip_mapped_nodes = false;
  std::vector<Node*>
      control_dependencies;  // added to every imported node without inputs
  std::vector<std::string> return_tensors;  // "a:1"
  std::vector<std::string> return_nodes;
  std::string default_device;
  bool validate_shape = true;
  // Colocations must name nodes of the GraphDef; otherwise they may name any.
  bool validate_colocation = true;
  // The limit for the memory of the graph's constants, in bytes. 0: what the
  // machine has free. A constant that repeats one value takes little memory
  // (framework/tensor/splat_buffer.h).
  int64_t max_constant_bytes = 0;
  // The GraphDef extends the graph, as TF_ExtendGraph does. Its inputs may name
  // nodes of the target graph, and its colocations any node. A node for which
  // shape inference fails gets unknown shapes; its kernel reports the error
  // when it runs.
  bool extends = false;
};

struct ImportResults {
  std::vector<Endpoint> return_tensors;
  std::vector<Node*> return_nodes;
  std::vector<std::string> missing_unused_input_map_keys;
  std::vector<Node*> nodes;  // all, in the GraphDef's order
};

// Adds all nodes, or none on error. One message lists all unknown ops and all
// attrs that do not fit. The message for a cycle names its nodes.
Status ImportGraphDef(const ImportOptions& options, const pb::GraphDef& def,
                      Graph* graph, ImportResults* results = nullptr);

// The same from bytes, binary or text. This is faster than parsing a message
// first, and a large constant takes memory once. Prefer the Bytes and File
// forms for models.
Status ImportGraphDefBytes(const ImportOptions& options,
                           absl::string_view bytes, Graph* graph,
                           ImportResults* results = nullptr);
// The largest constants become views of `bytes`; the views keep `bytes` alive.
Status ImportGraphDefBytes(const ImportOptions& options,
                           const RefPtr<TensorBuffer>& bytes, Graph* graph,
                           ImportResults* results = nullptr);
// Imports the result of ReadGraphDefParts.
Status ImportGraphDefParts(const ImportOptions& options, GraphDefParts parts,
                           Graph* graph, ImportResults* results = nullptr);
// Maps the file. Large constants stay in the mapping until a pass or kernel
// makes another form of them. As long as the graph or one of its sessions
// lives, the file must not be truncated or written in place. Renaming another
// file over it is fine.
Status ImportGraphDefFile(const ImportOptions& options, const std::string& path,
                          Graph* graph, ImportResults* results = nullptr);

// Parses the binary format. If that fails and the bytes look like text, parses
// the text format. InvalidArgument: with line and column for bad text, with the
// cause for truncated binary.
Status ParseGraphDef(absl::string_view bytes, pb::GraphDef* def);
// True if the bytes look like text format.
bool IsGraphDefText(absl::string_view bytes);
// Reads a file, binary or text. The extension does not matter.
Status ReadGraphDef(const std::string& path, pb::GraphDef* def);

// The device of a node is its assigned device, or the requested one if it has
// none.
void GraphToGraphDef(const Graph& graph, pb::GraphDef* def);

}  // namespace headrace

#endif  // HEADRACE_IMPORTER_H_
