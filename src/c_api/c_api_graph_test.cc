// The C API: building graphs, looking into them, import and export.
#include <memory>
#include <string>
#include <vector>

#include "c_api/c_api_test_util.h"

namespace c_api_test {
namespace {

TEST_F(CApiTest, FinishOperationRefuses) {
  TF_Operation* x = Placeholder("x");
  TF_Operation* f = Placeholder("f", TF_FLOAT);
  struct {
    const char* name;
    const char* op;
    std::vector<TF_Output> inputs;
    TF_Code code;
    const char* says;
  } const cases[] = {
      {"n1",
       "NoSuchOp",
       {},
       TF_INVALID_ARGUMENT,
       "Op type not registered 'NoSuchOp' in binary running on "},
      {"x", "Add", {{x, 0}, {x, 0}}, TF_INVALID_ARGUMENT, "x"},
      {"n2", "Add", {{x, 0}}, TF_INVALID_ARGUMENT, ""},
      {"n3", "Add", {{x, 0}, {f, 0}}, TF_INVALID_ARGUMENT, ""},
      {"n4", "Add", {{x, 0}, {x, 1}}, TF_INVALID_ARGUMENT, "'x'"},
      {"n5", "Add", {{x, 0}, {nullptr, 0}}, TF_INVALID_ARGUMENT, "NULL"},
      {"n6",
       "AddN",
       {{x, 0}, {x, 0}},
       TF_INVALID_ARGUMENT,
       "Single tensor passed to 'inputs', expected list"},
      {"n7",
       "AddN",
       {{x, 0}},
       TF_INVALID_ARGUMENT,
       "Single tensor passed to 'inputs', expected list"},
  };
  for (const auto& c : cases) {
    TF_OperationDescription* d = TF_NewOperation(g(), c.op, c.name);
    for (const TF_Output& in : c.inputs) TF_AddInput(d, in);
    TF_Operation* op = TF_FinishOperation(d, s());
    EXPECT_EQ(op, nullptr) << c.name;
    EXPECT_EQ(TF_GetCode(s()), c.code) << c.name << message();
    EXPECT_NE(message().find(c.says), std::string::npos) << message();
    EXPECT_NE(message().find(c.name), std::string::npos)
        << "the node is named: " << message();
  }
  EXPECT_EQ(TF_FinishOperation(nullptr, s()), nullptr);
  EXPECT_EQ(TF_GetCode(s()), TF_INVALID_ARGUMENT);
  EXPECT_EQ(TF_FinishOperation(TF_NewOperation(nullptr, "Add", "a"), s()),
            nullptr);
}

// TensorFlow takes any name, and looks at names when a session takes the graph.
TEST_F(CApiTest, MalformedNamesAreRefusedWhenASessionRunsThem) {
  TF_Operation* x = Placeholder("x");
  TF_Operation* y = Add("y", x, x);
  TF_Session* session = NewSession();
  for (const char* name : {"a b", "const/0/[1 2]", ""}) {
    EXPECT_STREQ(TF_OperationName(Const(name, 1)), name);
  }
  EXPECT_NE(TF_GraphOperationByName(g(), "a b"), nullptr);
  EXPECT_EQ(Run(session, x, Scalar(1).get(), y), nullptr);
  EXPECT_EQ(TF_GetCode(s()), TF_INVALID_ARGUMENT);
  EXPECT_EQ(message(), "Node 'a b': Node name contains invalid characters");
  TF_OperationDescription* d = TF_NewOperation(g(), "NoOp", "a b");
  EXPECT_EQ(TF_FinishOperation(d, s()), nullptr);
  EXPECT_EQ(TF_GetCode(s()), TF_INVALID_ARGUMENT) << "the name is taken";
  Buffer def(TF_NewBuffer());
  TF_GraphToGraphDef(g(), def.get(), s());
  std::unique_ptr<TF_Graph, Deleter> other(TF_NewGraph());
  TF_GraphImportGraphDef(other.get(), def.get(), nullptr, s());
  EXPECT_EQ(TF_GetCode(s()), TF_INVALID_ARGUMENT) << "imports check names";
  TF_DeleteSession(session, s());
}

TEST_F(CApiTest, AnAttrSetTwiceWithAnotherValueIsRefused) {
  TF_Operation* x = Placeholder("x");
  TF_OperationDescription* d = TF_NewOperation(g(), "Identity", "same");
  TF_SetAttrType(d, "T", TF_INT32);
  TF_SetAttrType(d, "T", TF_INT32);
  TF_AddInput(d, {x, 0});
  Finish(d);
  d = TF_NewOperation(g(), "Identity", "differ");
  TF_SetAttrString(d, "_foo", "a", 1);
  TF_SetAttrString(d, "_foo", "b", 1);
  TF_AddInput(d, {x, 0});
  EXPECT_EQ(TF_FinishOperation(d, s()), nullptr);
  EXPECT_EQ(TF_GetCode(s()), TF_INVALID_ARGUMENT);
  EXPECT_EQ(message().find("Inconsistent values for attr '_foo' \"a\" vs. \"b\""
                           " while building NodeDef 'differ' using Op<name="),
            0u)
      << message();
}

// The groups of a node, "" for no attr.
std::string Groups(TF_Operation* op, TF_Status* s) {
  if (op == nullptr) return "no node";
  TF_AttrMetadata m = TF_OperationGetAttrMetadata(op, "_class", s);
  if (TF_GetCode(s) != TF_OK) return "";
  std::vector<void*> values(m.list_size);
  std::vector<size_t> lengths(m.list_size);
  std::string storage(m.total_size, ' '), all;
  TF_OperationGetAttrStringList(op, "_class", values.data(), lengths.data(),
                                static_cast<int>(m.list_size), storage.data(),
                                storage.size(), s);
  for (int64_t i = 0; i < m.list_size; ++i) {
    all.append(static_cast<char*>(values[i]), lengths[i]).append(" ");
  }
  return all;
}

TEST_F(CApiTest, AClassListTakesThePlaceOfWhatColocateWithSaid) {
  TF_Operation* x = Placeholder("x");
  TF_Operation* y = Placeholder("y");
  const void* const zz[] = {"loc:@zz"};
  const size_t length[] = {7};
  int made = 0;
  const auto begin = [&] {
    const std::string name = "n" + std::to_string(made++);
    TF_OperationDescription* d = TF_NewOperation(g(), "Identity", name.c_str());
    TF_AddInput(d, {x, 0});
    return d;
  };
  TF_OperationDescription* d = begin();
  TF_ColocateWith(d, x);
  TF_ColocateWith(d, y);
  TF_SetAttrStringList(d, "_class", zz, length, 1);
  EXPECT_EQ(Groups(Finish(d), s()), "loc:@zz ");
  d = begin();
  TF_SetAttrStringList(d, "_class", zz, length, 1);
  TF_ColocateWith(d, x);
  EXPECT_EQ(Groups(Finish(d), s()), "loc:@x loc:@zz ");
  d = begin();
  TF_ColocateWith(d, x);
  TF_SetAttrStringList(d, "_class", zz, length, 0);
  EXPECT_EQ(Groups(Finish(d), s()), "") << "an empty list clears";
  d = begin();
  TF_ColocateWith(d, x);
  TF_SetAttrValueProto(d, "_class", "\x0a\x09\x12\x07loc:@zz", 11, s());
  EXPECT_EQ(Groups(Finish(d), s()), "loc:@zz ");
  d = begin();
  TF_ColocateWith(d, x);
  TF_SetAttrValueProto(d, "_class", "\x0a\x00", 2, s());
  EXPECT_EQ(Groups(Finish(d), s()), "");
  d = begin();
  TF_ColocateWith(d, x);
  TF_SetAttrValueProto(d, "_class", "\x18\x05", 2, s());  // i: 5
  EXPECT_EQ(message(), "Expected \"list\" field for \"_class\" attribute");
  EXPECT_EQ(Groups(Finish(d), s()), "loc:@x ");
  d = begin();
  TF_ColocateWith(d, x);
  TF_SetAttrString(d, "_class", "abc", 3);
  EXPECT_EQ(TF_FinishOperation(d, s()), nullptr);
  EXPECT_EQ(TF_GetCode(s()), TF_INVALID_ARGUMENT);
}

TEST_F(CApiTest, NodesOfAnotherGraphHaveNoShapeInThis) {
  TF_Operation* x = Placeholder("x");
  TF_Operation* y = Add("y", x, x);
  std::unique_ptr<TF_Graph, Deleter> other(TF_NewGraph());
  EXPECT_EQ(TF_GraphGetTensorNumDims(other.get(), {x, 0}, s()), -1);
  EXPECT_EQ(TF_GetCode(s()), TF_INVALID_ARGUMENT);
  EXPECT_NE(message().find("Node x was not found in the graph"),
            std::string::npos);
  TF_GraphGetTensorShape(other.get(), {x, 0}, nullptr, 0, s());
  EXPECT_EQ(TF_GetCode(s()), TF_INVALID_ARGUMENT);
  TF_GraphSetTensorShape(other.get(), {x, 0}, nullptr, 0, s());
  EXPECT_EQ(TF_GetCode(s()), TF_INVALID_ARGUMENT);
  TF_UpdateEdge(other.get(), {x, 0}, {y, 0}, s());
  EXPECT_EQ(TF_GetCode(s()), TF_INVALID_ARGUMENT);
  EXPECT_EQ(TF_GraphGetTensorNumDims(g(), {x, 0}, s()), -1);
  EXPECT_EQ(TF_GetCode(s()), TF_OK) << message();
}

// As TensorFlow writes them: readers of GraphDefs look for int_val.
TEST_F(CApiTest, SmallConstantsAreWrittenInTheFieldOfTheirType) {
  const int64_t three[] = {3};
  Tensor vector(TF_AllocateTensor(TF_INT32, three, 1, 12));
  std::memset(TF_TensorData(vector.get()), 1, 12);
  struct {
    const char* name;
    TF_Tensor* value;
    std::string written;  // dtype, shape, and what follows
  } const cases[] = {
      {"scalar", Scalar(7).release(),
       std::string("\x08\x03\x12\x00:\x01\x07", 7)},
      {"vector", vector.release(),
       std::string("\x08\x03\x12\x04\x12\x02\x08\x03\"\x0c", 10)},
  };
  for (const auto& c : cases) {
    TF_OperationDescription* d = TF_NewOperation(g(), "Const", c.name);
    TF_SetAttrType(d, "dtype", TF_INT32);
    TF_SetAttrTensor(d, "value", c.value, s());
    TF_DeleteTensor(c.value);
    Finish(d);
    Buffer def(TF_NewBuffer());
    TF_GraphToGraphDef(g(), def.get(), s());
    EXPECT_NE(Bytes(def.get()).find(c.written), std::string::npos) << c.name;
  }
}

TEST_F(CApiTest, MessagesNameTheMessagesOfTensorFlow) {
  Buffer broken(TF_NewBufferFromString("\x0a\xff", 2));
  TF_DeprecatedSession* old = TF_NewDeprecatedSession(nullptr, s());
  TF_ExtendGraph(old, broken->data, broken->length, s());
  EXPECT_NE(message().find("a serialized GraphDef"), std::string::npos)
      << message();
  EXPECT_EQ(message().find("headrace"), std::string::npos) << message();
  TF_DeleteDeprecatedSession(old, s());
}

TEST_F(CApiTest, InputListsSetTheirAttrs) {
  TF_Operation* x = Placeholder("x");
  TF_Operation* f = Placeholder("f", TF_FLOAT);
  const TF_Output three[] = {{x, 0}, {x, 0}, {x, 0}};
  TF_OperationDescription* d = TF_NewOperation(g(), "AddN", "sum");
  TF_AddInputList(d, three, 3);
  TF_Operation* sum = Finish(d);
  EXPECT_EQ(TF_OperationInputListLength(sum, "inputs", s()), 3);
  EXPECT_EQ(TF_OperationInputListLength(sum, "nothing", s()), -1);
  EXPECT_EQ(TF_GetCode(s()), TF_INVALID_ARGUMENT);
  int64_t n = 0;
  TF_OperationGetAttrInt(sum, "N", &n, s());
  EXPECT_EQ(n, 3);

  const TF_Output mixed[] = {{x, 0}, {f, 0}};
  d = TF_NewOperation(g(), "IdentityN", "both");
  TF_AddInputList(d, mixed, 2);
  TF_Operation* both = Finish(d);
  EXPECT_EQ(TF_OperationOutputListLength(both, "output", s()), 2);
  EXPECT_EQ(TF_OperationOutputType({both, 1}), TF_FLOAT);

  d = TF_NewOperation(g(), "AddN", "wrong_count");
  TF_SetAttrInt(d, "N", 2);
  TF_AddInputList(d, three, 3);
  EXPECT_EQ(TF_FinishOperation(d, s()), nullptr);
  EXPECT_NE(message().find("'inputs'"), std::string::npos) << message();
  EXPECT_NE(message().find("'wrong_count'"), std::string::npos) << message();
  d = TF_NewOperation(g(), "Identity", "not_a_list");
  TF_AddInputList(d, three, 1);
  EXPECT_EQ(TF_FinishOperation(d, s()), nullptr);
  EXPECT_EQ(TF_GetCode(s()), TF_INVALID_ARGUMENT);
  EXPECT_NE(message().find("List provided to input 'input' when single Tensor"),
            std::string::npos)
      << message();
}

TEST_F(CApiTest, EdgesAreSeenFromBothEnds) {
  TF_Operation* x = Placeholder("x");
  TF_Operation* one = Const("one", 1);
  TF_OperationDescription* d = TF_NewOperation(g(), "Add", "sum");
  TF_SetDevice(d, "/device:CPU:0");
  TF_AddInput(d, {x, 0});
  TF_AddInput(d, {one, 0});
  TF_AddControlInput(d, x);
  TF_ColocateWith(d, one);
  TF_Operation* sum = Finish(d);
  EXPECT_STREQ(TF_OperationName(sum), "sum");
  EXPECT_STREQ(TF_OperationOpType(sum), "Add");
  EXPECT_STREQ(TF_OperationDevice(sum), "/device:CPU:0");
  ASSERT_EQ(TF_OperationNumInputs(sum), 2);
  EXPECT_EQ(TF_OperationNumOutputs(sum), 1);
  EXPECT_EQ(TF_OperationInputType({sum, 1}), TF_INT32);
  EXPECT_EQ(TF_OperationInputType({sum, 2}), 0);
  EXPECT_EQ(TF_OperationInput({sum, 1}).oper, one);
  EXPECT_EQ(TF_OperationInput({sum, 2}).oper, nullptr);
  TF_Output all[2];
  TF_OperationAllInputs(sum, all, 2);
  EXPECT_EQ(all[0].oper, x);

  EXPECT_EQ(TF_OperationOutputNumConsumers({x, 0}), 1);
  TF_Input consumer;
  EXPECT_EQ(TF_OperationOutputConsumers({x, 0}, &consumer, 1), 1);
  EXPECT_EQ(consumer.oper, sum);
  EXPECT_EQ(consumer.index, 0);
  TF_Operation* control = nullptr;
  ASSERT_EQ(TF_OperationNumControlInputs(sum), 1);
  EXPECT_EQ(TF_OperationGetControlInputs(sum, &control, 1), 1);
  EXPECT_EQ(control, x);
  ASSERT_EQ(TF_OperationNumControlOutputs(x), 1);
  EXPECT_EQ(TF_OperationGetControlOutputs(x, &control, 1), 1);
  EXPECT_EQ(control, sum);

  Buffer def(TF_NewBuffer());
  TF_OperationToNodeDef(sum, def.get(), s());
  ASSERT_EQ(TF_GetCode(s()), TF_OK) << message();
  for (const char* part : {"sum", "Add", "one", "^x", "loc:@one"}) {
    EXPECT_NE(Bytes(def.get()).find(part), std::string::npos) << part;
  }

  size_t pos = 0;
  std::vector<TF_Operation*> ops;
  while (TF_Operation* op = TF_GraphNextOperation(g(), &pos)) ops.push_back(op);
  EXPECT_EQ(ops, (std::vector<TF_Operation*>{x, one, sum}));
  EXPECT_EQ(TF_GraphOperationByName(g(), "sum"), sum);
  EXPECT_EQ(TF_GraphOperationByName(g(), "nope"), nullptr);

  TF_UpdateEdge(g(), {x, 0}, {sum, 1}, s());
  EXPECT_EQ(TF_GetCode(s()), TF_OK) << message();
  EXPECT_EQ(TF_OperationInput({sum, 1}).oper, x);
}

TEST_F(CApiTest, TensorShapesAreRefined) {
  TF_Operation* x = Placeholder("x");
  EXPECT_EQ(TF_GraphGetTensorNumDims(g(), {x, 0}, s()), -1);
  const int64_t dims[] = {2, -1}, more[] = {-1, 5}, wrong[] = {3, 5};
  TF_GraphSetTensorShape(g(), {x, 0}, dims, 2, s());
  EXPECT_EQ(TF_GetCode(s()), TF_OK) << message();
  TF_GraphSetTensorShape(g(), {x, 0}, more, 2, s());
  EXPECT_EQ(TF_GetCode(s()), TF_OK) << message();
  TF_GraphSetTensorShape(g(), {x, 0}, wrong, 2, s());
  EXPECT_EQ(TF_GetCode(s()), TF_INVALID_ARGUMENT);
  int64_t got[2] = {};
  TF_GraphGetTensorShape(g(), {x, 0}, got, 1, s());
  EXPECT_EQ(TF_GetCode(s()), TF_INVALID_ARGUMENT);
  TF_GraphGetTensorShape(g(), {x, 0}, got, 2, s());
  EXPECT_EQ(got[0], 2);
  EXPECT_EQ(got[1], 5);
}

TEST_F(CApiTest, ImportsWhatItExported) {
  Add("sum", Placeholder("x"), Const("two", 2));
  Buffer def(TF_NewBuffer());
  TF_GraphToGraphDef(g(), def.get(), s());
  ASSERT_EQ(TF_GetCode(s()), TF_OK) << message();
  TF_GraphToGraphDef(g(), def.get(), s());
  EXPECT_EQ(TF_GetCode(s()), TF_INVALID_ARGUMENT) << "the buffer is full";

  TF_GraphImportGraphDef(g(), def.get(), nullptr, s());
  EXPECT_EQ(TF_GetCode(s()), TF_INVALID_ARGUMENT) << "names are taken";
  TF_Operation* y = Placeholder("y");
  TF_ImportGraphDefOptions* o = TF_NewImportGraphDefOptions();
  TF_ImportGraphDefOptionsSetPrefix(o, "copy");
  TF_ImportGraphDefOptionsAddInputMapping(o, "x", 0, {y, 0});
  TF_ImportGraphDefOptionsAddInputMapping(o, "none", 3, {y, 0});
  TF_ImportGraphDefOptionsAddReturnOutput(o, "sum", 0);
  TF_ImportGraphDefOptionsAddReturnOperation(o, "two");
  TF_ImportGraphDefOptionsAddControlDependency(o, y);
  EXPECT_EQ(TF_ImportGraphDefOptionsNumReturnOutputs(o), 1);
  EXPECT_EQ(TF_ImportGraphDefOptionsNumReturnOperations(o), 1);
  TF_ImportGraphDefResults* r =
      TF_GraphImportGraphDefWithResults(g(), def.get(), o, s());
  ASSERT_EQ(TF_GetCode(s()), TF_OK) << message();
  int n = 0;
  TF_Output* outputs = nullptr;
  TF_Operation** operations = nullptr;
  TF_ImportGraphDefResultsReturnOutputs(r, &n, &outputs);
  ASSERT_EQ(n, 1);
  EXPECT_STREQ(TF_OperationName(outputs[0].oper), "copy/sum");
  EXPECT_EQ(TF_OperationInput({outputs[0].oper, 0}).oper, y);
  TF_ImportGraphDefResultsReturnOperations(r, &n, &operations);
  ASSERT_EQ(n, 1);
  EXPECT_STREQ(TF_OperationName(operations[0]), "copy/two");
  const char** names = nullptr;
  int* indexes = nullptr;
  TF_ImportGraphDefResultsMissingUnusedInputMappings(r, &n, &names, &indexes);
  ASSERT_EQ(n, 1);
  EXPECT_STREQ(names[0], "none");
  EXPECT_EQ(indexes[0], 3);
  TF_DeleteImportGraphDefResults(r);
  TF_DeleteImportGraphDefOptions(o);

  Buffer broken(TF_NewBufferFromString("\x0a\xff", 2));
  TF_GraphImportGraphDef(g(), broken.get(), nullptr, s());
  EXPECT_EQ(TF_GetCode(s()), TF_INVALID_ARGUMENT);
  TF_GraphImportGraphDef(g(), nullptr, nullptr, s());
  EXPECT_EQ(TF_GetCode(s()), TF_INVALID_ARGUMENT);
}

TEST_F(CApiTest, Functions) {
  // signature { name: "f" }
  const char def[] =
      "\x0a\x03\x0a\x01"
      "f";
  std::unique_ptr<TF_Function, Deleter> f(
      TF_FunctionImportFunctionDef(def, 5, s()));
  ASSERT_NE(f, nullptr) << message();
  EXPECT_STREQ(TF_FunctionName(f.get()), "f");
  TF_FunctionSetAttrValueProto(f.get(), "k", "\x18\x05", 2, s());
  Buffer value(TF_NewBuffer());
  TF_FunctionGetAttrValueProto(f.get(), "k", value.get(), s());
  EXPECT_EQ(Bytes(value.get()), "\x18\x05");
  TF_GraphCopyFunction(g(), f.get(), nullptr, s());
  EXPECT_EQ(TF_GetCode(s()), TF_OK) << message();
  ASSERT_EQ(TF_GraphNumFunctions(g()), 1);
  TF_Function* copy = nullptr;
  EXPECT_EQ(TF_GraphGetFunctions(g(), &copy, 1, s()), 1);
  EXPECT_STREQ(TF_FunctionName(copy), "f");
  TF_DeleteFunction(copy);
  EXPECT_EQ(TF_FunctionImportFunctionDef("\x0a", 1, s()), nullptr);
  EXPECT_EQ(TF_GetCode(s()), TF_INVALID_ARGUMENT);
}

TEST_F(CApiTest, RegistriesCanBeListed) {
  EXPECT_STREQ(TF_Version(), "1.15.5");
  Buffer ops(TF_GetAllOpList());
  EXPECT_NE(Bytes(ops.get()).find("Placeholder"), std::string::npos);
  Buffer kernels(TF_GetRegisteredKernelsForOp("Identity", s()));
  EXPECT_NE(Bytes(kernels.get()).find("CPU"), std::string::npos);
  Buffer none(TF_GetRegisteredKernelsForOp("NoSuchOp", s()));
  EXPECT_EQ(none->length, 0u);
  Buffer def(TF_NewBuffer());
  TF_GraphGetOpDef(g(), "Add", def.get(), s());
  EXPECT_EQ(TF_GetCode(s()), TF_OK) << message();
  Buffer unknown(TF_NewBuffer());
  TF_GraphGetOpDef(g(), "NoSuchOp", unknown.get(), s());
  EXPECT_EQ(TF_GetCode(s()), TF_NOT_FOUND);
  Buffer versions(TF_NewBuffer());
  TF_GraphVersions(g(), versions.get(), s());
  EXPECT_EQ(Bytes(versions.get()), "\x08\x86\x01");  // producer: 134
  EXPECT_EQ(TF_LoadLibrary("/no/such/library.so", s()), nullptr);
  EXPECT_EQ(TF_GetCode(s()), TF_NOT_FOUND);
  EXPECT_EQ(TF_LoadLibrary(nullptr, s()), nullptr);
}

}  // namespace
}  // namespace c_api_test
