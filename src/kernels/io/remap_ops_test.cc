// Expected values are TensorFlow's.
#include <numeric>

#include "base/env.h"
#include "framework/kernel/op_tester.h"
#include "io/tensor_bundle.h"

namespace headrace {
namespace {

constexpr auto kInvalid = absl::StatusCode::kInvalidArgument;
constexpr auto kNotFound = absl::StatusCode::kNotFound;
using Ints = std::vector<int64_t>;

Tensor Text(const std::string& s) { return MakeScalar<tstring>(tstring(s)); }
Tensor Vec(const Ints& v) {
  return MakeTensor<int64_t>({static_cast<int64_t>(v.size())}, v);
}
Tensor Floats(const std::vector<float>& v) {
  return MakeTensor<float>({static_cast<int64_t>(v.size())}, v);
}

class RemapTest : public ::testing::Test {
 protected:
  void SetUp() override {
    dir_ = JoinPath(::testing::TempDir(), "remap_ops_test");
    ASSERT_EQ(Env::Default()->CreateDirRecursively(dir_), OkStatus());
  }
  void TearDown() override { (void)Env::Default()->DeleteRecursively(dir_); }
  std::string Path(const std::string& name) const {
    return JoinPath(dir_, name);
  }
  std::string File(const std::string& name, const std::string& text) const {
    EXPECT_EQ(Env::Default()->WriteFile(Path(name), text), OkStatus());
    return Path(name);
  }

  std::string dir_;
};

Status Generate(const std::string& new_file, const std::string& old_file,
                int64_t offset, int64_t n, int64_t old_size,
                std::vector<Tensor>* out) {
  OpTester t("GenerateVocabRemapping");
  t.Attr("new_vocab_offset", offset).Attr("num_new_vocab", n);
  t.Attr("old_vocab_size", old_size);
  HR_RETURN_IF_ERROR(t.Input(Text(new_file)).Input(Text(old_file)).Run());
  *out = {t.Output(0), t.Output(1)};
  return OkStatus();
}

TEST_F(RemapTest, Vocabularies) {
  const std::string all = File("old", "knitting\neminem\nMIC\napples\n");
  const std::string part = File("new", "MIC\nfoo\nknitting\neminem\n");
  const std::string open = File("open", "knitting\neminem");
  const std::string dos = File("dos", "knitting\r\neminem\r\n");
  const std::string twice = File("twice", "a\nb\na\n");
  const std::string blank = File("blank", "a\n\nb\n");
  const struct {
    std::string new_file, old_file;
    int64_t offset, n, old_size;
    Ints remapping;
    int32_t present;
  } cases[] = {
      {part, all, 0, 4, -1, {2, -1, 0, 1}, 3},
      {part, all, 1, 2, -1, {-1, 0}, 1},
      {part, all, 0, 4, 2, {-1, -1, 0, 1}, 2},
      {part, all, 0, 0, -1, {}, 0},
      {part, open, 0, 4, -1, {-1, -1, 0, 1}, 2},
      {part, dos, 0, 4, -1, {-1, -1, 0, 1}, 2},
      {twice, all, 0, 3, -1, {-1, -1, -1}, 0},
      {part, twice, 0, 2, 2, {-1, -1}, 0},
  };
  std::vector<Tensor> out;
  for (const auto& c : cases) {
    ASSERT_EQ(Generate(c.new_file, c.old_file, c.offset, c.n, c.old_size, &out),
              OkStatus());
    ExpectEqual(out[0], Vec(c.remapping));
    ExpectEqual(out[1], MakeScalar(c.present));
  }
  ExpectError(Generate(part, all, 0, 4, 9, &out), kInvalid,
              "expected 9 but got 4");
  ExpectError(Generate(part, all, 0, 9, -1, &out), kInvalid, "num_new_vocab 9");
  ExpectError(Generate(part, all, 9, 1, -1, &out), kInvalid,
              "new_vocab_offset 9");
  ExpectError(Generate(part, all, INT64_MAX, INT64_MAX, -1, &out), kInvalid,
              "new_vocab_offset");
  ExpectError(Generate(blank, all, 0, 1, -1, &out), kInvalid, "empty line");
  ExpectError(Generate(part, twice, 0, 2, -1, &out),
              absl::StatusCode::kFailedPrecondition, "line 0 and line 2");
  ExpectError(Generate(Path("none"), all, 0, 1, -1, &out), kNotFound, "none");
  ExpectError(Generate(part, Path("none"), 0, 1, -1, &out), kNotFound, "none");
}

struct Load {
  Ints rows, cols;
  std::vector<float> initial;
  int64_t num_rows, num_cols;
  std::string tensor = "m";
  int64_t max_rows = -1;
};
Status LoadAndRemap(const std::string& path, const Load& c, Tensor* out) {
  OpTester t("LoadAndRemapMatrix");
  t.Attr("num_rows", c.num_rows).Attr("num_cols", c.num_cols);
  t.Attr("max_rows_in_memory", c.max_rows);
  t.Input(Text(path)).Input(Text(c.tensor)).Input(Vec(c.rows));
  HR_RETURN_IF_ERROR(t.Input(Vec(c.cols)).Input(Floats(c.initial)).Run());
  *out = t.Output(0);
  return OkStatus();
}

TEST_F(RemapTest, Matrices) {
  Tensor m(DT_FLOAT, TensorShape({5, 4}));
  std::iota(m.data<float>(), m.data<float>() + 20, 0.f);
  {
    auto writer = BundleWriter::Open(Env::Default(), Path("ckpt"));
    ASSERT_EQ(writer.status(), OkStatus());
    ASSERT_EQ((*writer)->Add("m", m), OkStatus());
    ASSERT_EQ((*writer)->Add("d", MakeTensor<double>({1, 1}, {1})), OkStatus());
    ASSERT_EQ((*writer)->Add("v", Floats({1, 2})), OkStatus());
    TensorSlice first, second;
    ASSERT_EQ(TensorSlice::Parse("0,3:-", &first), OkStatus());
    ASSERT_EQ(TensorSlice::Parse("3,2:-", &second), OkStatus());
    ASSERT_EQ((*writer)->AddSlice("p", m.shape(), first, m.Slice(0, 3)),
              OkStatus());
    ASSERT_EQ((*writer)->AddSlice("p", m.shape(), second, m.Slice(3, 5)),
              OkStatus());
    ASSERT_EQ((*writer)->Finish(), OkStatus());
  }
  const struct {
    Load load;
    std::vector<float> out;
  } cases[] = {
      {{{2, 0, 1}, {}, {}, 3, 4}, {8, 9, 10, 11, 0, 1, 2, 3, 4, 5, 6, 7}},
      {{{2, 0}, {1, 0}, {}, 2, 2}, {9, 8, 1, 0}},
      {{{2, -1, 0}, {1, -1, 0}, {101, 102, 103, 104, 105}, 3, 3},
       {9, 101, 8, 102, 103, 104, 1, 105, 0}},
      {{{-1, 4}, {}, {1, 2, 3, 4}, 2, 4}, {1, 2, 3, 4, 16, 17, 18, 19}},
      {{{4, 0, 3}, {3, -1}, {9, 8, 7}, 3, 2, "p"}, {19, 9, 3, 8, 15, 7}},
      {{{4, 0, 3}, {3, -1}, {9, 8, 7}, 3, 2, "p", 1}, {19, 9, 3, 8, 15, 7}},
      {{{2, 0, 1}, {}, {}, 3, 4, "m", 2},
       {8, 9, 10, 11, 0, 1, 2, 3, 4, 5, 6, 7}},
      {{{2, 0, 1}, {}, {}, 3, 4, "m", INT64_MAX},
       {8, 9, 10, 11, 0, 1, 2, 3, 4, 5, 6, 7}},
      {{{}, {}, {}, 0, 4}, {}},
      {{{-1}, {}, {1, 2, 3, 4}, 1, 4}, {1, 2, 3, 4}},
      {{{0}, {-1, -1}, {1, 2}, 1, 2}, {1, 2}},
  };
  for (const auto& c : cases) {
    Tensor out;
    ASSERT_EQ(LoadAndRemap(Path("ckpt"), c.load, &out), OkStatus());
    ExpectEqual(out,
                MakeTensor<float>({c.load.num_rows, c.load.num_cols}, c.out));
  }
  const struct {
    Load load;
    absl::StatusCode code;
    const char* message;
  } refusals[] = {
      {{{2, -1, 0}, {1, -1, 0}, {1, 2}, 3, 3}, kInvalid, "more missing values"},
      {{{2, -1, 0}, {1, -1, 0}, {1, 2, 3, 4, 5, 6}, 3, 3},
       kInvalid,
       "only 5 elements"},
      {{{2, 2}, {}, {}, 2, 4},
       absl::StatusCode::kUnimplemented,
       "Old ID 2 is mapped to both new ID 0 and 1"},
      {{{2}, {1, 1}, {}, 1, 2},
       absl::StatusCode::kUnimplemented,
       "Old ID 1 is mapped"},
      {{{5}, {}, {}, 1, 4}, kInvalid, "row_remapping[0] is 5"},
      {{{0}, {4}, {}, 1, 1}, kInvalid, "col_remapping[0] is 4"},
      {{{0, 1}, {}, {}, 3, 4}, kInvalid, "row_remapping is 2 instead of 3"},
      {{{0, 1}, {}, {}, 2, 3}, kInvalid, "instead of num_cols=3"},
      {{{0, 1}, {1}, {}, 2, 3}, kInvalid, "col_remapping is 1 instead of 3"},
      {{{0}, {}, {}, 1, 1, "d"}, kInvalid, "invalid type double"},
      {{{0}, {}, {}, 1, 4, "v"}, kInvalid, "has rank 1"},
      {{{0}, {}, {}, 1, 4, "zz"}, kNotFound, "Key zz not found"},
  };
  for (const auto& c : refusals) {
    Tensor out;
    ExpectError(LoadAndRemap(Path("ckpt"), c.load, &out), c.code, c.message);
  }
  Tensor out;
  ExpectError(LoadAndRemap(Path("none"), cases[0].load, &out), kNotFound,
              "none");
}

}  // namespace
}  // namespace headrace
