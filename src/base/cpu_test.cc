#include "base/cpu.h"

#include <sched.h>

#include <cstdlib>
#include <string>
#include <thread>

#include "base/env.h"
#include "gtest/gtest.h"

namespace headrace {
namespace {

TEST(CpuTest, EnvironmentReplacesTheCount) {
  const struct {
    const char* text;
    int wanted;  // 0: as if unset
  } kCases[] = {{"3", 3},  {"1", 1}, {"0", 0},     {"-2", 0},  {"x", 0},
                {"4x", 0}, {"", 0},  {"100", 100}, {"1e9", 0}, {"999999", 0}};
  unsetenv("HEADRACE_NUM_THREADS");
  const int unset = AvailableCpus();
  EXPECT_GE(unset, 1);
  for (const auto& c : kCases) {
    setenv("HEADRACE_NUM_THREADS", c.text, 1);
    EXPECT_EQ(AvailableCpus(), c.wanted > 0 ? c.wanted : unset) << c.text;
  }
  unsetenv("HEADRACE_NUM_THREADS");
}

TEST(CpuTest, AffinityLowersTheCount) {
  unsetenv("HEADRACE_NUM_THREADS");
  std::thread([] {
    cpu_set_t one;
    CPU_ZERO(&one);
    CPU_SET(sched_getcpu(), &one);
    if (sched_setaffinity(0, sizeof(one), &one) != 0) GTEST_SKIP();
    EXPECT_EQ(AvailableCpus(), 1);
  }).join();
}

TEST(CpuTest, CgroupQuotas) {
  Env* const env = Env::Default();
  const std::string root = JoinPath(testing::TempDir(), "headrace_cgroup");
  auto put = [&](const std::string& path, const std::string& text) {
    const std::string full = JoinPath(root, path);
    ASSERT_TRUE(env->CreateDirRecursively(std::string(Dirname(full))).ok());
    ASSERT_TRUE(env->WriteFile(full, text).ok());
  };
  put("v2/cpu.max", "max 100000\n");
  put("v2/a/cpu.max", "250000 100000\n");
  put("v2/a/b/cpu.max", "800000 100000\n");
  put("v2/tiny/cpu.max", "1000 100000\n");
  put("v1/cpu/cpu.cfs_quota_us", "-1\n");
  put("v1/cpu/cpu.cfs_period_us", "100000\n");
  put("v1/cpu/pod/cpu.cfs_quota_us", "150000\n");
  put("v1/cpu/pod/cpu.cfs_period_us", "100000\n");
  put("both/cpu,cpuacct/cpu.cfs_quota_us", "400000\n");
  put("both/cpu,cpuacct/cpu.cfs_period_us", "100000\n");
  put("both/unified/cpu.max", "300000 100000\n");
  const struct {
    const char* mount;
    const char* cgroup;
    int wanted;
  } kCases[] = {
      {"v2", "0::/\n", 0},
      {"v2", "0::/a\n", 3},
      {"v2", "0::/a/b\n", 3},  // the ancestor's is less
      {"v2", "0::/a/gone/deeper\n", 3},
      {"v2", "0::/tiny\n", 1},
      {"v1", "4:cpu:/\n2:cpuacct:/pod\n0::/\n", 0},
      {"v1", "4:cpu,cpuacct:/pod/x\n", 2},
      {"v1", "4:cpuset:/pod\n", 0},
      {"both", "4:cpu,cpuacct:/host/path\n", 4},
      {"both", "4:cpu,cpuacct:/host/path\n0::/y\n", 3},
      {"none", "0::/a\n", 0},
      {"v2", "", 0},
      {"v2", "nonsense\n0:\n", 0},
  };
  for (const auto& c : kCases) {
    EXPECT_EQ(internal::CgroupCpuLimit(JoinPath(root, c.mount), c.cgroup),
              c.wanted)
        << c.mount << " " << c.cgroup;
  }
  EXPECT_TRUE(env->DeleteRecursively(root).ok());
}

TEST(CpuTest, HostIsConsistent) {
  const CpuFeatures& host = HostCpu();
#if defined(__x86_64__)
  EXPECT_FALSE(host.vendor.empty());
  EXPECT_EQ(host.avx2, static_cast<bool>(__builtin_cpu_supports("avx2")));
  EXPECT_EQ(host.fma, static_cast<bool>(__builtin_cpu_supports("fma")));
  EXPECT_EQ(host.sse4_2, static_cast<bool>(__builtin_cpu_supports("sse4.2")));
  EXPECT_EQ(host.avx512f, static_cast<bool>(__builtin_cpu_supports("avx512f")));
#endif
  EXPECT_GE(host.l1d_bytes, 4096);
  EXPECT_GE(host.l2_bytes, host.l1d_bytes);
}

TEST(CpuTest, IsaIsLimited) {
  CpuFeatures all;
  all.sse4_2 = all.avx = all.avx2 = all.fma = all.avx512f = all.avx512_bf16 =
      all.amx_tile = true;
  all.vendor = "GenuineIntel";
  all.model = 143;
  const struct {
    const char* most;
    bool avx2, avx512f, amx;
  } cases[] = {{"sse", false, false, false},
               {"avx2", true, false, false},
               {"avx512", true, true, false}};
  for (const auto& c : cases) {
    CpuFeatures f = all;
    EXPECT_TRUE(internal::LimitIsa(c.most, &f)) << c.most;
    EXPECT_TRUE(f.sse4_2) << c.most;
    EXPECT_EQ(f.avx2, c.avx2) << c.most;
    EXPECT_EQ(f.fma, c.avx2) << c.most;
    EXPECT_EQ(f.avx512f, c.avx512f) << c.most;
    EXPECT_EQ(f.avx512_bf16, c.avx512f) << c.most;
    EXPECT_EQ(f.amx_tile, c.amx) << c.most;
    EXPECT_EQ(f.vendor, all.vendor) << c.most;
    EXPECT_EQ(f.model, all.model) << c.most;
  }
  CpuFeatures f = all;
  EXPECT_FALSE(internal::LimitIsa("", &f));
  EXPECT_FALSE(internal::LimitIsa("neon", &f));
  EXPECT_TRUE(f.avx512f);
}

}  // namespace
}  // namespace headrace
