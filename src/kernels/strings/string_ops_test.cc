// Results are TensorFlow 2.21's.
#include "framework/kernel/op_tester.h"
#include "framework/op/tensor_proto.h"

namespace headrace {
namespace {

constexpr auto kInvalid = absl::StatusCode::kInvalidArgument;

Tensor Strings(const std::vector<std::string>& v) {
  return MakeTensor<tstring>({static_cast<int64_t>(v.size())},
                             std::vector<tstring>(v.begin(), v.end()));
}
Tensor Str(const std::string& s) { return MakeScalar<tstring>(s); }
Tensor Longs(const TensorShape& shape, const std::vector<int64_t>& v) {
  return MakeTensor<int64_t>(shape, v);
}

TEST(StringOpsTest, SplitAtBytes) {
  OpTester t("StringSplit");
  t.Input(Strings({"a,b;;c", "", ";x"})).Input(Str(",;"));
  ASSERT_EQ(t.Run(), OkStatus());
  ExpectEqual(t.Output(0), Longs({4, 2}, {0, 0, 0, 1, 0, 2, 2, 0}));
  ExpectEqual(t.Output(1), Strings({"a", "b", "c", "x"}));
  ExpectEqual(t.Output(2), Longs({2}, {3, 3}));
}

TEST(StringOpsTest, SplitAtStringsAndBlanks) {
  OpTester t("StringSplitV2");
  t.Input(Strings({"a--b--", " x  y z "})).Input(Str("--"));
  ASSERT_EQ(t.Run(), OkStatus());
  ExpectEqual(t.Output(1), Strings({"a", "b", "", " x  y z "}));
  OpTester u("StringSplitV2");
  u.Attr("maxsplit", int64_t{1}).Input(Strings({" x  y z "})).Input(Str(""));
  ASSERT_EQ(u.Run(), OkStatus());
  ExpectEqual(u.Output(1), Strings({"x", "y z "}));
  OpTester v("StringSplit");
  v.Input(Str("a")).Input(Str(""));
  ExpectError(v.Run(), kInvalid, "vector");
}

TEST(StringOpsTest, HashBuckets) {
  OpTester fast("StringToHashBucketFast");
  fast.Attr("num_buckets", int64_t{1000}).Input(Strings({"hello", ""}));
  ASSERT_EQ(fast.Run(), OkStatus());
  ExpectEqual(fast.Output(0), Longs({2}, {296, 263}));
  OpTester strong("StringToHashBucketStrong");
  strong.Attr("num_buckets", int64_t{1000})
      .Attr("key", std::vector<int64_t>{1, 2})
      .Input(Strings({"hello", "", std::string(33, 'x')}));
  ASSERT_EQ(strong.Run(), OkStatus());
  ExpectEqual(strong.Output(0), Longs({3}, {622, 435, 488}));
  OpTester plain("StringToHashBucket");
  plain.Attr("num_buckets", int64_t{1000}).Input(Strings({"hello", ""}));
  ASSERT_EQ(plain.Run(), OkStatus());
  ExpectEqual(plain.Output(0), Longs({2}, {938, 899}));
  strong.Attr("key", std::vector<int64_t>{1});
  ExpectError(strong.Run(), kInvalid, "Key must have 2 elements");
}

TEST(StringOpsTest, ReduceJoinInTheOrderOfTheAxes) {
  const Tensor in = MakeTensor<tstring>({2, 2}, {"a", "b", "c", "d"});
  const struct {
    std::vector<int32_t> axes;
    const char* want;
  } cases[] = {{{1, 0}, "a.b.c.d"}, {{0, 1}, "a.c.b.d"}};
  for (const auto& c : cases) {
    OpTester t("ReduceJoin");
    t.Attr("separator", std::string("."));
    t.Input(in).Input(MakeTensor<int32_t>({2}, c.axes));
    ASSERT_EQ(t.Run(), OkStatus());
    ExpectEqual(t.Output(0), Str(c.want));
  }
  OpTester bad("ReduceJoin");
  bad.Input(in).Input(MakeTensor<int32_t>({2}, {0, -2}));
  ExpectError(bad.Run(), kInvalid, "Duplicate reduction dimension");
}

TEST(StringOpsTest, AsString) {
  OpTester t("AsString");
  t.Attr("precision", int64_t{2}).Attr("width", int64_t{6});
  t.Attr("fill", std::string("0"));
  t.Input(MakeTensor<float>({2}, {3.14159f, -1}));
  ASSERT_EQ(t.Run(), OkStatus());
  ExpectEqual(t.Output(0), Strings({"003.14", "-01.00"}));
  OpTester c("AsString");
  c.Attr("precision", int64_t{2});
  c.Input(MakeTensor<complex64>({2}, {{3.14159f, -1}, {0, 1e10f}}));
  ASSERT_EQ(c.Run(), OkStatus());
  ExpectEqual(c.Output(0), Strings({"(3.14,-1.00)", "(0.00,10000000000.00)"}));
  OpTester u("AsString");
  u.Attr("precision", int64_t{2}).Input(MakeScalar<int32_t>(1));
  ExpectError(u.Run(), kInvalid, "precision not supported");
  OpTester v("AsString");
  v.Attr("width", int64_t{1} << 40).Input(MakeScalar<int32_t>(1));
  ExpectError(v.Run(), kInvalid, "width");
}

TEST(StringOpsTest, ToNumber) {
  OpTester t("StringToNumber");
  t.Input(Strings({" 1.5 ", "inf", "-1e50", "0x10", "1e-60"}));
  ASSERT_EQ(t.Run(), OkStatus());
  constexpr float kInf = std::numeric_limits<float>::infinity();
  ExpectEqual(t.Output(0), MakeTensor<float>({5}, {1.5f, kInf, -kInf, 16, 0}));
  for (const char* bad : {"", "1e3", "9999999999", "1 2"}) {
    OpTester u("StringToNumber");
    u.Attr("out_type", DT_INT32).Input(Str(bad));
    ExpectError(u.Run(), kInvalid, "could not correctly convert string");
  }
}

TEST(StringOpsTest, Base64) {
  OpTester t("EncodeBase64");
  t.Attr("pad", true).Input(Strings({"", "a", "\xff\xfe\xfd"}));
  ASSERT_EQ(t.Run(), OkStatus());
  ExpectEqual(t.Output(0), Strings({"", "YQ==", "__79"}));
  OpTester u("DecodeBase64");
  u.Input(Strings({"YQ", "YQ==", "__79"}));
  ASSERT_EQ(u.Run(), OkStatus());
  ExpectEqual(u.Output(0), Strings({"a", "a", "\xff\xfe\xfd"}));
  for (const char* bad : {"A", "A+==", "YQ=a"}) {
    OpTester v("DecodeBase64");
    v.Input(Str(bad));
    ExpectError(v.Run(), kInvalid, "");
  }
}

TEST(StringOpsTest, DecodeRaw) {
  OpTester t("DecodeRaw");
  t.Attr("out_type", DT_INT16).Attr("little_endian", false);
  t.Input(Strings({std::string("\0\1\0\2", 4)}));
  ASSERT_EQ(t.Run(), OkStatus());
  ExpectEqual(t.Output(0), MakeTensor<int16_t>({1, 2}, {1, 2}));
  OpTester padded("DecodePaddedRaw");
  padded.Attr("out_type", DT_UINT8);
  padded.Input(Strings({"abc", "d"})).Input(MakeScalar<int32_t>(2));
  ASSERT_EQ(padded.Run(), OkStatus());
  ExpectEqual(padded.Output(0),
              MakeTensor<uint8_t>({2, 2}, {'a', 'b', 'd', 0}));
  OpTester bad("DecodeRaw");
  bad.Attr("out_type", DT_INT16).Input(Strings({"ab", "abcd"}));
  ExpectError(bad.Run(), kInvalid, "same size");
}

TEST(StringOpsTest, Substr) {
  OpTester t("Substr");
  t.Input(Strings({"hello", "world"}));
  t.Input(MakeTensor<int32_t>({2}, {-3, 1}))
      .Input(MakeTensor<int32_t>({2}, {2, 9}));
  ASSERT_EQ(t.Run(), OkStatus());
  ExpectEqual(t.Output(0), Strings({"ll", "orld"}));
  OpTester u("Substr");
  u.Attr("unit", std::string("UTF8_CHAR"));
  u.Input(Str("a\u00e9\u65e5z")).Input(MakeScalar<int32_t>(1));
  u.Input(MakeScalar<int32_t>(2));
  ASSERT_EQ(u.Run(), OkStatus());
  ExpectEqual(u.Output(0), Str("\u00e9\u65e5"));
  for (int32_t pos : {6, -6, std::numeric_limits<int32_t>::min()}) {
    OpTester v("Substr");
    v.Input(Str("hello")).Input(MakeScalar<int32_t>(pos));
    v.Input(MakeScalar<int32_t>(1));
    ExpectError(v.Run(), kInvalid, "out of range");
  }
}

TEST(StringOpsTest, Case) {
  OpTester t("StringLower");
  t.Attr("encoding", std::string("utf-8"));
  t.Input(Strings({"\u038c\u0394\u039f\u03a3", "A\u03a3a"}));
  ASSERT_EQ(t.Run(), OkStatus());
  ExpectEqual(t.Output(0), Strings({"\u03cc\u03b4\u03bf\u03c2", "a\u03c3a"}));
  OpTester u("StringUpper");
  u.Attr("encoding", std::string("EBCDIC")).Input(Str("a"));
  ExpectError(u.Run(), kInvalid, "utf-8");
}

TEST(StringOpsTest, NGrams) {
  OpTester t("StringNGrams");
  t.Attr("separator", std::string("|")).Attr("left_pad", std::string("L"));
  t.Attr("right_pad", std::string("R")).Attr("pad_width", int64_t{-1});
  t.Attr("ngram_widths", std::vector<int64_t>{2});
  t.Attr("preserve_short_sequences", false);
  t.Input(Strings({"a", "b", "c"})).Input(Longs({3}, {0, 2, 3}));
  ASSERT_EQ(t.Run(), OkStatus());
  ExpectEqual(t.Output(0), Strings({"L|a", "a|b", "b|R", "L|c", "c|R"}));
  ExpectEqual(t.Output(1), Longs({3}, {0, 3, 5}));
  t.Attr("ngram_widths", std::vector<int64_t>{1 << 30});
  ExpectError(t.Run(), absl::StatusCode::kResourceExhausted, "bytes");
}

TEST(StringOpsTest, Format) {
  OpTester t("StringFormat");
  t.Attr("template", std::string("{} of {}"));
  t.Attr("placeholder", std::string("{}")).Attr("summarize", int64_t{1});
  t.Input(MakeTensor<int32_t>({3, 3}, {1, 2, 3, 4, 5, 6, 7, 8, 9}));
  t.Input(Strings({"x"}));
  ASSERT_EQ(t.Run(), OkStatus());
  ExpectEqual(t.Output(0), Str("[[1 ... 3]\n ...\n [7 ... 9]] of [\"x\"]"));
}

TEST(StringOpsTest, SegmentJoin) {
  OpTester t("UnsortedSegmentJoin");
  t.Attr("separator", std::string("-")).Input(Strings({"a", "b", "c", "d"}));
  t.Input(MakeTensor<int32_t>({4}, {1, 0, 0, 1}));
  t.Input(MakeScalar<int32_t>(3));
  ASSERT_EQ(t.Run(), OkStatus());
  ExpectEqual(t.Output(0), Strings({"b-c", "a-d", ""}));
  for (int32_t id : {-1, 3}) {
    OpTester bad("UnsortedSegmentJoin");
    bad.Input(Strings({"a"})).Input(MakeTensor<int32_t>({1}, {id}));
    bad.Input(MakeScalar<int32_t>(3));
    ExpectError(bad.Run(), kInvalid, "out of range");
  }
}

TEST(StringOpsTest, SerializeAndParse) {
  OpTester t("SerializeTensor");
  t.Input(MakeTensor<float>({2}, {1, 2}));
  ASSERT_EQ(t.Run(), OkStatus());
  OpTester u("ParseTensor");
  u.Attr("out_type", DT_FLOAT).Input(t.Output(0));
  ASSERT_EQ(u.Run(), OkStatus());
  ExpectEqual(u.Output(0), MakeTensor<float>({2}, {1, 2}));
  u.Attr("out_type", DT_INT32);
  ExpectError(u.Run(), kInvalid, "Type mismatch between parsed tensor (float)");
  OpTester v("ParseTensor");
  v.Attr("out_type", DT_FLOAT).Input(Str("\xff"));
  ExpectError(v.Run(), kInvalid, "Could not parse");
}

TEST(StringOpsTest, FingerprintOfRows) {
  OpTester t("Fingerprint");
  t.Input(Strings({"hello"})).Input(Str("farmhash64"));
  ASSERT_EQ(t.Run(), OkStatus());
  EXPECT_EQ(t.Output(0).shape(), TensorShape({1, 8}));
  OpTester bad("Fingerprint");
  bad.Input(Strings({"hello"})).Input(Str("md5"));
  ExpectError(bad.Run(), kInvalid, "Unsupported fingerprint method");
}

TEST(StringOpsTest, DecodeCompressed) {
  const std::string packed("x\x9c\xcb\xc8\x04\0\x01;\0\xd2", 10);
  OpTester t("DecodeCompressed");
  t.Attr("compression_type", std::string("ZLIB"));
  t.Input(Strings({packed, ""}));
  ASSERT_EQ(t.Run(), OkStatus());
  ExpectEqual(t.Output(0), Strings({"hi", ""}));
  for (size_t cut : {1, 5, 9}) {
    OpTester u("DecodeCompressed");
    u.Attr("compression_type", std::string("ZLIB"));
    u.Input(Str(packed.substr(0, cut)));
    ExpectError(u.Run(), absl::StatusCode::kDataLoss, "");
  }
}

TEST(StringOpsTest, CompareAndBitpack) {
  OpTester t("CompareAndBitpack");
  t.Input(MakeTensor<float>({8}, {1, 0, 0, 2, 0, 0, 0, 3}));
  t.Input(MakeScalar<float>(0.5f));
  ASSERT_EQ(t.Run(), OkStatus());
  ExpectEqual(t.Output(0), MakeTensor<uint8_t>({1}, {0x91}));
}

TEST(StringOpsTest, UnicodeErrors) {
  for (const auto& [errors, want] :
       {std::pair<std::string, std::string>{"replace", "a?b"},
        {"ignore", "ab"}}) {
    OpTester t("UnicodeTranscode");
    t.Attr("input_encoding", std::string("UTF-8"));
    t.Attr("output_encoding", std::string("UTF-8"));
    t.Attr("replacement_char", int64_t{'?'}).Attr("errors", errors);
    t.Input(
        Str("a\xe3\x81"
            "b"));
    ASSERT_EQ(t.Run(), OkStatus());
    ExpectEqual(t.Output(0), Str(want));
    t.Attr("errors", std::string("strict"));
    ExpectError(t.Run(), kInvalid, "Invalid formatting on input string");
  }
}

}  // namespace
}  // namespace headrace
