#include "headrace/importer.h"

#include <google/protobuf/text_format.h>

#include <chrono>

#include "base/env.h"
#include "framework/tensor/mapped_buffer.h"
#include "graph/function_library.h"
#include "graph/graph_test_util.h"

namespace headrace {
namespace {

REGISTER_OP("ImporterTestPair").Output("a: float").Output("b: int32");
REGISTER_OP("ImporterTestOld")
    .Output("y: float")
    .Deprecated(9, "Use a new one");

pb::GraphDef Parse(const std::string& text) {
  pb::GraphDef def;
  EXPECT_EQ(ParseGraphDef(text, &def), OkStatus()) << text;
  return def;
}

// "node { name: 'n' op: 'Op' input: 'a' ... more }"
std::string NodeText(const std::string& name, const std::string& op,
                     const std::vector<std::string>& inputs = {},
                     const std::string& more = "") {
  std::string s = StrCat("node { name: '", name, "' op: '", op, "' ");
  for (const std::string& i : inputs) StrAppend(&s, "input: '", i, "' ");
  return StrCat(s, more, " }\n");
}
std::string Type(const std::string& attr, const std::string& t) {
  return StrCat("attr { key: '", attr, "' value { type: ", t, " } } ");
}
std::string ConstText(
    const std::string& name,
    const std::string& tensor = "float_val: 1 tensor_shape {}") {
  return NodeText(name, "Const", {},
                  StrCat(Type("dtype", "DT_FLOAT"),
                         "attr { key: 'value' value { tensor { dtype: "
                         "DT_FLOAT ",
                         tensor, " } } }"));
}
std::string IdentityText(const std::string& name,
                         const std::vector<std::string>& inputs,
                         const std::string& more = "") {
  return NodeText(name, "Identity", inputs, Type("T", "DT_FLOAT") + more);
}
std::string Versions(int producer) {
  return StrCat("versions { producer: ", producer, " }\n");
}

std::string Names(const Graph& g) {
  std::string s;
  g.ForEachNode(
      [&](Node* n) { StrAppend(&s, s.empty() ? "" : " ", n->name()); });
  return s;
}

TEST(ImportGraphDef, ConnectsNodesInAnyOrder) {
  const pb::GraphDef def = Parse(
      IdentityText("late", {"mid:0", "^pair", "^c"}) +
      IdentityText("mid", {"pair"}) + NodeText("pair", "ImporterTestPair") +
      ConstText("c") + Versions(24));
  Graph g;
  ImportResults results;
  ASSERT_EQ(ImportGraphDef({}, def, &g, &results), OkStatus());
  EXPECT_EQ(Names(g), "late mid pair c");
  EXPECT_EQ(results.nodes.size(), 4u);
  Node* const late = g.FindNode("late");
  EXPECT_EQ(late->input_edge(0)->src()->name(), "mid");
  EXPECT_EQ(late->control_inputs().size(), 2u);
  EXPECT_EQ(g.versions().producer, 24);
  pb::GraphDef back;
  GraphToGraphDef(g, &back);
  ASSERT_EQ(back.node_size(), 4);
  EXPECT_EQ(back.node(0).input(0), "mid");
  EXPECT_EQ(back.node(0).input(2), "^c");
  EXPECT_EQ(back.versions().producer(), 24);
  // An extended graph keeps the least producer.
  ImportOptions options;
  options.prefix = "again";
  ASSERT_EQ(ImportGraphDef(options, back, &g), OkStatus());
  EXPECT_NE(g.FindNode("again/late"), nullptr);
}

TEST(ImportGraphDef, RefusesMalformedGraphsWhole) {
  const auto kInvalid = absl::StatusCode::kInvalidArgument;
  const auto kNotFound = absl::StatusCode::kNotFound;
  const struct {
    std::string text;
    absl::StatusCode code;
    const char* part;
  } cases[] = {
      {ConstText("c") + ConstText("c"), kInvalid, "Node 'c' is not unique"},
      {NodeText("a b", "NoOp"), kInvalid, "invalid characters"},
      {NodeText("", "NoOp"), kInvalid, "invalid characters"},
      {NodeText("z", "Zork"), kNotFound, "Op type not registered 'Zork'"},
      // All unknown ops are named.
      {NodeText("z", "Zork") + NodeText("y", "Yak") + IdentityText("i", {"q"}),
       kNotFound, "'Yak'"},
      {IdentityText("i", {"nowhere"}), kInvalid,
       "Node 'i': Unknown input node 'nowhere'"},
      {IdentityText("i", {"^nowhere"}), kInvalid, "'^nowhere'"},
      {ConstText("c") + IdentityText("i", {"c:1"}), kInvalid,
       "Connecting to invalid output 1 of source node c which has 1 outputs"},
      {ConstText("c") + IdentityText("i", {"c:-1"}), kInvalid,
       "Node 'i': Unknown input node 'c:-1'"},
      {ConstText("c") + IdentityText("i", {"c:99999999999"}), kInvalid,
       "Unknown input node 'c:99999999999'"},
      {ConstText("c") + IdentityText("i", {"^c:0"}), kInvalid,
       "Unknown input node '^c:0'"},
      {ConstText("c") + IdentityText("i", {"^c", "c"}), kInvalid,
       "Control dependencies must come after regular dependencies"},
      {ConstText("c") + IdentityText("i", {}), kInvalid,
       "expected inputs 'float' do not match 0 inputs"},
      {ConstText("c") + IdentityText("i", {"c", "c"}), kInvalid,
       "do not match 2 inputs"},
      {NodeText("p", "ImporterTestPair") + IdentityText("i", {"p:1"}), kInvalid,
       "Input 0 of node i was passed int32 from p:1 incompatible with expected "
       "float"},
      {IdentityText("x", {"y"}) + IdentityText("y", {"x"}), kInvalid,
       "cycle with 2 nodes"},
      {IdentityText("x", {"x"}), kInvalid,
       "cycle with 1 nodes, including: x -> x"},
      {NodeText("x", "NoOp", {"^y"}) + NodeText("y", "NoOp", {"^x"}), kInvalid,
       "cycle with 2 nodes"},
      {NodeText("i", "Identity", {"c"}) + ConstText("c"), kInvalid,
       "NodeDef missing attr 'T'"},
      {ConstText("c") +
           IdentityText("i", {"c"}, "attr { key: 'zork' value { i: 1 } }"),
       kInvalid, "NodeDef mentions attr 'zork' not in Op<name=Identity"},
      {ConstText("c") +
           NodeText("i", "Identity", {"c"}, "attr { key: 'T' value { i: 1 } }"),
       kInvalid, "with type 'int' when 'type' expected for attr 'T'"},
      {ConstText("c") +
           NodeText("i", "Identity", {"c"}, "attr { key: 'T' value { } }"),
       kInvalid, "missing value"},
      {ConstText("c") +
           NodeText("i", "Identity", {"c"},
                    "attr { key: 'T' value { placeholder: 'U' } }"),
       kInvalid, "placeholder"},
      {ConstText("c") +
           NodeText("i", "Identity", {"c"}, Type("T", "DT_FLOAT_REF")),
       kInvalid, "reference type"},
      {ConstText("c", "tensor_content: 'abc' tensor_shape {}"), kInvalid,
       "tensor_content has 3 bytes"},
      {ConstText("c", "tensor_shape { dim { size: -1 } }"), kInvalid,
       "size -1"},
      {ConstText("c",
                 "tensor_shape { dim { size: 4611686018427387904 } dim { "
                 "size: 4611686018427387904 } }"),
       kInvalid, ""},
      {ConstText("c", "tensor_shape { dim { size: 4611686018427387904 } }"),
       absl::StatusCode::kResourceExhausted, "a few values stand for"},
      {NodeText("p", "Placeholder", {},
                Type("dtype", "DT_FLOAT") +
                    "attr { key: 'shape' value { shape { dim { size: -2 } } } "
                    "}"),
       kInvalid, "attr 'shape' of node 'p'"},
      {NodeText("m", "AddN", {},
                Type("T", "DT_FLOAT") +
                    "attr { key: 'N' value { i: 1152921504606846976 } }"),
       kInvalid, "at most"},
      {NodeText("p", "Placeholder", {},
                Type("dtype", "DT_FLOAT") +
                    "attr { key: '_class' value { list { s: 'loc:@nobody' } } "
                    "}"),
       kInvalid, "colocated with unknown node 'nobody'"},
      {NodeText("o", "ImporterTestOld") + Versions(9),
       absl::StatusCode::kUnimplemented, "removed in version 9"},
      {"versions { producer: 5 min_consumer: 9999 }", kInvalid,
       "GraphDef min consumer version 9999 above current version 134"},
      {"versions { producer: 5 bad_consumers: 134 }", kInvalid,
       "GraphDef disallows consumer version 134"},
      {"versions { producer: -1 }", kInvalid, "below min producer"},
      {ConstText("a", "tensor_shape { dim { size: 2 } dim { size: 3 } }") +
           NodeText("m", "MatMul", {"a", "a"}, Type("T", "DT_FLOAT")) +
           Versions(24),
       kInvalid, "for 'm' (op: 'MatMul')"},
      {ConstText("c") +
           IdentityText("i", {"c"},
                        "attr { key: '_output_shapes' value { list { shape { "
                        "dim { size: 7 } } } } }") +
           Versions(24),
       kInvalid, "_output_shapes attribute inconsistent"},
      {NodeText("p", "ImporterTestPair", {},
                "attr { key: '_output_shapes' value { list { shape { } } } }"),
       kInvalid, "has 2 outputs but the _output_shapes attribute specifies"},
  };
  for (const auto& c : cases) {
    SCOPED_TRACE(c.text);
    Graph g;
    const Endpoint kept = Const(&g, "kept", MakeScalar(1.0f));
    ExpectError(ImportGraphDef({}, Parse(c.text), &g), c.code, c.part);
    EXPECT_EQ(Names(g), "kept");
    EXPECT_TRUE(kept.node->out_edges().empty());
    EXPECT_EQ(g.versions().producer, kGraphDefProducer);
    // Straight from bytes it is the same.
    ExpectError(ImportGraphDefBytes({}, Parse(c.text).SerializeAsString(), &g),
                c.code, c.part);
    EXPECT_EQ(Names(g), "kept");
  }
}

TEST(ImportGraphDefBytes, ReadsEveryKindOfAttr) {
  pb::GraphDef def = Parse(
      ConstText("c", StrCat("tensor_shape { dim { size: 300 } } "
                            "tensor_content: '",
                            std::string(1200, 'x'), "'")) +
      IdentityText("b", {"c", "^c"},
                   "attr { key: '_s' value { s: 'text' } } "
                   "attr { key: '_i' value { i: -5 } } "
                   "attr { key: '_f' value { f: 1.5 } } "
                   "attr { key: '_b' value { b: true } } "
                   "attr { key: '_t' value { type: DT_INT64 } } "
                   "attr { key: '_sh' value { shape { dim { size: -1 } } } } "
                   "attr { key: '_l' value { list { i: [1, 2] } } } "
                   "attr { key: '_e' value { list { } } } "
                   "attr { key: '_fn' value { func { name: 'f' attr { key: "
                   "'T' value { type: DT_HALF } } } } } "
                   "device: '/cpu:0' ") +
      "versions { producer: 30 bad_consumers: [3, 2] } "
      "library { function { signature { name: 'ImporterTestF' } } }");
  Graph by_message, by_bytes;
  ASSERT_EQ(ImportGraphDef({}, def, &by_message), OkStatus());
  ASSERT_EQ(ImportGraphDefBytes({}, def.SerializeAsString(), &by_bytes),
            OkStatus());
  pb::GraphDef a, b;
  GraphToGraphDef(by_message, &a);
  GraphToGraphDef(by_bytes, &b);
  EXPECT_EQ(a.DebugString(), b.DebugString());
  EXPECT_EQ(a.versions().bad_consumers(0), 2);
  EXPECT_EQ(a.node(0).attr().at("value").tensor().tensor_content(),
            std::string(1200, 'x'));
  Graph text;
  ASSERT_EQ(ImportGraphDefBytes({}, def.DebugString(), &text), OkStatus());
  GraphToGraphDef(text, &b);
  EXPECT_EQ(a.DebugString(), b.DebugString());

  const std::string bytes = def.SerializeAsString();
  for (size_t n = 2; n < bytes.size(); ++n) {
    Graph g;
    const Status s =
        ImportGraphDefBytes({}, absl::string_view(bytes).substr(0, n), &g);
    // A cut between two fields leaves a whole graph.
    if (!s.ok()) {
      EXPECT_EQ(g.num_nodes(), 0) << n;
    }
  }
  for (const char* broken : {"\x0a\xff\xff\xff\xff\x0f", "\x0b\x00", "\x0a\x01",
                             "\x0a\x03\x0a\x01\xff"}) {
    Graph g;
    ExpectError(ImportGraphDefBytes({}, broken, &g),
                absl::StatusCode::kInvalidArgument, "Invalid GraphDef");
  }
  Graph g;
  EXPECT_FALSE(ImportGraphDefFile({}, "/nonexistent/graph.pb", &g).ok());
}

TEST(ImportGraphDef, LargeConstantsStayInTheirFile) {
  const auto constant = [](const std::string& name, size_t bytes, char c) {
    pb::NodeDef node =
        Parse(NodeText(name, "Const", {}, Type("dtype", "DT_UINT8"))).node(0);
    pb::TensorProto* const t = (*node.mutable_attr())["value"].mutable_tensor();
    t->set_dtype(pb::DT_UINT8);
    t->mutable_tensor_shape()->add_dim()->set_size(bytes);
    t->set_tensor_content(std::string(bytes, c));
    return node;
  };
  pb::GraphDef def;
  *def.add_node() = constant("large", 100000, 'a');
  *def.add_node() = constant("small", 2000, 'b');
  const std::string path = StrCat(testing::TempDir(), "/large_constants.pb");
  ASSERT_EQ(Env::Default()->WriteFile(path, def.SerializeAsString()),
            OkStatus());
  Graph g;
  ASSERT_EQ(ImportGraphDefFile({}, path, &g), OkStatus());
  const auto value = [&g](const char* name) {
    return *g.FindNode(name)->def().attrs.Find("value")->Get<Tensor>();
  };
  EXPECT_TRUE(IsMapped(*value("large").buffer()));
  EXPECT_FALSE(IsMapped(*value("small").buffer()));
  ReleasePages(value("large"));
  ReleasePages(value("small"));
  pb::GraphDef again;
  GraphToGraphDef(g, &again);
  for (int i = 0; i < 2; ++i) {
    EXPECT_EQ(again.node(i).attr().at("value").tensor().tensor_content(),
              def.node(i).attr().at("value").tensor().tensor_content());
  }
}

TEST(ImportGraphDef, NamesAllProblemsOfAllNodes) {
  const Status s = [] {
    Graph g;
    return ImportGraphDef(
        {},
        Parse(NodeText("a", "Zork") + NodeText("b", "Yak") +
              NodeText("c", "Zork") + NodeText("d", "Identity", {"a"})),
        &g);
  }();
  for (const char* part : {"'Zork'", "'Yak'", "missing attr 'T'"}) {
    ExpectError(s, absl::StatusCode::kNotFound, part);
  }
}

TEST(ImportGraphDef, ANodeWithoutAnOpIsAnInvalidArgument) {
  Graph g;
  const Status s =
      ImportGraphDef({}, Parse("node { name: 'n' }" + Versions(24)), &g);
  EXPECT_EQ(s.code(), absl::StatusCode::kInvalidArgument);
  EXPECT_EQ(s.message(), "Node 'n' does not specify an operation");
}

TEST(ImportGraphDef, AGraphThatExtendsMayNameWhatIsThere) {
  Graph g;
  ImportOptions extends;
  extends.extends = true;
  ASSERT_EQ(ImportGraphDef(extends, Parse(ConstText("a") + Versions(24)), &g),
            OkStatus());
  const std::string colocated =
      "attr { key: '_class' value { list { s: 'loc:@a' } } }";
  const pb::GraphDef more =
      Parse(IdentityText("c", {"b", "^a"}) +
            IdentityText("b", {"a"}, colocated) + Versions(24));
  EXPECT_EQ(ImportGraphDef({}, more, &g).code(),
            absl::StatusCode::kInvalidArgument)
      << "others may not";
  ASSERT_EQ(ImportGraphDef(extends, more, &g), OkStatus());
  EXPECT_EQ(g.FindNode("b")->input_edge(0)->src(), g.FindNode("a"));
  EXPECT_EQ(g.FindNode("c")->control_inputs()[0]->src(), g.FindNode("a"));
  const pb::GraphDef bad =
      Parse(ConstText("d") + IdentityText("e", {"a:1"}) + Versions(24));
  EXPECT_EQ(ImportGraphDef(extends, bad, &g).code(),
            absl::StatusCode::kInvalidArgument);
  EXPECT_EQ(Names(g), "a c b") << "all or nothing";
  // What shape inference refuses in any other import; a group without a node.
  const pb::GraphDef contradictory =
      Parse(NodeText("f", "Reshape", {"h", "to"},
                     Type("T", "DT_FLOAT") + Type("Tshape", "DT_INT32")) +
            ConstText("h") +
            NodeText("to", "Const", {},
                     Type("dtype", "DT_INT32") +
                         "attr { key: 'value' value { tensor { dtype: DT_INT32 "
                         "tensor_shape { dim { size: 1 } } int_val: 7 } } }") +
            Versions(24));
  EXPECT_EQ(ImportGraphDef({}, contradictory, &g).code(),
            absl::StatusCode::kInvalidArgument);
  ASSERT_EQ(ImportGraphDef(extends, contradictory, &g), OkStatus());
  ASSERT_EQ(ImportGraphDef(
                extends,
                Parse(IdentityText("i", {"f"},
                                   "attr { key: '_class' value { list { s: "
                                   "'loc:@later' } } }") +
                      Versions(24)),
                &g),
            OkStatus());
  EXPECT_TRUE(g.FindNode("f")->output_shape(0).unknown_rank());
}

TEST(ImportGraphDef, PlaceholdersOfOldProducersHaveNoShape) {
  const std::string node = NodeText(
      "p", "Placeholder", {},
      Type("dtype", "DT_FLOAT") + "attr { key: 'shape' value { shape { } } }");
  for (int producer : {21, 22}) {
    Graph g;
    ASSERT_EQ(ImportGraphDef({}, Parse(node + Versions(producer)), &g),
              OkStatus());
    EXPECT_EQ(g.FindNode("p")->output_shape(0).unknown_rank(), producer == 21);
  }
  Graph g;  // an op deprecated later than its producer is still there
  EXPECT_EQ(ImportGraphDef(
                {}, Parse(NodeText("o", "ImporterTestOld") + Versions(8)), &g),
            OkStatus());
}

TEST(ImportGraphDef, AssertedShapesAreMergedAndDropped) {
  Graph g;
  ASSERT_EQ(
      ImportGraphDef({},
                     Parse(NodeText("p", "ImporterTestPair", {},
                                    "attr { key: '_output_shapes' value { list "
                                    "{ shape { dim { size: 7 } } shape { "
                                    "unknown_rank: true } } } }")),
                     &g),
      OkStatus());
  Node* const p = g.FindNode("p");
  EXPECT_EQ(p->output_shape(0).DebugString(), "[7]");
  EXPECT_EQ(p->attrs().Find("_output_shapes"), nullptr);
}

TEST(ImportGraphDef, MapsPrefixesAndReturns) {
  const pb::GraphDef def =
      Parse(ConstText("a") +
            IdentityText("b", {"a", "^a"},
                         "attr { key: '_class' value { list { s: 'loc:@a' } } "
                         "}") +
            IdentityText("c", {"b"}));
  Graph g;
  const Endpoint mine = Const(&g, "mine", MakeScalar(5.0f));
  ImportOptions options;
  options.prefix = "imp";
  options.input_map = {
      {"b:0", mine}, {"^a", {mine.node, kControlSlot}}, {"q:0", mine}};
  options.control_dependencies = {mine.node};
  options.return_tensors = {"c", "b:0"};
  options.return_nodes = {"a"};
  options.default_device = "/cpu:0";
  ImportResults results;
  ASSERT_EQ(ImportGraphDef(options, def, &g, &results), OkStatus());
  EXPECT_EQ(Names(g), "mine imp/a imp/b imp/c");
  Node* const b = g.FindNode("imp/b");
  EXPECT_EQ(b->control_inputs()[0]->src(), mine.node);
  EXPECT_EQ(b->requested_device(), "/cpu:0");
  std::vector<std::string> groups;
  ASSERT_EQ(b->attrs().Get("_class", &groups), OkStatus());
  EXPECT_EQ(groups[0], "loc:@imp/a");
  Node* const c = g.FindNode("imp/c");
  EXPECT_EQ(c->input_edge(0)->src(), mine.node);
  // Roots, and what hangs on mapped inputs alone, wait for the dependencies.
  EXPECT_EQ(g.FindNode("imp/a")->control_inputs().size(), 1u);
  EXPECT_EQ(c->control_inputs().size(), 1u);
  EXPECT_EQ(results.return_tensors[0], (Endpoint{c, 0}));
  EXPECT_EQ(results.return_tensors[1], mine);
  EXPECT_EQ(results.return_nodes[0]->name(), "imp/a");
  EXPECT_EQ(results.missing_unused_input_map_keys,
            std::vector<std::string>{"q:0"});

  // Taken names.
  EXPECT_FALSE(ImportGraphDef(options, def, &g).ok());
  options.uniquify_prefix = true;
  ASSERT_EQ(ImportGraphDef(options, def, &g), OkStatus());
  EXPECT_NE(g.FindNode("imp_1/c"), nullptr);
  ImportOptions unique;
  unique.prefix = "imp";
  unique.uniquify_names = true;
  ASSERT_EQ(ImportGraphDef(unique, def, &g), OkStatus());
  Node* const c1 = g.FindNode("imp/c_1");
  ASSERT_NE(c1, nullptr);
  EXPECT_EQ(c1->input_edge(0)->src()->name(), "imp/b_1");

  // Nodes that are replaced need not be made.
  ImportOptions skip;
  skip.prefix = "skip";
  skip.input_map = {{"a:0", mine}};
  skip.skip_mapped_nodes = true;
  ASSERT_EQ(ImportGraphDef(skip, def, &g), OkStatus());
  EXPECT_EQ(g.FindNode("skip/a"), nullptr);
  EXPECT_EQ(g.FindNode("skip/b")->input_edge(0)->src(), mine.node);
  EXPECT_EQ(g.FindNode("skip/b")->control_inputs()[0]->src(), mine.node);

  const int nodes = g.num_nodes();
  for (const char* missing : {"zork", "a:1", "^a"}) {
    ImportOptions bad;
    bad.prefix = "bad";
    bad.return_tensors = {missing};
    EXPECT_FALSE(ImportGraphDef(bad, def, &g).ok()) << missing;
  }
  ImportOptions bad;
  bad.prefix = "bad name";
  EXPECT_FALSE(ImportGraphDef(bad, def, &g).ok());
  EXPECT_EQ(g.num_nodes(), nodes);
}

TEST(ImportGraphDef, TakesFunctionsAndTheirCalls) {
  const std::string library =
      "library { function { signature { name: 'Twice' input_arg { name: 'x' "
      "type: DT_FLOAT } output_arg { name: 'y' type: DT_FLOAT } } "
      "ret { key: 'y' value: 'x' } } }\n";
  const std::string call = ConstText("c") + NodeText("call", "Twice", {"c"});
  Graph g;
  // A failure leaves no function behind.
  EXPECT_FALSE(
      ImportGraphDef({}, Parse(library + call + NodeText("z", "Zork")), &g)
          .ok());
  EXPECT_EQ(g.functions(), nullptr);
  ASSERT_EQ(ImportGraphDef({}, Parse(library + call), &g), OkStatus());
  EXPECT_EQ(g.FindNode("call")->num_outputs(), 1);
  EXPECT_EQ(g.functions()->Names(), std::vector<std::string>{"Twice"});
  // The same again is fine, another of that name is not.
  ASSERT_EQ(ImportGraphDef({}, Parse(library), &g), OkStatus());
  std::string other = library;
  other.replace(other.find("value: 'x'"), 10, "value: 'z'");
  ExpectError(ImportGraphDef({}, Parse(other), &g),
              absl::StatusCode::kInvalidArgument, "'Twice'");
  pb::GraphDef back;
  GraphToGraphDef(g, &back);
  EXPECT_EQ(back.library().function_size(), 1);
}

TEST(ParseGraphDef, TellsWhereItBreaks) {
  pb::GraphDef def;
  ExpectError(ParseGraphDef("node {\n  name: 'a'\n  opp: 'b' }", &def),
              absl::StatusCode::kInvalidArgument, "line 3, column");
  ExpectError(ParseGraphDef("node { opp: 'b' }", &def),
              absl::StatusCode::kInvalidArgument,
              "Message type \"tensorflow.NodeDef\" has no field named \"opp\"");
  ExpectError(ParseGraphDef("node { name: 'a'", &def),
              absl::StatusCode::kInvalidArgument, "line 1");
  std::string deep;
  for (int i = 0; i < 100000; ++i) {
    deep +=
        "library { function { signature { attr { default_value { list { "
        "func { attr { value { ";
  }
  EXPECT_FALSE(
      ParseGraphDef("node { attr { value { list { func { " + deep, &def).ok());
  std::string bytes;
  ASSERT_TRUE(Parse(ConstText("some_constant")).SerializeToString(&bytes));
  ASSERT_EQ(ParseGraphDef(bytes, &def), OkStatus());
  EXPECT_EQ(def.node(0).name(), "some_constant");
  for (size_t n = 2; n < bytes.size(); ++n) {
    ExpectError(ParseGraphDef(absl::string_view(bytes).substr(0, n), &def),
                absl::StatusCode::kInvalidArgument, "Invalid GraphDef");
  }
  ExpectError(ParseGraphDef("\x7f\x45LF\x02\x01\x01", &def),
              absl::StatusCode::kInvalidArgument, "at byte 0");
  EXPECT_EQ(ParseGraphDef("", &def), OkStatus());
  EXPECT_FALSE(ReadGraphDef("/nonexistent/graph.pb", &def).ok());
}

// A chain as deep as the graph is long must not use the stack.
TEST(ImportGraphDef, TakesDeepChains) {
  pb::GraphDef def = Parse(ConstText("n0"));
  constexpr int kNodes = 100000;
  for (int i = 1; i < kNodes; ++i) {
    pb::NodeDef* const n = def.add_node();
    n->set_name(StrCat("n", i));
    n->set_op("Identity");
    n->add_input(StrCat("n", i - 1));
    (*n->mutable_attr())["T"].set_type(pb::DT_FLOAT);
  }
  const auto start = std::chrono::steady_clock::now();
  Graph g;
  ASSERT_EQ(ImportGraphDef({}, def, &g), OkStatus());
  const std::chrono::duration<double, std::milli> took =
      std::chrono::steady_clock::now() - start;
  std::printf("import of %d nodes: %.1f ms\n", kNodes, took.count());
  EXPECT_EQ(g.num_nodes(), kNodes);
  const std::string bytes = def.SerializeAsString();
  const auto start2 = std::chrono::steady_clock::now();
  Graph by_bytes;
  ASSERT_EQ(ImportGraphDefBytes({}, bytes, &by_bytes), OkStatus());
  const std::chrono::duration<double, std::milli> took2 =
      std::chrono::steady_clock::now() - start2;
  std::printf("from bytes: %.1f ms\n", took2.count());
  def.mutable_node(1)->set_input(0, StrCat("n", kNodes - 1));
  Graph cyclic;
  ExpectError(ImportGraphDef({}, def, &cyclic),
              absl::StatusCode::kInvalidArgument, "cycle with 99999 nodes");
  EXPECT_EQ(cyclic.num_nodes(), 0);
}

// A few hundred bytes took 14 GB: each constant was made in full.
TEST(ImporterTest, ConstantsOfOneValueTakeLittleMemory) {
  std::string text;
  for (int i = 0; i < 14; ++i) {
    StrAppend(&text, ConstText(StrCat("c", i),
                               "float_val: 1 tensor_shape { dim { size: "
                               "268435456 } }"));
  }
  StrAppend(&text,
            NodeText("s", "Const", {},
                     StrCat(Type("dtype", "DT_STRING"),
                            "attr { key: 'value' value { tensor { dtype: "
                            "DT_STRING string_val: 'x' tensor_shape { dim { "
                            "size: 50000000 } } } } }")));
  const int64_t before = CpuAllocator()->GetStats().bytes_in_use;
  Graph g;
  ImportOptions options;
  options.max_constant_bytes = int64_t{256} << 20;
  ASSERT_EQ(ImportGraphDef(options, Parse(text), &g), OkStatus());
  EXPECT_LT(CpuAllocator()->GetStats().bytes_in_use - before, int64_t{1} << 20);
  const Tensor* const value =
      g.FindNode("c13")->attrs().Find("value")->Get<Tensor>();
  ASSERT_NE(value, nullptr);
  EXPECT_EQ(value->NumElements(), 268435456);
  EXPECT_EQ(value->data<float>()[268435455], 1);
}

TEST(ImporterTest, ConstantsBeyondTheBoundAreRefusedByName) {
  const std::string small = "tensor_content: '" + std::string(400, 'x') +
                            "' tensor_shape { dim { size: 100 } }";
  const std::string text = ConstText("a", small) + ConstText("b", small);
  const std::string bytes = Parse(text).SerializeAsString();
  ImportOptions options;
  options.max_constant_bytes = 500;
  Graph g;
  for (const Status& s : {ImportGraphDef(options, Parse(text), &g),
                          ImportGraphDefBytes(options, bytes, &g)}) {
    ExpectError(s, absl::StatusCode::kResourceExhausted, "node 'b'");
    ExpectError(s, absl::StatusCode::kResourceExhausted, "500 bytes");
    ExpectError(s, absl::StatusCode::kResourceExhausted, "400 bytes");
  }
  EXPECT_EQ(g.num_nodes(), 0);
  options.max_constant_bytes = 800;
  EXPECT_EQ(ImportGraphDefBytes(options, bytes, &g), OkStatus());
}

}  // namespace
}  // namespace headrace
