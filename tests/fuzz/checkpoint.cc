// Checkpoints of both formats, from the entries of a table: the input is
// [key length][key][value length][value]..., two bytes a value's length, and
// what follows an empty key is the data file. The table's checksums are right,
// which a fuzzer would hardly get by itself.
#include <map>
#include <string>

#include "fuzz_target.h"
#include "io/checkpoint_v1.h"
#include "io/table.h"
#include "io/tensor_bundle.h"
#include "memory_env.h"

namespace headrace {
FUZZ_TARGET(checkpoint) {
  fuzz::Choices in(bytes);
  std::map<std::string, std::string> entries;
  fuzz::MemoryEnv env;
  bool first = true;
  while (!in.done()) {
    const std::string key(in.Text(in.Byte()));
    if (key.empty() && !first) {
      env.files[BundleDataPath("c", 0, 1)] = std::string(in.Text(bytes.size()));
      break;
    }
    first = false;  // the header's key is empty
    const size_t size = in.Byte() << 8 | in.Byte();
    entries[key] = std::string(in.Text(size));
  }
  {
    auto file = env.NewWritableFile("c.index");
    if (!file.ok()) return;
    TableWriter writer(file->get());
    for (const auto& [key, value] : entries) {
      if (!writer.Add(key, value).ok()) return;
    }
    if (!writer.Finish().ok()) return;
  }
  auto v2 = BundleReader::Open(&env, "c");
  auto v1 = CheckpointV1Reader::Open(&env, "c.index");
  for (const auto& [key, value] : entries) {
    Tensor t;
    if (v2.ok()) {
      (void)(*v2)->Read(key, &t);
      TensorSlice slice;
      (void)(*v2)->ReadSlice(key, TensorShape({2, 3}), slice, &t);
    }
    if (v1.ok()) (void)(*v1)->Read(key, nullptr, nullptr, &t);
  }
}
}  // namespace headrace
