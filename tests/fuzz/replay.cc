// fuzz_replay CORPORA [--mutations N] [TARGET...]: runs each target over the
// files of CORPORA/<target>/, over every short prefix of them and over N
// changed copies of each, the same ones in every run.
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string>
#include <vector>

#include "base/env.h"
#include "fuzz_target.h"

namespace headrace::fuzz {
namespace {

uint32_t Next(uint64_t* state) {
  *state = *state * 6364136223846793005u + 1442695040888963407u;
  return static_cast<uint32_t>(*state >> 33);
}

// One to four bytes set, inserted or removed, or a tail cut off.
std::string Mutate(std::string bytes, uint64_t seed) {
  Next(&seed);
  constexpr uint8_t kTelling[] = {0, 1, 0x7f, 0x80, 0xff};
  for (uint32_t n = 1 + Next(&seed) % 4; n > 0; --n) {
    const size_t at = bytes.empty() ? 0 : Next(&seed) % bytes.size();
    const auto byte = static_cast<char>(
        Next(&seed) % 2 ? Next(&seed) : kTelling[Next(&seed) % 5]);
    switch (Next(&seed) % 8) {
      case 0:
        bytes.insert(at, 1, byte);
        break;
      case 1:
        if (!bytes.empty()) bytes.erase(at, 1 + Next(&seed) % 4);
        break;
      case 2:
        bytes.resize(at);
        break;
      default:
        if (!bytes.empty()) bytes[at] = byte;
    }
  }
  return bytes;
}

// In a heap block of that very size, so that a sanitizer sees reads beyond it.
void Run(const Target& target, const std::string& bytes) {
  const std::vector<char> copy(bytes.begin(), bytes.end());
  target.function({copy.data(), copy.size()});
}

int Replay(const std::string& corpora, int mutations,
           const std::vector<std::string>& only) {
  constexpr size_t kPrefixes = 128;
  int failed = 0;
  for (const Target* t = Target::first; t != nullptr; t = t->next) {
    bool wanted = only.empty();
    for (const std::string& name : only) wanted |= name == t->name;
    if (!wanted) continue;
    const std::string folder = JoinPath(corpora, t->name);
    std::vector<std::string> names;
    if (!Env::Default()->GetChildren(folder, &names).ok() || names.empty()) {
      std::fprintf(stderr, "no corpus in %s\n", folder.c_str());
      failed = 1;
      continue;
    }
    for (const std::string& name : names) {
      std::string bytes;
      const Status s = Env::Default()->ReadFile(JoinPath(folder, name), &bytes);
      if (!s.ok()) {
        std::fprintf(stderr, "%s\n", s.ToString().c_str());
        return 1;
      }
      std::printf("%s/%s\n", t->name, name.c_str());
      std::fflush(stdout);  // a crash shows what it happened in
      Run(*t, bytes);
      for (size_t n = 0; n < bytes.size() && n < kPrefixes; ++n) {
        Run(*t, bytes.substr(0, n));
      }
      for (int i = 0; i < mutations; ++i) Run(*t, Mutate(bytes, i));
    }
  }
  return failed;
}

}  // namespace
}  // namespace headrace::fuzz

int main(int argc, char** argv) {
  int mutations = 20;
  std::vector<std::string> names;
  for (int i = 1; i < argc; ++i) {
    if (std::strcmp(argv[i], "--mutations") == 0 && i + 1 < argc) {
      mutations = std::atoi(argv[++i]);
    } else {
      names.push_back(argv[i]);
    }
  }
  if (names.empty()) {
    std::fprintf(stderr, "fuzz_replay CORPORA [--mutations N] [TARGET...]\n");
    return 2;
  }
  const std::string corpora = names[0];
  names.erase(names.begin());
  return headrace::fuzz::Replay(corpora, mutations, names);
}
