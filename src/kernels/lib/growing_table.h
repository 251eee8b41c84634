// Inserting into absl's hash tables where their size comes from a tensor. A
// table of absl's that finds no memory to grow is broken, and ends the process
// when it is destroyed; so the memory is taken before.
#ifndef HEADRACE_KERNELS_LIB_GROWING_TABLE_H_
#define HEADRACE_KERNELS_LIB_GROWING_TABLE_H_

#include <cstddef>
#include <utility>

#include "base/memory_reserve.h"

namespace headrace {

// True if an insertion may make the table grow. It does so when 7 of 8 places
// are used; those of elements that were erased count among them, and a table
// grows for their sake if 25 of 32 are used by others.
template <typename Table>
bool MayGrow(const Table& table, bool had_erased) {
  const size_t capacity = table.capacity();
  return had_erased ? table.size() * 32 >= capacity * 25
                    : table.size() >= capacity - capacity / 8;
}

// What the next size takes: a place and a byte for each, and some at the end.
template <typename Table>
size_t GrownBytes(const Table& table) {
  return (table.capacity() * 2 + 1) * (sizeof(typename Table::value_type) + 1) +
         64;
}

// table->try_emplace(key, args...). Throws OutOfMemory, the table being as it
// was. `had_erased`: something was ever erased.
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

// The same of a set from which nothing is erased; true if it was not there.
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
