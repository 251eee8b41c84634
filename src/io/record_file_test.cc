#include "io/record_file.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "base/crc32c.h"
#include "io/coding.h"

namespace headrace {
namespace {

std::string TempPath(const std::string& name) {
  return JoinPath(::testing::TempDir(), name);
}

std::string Written(const std::vector<std::string>& records, Compression c) {
  const std::string path = TempPath("records");
  auto writer = RecordWriter::Open(Env::Default(), path, c);
  EXPECT_TRUE(writer.ok()) << writer.status();
  for (const std::string& r : records) {
    EXPECT_EQ((*writer)->Write(r), OkStatus());
  }
  EXPECT_EQ((*writer)->Close(), OkStatus());
  std::string bytes;
  EXPECT_EQ(Env::Default()->ReadFile(path, &bytes), OkStatus());
  return bytes;
}

// All records, and how reading ended.
std::vector<std::string> Read(std::string_view bytes, Compression c,
                              Status* status) {
  std::vector<std::string> out;
  auto input = Inflate(NewStringStream(bytes), c);
  *status = input.status();
  if (!status->ok()) return out;
  RecordReader reader(*std::move(input));
  for (;;) {
    std::string record;
    bool end = false;
    *status = reader.Next(&record, &end);
    if (!status->ok() || end) return out;
    out.push_back(std::move(record));
  }
}

const std::vector<std::string>& Records() {
  static const auto* records = new std::vector<std::string>{
      "one", "", std::string(700000, 'x'), std::string("\0\n", 2)};
  return *records;
}

TEST(RecordFileTest, WhatIsWrittenIsRead) {
  for (const Compression c :
       {Compression::kNone, Compression::kZlib, Compression::kGzip}) {
    Status s;
    EXPECT_EQ(Read(Written(Records(), c), c, &s), Records());
    EXPECT_EQ(s, OkStatus());
  }
}

// As TensorFlow writes it.
TEST(RecordFileTest, TheFormat) {
  const unsigned char wanted[] = {0x01, 0x00, 0x00, 0x00, 0x00, 0x00,
                                  0x00, 0x00, 0x01, 0x75, 0xde, 0x41,
                                  0x61, 0x78, 0x6e, 0xe4, 0x28};
  EXPECT_EQ(Written({"a"}, Compression::kNone),
            std::string(std::begin(wanted), std::end(wanted)));
}

// Every prefix, and every byte changed: an error or what was there, never more.
TEST(RecordFileTest, DamageIsDataLoss) {
  const std::vector<std::string> records = {"one", "", "three"};
  for (const Compression c :
       {Compression::kNone, Compression::kZlib, Compression::kGzip}) {
    const std::string bytes = Written(records, c);
    for (size_t n = 0; n <= bytes.size(); ++n) {
      Status s;
      const auto got = Read(std::string_view(bytes).substr(0, n), c, &s);
      EXPECT_LE(got.size(), records.size());
      EXPECT_TRUE(s.ok() || errors::IsDataLoss(s)) << s;
      EXPECT_TRUE(n == bytes.size() || !s.ok() || got != records) << n;
    }
    for (size_t i = 0; i < bytes.size(); ++i) {
      std::string changed = bytes;
      changed[i] ^= 0x10;
      Status s;
      const auto got = Read(changed, c, &s);
      EXPECT_TRUE(s.ok() || errors::IsDataLoss(s)) << s;
      // gzip has bytes that say nothing about the data: a time, a system.
      EXPECT_TRUE(c != Compression::kNone || !s.ok()) << i;
      EXPECT_TRUE(!s.ok() || got == records) << i;
    }
  }
}

// A length that its checksum vouches for, far beyond the file.
TEST(RecordFileTest, ALengthThatLies) {
  for (const uint64_t length : {uint64_t{1} << 31, uint64_t{1} << 62}) {
    std::string bytes;
    PutFixed<uint64_t>(&bytes, length);
    PutFixed<uint32_t>(&bytes, crc32c::Mask(crc32c::Value(bytes)));
    bytes += "abc";
    Status s;
    EXPECT_TRUE(Read(bytes, Compression::kNone, &s).empty());
    EXPECT_TRUE(errors::IsDataLoss(s)) << s;
  }
}

TEST(RecordFileTest, ClosedWriters) {
  for (const Compression c : {Compression::kNone, Compression::kZlib}) {
    auto writer = RecordWriter::Open(Env::Default(), TempPath("closed"), c);
    ASSERT_TRUE(writer.ok());
    EXPECT_EQ((*writer)->Close(), OkStatus());
    EXPECT_EQ((*writer)->Close(), OkStatus());
    EXPECT_TRUE(errors::IsFailedPrecondition((*writer)->Write("x")));
  }
  EXPECT_TRUE(errors::IsInvalidArgument(
      RecordWriter::Open(Env::Default(), TempPath("x"), Compression::kZlib, 10)
          .status()));
}

TEST(LineReaderTest, Lines) {
  const std::string longest(600000, 'y');
  const std::string text = "a\rb\r\n\n" + longest + "\nlast";
  LineReader reader(NewStringStream(text));
  std::vector<std::string> lines;
  for (bool end = false;;) {
    std::string line;
    ASSERT_EQ(reader.Next(&line, &end), OkStatus());
    if (end) break;
    lines.push_back(line);
  }
  EXPECT_EQ(lines, (std::vector<std::string>{"ab", "", longest, "last"}));
}

}  // namespace
}  // namespace headrace
