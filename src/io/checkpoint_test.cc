// Tables, bundles and checkpoints of version 1: round trips, the exact bytes
// that other programs read, refusals, and files that were cut or changed.
#include <gtest/gtest.h>
#include <unistd.h>

#include <cstring>
#include <random>

#include "io/checkpoint_v1.h"
#include "io/table.h"
#include "io/tensor_bundle.h"

namespace headrace {
namespace {

// The real files, until the call number `calls` that changes one. From then on
// nothing changes any more, as after a kill.
class DyingEnv : public Env {
 public:
  explicit DyingEnv(int calls) : calls_(calls) {}
  bool is_dead() const { return calls_ < 0; }

  StatusOr<std::unique_ptr<RandomAccessFile>> NewRandomAccessFile(
      const std::string& path) override {
    return real_->NewRandomAccessFile(path);
  }
  StatusOr<std::unique_ptr<WritableFile>> NewWritableFile(
      const std::string& path) override {
    HR_RETURN_IF_ERROR(Live());
    return real_->NewWritableFile(path);
  }
  StatusOr<std::unique_ptr<WritableFile>> NewAppendableFile(
      const std::string& path) override {
    HR_RETURN_IF_ERROR(Live());
    return real_->NewAppendableFile(path);
  }
  StatusOr<RefPtr<MappedFile>> MapFile(const std::string& path) override {
    return real_->MapFile(path);
  }
  Status FileExists(const std::string& path) override {
    return real_->FileExists(path);
  }
  StatusOr<uint64_t> FileSize(const std::string& path) override {
    return real_->FileSize(path);
  }
  bool IsDirectory(const std::string& path) override {
    return real_->IsDirectory(path);
  }
  Status GetChildren(const std::string& dir,
                     std::vector<std::string>* names) override {
    return real_->GetChildren(dir, names);
  }
  Status CreateDir(const std::string& dir) override {
    return real_->CreateDir(dir);
  }
  Status DeleteFile(const std::string& path) override {
    HR_RETURN_IF_ERROR(Live());
    return real_->DeleteFile(path);
  }
  Status DeleteDir(const std::string& dir) override {
    return real_->DeleteDir(dir);
  }
  Status RenameFile(const std::string& from, const std::string& to) override {
    HR_RETURN_IF_ERROR(Live());
    return real_->RenameFile(from, to);
  }

 private:
  Status Live() {
    if (calls_ >= 0) --calls_;
    return is_dead() ? errors::Aborted("killed") : OkStatus();
  }

  Env* const real_ = Env::Default();
  int calls_;
};

class CheckpointTest : public ::testing::Test {
 protected:
  void SetUp() override {
    dir_ = StrCat(::testing::TempDir(), "/checkpoint_test_", getpid());
    ASSERT_TRUE(env_->CreateDirRecursively(dir_).ok());
  }
  void TearDown() override { (void)env_->DeleteRecursively(dir_).ok(); }
  std::string Path(const std::string& name) { return dir_ + "/" + name; }

  static Tensor Floats(const TensorShape& shape, float first) {
    Tensor t(DT_FLOAT, shape);
    for (int64_t i = 0; i < t.NumElements(); ++i) {
      t.data<float>()[i] = first + static_cast<float>(i);
    }
    return t;
  }
  static void ExpectEqual(const Tensor& a, const Tensor& b) {
    ASSERT_EQ(a.dtype(), b.dtype());
    ASSERT_EQ(a.shape().DebugString(), b.shape().DebugString());
    EXPECT_EQ(a.SummarizeValue(1000), b.SummarizeValue(1000));
  }

  // One of each kind: numbers, strings, a tensor in two slices.
  void WriteBundle(const std::string& prefix) {
    auto writer = BundleWriter::Open(env_, prefix);
    ASSERT_TRUE(writer.ok()) << writer.status();
    TensorSlice top, bottom;
    ASSERT_TRUE(TensorSlice::Parse("0,2:-", &top).ok());
    ASSERT_TRUE(TensorSlice::Parse("2,1:-", &bottom).ok());
    const Tensor strings = Tensor::Vector<tstring>(
        {tstring("a"), tstring(""), tstring(std::string(300, 'x'))});
    BundleWriter& w = **writer;
    ASSERT_EQ(w.Add("w", Floats({2, 3}, 1)), OkStatus());
    ASSERT_EQ(w.Add("s", strings), OkStatus());
    ASSERT_EQ(w.Add("step", Tensor::Scalar<int64_t>(7)), OkStatus());
    ASSERT_EQ(w.AddSlice("p", {3, 2}, top, Floats({2, 2}, 0)), OkStatus());
    ASSERT_EQ(w.AddSlice("p", {3, 2}, bottom, Floats({1, 2}, 4)), OkStatus());
    EXPECT_TRUE(errors::IsInvalidArgument(w.Add("w", Floats({1}, 0))));
    ASSERT_EQ(w.Finish(), OkStatus());
  }

  Env* const env_ = Env::Default();
  std::string dir_;
};

TEST_F(CheckpointTest, TableOfManyBlocksRoundTrips) {
  auto file = env_->NewWritableFile(Path("t"));
  ASSERT_TRUE(file.ok());
  TableWriter writer(file->get());
  char key[16];
  for (int i = 0; i < 3000; ++i) {
    std::snprintf(key, sizeof(key), "key%06d", i);
    ASSERT_EQ(
        writer.Add(key, std::string(300, static_cast<char>('a' + i % 26))),
        OkStatus());
  }
  EXPECT_TRUE(errors::IsInvalidArgument(writer.Add("key000001", "")));
  ASSERT_EQ(writer.Finish(), OkStatus());
  ASSERT_EQ((*file)->Close(), OkStatus());
  auto table = Table::Open(env_, Path("t"));
  ASSERT_TRUE(table.ok()) << table.status();
  EXPECT_EQ((*table)->entries().size(), 3000u);
  ASSERT_NE((*table)->Find("key002999"), nullptr);
  EXPECT_EQ((*table)->Find("key002999")->value.size(), 300u);
  EXPECT_EQ((*table)->Find("key"), nullptr);
}

TEST_F(CheckpointTest, SliceKeyIsTheOrderedCode) {
  TensorSlice slice;
  ASSERT_TRUE(TensorSlice::Parse("1,2:-", &slice).ok());
  EXPECT_EQ(EncodeSliceKey("part", slice),
            std::string("\0part\0\1\1\2\x81\x82\x80\x7f", 13));
}

TEST_F(CheckpointTest, BundleRoundTrips) {
  WriteBundle(Path("b"));
  auto reader = BundleReader::Open(env_, Path("b"));
  ASSERT_TRUE(reader.ok()) << reader.status();
  Tensor t;
  ASSERT_EQ((*reader)->Read("w", &t), OkStatus());
  ExpectEqual(t, Floats({2, 3}, 1));
  ASSERT_EQ((*reader)->Read("s", &t), OkStatus());
  EXPECT_EQ(t.data<tstring>()[0], tstring("a"));
  EXPECT_EQ(t.data<tstring>()[2].size(), 300u);
  ASSERT_EQ((*reader)->Read("p", &t), OkStatus());
  ExpectEqual(t, Floats({3, 2}, 0));
  TensorSlice middle;
  ASSERT_TRUE(TensorSlice::Parse("1,2:1,1", &middle).ok());
  ASSERT_EQ((*reader)->ReadSlice("p", {3, 2}, middle, &t), OkStatus());
  EXPECT_EQ(t.SummarizeValue(10), "[3][5]");
  EXPECT_TRUE(
      errors::IsInvalidArgument((*reader)->ReadSlice("p", {4, 2}, middle, &t)));
  const Status missing = (*reader)->Read("nothing", &t);
  EXPECT_TRUE(errors::IsNotFound(missing));
  EXPECT_EQ(missing.message(), "Key nothing not found in checkpoint");
}

TEST_F(CheckpointTest, MergedBundlesHoldAll) {
  WriteBundle(Path("one"));
  auto writer = BundleWriter::Open(env_, Path("two"));
  ASSERT_TRUE(writer.ok());
  ASSERT_EQ((*writer)->Add("other", Floats({2}, 9)), OkStatus());
  ASSERT_EQ((*writer)->Finish(), OkStatus());
  ASSERT_EQ(MergeBundles(env_, {Path("one"), Path("two")}, Path("all"), false),
            OkStatus());
  EXPECT_FALSE(env_->FileExists(Path("one.index")).ok());
  EXPECT_TRUE(env_->FileExists(Path("all.data-00001-of-00002")).ok());
  auto reader = BundleReader::Open(env_, Path("all"));
  ASSERT_TRUE(reader.ok()) << reader.status();
  Tensor t;
  ASSERT_EQ((*reader)->Read("other", &t), OkStatus());
  ExpectEqual(t, Floats({2}, 9));
  ASSERT_EQ((*reader)->Read("p", &t), OkStatus());
  ExpectEqual(t, Floats({3, 2}, 0));
}

// The value of `key` in a checkpoint, which must be one that can be read; 0 if
// there is none.
float ValueIn(const std::string& prefix, const std::string& key) {
  auto reader = BundleReader::Open(Env::Default(), prefix);
  if (errors::IsNotFound(reader.status())) return 0;
  Tensor t;
  const Status s = reader.ok() ? (*reader)->Read(key, &t) : reader.status();
  EXPECT_EQ(s, OkStatus());
  return s.ok() ? t.data<float>()[0] : -1;
}

// Each save dies at the next call that changes a file; so the last one does
// not.
TEST_F(CheckpointTest, AKilledSaveLeavesTheOldCheckpointOrTheNewOne) {
  const auto save = [&](Env* env, const std::string& prefix, float value) {
    auto writer = BundleWriter::Open(env, prefix);
    HR_RETURN_IF_ERROR(writer.status());
    HR_RETURN_IF_ERROR((*writer)->Add("x", Floats({3}, value)));
    return (*writer)->Finish();
  };
  float known = 0;
  for (const bool replaces : {false, true}) {
    bool dies = true;
    for (int calls = 0; dies; ++calls) {
      SCOPED_TRACE(calls);
      const float next = known + 1;
      DyingEnv env(calls);
      const Status s = save(&env, Path("m"), next);
      dies = env.is_dead();
      const float found = ValueIn(Path("m"), "x");
      if (s.ok()) {
        EXPECT_EQ(found, next);
      } else {
        EXPECT_TRUE(found == known || found == next) << found;
      }
      known = found;
      ASSERT_LT(calls, 50);
    }
    // Some die when the new checkpoint is there already.
    EXPECT_GT(known, replaces ? 2 : 0);
  }
  EXPECT_TRUE(env_->FileExists(Path("m.data-00000-of-00001")).ok());
  EXPECT_FALSE(env_->FileExists(Path("m.data-00000-of-99999")).ok());
}

TEST_F(CheckpointTest, AKilledMergeLeavesTheOldCheckpointOrTheNewOne) {
  const auto write = [&](const std::string& name, const std::string& key,
                         float value) {
    auto writer = BundleWriter::Open(env_, Path(name));
    ASSERT_TRUE(writer.ok());
    ASSERT_EQ((*writer)->Add(key, Floats({3}, value)), OkStatus());
    ASSERT_EQ((*writer)->Finish(), OkStatus());
  };
  float known = 0;
  for (const bool replaces : {false, true}) {
    bool dies = true;
    for (int calls = 0; dies; ++calls) {
      SCOPED_TRACE(calls);
      const float next = known + 1;
      write("one", "x", next);
      write("two", "y", next);
      DyingEnv env(calls);
      (void)MergeBundles(&env, {Path("one"), Path("two")}, Path("m"), false)
          .ok();
      dies = env.is_dead();
      const float found = ValueIn(Path("m"), "x");
      EXPECT_EQ(found, ValueIn(Path("m"), "y"));
      EXPECT_TRUE(found == known || found == next) << found;
      known = found;
      ASSERT_LT(calls, 50);
    }
    EXPECT_GT(known, replaces ? 2 : 0);
  }
}

// Files beside the checkpoint whose writers have ended: as many as a save has.
TEST_F(CheckpointTest, APrefixMayHaveTwoSlashes) {
  const std::string prefix = Path("") + "//m",
                    left = prefix + ".index.tempstate1-2147483646" +
                           TemporarySuffix(env_).substr(
                               TemporarySuffix(env_).rfind('-'));
  ASSERT_EQ(env_->WriteFile(left, "x"), OkStatus());
  for (int i = 0; i < 2; ++i) WriteBundle(prefix);
  EXPECT_FALSE(env_->FileExists(left).ok());
  EXPECT_FALSE(
      env_->FileExists(BundleDataPath(prefix, 0, kPassingShards)).ok());
}

TEST_F(CheckpointTest, TheNextSaveDeletesWhatKilledSavesLeft) {
  const std::string own = TemporarySuffix(env_);
  const std::string space = own.substr(own.rfind('-'));
  struct {
    std::string name;
    bool stays;
  } const kCases[] = {
      {"m.index.tempstate1-" + StrCat(getpid()) + space, false},
      {"m.index.tempstate1-2147483646" + space, false},
      {"m.data-00000-of-00001.tempstate1-2147483646" + space, false},
      {"m.index.tempstate1-1" + space, true},       // the first process runs
      {"m.index.tempstate1-2147483646-abc", true},  // of another machine
      {"m.index" + own, true},
      {"m.index.tempstate1", true},
      {"m2.index.tempstate1-2147483646" + space, true},
      {"m.meta", true},
  };
  for (const auto& c : kCases) {
    ASSERT_EQ(env_->WriteFile(Path(c.name), "x"), OkStatus());
  }
  WriteBundle(Path("m"));
  for (const auto& c : kCases) {
    EXPECT_EQ(env_->FileExists(Path(c.name)).ok(), c.stays) << c.name;
  }
}

TEST_F(CheckpointTest, VersionOneRoundTrips) {
  TensorSlice top, bottom;
  ASSERT_TRUE(TensorSlice::Parse("0,1:-", &top).ok());
  ASSERT_TRUE(TensorSlice::Parse("1,1:-", &bottom).ok());
  ASSERT_EQ(
      WriteCheckpointV1(env_, Path("v1"),
                        {{"f", {2, 3}, TensorSlice::Full(2), Floats({2, 3}, 5)},
                         {"p", {2, 2}, top, Floats({1, 2}, 0)},
                         {"p", {2, 2}, bottom, Floats({1, 2}, 2)},
                         {"b", {}, TensorSlice(), Tensor::Scalar<bool>(true)}}),
      OkStatus());
  auto reader = CheckpointV1Reader::Open(env_, Path("v?"));
  ASSERT_TRUE(reader.ok()) << reader.status();
  Tensor t;
  ASSERT_EQ((*reader)->Read("f", nullptr, nullptr, &t), OkStatus());
  ExpectEqual(t, Floats({2, 3}, 5));
  ASSERT_EQ((*reader)->Read("p", nullptr, nullptr, &t), OkStatus());
  ExpectEqual(t, Floats({2, 2}, 0));
  ASSERT_EQ((*reader)->Read("b", nullptr, nullptr, &t), OkStatus());
  EXPECT_TRUE(t.scalar<bool>());
  EXPECT_TRUE(
      errors::IsNotFound((*reader)->Read("nothing", nullptr, nullptr, &t)));
  EXPECT_TRUE(
      errors::IsNotFound(CheckpointV1Reader::Open(env_, Path("x")).status()));
}

// A bundle whose index is as given, its checksums right: what a hostile file
// can say once it is past them.
TEST_F(CheckpointTest, LyingEntriesAreDataLoss) {
  pb::BundleHeaderProto header;
  header.set_num_shards(1);
  ASSERT_EQ(env_->WriteFile(BundleDataPath(Path("h"), 0, 1), "12345678"),
            OkStatus());
  const auto status = [&](auto change) {
    std::map<std::string, pb::BundleEntryProto> entries;
    pb::BundleEntryProto& e = entries["x"];
    e.set_dtype(pb::DT_FLOAT);
    e.mutable_shape()->add_dim()->set_size(2);
    e.set_size(8);
    change(&e);
    EXPECT_TRUE(WriteIndexFile(env_, Path("h.index"), header, entries).ok());
    auto reader = BundleReader::Open(env_, Path("h"));
    if (!reader.ok()) return reader.status();
    Tensor t;
    return (*reader)->Read("x", &t);
  };
  using Entry = pb::BundleEntryProto;
  EXPECT_TRUE(errors::IsDataLoss(status([](Entry*) {})));  // no checksum
  EXPECT_TRUE(errors::IsDataLoss(status([](Entry* e) { e->set_offset(1); })));
  EXPECT_TRUE(errors::IsDataLoss(status([](Entry* e) { e->set_offset(-8); })));
  EXPECT_TRUE(errors::IsDataLoss(status([](Entry* e) { e->set_size(-1); })));
  EXPECT_TRUE(errors::IsDataLoss(status([](Entry* e) { e->set_shard_id(9); })));
  EXPECT_TRUE(
      errors::IsDataLoss(status([](Entry* e) { e->set_shard_id(-1); })));
  for (const int64_t dim : {int64_t{-2}, int64_t{1} << 40, INT64_MAX}) {
    EXPECT_TRUE(errors::IsDataLoss(status([&](Entry* e) {
      e->mutable_shape()->mutable_dim(0)->set_size(dim);
    }))) << dim;
    EXPECT_FALSE(status([&](Entry* e) {
                   e->mutable_shape()->mutable_dim(0)->set_size(dim);
                   e->add_slices()->add_extent()->set_length(dim);
                 }).ok());
    EXPECT_TRUE(errors::IsDataLoss(status([&](Entry* e) {
      e->set_dtype(pb::DT_STRING);
      e->mutable_shape()->mutable_dim(0)->set_size(dim);
    }))) << dim;
  }
}

TEST_F(CheckpointTest, ErrorsNameTheFileAndTheOffset) {
  const std::string data = Path("b.data-00000-of-00001");
  std::string whole;
  WriteBundle(Path("b"));
  ASSERT_EQ(env_->ReadFile(data, &whole), OkStatus());
  const auto read = [&](const std::string& bytes, const char* key) {
    EXPECT_EQ(env_->WriteFile(data, bytes), OkStatus());
    auto reader = BundleReader::Open(env_, Path("b"));
    Tensor t;
    return reader.ok() ? (*reader)->Read(key, &t) : reader.status();
  };
  std::string changed = whole;
  for (char& c : changed) c = static_cast<char>(c ^ 1);
  for (const Status& s : {read(whole.substr(0, 10), "w"), read(changed, "w"),
                          read(whole.substr(0, 30), "s"), read(changed, "s")}) {
    EXPECT_TRUE(errors::IsDataLoss(s)) << s;
    EXPECT_NE(s.message().find("at offset "), std::string::npos) << s;
    EXPECT_NE(s.message().find(ToAbsl(data)), std::string::npos) << s;
  }
}

// Every file cut short and changed in one byte: an error or a right answer,
// never a crash.
TEST_F(CheckpointTest, DamagedFilesNeverCrash) {
  WriteBundle(Path("b"));
  ASSERT_EQ(WriteCheckpointV1(
                env_, Path("v1"),
                {{"w", {2, 3}, TensorSlice::Full(2), Floats({2, 3}, 5)}}),
            OkStatus());
  const auto read_all = [&] {
    Tensor t;
    auto bundle = BundleReader::Open(env_, Path("b"));
    if (bundle.ok()) {
      for (const char* key : {"w", "s", "step", "p"}) {
        (void)(*bundle)->Read(key, &t).ok();
      }
    }
    auto v1 = CheckpointV1Reader::Open(env_, Path("v1"));
    if (v1.ok()) (void)(*v1)->Read("w", nullptr, nullptr, &t).ok();
  };
  std::mt19937 random(1);
  for (const char* name : {"b.index", "b.data-00000-of-00001", "v1"}) {
    std::string whole;
    ASSERT_EQ(env_->ReadFile(Path(name), &whole), OkStatus());
    for (size_t n = 0; n < whole.size(); n += 1 + n / 40) {
      ASSERT_EQ(env_->WriteFile(Path(name), whole.substr(0, n)), OkStatus());
      read_all();
    }
    for (size_t i = 0; i < whole.size(); ++i) {
      std::string changed = whole;
      changed[i] = static_cast<char>(random());
      ASSERT_EQ(env_->WriteFile(Path(name), changed), OkStatus());
      read_all();
    }
    ASSERT_EQ(env_->WriteFile(Path(name), whole), OkStatus());
  }
}

}  // namespace
}  // namespace headrace
