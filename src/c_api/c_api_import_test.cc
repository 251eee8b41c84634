// What an import may take of memory.
#include "c_api/c_api_test_util.h"

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

}  // namespace
}  // namespace c_api_test
