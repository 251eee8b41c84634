// Imports a GraphDef in stages: create unconnected nodes in the GraphDef's
// order, connect them, order them, infer their shapes. On any error all new
// nodes are removed again. Each stage collects all its problems, so that one
// attempt reports everything that is wrong with the nodes.
#include "headrace/importer.h"

#include <algorithm>

#include "absl/container/flat_hash_set.h"
#include "absl/strings/match.h"
#include "absl/strings/strip.h"
#include "base/env.h"
#include "base/exceptions.h"
#include "base/log.h"
#include "base/require_memory.h"
#include "framework/tensor/mapped_buffer.h"
#include "graph/algorithm.h"
#include "graph/function_library.h"
#include "graph/graph_def_reader.h"

namespace headrace {
namespace {

// From this producer version on, a Placeholder's shape is binding. Before, []
// meant an unknown shape.
constexpr int kPlaceholderShapeProducer = 22;
// From this one on _output_shapes that contradict shape inference are an error.
constexpr int kOutputShapesProducer = 21;

constexpr char kColocationPrefix[] = "loc:@";

// Collects the problems of nodes in one message.
class Problems {
 public:
  void Add(const Status& s) {
    if (code_ == absl::StatusCode::kOk) code_ = s.code();
    ++count_;
    if (count_ <= kShown) {
      StrAppend(&text_, text_.empty() ? "" : "\n", s.message());
    }
  }
  // Unknown ops decide the code: the graph needs another library.
  void AddUnknownOp(const std::string& op, const Status& s) {
    if (!unknown_ops_.insert(op).second) return;
    code_ = absl::StatusCode::kOk;
    Add(s);
  }
  Status status() const {
    if (count_ == 0) return OkStatus();
    return Status(
        count_ > 0 && !unknown_ops_.empty() ? absl::StatusCode::kNotFound
                                            : code_,
        count_ > kShown ? StrCat(text_, "\n... and ", count_ - kShown, " more")
                        : text_);
  }

 private:
  static constexpr int kShown = 50;
  absl::StatusCode code_ = absl::StatusCode::kOk;
  absl::flat_hash_set<std::string> unknown_ops_;
  std::string text_;
  int count_ = 0;
};

Status CheckVersions(const pb::VersionDef& v) {
  const std::string current =
      StrCat(kGraphDefProducer, " for TensorFlow ", kTensorFlowVersion);
  if (v.producer() < kGraphDefMinProducer) {
    return errors::InvalidArgument(
        "GraphDef producer version ", v.producer(), " below min producer ",
        kGraphDefMinProducer, " supported by TensorFlow ", kTensorFlowVersion,
        ".  Please regenerate your graph.");
  }
  if (v.min_consumer() > kGraphDefProducer) {
    return errors::InvalidArgument("GraphDef min consumer version ",
                                   v.min_consumer(), " above current version ",
                                   current, ".  Please upgrade TensorFlow.");
  }
  for (int bad : v.bad_consumers()) {
    if (bad == kGraphDefProducer) {
      return errors::InvalidArgument(
          "GraphDef disallows consumer version ", kGraphDefProducer,
          ".  Please upgrade TensorFlow: this version is likely buggy.");
    }
  }
  return OkStatus();
}

class Importer {
 public:
  Importer(const ImportOptions& options, GraphDefParts parts, Graph* graph,
           ImportResults* results)
      : options_(options),
        versions_(parts.rest.versions()),
        library_(parts.rest.library()),
        graph_(graph),
        results_(results) {
    items_.resize(parts.nodes.size());
    for (size_t i = 0; i < items_.size(); ++i) {
      items_[i].def = std::move(parts.nodes[i].def);
      items_[i].status = std::move(parts.nodes[i].status);
      items_[i].key = std::move(items_[i].def.name);
      items_[i].inputs = std::move(items_[i].def.inputs);
    }
  }

  Status Run() {
    HR_RETURN_IF_ERROR(RequireMemoryReserve());
    const GraphVersions versions = graph_->versions();
    const std::shared_ptr<FunctionLibrary> functions =
        graph_->shared_functions();
    Status s = CatchExceptions([this] { return DoRun(); });
    if (!s.ok()) {
      for (auto it = made_.rbegin(); it != made_.rend(); ++it) {
        graph_->RemoveNode(*it);
      }
      if (graph_->functions() != nullptr) {
        graph_->functions()->Remove(added_functions_);
      }
      graph_->set_functions(functions);
      graph_->versions() = versions;
    }
    return s;
  }

 private:
  // A node of the GraphDef.
  struct Item {
    std::string key;  // its name in the GraphDef
    std::vector<std::string> inputs;
    NodeDef def;           // moved from when the node is made
    Status status;         // of the def
    std::string name;      // in the graph
    Node* node = nullptr;  // null if it was left out
    std::vector<PartialTensorShape> asserted_shapes;
    bool asserts_shapes = false;
  };
  using MapKey = std::pair<absl::string_view, int>;

  Status DoRun();
  Status CheckOptions();
  void MergeVersions();
  Status ChooseNames();
  Status AddNodes();
  Status PrepareDef(Item* item);
  Status RewriteColocation(NodeDef* node);
  bool IsFullyMapped(const Item& item) const;
  Status Connect();
  Status ConnectNode(const Item& item);
  Status ResolveControl(absl::string_view name, Node** out, bool* is_ours);
  Status InferAllShapes();
  Status CheckAssertedShapes(const Item& item);
  Status FillResults();

  const Endpoint* FindMapped(absl::string_view name, int index) {
    if (input_map_.empty()) return nullptr;
    const auto it = input_map_.find(MapKey(name, index));
    if (it == input_map_.end()) return nullptr;
    it->second.used = true;
    return &it->second.to;
  }
  // A node that was there before, if the GraphDef may name it.
  Node* FindOld(absl::string_view name) const {
    return options_.extends ? graph_->FindNode(name) : nullptr;
  }
  Item* FindItem(absl::string_view name) {
    const auto it = index_.find(name);
    return it == index_.end() ? nullptr : &items_[it->second];
  }

  const ImportOptions& options_;
  const pb::VersionDef versions_;
  const pb::FunctionDefLibrary library_;
  Graph* const graph_;
  ImportResults* const results_;

  std::string prefix_;  // with the "/", or empty
  struct Mapped {
    Endpoint to;
    bool used = false;
  };
  absl::flat_hash_map<MapKey, Mapped> input_map_;
  std::vector<Item> items_;  // in the GraphDef's order
  absl::flat_hash_map<absl::string_view, int> index_;
  std::vector<Node*> made_;
  std::vector<std::string> added_functions_;
};

Status Importer::DoRun() {
  HR_RETURN_IF_ERROR(CheckVersions(versions_));
  HR_RETURN_IF_ERROR(CheckOptions());
  HR_RETURN_IF_ERROR(ChooseNames());
  MergeVersions();
  if (library_.function_size() > 0 || library_.gradient_size() > 0) {
    if (graph_->functions() == nullptr) {
      graph_->set_functions(std::make_shared<FunctionLibrary>());
    }
    HR_RETURN_IF_ERROR(
        graph_->functions()->AddLibrary(library_, &added_functions_));
  }
  HR_RETURN_IF_ERROR(AddNodes());
  HR_RETURN_IF_ERROR(Connect());
  HR_RETURN_IF_ERROR(InferAllShapes());
  return FillResults();
}

Status Importer::CheckOptions() {
  for (const auto& [key, to] : options_.input_map) {
    absl::string_view name;
    int index;
    HR_RETURN_IF_ERROR(ParseEndpointName(key, &name, &index));
    if (to.node == nullptr ||
        (to.index != kControlSlot &&
         (to.index < 0 || to.index >= to.node->num_outputs())) ||
        (index == kControlSlot) != (to.index == kControlSlot)) {
      return errors::InvalidArgument(
          "input_map entry ", key, " -> ",
          to.node == nullptr ? "no node" : EndpointName(to),
          " does not name an output of the graph of the same kind");
    }
    input_map_[MapKey(name, index)] = {to, false};
  }
  if (options_.skip_mapped_nodes && !options_.return_nodes.empty()) {
    return errors::InvalidArgument(
        "Requesting return_nodes with skip_mapped_nodes set is not currently "
        "supported");
  }
  for (Node* n : options_.control_dependencies) {
    if (n == nullptr) {
      return errors::InvalidArgument("a control dependency is no node");
    }
  }
  if (options_.prefix.empty()) return OkStatus();
  const absl::string_view prefix = absl::StripSuffix(options_.prefix, "/");
  if (!IsValidNodeName(prefix)) {
    return errors::InvalidArgument("Imported node name prefix '",
                                   options_.prefix,
                                   "' would lead to invalid node names");
  }
  prefix_ = std::string(prefix);
  if (options_.uniquify_prefix) {
    // Taken if a node has this name or stands below it.
    const auto taken = [this](const std::string& p) {
      if (graph_->FindNode(p) != nullptr) return true;
      const std::string below = p + "/";
      bool found = false;
      graph_->ForEachNode([&](Node* n) {
        found = found || absl::StartsWith(n->name(), below);
      });
      return found;
    };
    for (int i = 1; taken(prefix_); ++i) prefix_ = StrCat(prefix, "_", i);
  }
  prefix_ += "/";
  return OkStatus();
}

void Importer::MergeVersions() {
  GraphVersions& v = graph_->versions();
  v.producer = std::min(v.producer, versions_.producer());
  v.min_consumer = std::max(v.min_consumer, versions_.min_consumer());
  for (int bad : versions_.bad_consumers()) {
    const auto at =
        std::lower_bound(v.bad_consumers.begin(), v.bad_consumers.end(), bad);
    if (at == v.bad_consumers.end() || *at != bad) {
      v.bad_consumers.insert(at, bad);
    }
  }
}

Status Importer::ChooseNames() {
  Problems problems;
  index_.reserve(items_.size());
  absl::flat_hash_set<absl::string_view> wanted;
  for (size_t i = 0; i < items_.size(); ++i) {
    const std::string& name = items_[i].key;
    if (!IsValidNodeName(name)) {
      problems.Add(errors::InvalidArgument(
          "Node '", name, "': Node name contains invalid characters"));
    } else if (!index_.emplace(name, static_cast<int>(i)).second) {
      problems.Add(errors::InvalidArgument("Node '", name, "' is not unique"));
    } else if (FindOld(name) != nullptr) {
      problems.Add(errors::InvalidArgument(
          "GraphDef argument to Extend includes node '", name,
          "', which was created by a previous call to Create or Extend in this "
          "session."));
    }
    items_[i].name = prefix_.empty() ? name : StrCat(prefix_, name);
  }
  HR_RETURN_IF_ERROR(problems.status());
  if (!options_.uniquify_names) return OkStatus();
  for (const Item& item : items_) wanted.insert(item.name);
  absl::flat_hash_set<std::string> taken;
  for (Item& item : items_) {
    if (graph_->FindNode(item.name) == nullptr) continue;
    std::string unique;
    for (int i = 1;; ++i) {
      unique = StrCat(item.name, "_", i);
      if (graph_->FindNode(unique) == nullptr && !wanted.contains(unique) &&
          !taken.contains(unique)) {
        break;
      }
    }
    taken.insert(unique);
    // `wanted` views the old name, which the graph has.
    wanted.erase(item.name);
    item.name = std::move(unique);
  }
  return OkStatus();
}

Status Importer::AddNodes() {
  Problems problems;
  made_.reserve(items_.size());
  for (Item& item : items_) {
    if (Status s = PrepareDef(&item); !s.ok()) {
      problems.Add(s);
      continue;
    }
    const std::string op = item.def.op;
    StatusOr<Node*> n = graph_->AddUnconnectedNode(std::move(item.def));
    if (!n.ok()) {
      if (errors::IsNotFound(n.status())) {
        problems.AddUnknownOp(op, n.status());
      } else {
        problems.Add(n.status());
      }
      continue;
    }
    item.node = *n;
    made_.push_back(*n);
  }
  HR_RETURN_IF_ERROR(problems.status());
  if (!options_.skip_mapped_nodes) return OkStatus();
  made_.clear();
  for (Item& item : items_) {
    if (IsFullyMapped(item)) {
      graph_->RemoveNode(item.node);
      item.node = nullptr;
    } else {
      made_.push_back(item.node);
    }
  }
  return OkStatus();
}

Status Importer::PrepareDef(Item* item) {
  HR_RETURN_IF_ERROR(item->status);
  NodeDef* const out = &item->def;
  if (out->op.empty()) {
    return errors::InvalidArgument("Node '", item->key,
                                   "' does not specify an operation");
  }
  out->name = item->name;
  if (out->device.empty()) out->device = options_.default_device;
  if (const AttrValue* v = out->attrs.Find("_output_shapes")) {
    if (const auto* shapes = v->GetList<PartialTensorShape>()) {
      item->asserted_shapes = *shapes;
      item->asserts_shapes = true;
    } else {
      return errors::InvalidArgument("Node '", item->key,
                                     "' has an _output_shapes attribute of "
                                     "type ",
                                     v->TypeName(), ", wanted list(shape)");
    }
    out->attrs.Erase("_output_shapes");
  }
  if (versions_.producer() < kPlaceholderShapeProducer &&
      out->op == "Placeholder") {
    const AttrValue* v = out->attrs.Find("shape");
    const auto* shape = v == nullptr ? nullptr : v->Get<PartialTensorShape>();
    if (shape != nullptr && shape->dims() == 0) {
      out->attrs.Set("shape", PartialTensorShape::UnknownRank());
    }
  }
  return RewriteColocation(out);
}

Status Importer::RewriteColocation(NodeDef* node) {
  const AttrValue* v = node->attrs.Find("_class");
  if (v == nullptr) return OkStatus();
  const auto* old = v->GetList<std::string>();
  if (old == nullptr) {
    return errors::InvalidArgument("Node '", node->name,
                                   "' has a _class attribute of type ",
                                   v->TypeName(), ", wanted list(string)");
  }
  std::vector<std::string> groups = *old;
  for (std::string& group : groups) {
    absl::string_view name = group;
    if (!absl::ConsumePrefix(&name, kColocationPrefix)) continue;
    const Item* item = FindItem(name);
    if (item == nullptr && options_.extends) continue;  // the placer's to say
    if (item == nullptr && !options_.validate_colocation) {
      group = StrCat(kColocationPrefix, prefix_, name);
      continue;
    }
    if (item == nullptr) {
      // Messages about the GraphDef have its names, without the prefix.
      return errors::InvalidArgument("Node '",
                                     absl::StripPrefix(node->name, prefix_),
                                     "' expects to be colocated with unknown "
                                     "node '",
                                     name, "'");
    }
    group = StrCat(kColocationPrefix, item->name);
  }
  if (groups != *old) node->attrs.Set("_class", std::move(groups));
  return OkStatus();
}

bool Importer::IsFullyMapped(const Item& item) const {
  for (int i = 0; i < item.node->num_outputs(); ++i) {
    if (!input_map_.contains(MapKey(item.key, i))) return false;
  }
  return item.node->num_outputs() > 0;
}

Status Importer::Connect() {
  Problems problems;
  for (const Item& item : items_) {
    if (item.node == nullptr) continue;
    if (Status s = ConnectNode(item); !s.ok()) problems.Add(s);
  }
  return problems.status();
}

Status Importer::ConnectNode(const Item& item) {
  Node* const n = item.node;
  int data = 0;
  bool control_seen = false;
  bool has_imported_input = false;
  for (const std::string& input : item.inputs) {
    absl::string_view name;
    int index;
    if (!ParseEndpointName(input, &name, &index).ok()) {
      return errors::InvalidArgument("Node '", item.key,
                                     "': Unknown input node '", input, "'");
    }
    if (index == kControlSlot) {
      control_seen = true;
      Node* src;
      bool is_ours;
      if (Status s = ResolveControl(name, &src, &is_ours); !s.ok()) {
        return errors::InvalidArgument("Node '", item.key, "': ", s.message());
      }
      has_imported_input |= is_ours;
      graph_->AddControlEdge(src, n);
      continue;
    }
    if (control_seen) {
      return errors::InvalidArgument(
          "Node '", item.key,
          "': Control dependencies must come after regular dependencies");
    }
    Endpoint src;
    const Item* const from = FindItem(name);
    if (const Endpoint* mapped = FindMapped(name, index)) {
      src = *mapped;
    } else if (Node* old = from == nullptr ? FindOld(name) : nullptr) {
      src = {old, index};
    } else {
      if (from == nullptr) {
        return errors::InvalidArgument("Node '", item.key,
                                       "': Unknown input node '", input, "'");
      }
      if (from->node == nullptr) {
        return errors::InvalidArgument("Node '", item.key, "': input '", input,
                                       "' is of a node that was left out, and "
                                       "is not mapped");
      }
      if (index >= from->node->num_outputs()) {
        return errors::InvalidArgument(
            "Node '", item.key, "': Connecting to invalid output ", index,
            " of source node ", from->key, " which has ",
            from->node->num_outputs(), " outputs.");
      }
      src = {from->node, index};
      has_imported_input = true;
    }
    if (data < n->num_inputs()) {
      HR_RETURN_IF_ERROR(graph_->AddEdge(src, n, data));
    }
    ++data;
  }
  if (data != n->num_inputs()) {
    std::string types;
    for (DataType t : n->input_types()) {
      StrAppend(&types, types.empty() ? "" : ", ", DataTypeString(t));
    }
    return errors::InvalidArgument(
        "NodeDef expected inputs '", types, "' do not match ", data,
        " inputs specified; ", n->op_def().DebugString(), " ",
        NodeErrorSuffix(n->def()));
  }
  if (!has_imported_input) {
    for (Node* c : options_.control_dependencies) graph_->AddControlEdge(c, n);
  }
  return OkStatus();
}

Status Importer::ResolveControl(absl::string_view name, Node** out,
                                bool* is_ours) {
  *is_ours = false;
  const Endpoint* mapped = FindMapped(name, kControlSlot);
  const Item* item = FindItem(name);
  if (mapped == nullptr && item != nullptr && item->node == nullptr) {
    mapped = FindMapped(name, 0);  // what stands for the node left out
  }
  if (mapped != nullptr) {
    *out = mapped->node;
    return OkStatus();
  }
  if (item == nullptr) {
    *out = FindOld(name);
    if (*out != nullptr) return OkStatus();
    return errors::InvalidArgument("Unknown input node '^", name, "'");
  }
  *out = item->node;
  *is_ours = true;
  return OkStatus();
}

Status Importer::InferAllShapes() {
  std::vector<Node*> order;
  HR_RETURN_IF_ERROR(TopologicalOrder(made_, &order));
  absl::flat_hash_map<const Node*, const Item*> asserting;
  for (const Item& item : items_) {
    if (options_.extends) break;  // a session takes no notice of them
    if (item.asserts_shapes && item.node != nullptr) {
      asserting.emplace(item.node, &item);
    }
  }
  Problems problems;
  for (Node* n : order) {
    Status s = graph_->InferShapes(n);
    if (!s.ok() && options_.extends) continue;
    if (s.ok() && !asserting.empty()) {
      const auto it = asserting.find(n);
      if (it != asserting.end()) s = CheckAssertedShapes(*it->second);
    }
    if (!s.ok()) problems.Add(s);
  }
  return problems.status();
}

// Scratch outputs. Their shapes differ between versions of TensorFlow and have
// no meaning.
bool IsReserveSpace(const Node& n, int output) {
  const int first = n.traits().first_reserve_output;
  return first >= 0 && output >= first;
}

Status Importer::CheckAssertedShapes(const Item& item) {
  Node* const n = item.node;
  const auto given = static_cast<int>(item.asserted_shapes.size());
  if (given < n->num_outputs()) {
    return errors::InvalidArgument("Node '", n->name(), "' has ",
                                   n->num_outputs(),
                                   " outputs but the _output_shapes attribute "
                                   "specifies shapes for ",
                                   given, " outputs");
  }
  if (given > n->num_outputs()) {
    HR_LOG(WARNING) << "Node '" << n->name() << "' has " << n->num_outputs()
                    << " outputs but the _output_shapes attribute specifies "
                       "shapes for "
                    << given << " outputs. Output shapes may be inaccurate.";
  }
  for (int i = 0; i < n->num_outputs(); ++i) {
    PartialTensorShape merged;
    const PartialTensorShape& inferred = n->output_shape(i);
    if (inferred.MergeWith(item.asserted_shapes[i], &merged).ok()) {
      graph_->SetOutputShape(n, i, std::move(merged));
    } else if (options_.validate_shape &&
               versions_.producer() >= kOutputShapesProducer &&
               !IsReserveSpace(*n, i)) {
      return errors::InvalidArgument(
          "Node '", n->name(),
          "' has an _output_shapes attribute inconsistent with the GraphDef "
          "for output #",
          i, ": ", item.asserted_shapes[i].DebugString(), " against inferred ",
          inferred.DebugString());
    }
  }
  return OkStatus();
}

Status Importer::FillResults() {
  ImportResults results;
  for (const std::string& tensor : options_.return_tensors) {
    absl::string_view name;
    int index;
    HR_RETURN_IF_ERROR(ParseEndpointName(tensor, &name, &index));
    if (const Endpoint* mapped = FindMapped(name, index)) {
      results.return_tensors.push_back(*mapped);
      continue;
    }
    const Item* item = FindItem(name);
    if (item == nullptr || item->node == nullptr) {
      return errors::InvalidArgument("Requested return tensor '", tensor,
                                     "' not found in graph def");
    }
    if (index == kControlSlot || index >= item->node->num_outputs()) {
      return errors::InvalidArgument("Invalid return output ", index,
                                     " of node '", name, "', which has ",
                                     item->node->num_outputs(), " output(s)");
    }
    results.return_tensors.push_back({item->node, index});
  }
  for (const std::string& name : options_.return_nodes) {
    const Item* item = FindItem(name);
    if (item == nullptr) {
      return errors::InvalidArgument("Requested return node '", name,
                                     "' not found in graph def");
    }
    results.return_nodes.push_back(item->node);
  }
  for (const auto& [key, to] : options_.input_map) {
    absl::string_view name;
    int index;
    HR_RETURN_IF_ERROR(ParseEndpointName(key, &name, &index));
    if (input_map_[MapKey(name, index)].used) continue;
    // An unused entry is OK if the output exists.
    const Item* item = FindItem(name);
    if (item == nullptr ||
        (item->node != nullptr && index >= item->node->num_outputs())) {
      results.missing_unused_input_map_keys.push_back(key);
    }
  }
  results.nodes = made_;
  if (results_ != nullptr) *results_ = std::move(results);
  return OkStatus();
}

}  // namespace

Status ImportGraphDef(const ImportOptions& options, const pb::GraphDef& def,
                      Graph* graph, ImportResults* results) {
  return CatchExceptions([&]() -> Status {
    GraphDefParts parts;
    HR_RETURN_IF_ERROR(
        GraphDefPartsFromProto(def, &parts, options.max_constant_bytes));
    return Importer(options, std::move(parts), graph, results).Run();
  });
}

Status ImportGraphDefBytes(const ImportOptions& options,
                           absl::string_view bytes, Graph* graph,
                           ImportResults* results) {
  return CatchExceptions([&]() -> Status {
    if (IsGraphDefText(bytes)) {
      pb::GraphDef def;
      HR_RETURN_IF_ERROR(ParseGraphDef(bytes, &def));
      return ImportGraphDef(options, def, graph, results);
    }
    GraphDefParts parts;
    HR_RETURN_IF_ERROR(
        ReadGraphDefParts(bytes, &parts, options.max_constant_bytes));
    return Importer(options, std::move(parts), graph, results).Run();
  });
}

Status ImportGraphDefBytes(const ImportOptions& options,
                           const RefPtr<TensorBuffer>& bytes, Graph* graph,
                           ImportResults* results) {
  const absl::string_view view(static_cast<const char*>(bytes->data()),
                               bytes->size());
  if (IsGraphDefText(view)) {
    return ImportGraphDefBytes(options, view, graph, results);
  }
  return CatchExceptions([&]() -> Status {
    GraphDefParts parts;
    HR_RETURN_IF_ERROR(
        ReadGraphDefParts(bytes, &parts, options.max_constant_bytes));
    return ImportGraphDefParts(options, std::move(parts), graph, results);
  });
}

Status ImportGraphDefParts(const ImportOptions& options, GraphDefParts parts,
                           Graph* graph, ImportResults* results) {
  return CatchExceptions([&] {
    return Importer(options, std::move(parts), graph, results).Run();
  });
}

Status ImportGraphDefFile(const ImportOptions& options, const std::string& path,
                          Graph* graph, ImportResults* results) {
  HR_ASSIGN_OR_RETURN(const RefPtr<MappedFile> file,
                      Env::Default()->MapFile(path));
  return Annotate(
      ImportGraphDefBytes(options, MappedBuffer(file), graph, results),
      StrCat(" (file ", path, ")"));
}

}  // namespace headrace
