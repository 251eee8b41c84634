// absl's hash tables whose size comes from a tensor. If such a table cannot get
// memory to grow, it is broken and ends the process when it is destroyed. The
// functions that insert into it therefore take the memory first.
#ifndef HEADRACE_KERNELS_LIB_GROWING_TABLE_H_
#define HEADRACE_KERNELS_LIB_GROWING_TABLE_H_

#include <cstddef>
#include <new>
#include <type_traits>
#include <utility>

#include "absl/container/flat_hash_map.h"
#include "absl/container/flat_hash_set.h"
#include "base/memory_reserve.h"

namespace headrace {

// The memory that was taken first may be larger than what the table asked for.
// So it is not given back as memory of that size, which a program's own
// operator delete may rely on.
template <typename T>
struct UnsizedAllocator {
  using value_type = T;
  UnsizedAllocator() = default;
  template <typename U>
  UnsizedAllocator(const UnsizedAllocator<U>&) {}  // NOLINT(*-explicit-*)
  T* allocate(size_t n) {
    return static_cast<T*>(::operator new(n * sizeof(T)));
  }
  void deallocate(T* p, size_t) { ::operator delete(static_cast<void*>(p)); }
  bool operator==(const UnsizedAllocator&) const { return true; }
};

template <typename K, typename V, typename Like = absl::flat_hash_map<K, V>>
using GrowingMap =
    absl::flat_hash_map<K, V, typename Like::hasher, typename Like::key_equal,
                        UnsizedAllocator<std::pair<const K, V>>>;
template <typename K, typename Like = absl::flat_hash_set<K>>
using GrowingSet =
    absl::flat_hash_set<K, typename Like::hasher, typename Like::key_equal,
                        UnsizedAllocator<K>>;

// True if an insertion may make the table grow. A table grows when 7 of 8 slots
// are used. Slots of erased elements count as used. If there are such slots,
// the table grows only if elements use at least 25 of 32 slots.
template <typename Table>
bool MayGrow(const Table& table, bool had_erased) {
  static_assert(std::is_same_v<typename Table::allocator_type,
                               UnsizedAllocator<typename Table::value_type>>,
                "the table must be a GrowingMap or a GrowingSet");
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
