// What an import may take of memory.
#include "c_api/c_api_test_util.h"
#include "tensorflow/c/c_api_experimental.h"

namespace c_api_test {
namespace {

// node { name: "c" op: "Const" ... } with 100 floats as tensor_content.
std::string GraphOfOneConstant() {
  const auto field = [](char tag, const std::string& s) {
    std::string out(1, tag);
    size_t n = s.size();
    for (; n >= 0x80; n >>= 7) out += static_cast<char>((n & 0x7f) | 0x80);
    return out + static_cast<char>(n) + s;
  };
  const auto attr = [&field](const std::string& name, const std::string& v) {
    return field('\x2a', field('\x0a', name) + field('\x12', v));
  };
  const std::string tensor = std::string("\x08\x01") +
                             field('\x12', field('\x12', "\x08\x64")) +
                             field('\x22', std::string(400, '\0'));
  return field('\x0a', field('\x0a', "c") + field('\x12', "Const") +
                           attr("dtype", "\x30\x01") +
                           attr("value", field('\x42', tensor)));
}

TEST(CApiImportTest, ConstantsBeyondTheBoundAreRefused) {
  const std::string bytes = GraphOfOneConstant();
  const Buffer def(TF_NewBufferFromString(bytes.data(), bytes.size()));
  TF_Status* const s = TF_NewStatus();
  TF_ImportGraphDefOptions* const o = TF_NewImportGraphDefOptions();
  for (const int64_t bound : {399, 400, 0}) {
    TF_Graph* const graph = TF_NewGraph();
    HR_ImportGraphDefOptionsSetMaxConstantBytes(o, bound);
    TF_GraphImportGraphDef(graph, def.get(), o, s);
    if (bound == 399) {
      EXPECT_EQ(TF_GetCode(s), TF_RESOURCE_EXHAUSTED) << TF_Message(s);
      EXPECT_NE(std::strstr(TF_Message(s), "node 'c'"), nullptr)
          << TF_Message(s);
    } else {
      EXPECT_EQ(TF_GetCode(s), TF_OK) << TF_Message(s);
      EXPECT_NE(TF_GraphOperationByName(graph, "c"), nullptr);
    }
    TF_DeleteGraph(graph);
  }
  TF_DeleteImportGraphDefOptions(o);
  TF_DeleteStatus(s);
}

class ImportOptionsTest : public CApiTest {
 protected:
  // Imports the constant "c" into the graph, which may have one.
  void Import() {
    const std::string bytes = GraphOfOneConstant();
    const Buffer def(TF_NewBufferFromString(bytes.data(), bytes.size()));
    TF_GraphImportGraphDef(g(), def.get(), options_, s());
  }
  bool Has(const char* name) {
    return TF_GraphOperationByName(g(), name) != nullptr;
  }
  ~ImportOptionsTest() override { TF_DeleteImportGraphDefOptions(options_); }

  TF_ImportGraphDefOptions* const options_ = TF_NewImportGraphDefOptions();
};

TEST_F(ImportOptionsTest, NamesAreMadeUnique) {
  Import();
  EXPECT_EQ(TF_GetCode(s()), TF_OK) << message();
  Import();
  EXPECT_EQ(TF_GetCode(s()), TF_INVALID_ARGUMENT);
  EXPECT_NE(message().find("'c'"), message().npos) << message();
  TF_ImportGraphDefOptionsSetUniquifyNames(options_, 1);
  Import();
  EXPECT_EQ(TF_GetCode(s()), TF_OK) << message();
  EXPECT_TRUE(Has("c_1"));
  TF_ImportGraphDefOptionsSetUniquifyNames(options_, 0);
  Import();
  EXPECT_EQ(TF_GetCode(s()), TF_INVALID_ARGUMENT);
}

TEST_F(ImportOptionsTest, PrefixesAreMadeUnique) {
  TF_ImportGraphDefOptionsSetPrefix(options_, "p");
  Import();
  EXPECT_TRUE(Has("p/c"));
  Import();
  EXPECT_EQ(TF_GetCode(s()), TF_INVALID_ARGUMENT) << message();
  TF_ImportGraphDefOptionsSetUniquifyPrefix(options_, 1);
  Import();
  EXPECT_EQ(TF_GetCode(s()), TF_OK) << message();
  EXPECT_TRUE(Has("p_1/c"));
}

TEST_F(ImportOptionsTest, NodesWithoutADeviceGetTheDefault) {
  TF_ImportGraphDefOptionsSetDefaultDevice(options_, "/device:CPU:0");
  Import();
  ASSERT_TRUE(Has("c")) << message();
  EXPECT_STREQ(TF_OperationDevice(TF_GraphOperationByName(g(), "c")),
               "/device:CPU:0");
}

TEST_F(ImportOptionsTest, AColocationWithAnUnknownNode) {
  TF_OperationDescription* const d = TF_NewOperation(g(), "NoOp", "x");
  const void* const group[] = {"loc:@gone"};
  const size_t length[] = {9};
  TF_SetAttrStringList(d, "_class", group, length, 1);
  Finish(d);
  const Buffer def(TF_NewBuffer());
  TF_GraphToGraphDef(g(), def.get(), s());
  TF_ImportGraphDefOptionsSetPrefix(options_, "p");
  TF_GraphImportGraphDef(g(), def.get(), options_, s());
  EXPECT_EQ(TF_GetCode(s()), TF_INVALID_ARGUMENT);
  EXPECT_NE(message().find("unknown node 'gone'"), message().npos) << message();
  TF_ImportGraphDefOptionsSetValidateColocationConstraints(options_, 0);
  TF_GraphImportGraphDef(g(), def.get(), options_, s());
  ASSERT_EQ(TF_GetCode(s()), TF_OK) << message();
  const Buffer node(TF_NewBuffer());
  TF_Operation* const x = TF_GraphOperationByName(g(), "p/x");
  TF_OperationToNodeDef(x, node.get(), s());
  EXPECT_NE(Bytes(node.get()).find("loc:@p/gone"), std::string::npos);
  TF_Session* const session = NewSession();
  const TF_Operation* const targets[] = {x};
  TF_SessionRun(session, nullptr, nullptr, nullptr, 0, nullptr, nullptr, 0,
                targets, 1, nullptr, s());
  EXPECT_EQ(TF_GetCode(s()), TF_OK) << message();
  TF_DeleteSession(session, s());
  TF_ImportGraphDefOptionsSetValidateColocationConstraints(options_, 1);
  TF_ImportGraphDefOptionsSetPrefix(options_, "q");
  TF_GraphImportGraphDef(g(), def.get(), options_, s());
  EXPECT_EQ(TF_GetCode(s()), TF_INVALID_ARGUMENT);
}

TEST_F(ImportOptionsTest, ControlDependenciesAreRemapped) {
  TF_Operation* const a = Const("a", 1);
  TF_OperationDescription* const d = TF_NewOperation(g(), "NoOp", "b");
  TF_AddControlInput(d, a);
  Finish(d);
  const Buffer def(TF_NewBuffer());
  TF_GraphToGraphDef(g(), def.get(), s());
  TF_Operation* const z = Const("z", 2);
  TF_ImportGraphDefOptionsSetPrefix(options_, "p");
  TF_ImportGraphDefOptionsRemapControlDependency(options_, "a", z);
  TF_GraphImportGraphDef(g(), def.get(), options_, s());
  ASSERT_EQ(TF_GetCode(s()), TF_OK) << message();
  TF_Operation* inputs[2] = {};
  TF_Operation* const b = TF_GraphOperationByName(g(), "p/b");
  EXPECT_EQ(TF_OperationGetControlInputs(b, inputs, 2), 1);
  EXPECT_EQ(inputs[0], z);
}

TEST_F(ImportOptionsTest, OutputsAreReturned) {
  Const("a", 1);
  const Buffer def(TF_NewBuffer());
  TF_GraphToGraphDef(g(), def.get(), s());
  TF_ImportGraphDefOptionsSetPrefix(options_, "p");
  TF_ImportGraphDefOptionsAddReturnOutput(options_, "a", 0);
  TF_Output out[1] = {{nullptr, 7}};
  const auto import = [&](TF_Output* places, int n) {
    TF_GraphImportGraphDefWithReturnOutputs(g(), def.get(), options_, places, n,
                                            s());
  };
  import(out, 1);
  ASSERT_EQ(TF_GetCode(s()), TF_OK) << message();
  EXPECT_EQ(out[0].oper, TF_GraphOperationByName(g(), "p/a"));
  EXPECT_EQ(out[0].index, 0);
  TF_ImportGraphDefOptionsSetUniquifyPrefix(options_, 1);
  import(out, 0);
  EXPECT_EQ(TF_GetCode(s()), TF_INVALID_ARGUMENT) << "one was asked for";
  import(nullptr, 1);
  EXPECT_EQ(TF_GetCode(s()), TF_INVALID_ARGUMENT);
  TF_ImportGraphDefOptionsAddReturnOutput(options_, "nowhere", 0);
  TF_Output two[2];
  import(two, 2);
  EXPECT_EQ(TF_GetCode(s()), TF_INVALID_ARGUMENT) << message();
}

}  // namespace
}  // namespace c_api_test
