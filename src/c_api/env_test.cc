// env.h: files, time, threads and shared libraries.
#include "tensorflow/c/env.h"

#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <functional>
#include <set>

#include "c_api/c_api_test_util.h"

namespace c_api_test {
namespace {

namespace fs = std::filesystem;

class EnvTest : public CApiTest {
 protected:
  void SetUp() override {
    folder_ = testing::TempDir() + "/headrace_env_test";
    fs::remove_all(folder_);
    fs::create_directory(folder_);
  }
  void TearDown() override { fs::remove_all(folder_); }
  std::string Path(const char* name) { return folder_ + "/" + name; }
  TF_Code code() { return TF_GetCode(s()); }

  std::string folder_;
};

TEST_F(EnvTest, FilesAreWrittenReadAndDeleted) {
  TF_WritableFileHandle* file = nullptr;
  TF_NewWritableFile(Path("a").c_str(), &file, s());
  ASSERT_EQ(code(), TF_OK) << message();
  TF_AppendWritableFile(file, "hello", 5, s());
  TF_FlushWritableFile(file, s());
  TF_SyncWritableFile(file, s());
  EXPECT_EQ(code(), TF_OK) << message();
  TF_AppendWritableFile(file, nullptr, 3, s());
  EXPECT_EQ(code(), TF_INVALID_ARGUMENT);
  TF_CloseWritableFile(file, s());
  EXPECT_EQ(code(), TF_OK) << message();

  TF_FileStatistics stats;
  TF_FileStat(Path("a").c_str(), &stats, s());
  EXPECT_EQ(stats.length, 5);
  EXPECT_FALSE(stats.is_directory);
  EXPECT_NEAR(stats.mtime_nsec * 1e-9, TF_NowSeconds(), 100);
  TF_CreateDir(Path("b").c_str(), s());
  TF_FileStat(Path("b").c_str(), &stats, s());
  EXPECT_TRUE(stats.is_directory);
  TF_CreateDir(Path("b").c_str(), s());
  EXPECT_EQ(code(), TF_ALREADY_EXISTS);
  TF_StringStream* const names = TF_GetChildren(folder_.c_str(), s());
  std::set<std::string> found;
  const char* name = nullptr;
  while (TF_StringStreamNext(names, &name)) found.insert(name);
  EXPECT_EQ(found, (std::set<std::string>{"a", "b"}));
  EXPECT_EQ(name, nullptr);
  TF_StringStreamDone(names);

  TF_DeleteDir(folder_.c_str(), s());
  EXPECT_EQ(code(), TF_FAILED_PRECONDITION) << message();
  TF_DeleteFile(Path("a").c_str(), s());
  EXPECT_EQ(code(), TF_OK) << message();
  TF_DeleteDir(Path("b").c_str(), s());
  EXPECT_EQ(code(), TF_OK) << message();
}

TEST_F(EnvTest, TreesAreDeletedAndWhatIsLeftCounted) {
  int64_t files = -1, folders = -1;
  fs::create_directories(Path("x/y/z"));
  std::ofstream(Path("x/y/file")) << "text";
  fs::create_symlink(folder_, Path("x/link"));  // not followed
  TF_DeleteRecursively(Path("x").c_str(), &files, &folders, s());
  EXPECT_EQ(code(), TF_OK) << message();
  EXPECT_EQ(files, 0);
  EXPECT_EQ(folders, 0);
  EXPECT_TRUE(fs::exists(folder_));
  TF_DeleteRecursively(Path("x").c_str(), &files, &folders, s());
  EXPECT_EQ(code(), TF_NOT_FOUND);
  EXPECT_EQ(files, 0);
  EXPECT_EQ(folders, 1);
}

TEST_F(EnvTest, TemporaryFilesAreNew) {
  TF_StringStream* const folders = TF_GetLocalTempDirectories();
  const char* folder = nullptr;
  ASSERT_TRUE(TF_StringStreamNext(folders, &folder));
  EXPECT_EQ(std::string(folder).back(), '/');
  for (const char* extension : {"txt", "", static_cast<const char*>(nullptr)}) {
    char* const path = TF_GetTempFileName(extension);
    ASSERT_NE(path, nullptr);
    EXPECT_EQ(std::string(path).rfind(folder, 0), 0u);
    EXPECT_EQ(fs::file_size(path), 0u);
    if (extension != nullptr && *extension != '\0') {
      EXPECT_EQ(fs::path(path).extension(), ".txt");
    }
    fs::remove(path);
    std::free(path);
  }
  TF_StringStreamDone(folders);
}

TEST_F(EnvTest, ThreadsRunAndAreJoined) {
  int value = 0;
  const auto work = [](void* p) { ++*static_cast<int*>(p); };
  TF_ThreadOptions options;
  TF_DefaultThreadOptions(&options);
  EXPECT_EQ(options.stack_size, 0u);
  EXPECT_EQ(options.guard_size, 0u);
  EXPECT_EQ(options.numa_node, -1);
  TF_JoinThread(TF_StartThread(&options, "a name that is long", work, &value));
  TF_JoinThread(TF_StartThread(nullptr, nullptr, work, &value));
  options.stack_size = 1 << 20;
  options.guard_size = 1 << 16;
  TF_JoinThread(TF_StartThread(&options, "", work, &value));
  EXPECT_EQ(value, 3);
  options.stack_size = 1;  // too small for the system
  EXPECT_EQ(TF_StartThread(&options, "", work, &value), nullptr);
  EXPECT_EQ(TF_StartThread(nullptr, "", nullptr, nullptr), nullptr);
  TF_JoinThread(nullptr);
  TF_DefaultThreadOptions(nullptr);
}

TEST_F(EnvTest, TimeGoesOn) {
  const uint64_t nanos = TF_NowNanos(), micros = TF_NowMicros();
  EXPECT_GE(micros, nanos / 1000);
  EXPECT_LT(micros, nanos / 1000 + 10'000'000);
  EXPECT_GE(TF_NowSeconds(), nanos / 1'000'000'000);
}

TEST_F(EnvTest, LibrariesHaveSymbols) {
  void* const library = TF_LoadSharedLibrary("libm.so.6", s());
  ASSERT_NE(library, nullptr) << message();
  EXPECT_NE(TF_GetSymbolFromLibrary(library, "cos", s()), nullptr) << message();
  EXPECT_EQ(TF_GetSymbolFromLibrary(library, "no_such_function", s()), nullptr);
  EXPECT_EQ(code(), TF_NOT_FOUND);
  EXPECT_NE(message().find("no_such_function"), message().npos);
}

TEST_F(EnvTest, WhatIsRefused) {
  const std::string none = Path("none/none");
  TF_WritableFileHandle* file = nullptr;
  TF_FileStatistics stats;
  const struct {
    const char* name;
    TF_Code code;
    std::function<void()> call;
  } kCases[] = {
      {"CreateDir", TF_NOT_FOUND, [&] { TF_CreateDir(none.c_str(), s()); }},
      {"CreateDir", TF_INVALID_ARGUMENT, [&] { TF_CreateDir(nullptr, s()); }},
      {"DeleteDir", TF_NOT_FOUND, [&] { TF_DeleteDir(none.c_str(), s()); }},
      {"DeleteDir", TF_INVALID_ARGUMENT, [&] { TF_DeleteDir(nullptr, s()); }},
      {"DeleteFile", TF_NOT_FOUND, [&] { TF_DeleteFile(none.c_str(), s()); }},
      {"DeleteFile", TF_INVALID_ARGUMENT, [&] { TF_DeleteFile(nullptr, s()); }},
      {"DeleteRecursively", TF_INVALID_ARGUMENT,
       [&] { TF_DeleteRecursively(nullptr, nullptr, nullptr, s()); }},
      {"FileStat", TF_NOT_FOUND,
       [&] { TF_FileStat(none.c_str(), &stats, s()); }},
      {"FileStat", TF_INVALID_ARGUMENT,
       [&] { TF_FileStat(folder_.c_str(), nullptr, s()); }},
      {"FileStat", TF_INVALID_ARGUMENT,
       [&] { TF_FileStat(nullptr, &stats, s()); }},
      {"NewWritableFile", TF_NOT_FOUND,
       [&] { TF_NewWritableFile(none.c_str(), &file, s()); }},
      {"NewWritableFile", TF_INVALID_ARGUMENT,
       [&] { TF_NewWritableFile(nullptr, &file, s()); }},
      {"NewWritableFile", TF_INVALID_ARGUMENT,
       [&] { TF_NewWritableFile(none.c_str(), nullptr, s()); }},
      {"Append", TF_INVALID_ARGUMENT,
       [&] { TF_AppendWritableFile(nullptr, "", 0, s()); }},
      {"Flush", TF_INVALID_ARGUMENT,
       [&] { TF_FlushWritableFile(nullptr, s()); }},
      {"Sync", TF_INVALID_ARGUMENT, [&] { TF_SyncWritableFile(nullptr, s()); }},
      {"Close", TF_INVALID_ARGUMENT,
       [&] { TF_CloseWritableFile(nullptr, s()); }},
      {"GetChildren", TF_NOT_FOUND,
       [&] { EXPECT_EQ(TF_GetChildren(none.c_str(), s()), nullptr); }},
      {"GetChildren", TF_INVALID_ARGUMENT,
       [&] { EXPECT_EQ(TF_GetChildren(nullptr, s()), nullptr); }},
      {"Load", TF_NOT_FOUND,
       [&] { EXPECT_EQ(TF_LoadSharedLibrary(none.c_str(), s()), nullptr); }},
      {"Load", TF_INVALID_ARGUMENT,
       [&] { EXPECT_EQ(TF_LoadSharedLibrary(nullptr, s()), nullptr); }},
      {"Symbol", TF_INVALID_ARGUMENT,
       [&] { EXPECT_EQ(TF_GetSymbolFromLibrary(nullptr, "x", s()), nullptr); }},
      {"Symbol", TF_INVALID_ARGUMENT,
       [&] { EXPECT_EQ(TF_GetSymbolFromLibrary(s(), nullptr, s()), nullptr); }},
  };
  for (const auto& c : kCases) {
    c.call();
    EXPECT_EQ(code(), c.code) << c.name << ": " << message();
  }
  EXPECT_EQ(file, nullptr);
  const char* text = "unchanged";
  EXPECT_FALSE(TF_StringStreamNext(nullptr, &text));
  EXPECT_EQ(text, nullptr);
  TF_StringStreamDone(nullptr);
}

}  // namespace
}  // namespace c_api_test
