#include "framework/op/elf_soname.h"

#include <elf.h>
#include <gtest/gtest.h>

#include <cstring>
#include <string>

namespace headrace {
namespace {

// A file with a segment for all of it and a dynamic section.
std::string Library(const std::string& soname) {
  struct {
    Elf64_Ehdr elf = {};
    Elf64_Phdr segments[2] = {};
    Elf64_Dyn entries[3] = {};
  } head;
  constexpr uint64_t kAddress = 0x10000;
  const std::string strings = '\0' + soname + '\0';
  std::memcpy(head.elf.e_ident, ELFMAG, SELFMAG);
  head.elf.e_ident[EI_CLASS] = ELFCLASS64;
  head.elf.e_ident[EI_DATA] = ELFDATA2LSB;
  head.elf.e_phoff = sizeof(Elf64_Ehdr);
  head.elf.e_phnum = 2;
  head.elf.e_phentsize = sizeof(Elf64_Phdr);
  head.segments[0].p_type = PT_LOAD;
  head.segments[0].p_vaddr = kAddress;
  head.segments[0].p_filesz = sizeof(head) + strings.size();
  head.segments[1].p_type = PT_DYNAMIC;
  head.segments[1].p_offset =
      reinterpret_cast<char*>(&head.entries) - reinterpret_cast<char*>(&head);
  head.entries[0].d_tag = DT_SONAME;
  head.entries[0].d_un.d_val = 1;
  head.entries[1].d_tag = DT_STRTAB;
  head.entries[1].d_un.d_ptr = kAddress + sizeof(head);
  return std::string(reinterpret_cast<char*>(&head), sizeof(head)) + strings;
}

TEST(ElfSonameTest, IsRead) {
  EXPECT_EQ(ElfSoname(Library("libx.so.1")), "libx.so.1");
  EXPECT_EQ(ElfSoname(Library("")), "");
}

TEST(ElfSonameTest, WhatIsNoLibraryHasNone) {
  EXPECT_EQ(ElfSoname(""), "");
  EXPECT_EQ(ElfSoname("\177ELF"), "");
  EXPECT_EQ(ElfSoname(std::string(1000, 'x')), "");
}

TEST(ElfIsCutOffTest, IfASegmentEndsBehindTheFile) {
  const std::string whole = Library("libx.so.1");
  EXPECT_FALSE(ElfIsCutOff(whole));
  for (size_t n = sizeof(Elf64_Ehdr); n < whole.size(); ++n) {
    EXPECT_TRUE(ElfIsCutOff(std::string(whole, 0, n))) << n;
  }
  std::string far = whole;
  Elf64_Phdr segment;
  std::memcpy(&segment, &far[sizeof(Elf64_Ehdr)], sizeof(segment));
  segment.p_offset = UINT64_MAX;
  std::memcpy(&far[sizeof(Elf64_Ehdr)], &segment, sizeof(segment));
  EXPECT_TRUE(ElfIsCutOff(far));
  EXPECT_FALSE(ElfIsCutOff(""));
  EXPECT_FALSE(ElfIsCutOff(std::string(1000, 'x')));
}

// Sizes and offsets with every byte at its extremes: a name within the file, or
// none.
TEST(ElfSonameTest, DamagedFilesAreReadWithinTheirBounds) {
  const std::string whole = Library("libx.so.1");
  for (size_t n = 0; n < whole.size(); ++n) {
    // On the heap and of the exact size, so that a sanitizer sees each overrun.
    EXPECT_EQ(ElfSoname(std::string(whole, 0, n)), "") << n;
    for (const char byte : {'\0', '\x7f', '\x80', '\xff'}) {
      std::string changed = whole;
      changed[n] = byte;
      EXPECT_LT(ElfSoname(changed).size(), whole.size());
    }
  }
  for (size_t n = 0; n + 8 <= whole.size(); ++n) {
    for (const uint64_t number :
         {UINT64_MAX, UINT64_MAX - 15, uint64_t{1} << 63}) {
      std::string changed = whole;
      std::memcpy(&changed[n], &number, sizeof(number));
      EXPECT_LT(ElfSoname(changed).size(), whole.size());
    }
  }
}

}  // namespace
}  // namespace headrace
