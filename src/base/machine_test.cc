#include "base/machine.h"

#include "absl/strings/str_cat.h"
#include "absl/strings/str_replace.h"
#include "gtest/gtest.h"

namespace headrace {
namespace {

CpuFeatures Processor(const char* brand) {
  CpuFeatures cpu;
  cpu.brand = brand;
  cpu.vendor = "AuthenticAMD";
  cpu.family = 25;
  return cpu;
}

TEST(MachineTest, TheTableGoesByInstructionSets) {
  CpuFeatures cpu = Processor("x");
  EXPECT_EQ(TableFigures(cpu).flops_per_ns, 24);
  cpu.avx = true;
  EXPECT_EQ(TableFigures(cpu).flops_per_ns, 48);
  cpu.avx2 = cpu.fma = true;
  EXPECT_EQ(TableFigures(cpu).flops_per_ns, 115);
  cpu.avx512f = true;  // in halves
  EXPECT_EQ(TableFigures(cpu).flops_per_ns, 115);
  cpu.family = 26;
  EXPECT_EQ(TableFigures(cpu).flops_per_ns, 200);
  cpu.vendor = "GenuineIntel";
  cpu.family = 6;
  EXPECT_EQ(TableFigures(cpu).flops_per_ns, 200);
}

TEST(MachineTest, AFileIsReadAsItIsWritten) {
  const CpuFeatures cpu = Processor("AMD EPYC");
  const std::string text = FormatMachineFile(cpu, {123.4, 5.6});
  MachineFigures read;
  ASSERT_EQ(ParseMachineFile(text, cpu, &read), OkStatus());
  EXPECT_EQ(read.flops_per_ns, 123.4);
  EXPECT_EQ(read.read_bytes_per_ns, 5.6);
}

TEST(MachineTest, AFileOfAnotherProcessorDoesNotCount) {
  const std::string text = FormatMachineFile(Processor("one"), {123, 5});
  MachineFigures read;
  const Status s = ParseMachineFile(text, Processor("other"), &read);
  EXPECT_TRUE(errors::IsNotFound(s)) << s;
  EXPECT_EQ(read.flops_per_ns, 0);
}

TEST(MachineTest, ADamagedFileIsNamedByItsLine) {
  const CpuFeatures cpu = Processor("one");
  const std::string good = FormatMachineFile(cpu, {123, 5});
  const struct {
    std::string text, says;
  } kCases[] = {
      {"", "line 1 is ''"},
      {"machine\n", "line 1 is 'machine', wanted 'headrace machine 1'"},
      {absl::StrReplaceAll(good, {{"123.0", "fast"}}),
       "line 3 is 'flops_per_ns fast', wanted a number"},
      {absl::StrReplaceAll(good, {{"123.0", "-1"}}), "wanted a number"},
      {absl::StrReplaceAll(good, {{"123.0", "nan"}}), "wanted a number"},
      {absl::StrReplaceAll(good, {{"flops", "flips"}}), "line 3 is"},
      {good.substr(0, good.find("read_bytes")), "it ends without"},
      {absl::StrCat(good, "\n\n"), "line 5 is ''"},
  };
  for (const auto& c : kCases) {
    MachineFigures read;
    const Status s = ParseMachineFile(c.text, cpu, &read);
    EXPECT_TRUE(errors::IsInvalidArgument(s)) << c.text;
    EXPECT_NE(s.message().find(c.says), std::string::npos) << s;
  }
}

TEST(MachineTest, MeasuredFiguresMakeSense) {
  const MachineFigures f = MeasureFigures();
  EXPECT_GT(f.flops_per_ns, 0.5);
  EXPECT_LT(f.flops_per_ns, 2000);
  EXPECT_GT(f.read_bytes_per_ns, 0.05);
  EXPECT_LT(f.read_bytes_per_ns, 1000);
  EXPECT_GT(HostFigures().flops_per_ns, 0);
}

}  // namespace
}  // namespace headrace
