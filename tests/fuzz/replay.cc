// fuzz_replay CORPORA [--mutations N] [TARGET...]: runs each target over the
// files of CORPORA/<target>/, over every short prefix of them and over N
// changed copies of each, the same ones in every run.
// fuzz_replay CORPORA --seconds N [--seed S] [TARGET...]: runs each target for
// N seconds over inputs made of these files and of the seeds S, S + 1, ...;
// prints each seed before its input runs.
#include <chrono>
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

struct Options {
  std::string corpora;
  int mutations = 20;
  int seconds = 0;
  uint64_t seed = 1;
  std::vector<std::string> only;  // targets; none: all of them
};

// A file of the corpus, changed at up to eight places, or random bytes.
std::string InputOfSeed(const std::vector<std::string>& corpus, uint64_t seed) {
  uint64_t state = seed * 0x9e3779b97f4a7c15u;
  Next(&state);
  if (Next(&state) % 4 == 0) {
    std::string bytes(Next(&state) % 600, 0);
    for (char& c : bytes) c = static_cast<char>(Next(&state));
    return bytes;
  }
  std::string bytes = corpus[Next(&state) % corpus.size()];
  for (uint32_t n = 1 + Next(&state) % 8; n > 0; --n) {
    bytes = Mutate(bytes, Next(&state));
  }
  return bytes;
}

void RunSeeds(const Target& target, const std::vector<std::string>& corpus,
              const Options& options) {
  const auto end =
      std::chrono::steady_clock::now() + std::chrono::seconds(options.seconds);
  for (uint64_t seed = options.seed; std::chrono::steady_clock::now() < end;
       ++seed) {
    std::printf("%s --seed %llu\n", target.name,
                static_cast<unsigned long long>(seed));
    std::fflush(stdout);
    Run(target, InputOfSeed(corpus, seed));
  }
}

int Replay(const Options& options) {
  constexpr size_t kPrefixes = 128;
  int failed = 0;
  for (const Target* t = Target::first; t != nullptr; t = t->next) {
    bool wanted = options.only.empty();
    for (const std::string& name : options.only) wanted |= name == t->name;
    if (!wanted) continue;
    const std::string folder = JoinPath(options.corpora, t->name);
    std::vector<std::string> names;
    if (!Env::Default()->GetChildren(folder, &names).ok() || names.empty()) {
      std::fprintf(stderr, "no corpus in %s\n", folder.c_str());
      failed = 1;
      continue;
    }
    std::vector<std::string> corpus;
    for (const std::string& name : names) {
      std::string bytes;
      const Status s = Env::Default()->ReadFile(JoinPath(folder, name), &bytes);
      if (!s.ok()) {
        std::fprintf(stderr, "%s\n", s.ToString().c_str());
        return 1;
      }
      corpus.push_back(bytes);
      if (options.seconds > 0) continue;
      std::printf("%s/%s\n", t->name, name.c_str());
      std::fflush(stdout);  // a crash shows what it happened in
      Run(*t, bytes);
      for (size_t n = 0; n < bytes.size() && n < kPrefixes; ++n) {
        Run(*t, bytes.substr(0, n));
      }
      for (int i = 0; i < options.mutations; ++i) Run(*t, Mutate(bytes, i));
    }
    if (options.seconds > 0) RunSeeds(*t, corpus, options);
  }
  return failed;
}

}  // namespace
}  // namespace headrace::fuzz

int main(int argc, char** argv) {
  headrace::fuzz::Options options;
  std::vector<std::string> names;
  for (int i = 1; i < argc; ++i) {
    const char* value = i + 1 < argc ? argv[i + 1] : nullptr;
    if (std::strcmp(argv[i], "--mutations") == 0 && value != nullptr) {
      options.mutations = std::atoi(value);
    } else if (std::strcmp(argv[i], "--seconds") == 0 && value != nullptr) {
      options.seconds = std::atoi(value);
    } else if (std::strcmp(argv[i], "--seed") == 0 && value != nullptr) {
      options.seed = std::strtoull(value, nullptr, 10);
    } else {
      names.push_back(argv[i]);
      continue;
    }
    ++i;
  }
  if (names.empty()) {
    std::fprintf(stderr,
                 "fuzz_replay CORPORA [--mutations N | --seconds N [--seed S]] "
                 "[TARGET...]\n");
    return 2;
  }
  options.corpora = names[0];
  options.only.assign(names.begin() + 1, names.end());
  return headrace::fuzz::Replay(options);
}
