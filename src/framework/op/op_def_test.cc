#include "headrace/op_def.h"

#include <gtest/gtest.h>

#include "framework/kernel/op_tester.h"
#include "framework/op/tensor_proto.h"
#include "headrace/op.h"

namespace headrace {
namespace {

REGISTER_OP("OpDefTestMany")
    .Input("values: N * T")
    .Input("handle: Ref(string)")
    .Input("rest: Tlist")
    .Output("out: T")
    .Output("refs: Ref(T)")
    .Attr("N: int >= 2")
    .Attr("T: {float, int32} = DT_FLOAT")
    .Attr("Tlist: list(type)")
    .Attr("strides: list(int) = [1, -2, 3]")
    .Attr("padding: {'SAME', \"VALID\"} = 'SAME'")
    .SetIsStateful();

REGISTER_OP("OpDefTestBad").Input("x: Q");

struct AttrCase {
  const char* spec;
  const char* type;
  AttrValue default_value;  // unset: none
};

TEST(ParseAttrSpec, ReadsTypesAndDefaults) {
  const AttrCase cases[] = {
      {"a: int", "int", {}},
      {"a: int >= -5 = -3", "int", int64_t{-3}},
      {"a:float=1e-4", "float", 1e-4f},
      {"a: float = -inf", "float", -INFINITY},
      {"a: bool = true", "bool", true},
      {"a: string = 'it\\'s'", "string", "it's"},
      {"a: string = \"\"", "string", ""},
      {"a: type = DT_HALF", "type", DT_HALF},
      {"a: type = int64", "type", DT_INT64},
      {"a: realnumbertype = DT_UINT64", "type", DT_UINT64},
      {"a: {numbertype, variant} = DT_VARIANT", "type", DT_VARIANT},
      {"a: shape = {}", "shape", PartialTensorShape::Scalar()},
      {"a: shape = { unknown_rank: true }", "shape", PartialTensorShape()},
      // As protobuf's text format may also say it.
      {"a: shape = { dim: {size: 3 name: 'x'} unknown_rank: false }", "shape",
       PartialTensorShape({3})},
      {"a: shape = {dim{size:2}dim{size:-1}}", "shape",
       PartialTensorShape({2, -1})},
      {"a: shape = { dim { size: 2 } dim { size: -1 } }", "shape",
       PartialTensorShape({2, -1})},
      {"a: list(int) >= 1 = [1, 2]", "list(int)", std::vector<int64_t>{1, 2}},
      {"a: list(float) = []", "list(float)", AttrValue::EmptyList()},
      {"a: list(bool) = [true, false]", "list(bool)",
       std::vector<bool>{true, false}},
      {"a: list({float, int32}) >= 1 = [DT_INT32]", "list(type)",
       std::vector<DataType>{DT_INT32}},
      {"a: list({'x', 'y'}) = ['y']", "list(string)",
       std::vector<std::string>{"y"}},
      {"a: list(shape) = [{}, {dim {size: 3}}]", "list(shape)",
       std::vector<PartialTensorShape>{PartialTensorShape::Scalar(), {3}}},
      {"a: tensor = { dtype: DT_INT32 int_val: 7 }", "tensor",
       MakeScalar<int32_t>(7)},
      {"a: func", "func", {}},
      {"a: func = { name: 'f' }", "func", NameAttrList{"f", nullptr}},
      {"a: list(func) = []", "list(func)", AttrValue::EmptyList()},
  };
  for (const AttrCase& c : cases) {
    OpDef::Attr attr;
    ASSERT_EQ(ParseAttrSpec(c.spec, &attr), OkStatus()) << c.spec;
    EXPECT_STREQ(AttrTypeName(attr.type), c.type) << c.spec;
    EXPECT_EQ(attr.default_value.value_or(AttrValue()), c.default_value)
        << c.spec;
  }
}

TEST(ParseAttrSpec, RefusesMalformedSpecs) {
  for (const char* spec : {"",
                           "a",
                           "a:",
                           "a: integer",
                           "a: int = x",
                           "a: int >= 3 = 2",
                           "a: {float = DT_FLOAT",
                           "a: list(int = [1]",
                           "a: list(int) = [1",
                           "a: string = 'x",
                           "a: {'x'} = 'z'",
                           "a: {float} = DT_INT32",
                           "a: float >= 1",
                           "a: shape = { dim { size: -2 } }",
                           "a: shape = { dim { size: } }",
                           "a: shape = { dim { size: 2 }",
                           "a: shape = { unknown_rank: true",
                           "a: shape = { rank: 2 }",
                           "a: int = 1 2",
                           "a: bool = maybe",
                           "a: tensor = { dtype: DT_FLOAT tensor_content: 'x'}",
                           "a: int = 99999999999999999999"}) {
    OpDef::Attr attr;
    EXPECT_FALSE(ParseAttrSpec(spec, &attr).ok()) << spec;
  }
}

TEST(OpRegistry, ParsesOnFirstLookUp) {
  const OpDef* def = nullptr;
  ASSERT_EQ(OpRegistry::Global()->LookUp("OpDefTestMany", &def), OkStatus());
  EXPECT_TRUE(def->is_stateful);
  EXPECT_EQ(def->DebugString(),
            "Op<name=OpDefTestMany; signature=values:N*T, "
            "handle:Ref(string), rest:Tlist -> out:T, refs:Ref(T); "
            "attr=N:int,min=2; "
            "attr=T:type,default=DT_FLOAT,allowed=[DT_FLOAT, DT_INT32]; "
            "attr=Tlist:list(type),min=1; "
            "attr=strides:list(int),default=[1, -2, 3]; "
            "attr=padding:string,default=\"SAME\",allowed=[\"SAME\", "
            "\"VALID\"]; is_stateful=true>");
  ExpectError(OpRegistry::Global()->LookUp("NoSuchOp", &def),
              absl::StatusCode::kNotFound, "Op type not registered 'NoSuchOp'");
  ExpectError(OpRegistry::Global()->LookUp("OpDefTestBad", &def),
              absl::StatusCode::kInternal, "'Q' is neither a type");
}

TEST(OpRegistry, EveryOpOfTheLibraryParses) {
  for (const OpDef* def : OpRegistry::Global()->All()) {
    pb::OpDef proto;
    OpDefToProto(*def, &proto);
    OpDef back;
    ASSERT_EQ(OpDefFromProto(proto, &back), OkStatus()) << def->name;
    EXPECT_EQ(back.DebugString(), def->DebugString());
  }
}

TEST(OpRegistry, RegistersAtRunTime) {
  OpDef def;
  def.name = "OpDefTestRunTime";
  def.outputs.push_back({.name = "y", .type = DT_FLOAT});
  ASSERT_EQ(OpRegistry::Global()->Register(def), OkStatus());
  EXPECT_EQ(OpRegistry::Global()->Register(def), OkStatus());
  def.is_stateful = true;
  ExpectError(OpRegistry::Global()->Register(def),
              absl::StatusCode::kAlreadyExists, "OpDefTestRunTime");
}

TEST(InOutTypes, ExpandsListsAndMarksReferences) {
  const OpDef* def = OpRegistry::Global()->Find("OpDefTestMany");
  AttrMap attrs{{"N", 2},
                {"Tlist", std::vector<DataType>{DT_BOOL, DT_INT64}},
                {"_any", "x"}};
  AddDefaultAttrs(*def, &attrs);
  DataTypeVector in, out;
  ASSERT_EQ(InOutTypes(*def, attrs, &in, &out), OkStatus());
  EXPECT_EQ(in, (DataTypeVector{DT_FLOAT, DT_FLOAT, DT_STRING_REF, DT_BOOL,
                                DT_INT64}));
  EXPECT_EQ(out, (DataTypeVector{DT_FLOAT, DT_FLOAT_REF}));
  std::vector<ArgRange> ranges;
  ASSERT_EQ(ArgRanges(def->inputs, *def, attrs, &ranges), OkStatus());
  ASSERT_EQ(ranges.size(), 3u);
  EXPECT_EQ(ranges[2].begin, 3);
  EXPECT_EQ(ranges[2].end, 5);
}

TEST(ValidateAttrs, NamesEveryProblemAtOnce) {
  const OpDef* def = OpRegistry::Global()->Find("OpDefTestMany");
  const AttrMap attrs{{"N", 1},
                      {"T", DT_STRING},
                      {"padding", "FULL"},
                      {"strides", 4},
                      {"zork", 1}};
  const Status s = ValidateAttrs(*def, attrs);
  for (const char* part :
       {"Value for attr 'N' of 1 must be at least minimum 2",
        "Value for attr 'T' of string is not in the list of allowed values: "
        "float, int32",
        "\"FULL\" is not in the list", "missing attr 'Tlist'",
        "with type 'int' when 'list(int)' expected for attr 'strides'",
        "NodeDef mentions attr 'zork' not in Op<name=OpDefTestMany"}) {
    ExpectError(s, absl::StatusCode::kInvalidArgument, part);
  }
}

TEST(ValidateAttrs, RefusesHostileValues) {
  const OpDef* def = OpRegistry::Global()->Find("OpDefTestMany");
  AttrMap attrs{{"N", int64_t{1} << 60},
                {"Tlist", std::vector<DataType>{DT_FLOAT}}};
  AddDefaultAttrs(*def, &attrs);
  DataTypeVector in, out;
  ExpectError(InOutTypes(*def, attrs, &in, &out),
              absl::StatusCode::kInvalidArgument, "at most");
  attrs.Set("N", std::numeric_limits<int64_t>::max());
  ExpectError(InOutTypes(*def, attrs, &in, &out),
              absl::StatusCode::kInvalidArgument, "at most");
  std::vector<ArgRange> ranges;
  ExpectError(ArgRanges(def->inputs, *def, attrs, &ranges),
              absl::StatusCode::kInvalidArgument, "at most");
  attrs.Set("N", 2);
  attrs.Set("Tlist", std::vector<DataType>{static_cast<DataType>(77)});
  ExpectError(ValidateAttrs(*def, attrs), absl::StatusCode::kInvalidArgument,
              "invalid DataType enum: 77");
  attrs.Set("Tlist", std::vector<DataType>{DT_FLOAT_REF});
  ExpectError(ValidateAttrs(*def, attrs), absl::StatusCode::kInvalidArgument,
              "reference type");
}

}  // namespace
}  // namespace headrace
