#include "framework/op/elf_soname.h"

#include <elf.h>

#include <bit>
#include <cstdint>
#include <cstring>
#include <optional>

namespace headrace {
namespace {

// A copy of the T at `offset`: files need not be aligned.
template <typename T>
std::optional<T> At(std::string_view file, uint64_t offset) {
  if (offset > file.size() || file.size() - offset < sizeof(T)) return {};
  T value;
  std::memcpy(&value, file.data() + offset, sizeof(T));
  return value;
}

std::optional<Elf64_Phdr> Segment(std::string_view file, const Elf64_Ehdr& elf,
                                  int i) {
  // 16 bits each, so the sum can overflow only by e_phoff.
  const uint64_t step = static_cast<uint64_t>(i) * elf.e_phentsize;
  if (elf.e_phoff > file.size()) return {};
  return At<Elf64_Phdr>(file, elf.e_phoff + step);
}

// Where the loader's `address` lies in the file.
std::optional<uint64_t> OffsetOf(std::string_view file, const Elf64_Ehdr& elf,
                                 uint64_t address) {
  for (int i = 0; i < elf.e_phnum; ++i) {
    const auto segment = Segment(file, elf, i);
    if (!segment) return {};
    if (segment->p_type == PT_LOAD && address >= segment->p_vaddr &&
        address - segment->p_vaddr < segment->p_filesz &&
        segment->p_offset <= file.size()) {
      // At most twice the size of a file; the caller checks it.
      const uint64_t within = address - segment->p_vaddr;
      if (within > file.size()) return {};
      return segment->p_offset + within;
    }
  }
  return {};
}

// The header of a 64-bit ELF file of this machine's byte order.
std::optional<Elf64_Ehdr> Header(std::string_view file) {
  const auto elf = At<Elf64_Ehdr>(file, 0);
  constexpr unsigned char kOrder =
      std::endian::native == std::endian::big ? ELFDATA2MSB : ELFDATA2LSB;
  if (!elf || std::memcmp(elf->e_ident, ELFMAG, SELFMAG) != 0 ||
      elf->e_ident[EI_CLASS] != ELFCLASS64 || elf->e_ident[EI_DATA] != kOrder) {
    return {};
  }
  return elf;
}

}  // namespace

bool ElfIsCutOff(std::string_view file) {
  const auto elf = Header(file);
  if (!elf) return false;
  for (int i = 0; i < elf->e_phnum; ++i) {
    const auto segment = Segment(file, *elf, i);
    if (!segment) return true;
    if (segment->p_type == PT_LOAD &&
        (segment->p_offset > file.size() ||
         segment->p_filesz > file.size() - segment->p_offset)) {
      return true;
    }
  }
  return false;
}

std::string_view ElfSoname(std::string_view file) {
  const auto elf = Header(file);
  if (!elf) return {};
  for (int i = 0; i < elf->e_phnum; ++i) {
    const auto segment = Segment(file, *elf, i);
    if (!segment) return {};
    if (segment->p_type != PT_DYNAMIC) continue;
    std::optional<uint64_t> name, strings;
    for (uint64_t at = segment->p_offset;; at += sizeof(Elf64_Dyn)) {
      const auto entry = At<Elf64_Dyn>(file, at);
      if (!entry || entry->d_tag == DT_NULL) break;
      if (entry->d_tag == DT_SONAME) name = entry->d_un.d_val;
      if (entry->d_tag == DT_STRTAB) strings = entry->d_un.d_ptr;
    }
    if (!name || !strings) return {};
    const auto start = OffsetOf(file, *elf, *strings);
    if (!start || *start > file.size() || *name > file.size() - *start) {
      return {};
    }
    const std::string_view rest = file.substr(*start + *name);
    const size_t length = rest.find('\0');
    return length == rest.npos ? std::string_view() : rest.substr(0, length);
  }
  return {};
}

}  // namespace headrace
