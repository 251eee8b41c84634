#include "framework/op/tensor_proto.h"

#include <google/protobuf/text_format.h>
#include <gtest/gtest.h>

#include "framework/kernel/op_tester.h"

namespace headrace {
namespace {

pb::TensorProto Parse(const std::string& text) {
  pb::TensorProto proto;
  EXPECT_TRUE(google::protobuf::TextFormat::ParseFromString(text, &proto))
      << text;
  return proto;
}
std::string Shape(std::initializer_list<int64_t> dims) {
  std::string s = " tensor_shape {";
  for (int64_t d : dims) StrAppend(&s, " dim { size: ", d, " }");
  return s + " } ";
}

TEST(TensorFromProto, ReadsTypedValues) {
  const struct {
    std::string proto;
    Tensor want;
  } cases[] = {
      {"dtype: DT_FLOAT" + Shape({3}) + "float_val: [1, 2]",
       MakeTensor<float>({3}, {1, 2, 2})},
      {"dtype: DT_FLOAT" + Shape({2}) + "float_val: [1, 2, 3]",
       MakeTensor<float>({2}, {1, 2})},
      {"dtype: DT_FLOAT" + Shape({2}), MakeTensor<float>({2}, {0, 0})},
      {"dtype: DT_FLOAT float_val: 4", MakeScalar(4.0f)},
      {"dtype: DT_FLOAT tensor_shape { unknown_rank: true } float_val: 4",
       MakeScalar(4.0f)},
      {"dtype: DT_FLOAT" + Shape({1}) + "double_val: 4",  // not its field
       MakeTensor<float>({1}, {0})},
      {"dtype: DT_INT8" + Shape({1}) + "int_val: 300",
       MakeTensor<int8_t>({1}, {44})},
      {"dtype: DT_UINT16" + Shape({1}) + "int_val: -1",
       MakeTensor<uint16_t>({1}, {65535})},
      {"dtype: DT_BOOL" + Shape({2}) + "bool_val: true",
       MakeTensor<bool>({2}, {true, true})},
      {"dtype: DT_STRING" + Shape({2}) + "string_val: ['a', 'b']",
       MakeTensor<tstring>({2}, {"a", "b"})},
      {"dtype: DT_COMPLEX64" + Shape({2}) + "scomplex_val: [1, 2, 3]",
       MakeTensor<complex64>({2}, {{1, 2}, {1, 2}})},
      {"dtype: DT_HALF" + Shape({1}) + "half_val: 15360",
       MakeTensor<half>({1}, {half(1.0f)})},
      {"dtype: DT_BFLOAT16" + Shape({1}) + "half_val: 16256",
       MakeTensor<bfloat16>({1}, {bfloat16(1.0f)})},
      {"dtype: DT_UINT64 uint64_val: 18446744073709551615",
       MakeScalar<uint64_t>(~uint64_t{0})},
      {"dtype: DT_INT64" + Shape({0, 7}) + "int64_val: 5",
       MakeTensor<int64_t>({0, 7}, {})},
      // Content wins over values.
      {"dtype: DT_INT32 tensor_content: '\\001\\000\\000\\000' int_val: 9",
       MakeScalar<int32_t>(1)},
      {"dtype: DT_BOOL" + Shape({3}) + "tensor_content: '\\000\\001\\377'",
       MakeTensor<bool>({3}, {false, true, true})},
      {"dtype: DT_STRING" + Shape({2}) + "tensor_content: '\\001\\002abc'",
       MakeTensor<tstring>({2}, {"a", "bc"})},
  };
  for (const auto& c : cases) {
    Tensor t;
    ASSERT_EQ(TensorFromProto(Parse(c.proto), &t), OkStatus()) << c.proto;
    SCOPED_TRACE(c.proto);
    ExpectEqual(t, c.want);
  }
}

TEST(TensorFromProto, RefusesWhatDoesNotFit) {
  const struct {
    std::string proto;
    const char* part;
  } cases[] = {
      {"float_val: 1", "dtype 0"},
      {"dtype: DT_FLOAT_REF", "dtype 101"},
      {"dtype: DT_FLOAT8_E5M2", "dtype 24"},
      {"dtype: DT_FLOAT" + Shape({-1}), "size -1"},
      {"dtype: DT_FLOAT" + Shape({int64_t{1} << 40, int64_t{1} << 40}), ""},
      {"dtype: DT_FLOAT" + Shape({int64_t{1} << 62}), ""},
      {"dtype: DT_FLOAT" + Shape({int64_t{1} << 62}) + "tensor_content: 'abcd'",
       "tensor_content has 4 bytes"},
      {"dtype: DT_INT32" + Shape({2}) + "tensor_content: 'abcd'",
       "tensor_content has 4 bytes, int32 of shape [2] has 8"},
      {"dtype: DT_INT32 tensor_content: 'abcdefgh'", "8 bytes"},
      {"dtype: DT_STRING" + Shape({2}) + "tensor_content: '\\001\\003abc'",
       "3 bytes for elements of 4"},
      {"dtype: DT_STRING" + Shape({2}) + "tensor_content: '\\377'", ""},
      {"dtype: DT_STRING" + Shape({1}) + "tensor_content: '\\377'",
       "bad length"},
      {"dtype: DT_STRING" + Shape({int64_t{1} << 60}) +
           "tensor_content: '\\001'",
       "too short"},
      {"dtype: DT_VARIANT variant_val { type_name: 'mystery' }", "mystery"},
  };
  for (const auto& c : cases) {
    Tensor t;
    const Status s = TensorFromProto(Parse(c.proto), &t);
    EXPECT_FALSE(s.ok()) << c.proto;
    EXPECT_NE(s.message().find(c.part), absl::string_view::npos)
        << c.proto << "\n"
        << s;
  }
  pb::TensorProto deep = Parse("dtype: DT_FLOAT");
  for (int i = 0; i < 255; ++i) {
    deep.mutable_tensor_shape()->add_dim()->set_size(1);
  }
  Tensor t;
  EXPECT_FALSE(TensorFromProto(deep, &t).ok());
}

TEST(TensorToProto, RoundTrips) {
  ResourceHandle handle;
  handle.name = "v";
  handle.dtypes_and_shapes.push_back({DT_FLOAT, {2, -1}});
  for (const Tensor& t :
       {MakeTensor<float>({2, 1}, {1, -2}), MakeScalar<tstring>("x\0y"),
        MakeTensor<complex128>({1}, {{1, 2}}), MakeTensor<bool>({0}, {}),
        MakeTensor<uint32_t>({2}, {1, 4000000000u})}) {
    pb::TensorProto proto;
    TensorToProto(t, &proto);
    Tensor back;
    ASSERT_EQ(TensorFromProto(proto, &back), OkStatus());
    ExpectEqual(back, t);
  }
  Tensor t(DT_RESOURCE, TensorShape({}));
  t.scalar<ResourceHandle>() = handle;
  pb::TensorProto proto;
  TensorToProto(t, &proto);
  Tensor back;
  ASSERT_EQ(TensorFromProto(proto, &back), OkStatus());
  EXPECT_EQ(back.scalar<ResourceHandle>().name, "v");
  EXPECT_EQ(back.scalar<ResourceHandle>().dtypes_and_shapes[0].shape,
            PartialTensorShape({2, -1}));
}

TEST(AttrValueFromProto, RoundTripsEveryKind) {
  auto inner = std::make_shared<AttrMap>();
  inner->Set("T", DT_INT32);
  for (const AttrValue& v :
       {AttrValue("s"),
        AttrValue(int64_t{-1} << 62),
        AttrValue(1.5f),
        AttrValue(true),
        AttrValue(DT_HALF),
        AttrValue(PartialTensorShape({1, -1})),
        AttrValue(PartialTensorShape()),
        AttrValue(MakeScalar(3.0)),
        AttrValue(NameAttrList{"f", inner}),
        AttrValue(std::vector<std::string>{"a", ""}),
        AttrValue(std::vector<int64_t>{1, 2}),
        AttrValue(std::vector<float>{0.5f}),
        AttrValue(std::vector<bool>{true, false}),
        AttrValue(std::vector<DataType>{DT_INT8}),
        AttrValue(std::vector<PartialTensorShape>{{2}}),
        AttrValue(std::vector<Tensor>{MakeScalar(1.0f)}),
        AttrValue(std::vector<NameAttrList>{{"g", nullptr}}),
        AttrValue(AttrValue::EmptyList()),
        AttrValue(std::vector<int64_t>{}),
        AttrValue(AttrValue::Placeholder{"T"}),
        AttrValue()}) {
    pb::AttrValue proto;
    AttrValueToProto(v, &proto);
    AttrValue back;
    ASSERT_EQ(AttrValueFromProto(proto, &back), OkStatus());
    EXPECT_EQ(back, v) << v.TypeName();
  }
  pb::AttrValue mixed;
  mixed.mutable_list()->add_i(1);
  mixed.mutable_list()->add_f(1);
  AttrValue v;
  EXPECT_FALSE(AttrValueFromProto(mixed, &v).ok());
  pb::AttrValue shape;
  shape.mutable_shape()->set_unknown_rank(true);
  shape.mutable_shape()->add_dim()->set_size(1);
  EXPECT_FALSE(AttrValueFromProto(shape, &v).ok());
}

// One element stands in the field of its type, as readers of GraphDefs expect;
// whatever the type, it is read back as it was.
TEST(TensorToAttrProto, WritesASingleElementInTheFieldOfItsType) {
  const DataType types[] = {DT_FLOAT,     DT_DOUBLE,  DT_INT32,  DT_UINT8,
                            DT_INT16,     DT_INT8,    DT_INT64,  DT_BOOL,
                            DT_COMPLEX64, DT_QINT8,   DT_QUINT8, DT_QINT32,
                            DT_QINT16,    DT_QUINT16, DT_UINT16, DT_HALF,
                            DT_BFLOAT16,  DT_UINT32,  DT_UINT64, DT_COMPLEX128};
  for (const DataType type : types) {
    for (const int64_t n : {1, 2, 0}) {
      Tensor t(type, TensorShape({n}));
      char* const bytes = static_cast<char*>(t.raw_data());
      for (size_t i = 0; i < t.TotalBytes(); ++i) {
        bytes[i] = type == DT_BOOL ? 1 : static_cast<char>(0xc1 + i);
      }
      pb::TensorProto proto;
      TensorToAttrProto(t, &proto);
      EXPECT_EQ(proto.tensor_content().size(), n == 2 ? t.TotalBytes() : 0)
          << DataTypeString(type);
      Tensor back;
      ASSERT_EQ(TensorFromProto(proto, &back), OkStatus());
      EXPECT_EQ(back.dtype(), type);
      EXPECT_EQ(back.shape(), t.shape());
      EXPECT_EQ(back.tensor_data(), t.tensor_data()) << DataTypeString(type);
    }
  }
  pb::TensorProto proto;
  TensorToAttrProto(Tensor::Scalar<int32_t>(-7), &proto);
  EXPECT_EQ(proto.int_val(0), -7);
  TensorToAttrProto(Tensor::Scalar<float>(0.5f), &proto);
  EXPECT_EQ(proto.float_val(0), 0.5f);
  TensorToAttrProto(Tensor::Scalar<tstring>(tstring("word")), &proto);
  EXPECT_EQ(proto.string_val(0), "word");
}

}  // namespace
}  // namespace headrace
