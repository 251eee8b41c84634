// The C API: attributes of nodes.
#include <string>

#include "c_api/c_api_test_util.h"

namespace c_api_test {
namespace {

// Attributes that begin with "_" are free, so one node holds one of each kind.
TEST_F(CApiTest, AttrsRoundTrip) {
  TF_OperationDescription* d = TF_NewOperation(g(), "NoOp", "n");
  const void* strings[] = {"ab", "c"};
  const size_t lengths[] = {2, 1};
  const int64_t ints[] = {-1, 1ll << 40};
  const float floats[] = {0.5f, -2};
  const unsigned char bools[] = {1, 0};
  const TF_DataType types[] = {TF_HALF, TF_STRING};
  const int64_t dims[] = {3, -1};
  const int64_t* shapes[] = {dims, nullptr};
  const int ranks[] = {2, -1};
  TF_SetAttrString(d, "_s", "a\0b", 3);
  TF_SetAttrStringList(d, "_ls", strings, lengths, 2);
  TF_SetAttrInt(d, "_i", -7);
  TF_SetAttrIntList(d, "_li", ints, 2);
  TF_SetAttrFloat(d, "_f", 1.5f);
  TF_SetAttrFloatList(d, "_lf", floats, 2);
  TF_SetAttrBool(d, "_b", 1);
  TF_SetAttrBoolList(d, "_lb", bools, 2);
  TF_SetAttrType(d, "_t", TF_BOOL);
  TF_SetAttrTypeList(d, "_lt", types, 2);
  TF_SetAttrShape(d, "_shape", dims, 2);
  TF_SetAttrShapeList(d, "_lshape", shapes, ranks, 2);
  Tensor five = Scalar(5);
  TF_Tensor* tensors[] = {five.get(), five.get()};
  TF_SetAttrTensor(d, "_tensor", five.get(), s());
  TF_SetAttrTensorList(d, "_ltensor", tensors, 2, s());
  TF_SetAttrFuncName(d, "_func", "body", 4);
  TF_SetAttrValueProto(d, "_proto", "\x18\x05", 2, s());  // i: 5
  EXPECT_EQ(TF_GetCode(s()), TF_OK) << message();
  five.reset();  // the node has copies
  TF_Operation* n = Finish(d);
  ASSERT_NE(n, nullptr);

  const struct {
    const char* name;
    unsigned char is_list;
    int64_t list_size;
    TF_AttrType type;
    int64_t total_size;
  } metadata[] = {
      {"_s", 0, -1, TF_ATTR_STRING, 3},
      {"_ls", 1, 2, TF_ATTR_STRING, 3},
      {"_i", 0, -1, TF_ATTR_INT, -1},
      {"_li", 1, 2, TF_ATTR_INT, -1},
      {"_f", 0, -1, TF_ATTR_FLOAT, -1},
      {"_lf", 1, 2, TF_ATTR_FLOAT, -1},
      {"_b", 0, -1, TF_ATTR_BOOL, -1},
      {"_lb", 1, 2, TF_ATTR_BOOL, -1},
      {"_t", 0, -1, TF_ATTR_TYPE, -1},
      {"_lt", 1, 2, TF_ATTR_TYPE, -1},
      {"_shape", 0, -1, TF_ATTR_SHAPE, 2},
      {"_lshape", 1, 2, TF_ATTR_SHAPE, 2},
      {"_tensor", 0, -1, TF_ATTR_TENSOR, -1},
      {"_ltensor", 1, 2, TF_ATTR_TENSOR, -1},
      {"_func", 0, -1, TF_ATTR_FUNC, -1},
      {"_proto", 0, -1, TF_ATTR_INT, -1},
  };
  for (const auto& want : metadata) {
    const TF_AttrMetadata m = TF_OperationGetAttrMetadata(n, want.name, s());
    EXPECT_EQ(TF_GetCode(s()), TF_OK) << message();
    EXPECT_EQ(m.is_list, want.is_list) << want.name;
    EXPECT_EQ(m.list_size, want.list_size) << want.name;
    EXPECT_EQ(m.type, want.type) << want.name;
    EXPECT_EQ(m.total_size, want.total_size) << want.name;
  }

  char text[3];
  TF_OperationGetAttrString(n, "_s", text, 3, s());
  EXPECT_EQ(std::string(text, 3), std::string("a\0b", 3));
  void* values[2];
  size_t sizes[2];
  TF_OperationGetAttrStringList(n, "_ls", values, sizes, 2, text, 2, s());
  EXPECT_EQ(TF_GetCode(s()), TF_INVALID_ARGUMENT) << "storage is too small";
  TF_OperationGetAttrStringList(n, "_ls", values, sizes, 2, text, 3, s());
  EXPECT_EQ(std::string(static_cast<char*>(values[1]), sizes[1]), "c");
  int64_t i = 0, li[2] = {};
  TF_OperationGetAttrInt(n, "_i", &i, s());
  EXPECT_EQ(i, -7);
  TF_OperationGetAttrInt(n, "_proto", &i, s());
  EXPECT_EQ(i, 5);
  TF_OperationGetAttrIntList(n, "_li", li, 2, s());
  EXPECT_EQ(li[1], 1ll << 40);
  float f = 0, lf[2] = {};
  TF_OperationGetAttrFloat(n, "_f", &f, s());
  EXPECT_EQ(f, 1.5f);
  TF_OperationGetAttrFloatList(n, "_lf", lf, 1, s());
  EXPECT_EQ(lf[0], 0.5f);
  EXPECT_EQ(lf[1], 0) << "only one was asked for";
  unsigned char b = 0, lb[2] = {};
  TF_OperationGetAttrBool(n, "_b", &b, s());
  EXPECT_EQ(b, 1);
  TF_OperationGetAttrBoolList(n, "_lb", lb, 2, s());
  EXPECT_EQ(lb[0], 1);
  TF_DataType t, lt[2];
  TF_OperationGetAttrType(n, "_t", &t, s());
  EXPECT_EQ(t, TF_BOOL);
  TF_OperationGetAttrTypeList(n, "_lt", lt, 2, s());
  EXPECT_EQ(lt[1], TF_STRING);
  TF_OperationGetAttrShape(n, "_shape", li, 2, s());
  EXPECT_EQ(li[0], 3);
  EXPECT_EQ(li[1], -1);
  int64_t* got_dims[2];
  int got_ranks[2];
  TF_OperationGetAttrShapeList(n, "_lshape", got_dims, got_ranks, 2, li, 2,
                               s());
  EXPECT_EQ(got_ranks[0], 2);
  EXPECT_EQ(got_ranks[1], -1);
  EXPECT_EQ(got_dims[0][0], 3);
  TF_Tensor* tensor = nullptr;
  TF_OperationGetAttrTensor(n, "_tensor", &tensor, s());
  EXPECT_EQ(Value(tensor), 5);
  TF_DeleteTensor(tensor);
  TF_Tensor* list[2] = {};
  TF_OperationGetAttrTensorList(n, "_ltensor", list, 2, s());
  EXPECT_EQ(Value(list[1]), 5);
  TF_DeleteTensor(list[0]);
  TF_DeleteTensor(list[1]);
  Buffer value(TF_NewBuffer());
  TF_OperationGetAttrValueProto(n, "_proto", value.get(), s());
  EXPECT_EQ(Bytes(value.get()), "\x18\x05");
  Buffer shape(TF_NewBuffer());
  TF_OperationGetAttrTensorShapeProto(n, "_shape", shape.get(), s());
  EXPECT_EQ(TF_GetCode(s()), TF_OK) << message();
  EXPECT_GT(shape->length, 0u);

  ASSERT_EQ(TF_OperationGetNumAttrs(n), 16);
  EXPECT_EQ(TF_OperationGetAttrNameLength(n, 0), 2);
  char name[2];
  TF_OperationGetAttrName(n, 0, name, s());
  EXPECT_EQ(std::string(name, 2), "_b");
  EXPECT_EQ(TF_OperationGetAttrNameLength(n, 16), -1);

  TF_OperationGetAttrInt(n, "_f", &i, s());
  EXPECT_EQ(TF_GetCode(s()), TF_INVALID_ARGUMENT);
  EXPECT_NE(message().find("'_f' of node 'n' is a float"), std::string::npos)
      << message();
  TF_OperationGetAttrInt(n, "nope", &i, s());
  EXPECT_EQ(TF_GetCode(s()), TF_NOT_FOUND);
  EXPECT_EQ(message(), "No attr named 'nope' in NodeDef: {{node n}}");
  TF_Tensor* none[1];
  TF_OperationGetAttrTensorList(n, "nope", none, 1, s());
  EXPECT_EQ(TF_GetCode(s()), TF_NOT_FOUND);
  TF_OperationGetAttrIntList(n, "nope", &i, 1, s());
  EXPECT_EQ(TF_GetCode(s()), TF_INVALID_ARGUMENT);
  TF_OperationGetAttrString(n, "nope", name, 2, s());
  EXPECT_EQ(TF_GetCode(s()), TF_INVALID_ARGUMENT);
  EXPECT_EQ(message(), "Operation 'n' has no attr named 'nope'.");
}

TEST_F(CApiTest, BadAttrsAreReportedAtTheEnd) {
  TF_OperationDescription* d = TF_NewOperation(g(), "NoOp", "n");
  TF_SetAttrShape(d, "_shape", nullptr, 1);
  EXPECT_EQ(TF_FinishOperation(d, s()), nullptr);
  EXPECT_NE(message().find("'_shape'"), std::string::npos) << message();
  d = TF_NewOperation(g(), "NoOp", "n");
  TF_SetAttrType(d, "_t", static_cast<TF_DataType>(77));
  EXPECT_EQ(TF_FinishOperation(d, s()), nullptr);
  d = TF_NewOperation(g(), "NoOp", "n");
  TF_SetAttrIntList(d, "_li", nullptr, 4);
  EXPECT_EQ(TF_FinishOperation(d, s()), nullptr);
}

// The client has been told, and may go on.
TEST_F(CApiTest, ASetAttrThatFailedLeavesTheDescriptionAsItWas) {
  TF_OperationDescription* d = TF_NewOperation(g(), "Placeholder", "p");
  TF_SetAttrType(d, "dtype", TF_FLOAT);
  TF_SetAttrValueProto(d, "shape", "\x18", 1, s());
  EXPECT_EQ(TF_GetCode(s()), TF_INVALID_ARGUMENT);
  TF_SetAttrTensorShapeProto(d, "shape", "\xff", 1, s());
  EXPECT_EQ(TF_GetCode(s()), TF_INVALID_ARGUMENT);
  EXPECT_NE(message().find("'shape'"), std::string::npos) << message();
  TF_SetAttrTensorShapeProto(d, "shape", "\x12\x02\x08\x03", 4, s());  // [3]
  EXPECT_EQ(TF_GetCode(s()), TF_OK) << message();
  TF_Operation* p = Finish(d);
  ASSERT_NE(p, nullptr);
  int64_t dim = 0;
  TF_GraphGetTensorShape(g(), {p, 0}, &dim, 1, s());
  EXPECT_EQ(dim, 3);

  d = TF_NewOperation(g(), "Const", "c");
  TF_SetAttrType(d, "dtype", TF_FLOAT);
  TF_SetAttrTensor(d, "value", nullptr, s());
  EXPECT_EQ(TF_GetCode(s()), TF_INVALID_ARGUMENT);
  EXPECT_EQ(TF_FinishOperation(d, s()), nullptr);
  EXPECT_NE(message().find("missing attr 'value'"), std::string::npos)
      << message();
}

TEST_F(CApiTest, AnyNegativeSizeOfAnAttrsShapeIsUnknown) {
  const int64_t dims[] = {-3, 2};
  TF_OperationDescription* d = TF_NewOperation(g(), "Placeholder", "p");
  TF_SetAttrType(d, "dtype", TF_FLOAT);
  TF_SetAttrShape(d, "shape", dims, 2);
  TF_Operation* p = Finish(d);
  ASSERT_NE(p, nullptr);
  int64_t got[2] = {};
  TF_GraphGetTensorShape(g(), {p, 0}, got, 2, s());
  EXPECT_EQ(got[0], -1);
  EXPECT_EQ(got[1], 2);

  d = TF_NewOperation(g(), "Placeholder", "q");
  TF_SetAttrType(d, "dtype", TF_FLOAT);
  TF_SetAttrTensorShapeProto(
      d, "shape", "\x12\x0b\x08\xfd\xff\xff\xff\xff\xff\xff\xff\xff\x01", 13,
      s());
  EXPECT_EQ(TF_GetCode(s()), TF_OK) << message();
  TF_Operation* q = Finish(d);
  ASSERT_NE(q, nullptr);
  TF_GraphGetTensorShape(g(), {q, 0}, got, 1, s());
  EXPECT_EQ(got[0], -1);
}

TEST_F(CApiTest, ListsOfSerializedShapes) {
  TF_OperationDescription* d = TF_NewOperation(g(), "NoOp", "n");
  const void* const protos[] = {"\x12\x02\x08\x03", "\x18\x01"};  // [3], ?
  const size_t lengths[] = {4, 2}, cut[] = {3, 2};
  TF_SetAttrTensorShapeProtoList(d, "_l", protos, cut, 2, s());
  EXPECT_EQ(TF_GetCode(s()), TF_INVALID_ARGUMENT);
  EXPECT_NE(message().find("'_l'"), message().npos) << message();
  TF_SetAttrTensorShapeProtoList(d, "_l", protos, lengths, 2, s());
  EXPECT_EQ(TF_GetCode(s()), TF_OK) << message();
  TF_SetAttrTensorShapeProtoList(d, "_none", nullptr, nullptr, 0, s());
  EXPECT_EQ(TF_GetCode(s()), TF_OK) << message();
  TF_Operation* const n = Finish(d);
  TF_Buffer* got[2] = {};
  TF_OperationGetAttrTensorShapeProtoList(n, "_l", got, 2, s());
  ASSERT_EQ(TF_GetCode(s()), TF_OK) << message();
  for (int i = 0; i < 2; ++i) {
    const Buffer owned(got[i]);
    EXPECT_EQ(Bytes(got[i]),
              std::string(static_cast<const char*>(protos[i]), lengths[i]));
  }
}

// A placeholder stands for an attr of a function that the node will be in.
// Until then nothing may depend on it; the codes are TensorFlow's.
TEST_F(CApiTest, AnAttrMayBeAPlaceholderIfNothingDependsOnIt) {
  const TF_Output c = {Const("c", 3), 0};
  struct Case {
    const char *op, *attr;
    int inputs = 0;
    const char* type_attr = nullptr;  // float
    const char* error = nullptr;
  };
  int made = 0;
  for (const Case& k : {
           Case{"Placeholder", "dtype"},
           Case{"NoOp", "_x"},
           Case{"NoOp", "x"},
           Case{"Cast", "DstT", 1},
           Case{"Cast", "Truncate", 1, "DstT"},
           Case{"Sum", "keep_dims", 2, nullptr, "'placeholder'"},
           Case{"Placeholder", "shape", 0, "dtype", "'placeholder'"},
           Case{"Identity", "T", 1, nullptr, "'placeholder' for attr 'T'"},
           Case{"Split", "num_split", 2, nullptr, "'num_split'"},
       }) {
    SCOPED_TRACE(std::string(k.op) + " " + k.attr);
    const std::string name = "n" + std::to_string(made++);
    TF_OperationDescription* d = TF_NewOperation(g(), k.op, name.c_str());
    for (int i = 0; i < k.inputs; ++i) TF_AddInput(d, c);
    if (k.type_attr != nullptr) TF_SetAttrType(d, k.type_attr, TF_FLOAT);
    TF_SetAttrPlaceholder(d, k.attr, "A");
    TF_Operation* const op = TF_FinishOperation(d, s());
    ASSERT_EQ(op == nullptr, k.error != nullptr) << message();
    if (k.error != nullptr) {
      EXPECT_EQ(TF_GetCode(s()), TF_INVALID_ARGUMENT);
      EXPECT_NE(message().find(k.error), message().npos) << message();
      continue;
    }
    const TF_AttrMetadata m = TF_OperationGetAttrMetadata(op, k.attr, s());
    EXPECT_EQ(m.type, TF_ATTR_PLACEHOLDER);
    Buffer value(TF_NewBuffer());
    TF_OperationGetAttrValueProto(op, k.attr, value.get(), s());
    EXPECT_EQ(Bytes(value.get()), "J\1A");
  }
}

TEST_F(CApiTest, ANodeWithAPlaceholderIsNotRun) {
  TF_Operation* const c = Const("c", 3);
  TF_OperationDescription* d = TF_NewOperation(g(), "Placeholder", "p");
  TF_SetAttrPlaceholder(d, "dtype", "T");
  TF_Operation* const p = Finish(d);
  EXPECT_EQ(TF_OperationOutputType({p, 0}), 0);
  d = TF_NewOperation(g(), "Identity", "i");
  TF_AddInput(d, {p, 0});
  EXPECT_EQ(TF_FinishOperation(d, s()), nullptr) << "of which type?";
  EXPECT_EQ(TF_GetCode(s()), TF_INVALID_ARGUMENT) << message();
  d = TF_NewOperation(g(), "NoOp", "n");
  TF_SetAttrPlaceholder(d, "_x", "T");
  TF_Operation* const n = Finish(d);
  TF_Session* const session = NewSession();
  EXPECT_EQ(Value(Run(session, nullptr, nullptr, c).get()), 3);
  EXPECT_EQ(Run(session, nullptr, nullptr, p), nullptr);
  EXPECT_EQ(TF_GetCode(s()), TF_INVALID_ARGUMENT);
  EXPECT_NE(message().find("'placeholder' for attr 'dtype'"), message().npos)
      << message();
  EXPECT_NE(message().find("{{node p}}"), message().npos) << message();
  EXPECT_EQ(Run(session, p, Scalar(3).get(), p), nullptr);
  EXPECT_EQ(TF_GetCode(s()), TF_INVALID_ARGUMENT) << message();
  const TF_Operation* const targets[] = {n};
  TF_SessionRun(session, nullptr, nullptr, nullptr, 0, nullptr, nullptr, 0,
                targets, 1, nullptr, s());
  EXPECT_EQ(TF_GetCode(s()), TF_OK) << message();
  TF_DeleteSession(session, s());
}

}  // namespace
}  // namespace c_api_test
