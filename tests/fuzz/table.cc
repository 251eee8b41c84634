// Tables, byte by byte: blocks, their checksums and compression.
#include "io/table.h"

#include "fuzz_target.h"
#include "io/checkpoint_v1.h"
#include "memory_env.h"

namespace headrace {
FUZZ_TARGET(table) {
  fuzz::MemoryEnv env;
  env.files["t"] = std::string(bytes);
  const auto table = Table::Open(&env, "t");
  if (!table.ok()) return;
  for (const Table::Entry& e : (*table)->entries()) {
    (void)(*table)->Find(e.key);
  }
  (void)CheckpointV1Reader::Open(&env, "t");
}
}  // namespace headrace
