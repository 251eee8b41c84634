// GraphDefs from bytes and files, and graphs as GraphDefs.
#include <google/protobuf/io/coded_stream.h>
#include <google/protobuf/stubs/logging.h>

#include <algorithm>
#include <limits>

#include "absl/strings/ascii.h"
#include "absl/strings/match.h"
#include "base/env.h"
#include "base/require_memory.h"
#include "framework/op/message_util.h"
#include "framework/op/tensor_proto.h"
#include "graph/function_library.h"
#include "graph/graph_def_reader.h"
#include "headrace/importer.h"

namespace headrace {
namespace {

// A message nested deeper than this is no graph, and parsing it recurses.
constexpr int kMaxNesting = 100;

bool IsTextByte(unsigned char c) {
  return c >= 0x20 || c == '\t' || c == '\n' || c == '\r';
}

Status ParseText(absl::string_view bytes, pb::GraphDef* def) {
  const Status s = MessageFromText(bytes, def);
  return s.ok()
             ? s
             : Status(s.code(), StrCat("Invalid GraphDef text: ", s.message()));
}

}  // namespace

// Text begins with a comment or with the name of a field; a binary GraphDef
// with the byte 0x0a (a node) or that of another field, which no letter is.
bool IsGraphDefText(absl::string_view bytes) {
  const absl::string_view head = bytes.substr(0, 4096);
  if (!std::all_of(head.begin(), head.end(), IsTextByte)) return false;
  const absl::string_view start = absl::StripLeadingAsciiWhitespace(head);
  if (start.empty()) return !head.empty();
  if (start[0] == '#') return true;
  for (const char* field : {"node", "version", "library", "debug_info"}) {
    if (absl::StartsWith(start, field)) return true;
  }
  return false;
}

Status ParseGraphDef(absl::string_view bytes, pb::GraphDef* def) {
  HR_RETURN_IF_ERROR(RequireMemoryReserve());
  // Errors go to the Status, not to stderr.
  const google::protobuf::LogSilencer silencer;
  def->Clear();
  if (bytes.size() > std::numeric_limits<int32_t>::max()) {
    return errors::InvalidArgument("Invalid GraphDef: ", bytes.size(),
                                   " bytes, more than the 2147483647 that a "
                                   "message can have");
  }
  if (IsGraphDefText(bytes)) return ParseText(bytes, def);
  google::protobuf::io::CodedInputStream in(
      reinterpret_cast<const uint8_t*>(bytes.data()),
      static_cast<int>(bytes.size()));
  in.SetRecursionLimit(kMaxNesting);
  if (def->ParseFromCodedStream(&in) && in.ConsumedEntireMessage()) {
    return OkStatus();
  }
  def->Clear();
  return errors::InvalidArgument("Invalid GraphDef of ", bytes.size(),
                                 " bytes: ", DescribeBrokenGraphDef(bytes));
}

Status ReadGraphDef(const std::string& path, pb::GraphDef* def) {
  HR_ASSIGN_OR_RETURN(const RefPtr<MappedFile> file,
                      Env::Default()->MapFile(path));
  const std::string_view bytes = file->view();
  return Annotate(ParseGraphDef(ToAbsl(bytes), def),
                  StrCat(" (file ", path, ")"));
}

void GraphToGraphDef(const Graph& graph, pb::GraphDef* def) {
  def->Clear();
  def->mutable_node()->Reserve(graph.num_nodes());
  graph.ForEachNode([def](Node* n) {
    pb::NodeDef* const proto = def->add_node();
    NodeDefToProto(n->def(), proto);
    if (!n->assigned_device().empty()) {
      proto->set_device(n->assigned_device());
    }
    proto->clear_input();
    for (const Edge* e : n->data_inputs()) {
      std::string* const input = proto->add_input();
      if (e == nullptr) continue;
      *input = e->src_output() == 0
                   ? e->src()->name()
                   : StrCat(e->src()->name(), ":", e->src_output());
    }
    for (const Edge* e : n->control_inputs()) {
      *proto->add_input() = StrCat("^", e->src()->name());
    }
  });
  const GraphVersions& v = graph.versions();
  def->mutable_versions()->set_producer(v.producer);
  def->mutable_versions()->set_min_consumer(v.min_consumer);
  for (int bad : v.bad_consumers) {
    def->mutable_versions()->add_bad_consumers(bad);
  }
  if (graph.functions() != nullptr) {
    graph.functions()->ToProto(def->mutable_library());
  }
}

}  // namespace headrace
