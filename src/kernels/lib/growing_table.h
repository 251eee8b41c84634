// Inserts into absl's hash tables whose size comes from a tensor. If such a
// table cannot get memory to grow, it is broken and ends the process when it is
// destroyed. These functions therefore take the memory first.
#ifndef HEADRACE_KERNELS_LIB_GROWING_TABLE_H_
#define HEADRACE_KERNELS_LIB_GROWING_TABLE_H_

#include <cstddef>
#include <utility>

#include "base/memory_reserve.h"

namespace headrace {

// True if an insertion may make the table grow. A table grows when 7 of 8 slots
// are used. Slots of erased elements count as used. If there are such slots,
// the table grows only if elements use at least 25 of 32 slots.
template <typename Table>
bool MayGrow(const Table& table, bool had_erased) {
  const size_t capacity = table.capacity();
  return had_erased ? table.size() * 32 >= capacity * 25
                    : table.size() >= capacity - capacity / 8;
}

// Bytes of the next size: per slot the element and one byte, and some bytes at
// the end.
template <typename Table>
size_t GrownBytes(const Table& table) {
  return (table.capacity() * 2 + 1) * (sizeof(typename Table::value_type) + 1) +
         64;
}

// Calls table->try_emplace(key, args...). Throws OutOfMemory and leaves the
// table unchanged. `had_erased`: an element was erased before.
template <typename Table, typename Key, typename... Args>
std::pair<typename Table::iterator, bool> InsertIntoMap(Table* table,
                                                        bool had_erased,
                                                        Key&& key,
                                                        Args&&... args) {
  if (!MayGrow(*table, had_erased)) [[likely]] {
    return table->try_emplace(std::forward<Key>(key),
                              std::forward<Args>(args)...);
  }
  const auto it = table->find(key);
  if (it != table->end()) return {it, false};
  const NextPiece room(GrownBytes(*table));
  return table->try_emplace(std::forward<Key>(key),
                            std::forward<Args>(args)...);
}

// The same for a set from which nothing is erased. True if the key was new.
template <typename Table, typename Key>
bool InsertIntoSet(Table* table, Key&& key) {
  if (!MayGrow(*table, false)) [[likely]] {
    return table->insert(std::forward<Key>(key)).second;
  }
  if (table->contains(key)) return false;
  const NextPiece room(GrownBytes(*table));
  return table->insert(std::forward<Key>(key)).second;
}

}  // namespace headrace

#endif  // HEADRACE_KERNELS_LIB_GROWING_TABLE_H_
