// What the file of a shared library says before it is loaded.
#ifndef HEADRACE_FRAMEWORK_OP_ELF_SONAME_H_
#define HEADRACE_FRAMEWORK_OP_ELF_SONAME_H_

#include <string_view>

namespace headrace {

// The SONAME in the bytes of a 64-bit ELF file of this machine's byte order; a
// part of `file`. "" if there is none, or if the file is no such file or
// damaged.
std::string_view ElfSoname(std::string_view file);

// Whether it is such a file and lacks its end: the loader would map what is not
// there, and the first access would end the process.
bool ElfIsCutOff(std::string_view file);

}  // namespace headrace

#endif  // HEADRACE_FRAMEWORK_OP_ELF_SONAME_H_
