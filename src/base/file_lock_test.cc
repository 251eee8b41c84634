#include "base/file_lock.h"

#include <gtest/gtest.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <thread>
#include <vector>

#include "base/env.h"
#include "base/random.h"
#include "headrace/strings.h"

namespace headrace {
namespace {

class FileLockTest : public testing::Test {
 protected:
  FileLockTest()
      : dir_(JoinPath(testing::TempDir(),
                      StrCat("headrace_lock_", RandomSeed64()))),
        path_(JoinPath(dir_, "f")) {
    EXPECT_TRUE(env_->CreateDir(dir_).ok());
  }
  ~FileLockTest() override { env_->DeleteRecursively(dir_).IgnoreError(); }

  bool AppendUnderLock(int times) {
    for (int i = 0; i < times; ++i) {
      StatusOr<FileLock> lock = FileLock::Take(path_);
      std::string text;
      if (!lock.ok() ||
          !(env_->FileExists(path_).ok() ? env_->ReadFile(path_, &text)
                                         : OkStatus())
               .ok()) {
        return false;
      }
      text += "x";
      if (!env_->WriteFile(path_, text, WriteMode::kAtomic).ok()) return false;
    }
    return true;
  }

  Env* const env_ = Env::Default();
  const std::string dir_, path_;
};

TEST_F(FileLockTest, NothingIsLostAmongProcessesAndThreads) {
  constexpr int kEach = 3, kTimes = 20;
  std::vector<pid_t> children;
  for (int i = 0; i < kEach; ++i) {
    const pid_t pid = fork();
    if (pid == 0) _exit(AppendUnderLock(kTimes) ? 0 : 1);
    children.push_back(pid);
  }
  std::vector<std::thread> threads;
  for (int i = 0; i < kEach; ++i) {
    threads.emplace_back([this] { EXPECT_TRUE(AppendUnderLock(kTimes)); });
  }
  for (std::thread& t : threads) t.join();
  for (const pid_t pid : children) {
    int status = -1;
    ASSERT_EQ(waitpid(pid, &status, 0), pid);
    EXPECT_EQ(status, 0);
  }
  EXPECT_EQ(*env_->FileSize(path_), 2 * kEach * kTimes);
  std::vector<std::string> names;
  ASSERT_TRUE(env_->GetChildren(dir_, &names).ok());
  EXPECT_EQ(names, std::vector<std::string>{"f"});
}

TEST_F(FileLockTest, AKilledHolderKeepsNobodyOut) {
  int ready[2];
  ASSERT_EQ(pipe(ready), 0);
  const pid_t pid = fork();
  if (pid == 0) {
    const StatusOr<FileLock> lock = FileLock::Take(path_);
    const char ok = lock.ok() ? 'y' : 'n';
    if (write(ready[1], &ok, 1) == 1) pause();
    _exit(1);
  }
  char ok = 0;
  ASSERT_EQ(read(ready[0], &ok, 1), 1);
  EXPECT_EQ(ok, 'y');
  EXPECT_TRUE(errors::IsDeadlineExceeded(FileLock::Take(path_, 0).status()));
  kill(pid, SIGKILL);
  ASSERT_EQ(waitpid(pid, nullptr, 0), pid);
  EXPECT_TRUE(env_->FileExists(path_ + ".lock").ok());
  EXPECT_TRUE(FileLock::Take(path_, 0).ok());
  EXPECT_FALSE(env_->FileExists(path_ + ".lock").ok());
  close(ready[0]);
  close(ready[1]);
}

TEST_F(FileLockTest, AChildForkedMeanwhileDoesNotKeepTheLock) {
  pid_t pid = 0;
  {
    const StatusOr<FileLock> lock = FileLock::Take(path_, 0);
    ASSERT_TRUE(lock.ok());
    pid = fork();
    if (pid == 0) {
      pause();
      _exit(1);
    }
  }
  EXPECT_TRUE(FileLock::Take(path_, 0).ok());
  kill(pid, SIGKILL);
  waitpid(pid, nullptr, 0);
}

TEST_F(FileLockTest, SaysWhatCannotBeLocked) {
  const Status s =
      FileLock::Take(JoinPath(JoinPath(dir_, "gone"), "f")).status();
  EXPECT_TRUE(errors::IsNotFound(s)) << s;
  EXPECT_NE(s.message().find("gone/f.lock"), absl::string_view::npos) << s;
}

}  // namespace
}  // namespace headrace
