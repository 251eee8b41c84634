#include "base/env.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <ctime>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "base/random.h"
#include "gtest/gtest.h"
#include "headrace/strings.h"

namespace headrace {
namespace {

class EnvTest : public testing::Test {
 protected:
  void SetUp() override {
    dir_ =
        JoinPath(testing::TempDir(), StrCat("headrace_env_", RandomSeed64()));
    ASSERT_TRUE(env_->CreateDirRecursively(dir_).ok());
  }
  void TearDown() override { EXPECT_TRUE(env_->DeleteRecursively(dir_).ok()); }
  std::string Path(std::string_view name) { return JoinPath(dir_, name); }
  std::string Contents(const std::string& path) {
    std::string text;
    const Status s = env_->ReadFile(path, &text);
    return s.ok() ? text : std::string(s.message());
  }

  Env* const env_ = Env::Default();
  std::string dir_;
};

TEST_F(EnvTest, WritesAndReadsBack) {
  for (size_t size : {0, 1, 4095, 4096, 65536, 65537, 1000000}) {
    std::string data(size, 'x');
    for (size_t i = 0; i < size; i += 7) data[i] = static_cast<char>(i);
    for (WriteMode mode : {WriteMode::kInPlace, WriteMode::kAtomic}) {
      const std::string path = Path("f");
      ASSERT_TRUE(env_->WriteFile(path, data, mode).ok());
      EXPECT_EQ(Contents(path), data);
      EXPECT_EQ(*env_->FileSize(path), size);
    }
  }
  std::vector<std::string> names;
  ASSERT_TRUE(env_->GetChildren(dir_, &names).ok());
  EXPECT_EQ(names, std::vector<std::string>{"f"});  // no temporary left
}

TEST_F(EnvTest, ReadsFilesWhoseSizeIsNotKnown) {
  EXPECT_NE(Contents("/proc/self/status").find("Pid:"), std::string::npos);
}

// A pipe tells no size and cannot be mapped; it must not look empty.
TEST_F(EnvTest, PipesAreReadToTheirEnd) {
  const std::string contents(3 << 20, 'x');  // more than a pipe holds at once
  const std::string path = Path("pipe");
  ASSERT_EQ(mkfifo(path.c_str(), 0600), 0);
  for (const bool map : {true, false}) {
    std::thread writer([&] {
      EXPECT_EQ(Env::Default()->WriteFile(path, contents), OkStatus());
    });
    if (map) {
      StatusOr<RefPtr<MappedFile>> file = Env::Default()->MapFile(path);
      ASSERT_TRUE(file.ok()) << file.status();
      EXPECT_EQ((*file)->view(), contents);
    } else {
      std::string got;
      EXPECT_EQ(Env::Default()->ReadFile(path, &got), OkStatus());
      EXPECT_EQ(got, contents);
    }
    writer.join();
  }
  StatusOr<RefPtr<MappedFile>> status =
      Env::Default()->MapFile("/proc/self/status");
  ASSERT_TRUE(status.ok()) << status.status();
  EXPECT_GT((*status)->size(), 0u) << "whose size the system says is 0";
}

TEST_F(EnvTest, AppendsInPieces) {
  const std::string path = Path("f");
  StatusOr<std::unique_ptr<WritableFile>> file = env_->NewWritableFile(path);
  ASSERT_TRUE(file.ok());
  std::string wanted;
  for (int i = 0; i < 1000; ++i) {
    const std::string piece(i * 3, static_cast<char>('a' + i % 26));
    ASSERT_TRUE((*file)->Append(piece).ok());
    wanted += piece;
  }
  ASSERT_TRUE((*file)->Flush().ok());
  EXPECT_EQ(Contents(path), wanted);
  ASSERT_TRUE((*file)->Sync().ok());
  ASSERT_TRUE((*file)->Close().ok());
  EXPECT_TRUE(errors::IsFailedPrecondition((*file)->Append("late")));
  EXPECT_TRUE(errors::IsFailedPrecondition((*file)->Close()));

  file = env_->NewAppendableFile(path);
  ASSERT_TRUE(file.ok());
  ASSERT_TRUE((*file)->Append("end").ok());
  file->reset();  // closes
  EXPECT_EQ(Contents(path), wanted + "end");
}

TEST_F(EnvTest, ReadAtOffsets) {
  ASSERT_TRUE(env_->WriteFile(Path("f"), "0123456789").ok());
  StatusOr<std::unique_ptr<RandomAccessFile>> file =
      env_->NewRandomAccessFile(Path("f"));
  ASSERT_TRUE(file.ok());
  const struct {
    uint64_t offset;
    size_t n;
    std::string wanted;
    bool out_of_range;
  } kCases[] = {
      {0, 10, "0123456789", false}, {3, 4, "3456", false}, {10, 0, "", false},
      {8, 5, "89", true},           {10, 1, "", true},     {100, 1, "", true}};
  for (const auto& c : kCases) {
    char scratch[16];
    std::string_view got;
    const Status s = (*file)->Read(c.offset, c.n, &got, scratch);
    EXPECT_EQ(got, c.wanted);
    EXPECT_EQ(errors::IsOutOfRange(s), c.out_of_range) << s;
    EXPECT_EQ(s.ok(), !c.out_of_range) << s;
  }
}

TEST_F(EnvTest, MapsFiles) {
  ASSERT_TRUE(env_->WriteFile(Path("f"), "mapped").ok());
  StatusOr<RefPtr<MappedFile>> map = env_->MapFile(Path("f"));
  ASSERT_TRUE(map.ok());
  ASSERT_TRUE(env_->DeleteFile(Path("f")).ok());
  EXPECT_EQ((*map)->view(), "mapped");  // outlives the name
  ASSERT_TRUE(env_->WriteFile(Path("empty"), "").ok());
  map = env_->MapFile(Path("empty"));
  ASSERT_TRUE(map.ok());
  EXPECT_EQ((*map)->size(), 0u);
}

TEST_F(EnvTest, FilesThatDoNotChangeAreMappedOnce) {
  const auto write = [&](const std::string& text, time_t at) {
    // In place: the file stays the same one.
    std::FILE* const file = std::fopen(Path("f").c_str(), "w");
    ASSERT_NE(file, nullptr);
    std::fwrite(text.data(), 1, text.size(), file);
    std::fclose(file);
    const timespec times[] = {{at, 0}, {at, 0}};
    ASSERT_EQ(utimensat(AT_FDCWD, Path("f").c_str(), times, 0), 0);
  };
  const auto map = [&] { return *env_->MapFile(Path("f")); };
  const time_t now = time(nullptr);
  write("some", now - 100);
  RefPtr<MappedFile> first = map();
  EXPECT_EQ(map()->data(), first->data());
  write("more", now - 50);
  EXPECT_NE(map()->data(), first->data());
  // Within the time that tells nothing.
  write("less", now);
  first = map();
  EXPECT_NE(map()->data(), first->data());
  // When the last has gone it is gone.
  write("last", now - 10);
  first = map();
  first = nullptr;
  EXPECT_EQ(map()->view(), "last");
}

TEST_F(EnvTest, RefusalsNameThePath) {
  const std::string gone = Path("gone");
  std::string text;
  std::vector<std::string> names;
  const struct {
    const char* what;
    Status status;
    absl::StatusCode code;
    std::string path;
  } kCases[] = {
      {"read", env_->ReadFile(gone, &text), absl::StatusCode::kNotFound, gone},
      {"read dir", env_->ReadFile(dir_, &text),
       absl::StatusCode::kFailedPrecondition, dir_},
      {"map", env_->MapFile(gone).status(), absl::StatusCode::kNotFound, gone},
      {"map dir", env_->MapFile(dir_).status(),
       absl::StatusCode::kFailedPrecondition, dir_},
      {"size", env_->FileSize(gone).status(), absl::StatusCode::kNotFound,
       gone},
      {"exists", env_->FileExists(gone), absl::StatusCode::kNotFound, gone},
      {"children", env_->GetChildren(gone, &names), absl::StatusCode::kNotFound,
       gone},
      {"mkdir", env_->CreateDir(dir_), absl::StatusCode::kAlreadyExists, dir_},
      {"delete", env_->DeleteFile(gone), absl::StatusCode::kNotFound, gone},
      {"rename", env_->RenameFile(gone, gone + "2"),
       absl::StatusCode::kNotFound, gone},
      {"write", env_->WriteFile(gone + "/x", "a"), absl::StatusCode::kNotFound,
       gone},
      {"write atomic", env_->WriteFile(gone + "/x", "a", WriteMode::kAtomic),
       absl::StatusCode::kNotFound, gone},
      {"full device", env_->WriteFile("/dev/full", "a"),
       absl::StatusCode::kResourceExhausted, "/dev/full"},
  };
  for (const auto& c : kCases) {
    EXPECT_EQ(c.status.code(), c.code) << c.what << ": " << c.status;
    EXPECT_NE(ToStd(c.status.message()).find(c.path), std::string_view::npos)
        << c.what << ": " << c.status;
  }
  EXPECT_EQ(ErrnoToStatus(EACCES, "p").code(),
            absl::StatusCode::kPermissionDenied);
}

TEST_F(EnvTest, FailedAtomicWriteLeavesTheOldFile) {
  // A directory in the way makes the rename fail, after the bytes are written.
  ASSERT_TRUE(env_->CreateDirRecursively(Path("d/sub")).ok());
  EXPECT_FALSE(env_->WriteFile(Path("d"), "new", WriteMode::kAtomic).ok());
  std::vector<std::string> names;
  ASSERT_TRUE(env_->GetChildren(dir_, &names).ok());
  EXPECT_EQ(names, std::vector<std::string>{"d"});
}

TEST_F(EnvTest, APipeIsWrittenToAndNotReplaced) {
  const std::string path = Path("pipe");
  ASSERT_EQ(mkfifo(path.c_str(), 0600), 0);
  std::string got;
  std::thread reader([&] { ASSERT_TRUE(env_->ReadFile(path, &got).ok()); });
  EXPECT_TRUE(env_->WriteFile(path, "text", WriteMode::kAtomic).ok());
  reader.join();
  EXPECT_EQ(got, "text");
  struct stat st;
  ASSERT_EQ(stat(path.c_str(), &st), 0);
  EXPECT_TRUE(S_ISFIFO(st.st_mode));
}

TEST_F(EnvTest, ALinkStaysOneAndItsFileIsWritten) {
  const std::string link = Path("link"), file = Path("file");
  ASSERT_EQ(symlink("file", link.c_str()), 0);  // to what is not there yet
  for (const char* text : {"first", "second"}) {
    ASSERT_EQ(env_->WriteFile(link, text, WriteMode::kAtomic), OkStatus());
    std::string got;
    ASSERT_EQ(env_->ReadFile(file, &got), OkStatus());
    EXPECT_EQ(got, text);
    struct stat st;
    ASSERT_EQ(lstat(link.c_str(), &st), 0);
    EXPECT_TRUE(S_ISLNK(st.st_mode));
  }
  std::vector<std::string> names;
  ASSERT_EQ(env_->GetChildren(dir_, &names), OkStatus());
  EXPECT_EQ(names.size(), 2u);
}

TEST_F(EnvTest, Directories) {
  ASSERT_TRUE(env_->CreateDirRecursively(Path("a/b//c/")).ok());
  EXPECT_TRUE(env_->CreateDirRecursively(Path("a/b/c")).ok());
  EXPECT_TRUE(env_->IsDirectory(Path("a/b/c")));
  ASSERT_TRUE(env_->WriteFile(Path("file"), "").ok());
  EXPECT_FALSE(env_->CreateDirRecursively(Path("file/x")).ok());
  // A link inside a deleted tree is removed, what it points to is not.
  ASSERT_EQ(symlink(Path("a").c_str(), Path("a/b/link").c_str()), 0);
  ASSERT_TRUE(env_->CreateDirRecursively(Path("keep")).ok());
  ASSERT_EQ(symlink(Path("keep").c_str(), Path("a/b/keep").c_str()), 0);
  EXPECT_TRUE(env_->DeleteRecursively(Path("a")).ok());
  EXPECT_FALSE(env_->FileExists(Path("a")).ok());
  EXPECT_TRUE(env_->IsDirectory(Path("keep")));
}

TEST_F(EnvTest, Glob) {
  for (const char* name :
       {"ckpt-1.index", "ckpt-10.index", "ckpt-1.data", "sub/x1/a", "sub/x2/a",
        "sub/x2/b", "sub/y/a", ".h/.b", "sub/x2/.c", "a-b", "a]b", "q?"}) {
    ASSERT_TRUE(
        env_->CreateDirRecursively(std::string(Dirname(Path(name)))).ok());
    ASSERT_TRUE(env_->WriteFile(Path(name), "").ok());
  }
  const struct {
    const char* pattern;
    std::vector<std::string> wanted;
  } kCases[] = {
      {"*.index", {"ckpt-1.index", "ckpt-10.index"}},
      {"ckpt-?.index", {"ckpt-1.index"}},
      {"ckpt-1.[di]*", {"ckpt-1.data", "ckpt-1.index"}},
      {"sub/*/a", {"sub/x1/a", "sub/x2/a", "sub/y/a"}},
      {"s*/x[12]/b", {"sub/x2/b"}},
      {"ckpt-1.data", {"ckpt-1.data"}},
      {"none*", {}},
      {"*/x1", {"sub/x1"}},
      {"[^a-r]*", {".h", "sub"}},
      {"*/.*", {".h/.b"}},
      {"sub/x2/*", {"sub/x2/.c", "sub/x2/a", "sub/x2/b"}},
      {"a[^]]b", {"a-b"}},
      {"a[]]b", {"a]b"}},
      {"a\\]b", {"a]b"}},
      {"q\\?", {"q?"}},
      {"[[:alpha:]][[:punct:]]b", {"a-b", "a]b"}},
      {"sub", {"sub"}},
      {"sub/", {}},
      {"sub/*/", {}},
      {"sub/.", {}},
      {"sub/../a-b", {"sub/../a-b"}},
      {"sub//*", {}},
      {"*/../a-b", {}},
      {"[", {}},
  };
  for (const auto& c : kCases) {
    std::vector<std::string> wanted;
    for (const std::string& name : c.wanted) wanted.push_back(Path(name));
    std::vector<std::string> got;
    EXPECT_TRUE(env_->Glob(Path(c.pattern), &got).ok());
    EXPECT_EQ(got, wanted) << c.pattern;
  }
  std::vector<std::string> got;
  EXPECT_TRUE(errors::IsNotFound(env_->Glob(Path("gone/*"), &got)));
  EXPECT_TRUE(errors::IsFailedPrecondition(env_->Glob(Path("a-b/*"), &got)));
  EXPECT_TRUE(env_->Glob("/pro[c]", &got).ok());
  EXPECT_EQ(got, std::vector<std::string>{"/proc"});
  EXPECT_TRUE(env_->Glob("/", &got).ok());
  EXPECT_TRUE(got.empty());
  EXPECT_TRUE(env_->Glob("*", &got).ok());
  for (const std::string& path : got) EXPECT_EQ(path.substr(0, 2), "./");
}

TEST(PathTest, JoinAndSplit) {
  EXPECT_EQ(JoinPath("a", "b"), "a/b");
  EXPECT_EQ(JoinPath("a/", "b"), "a/b");
  EXPECT_EQ(JoinPath("", "b"), "b");
  EXPECT_EQ(JoinPath("a", ""), "a");
  EXPECT_EQ(JoinPath("a", "/b"), "/b");
  EXPECT_EQ(Dirname("a/b"), "a");
  EXPECT_EQ(Dirname("b"), "");
  EXPECT_EQ(Dirname("/b"), "/");
  EXPECT_EQ(Basename("a/b"), "b");
  EXPECT_EQ(Basename("b"), "b");
}

TEST(ClockTest, GoesOn) {
  Env* const env = Env::Default();
  const uint64_t before = env->NowNanos();
  env->SleepForMicros(2000);
  EXPECT_GE(env->NowNanos() - before, 2000000u);
  EXPECT_GT(env->NowMicros(), uint64_t{1600000000} * 1000000);
}

}  // namespace
}  // namespace headrace
