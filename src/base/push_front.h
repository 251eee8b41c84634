// A list that grows at its front while other threads read it. For objects that
// register themselves when a library is loaded.
#ifndef HEADRACE_BASE_PUSH_FRONT_H_
#define HEADRACE_BASE_PUSH_FRONT_H_

#include <atomic>
#include <type_traits>

namespace headrace {

// Puts the elements from `newest` to the element whose link is `*next` in front
// of the list at `head`. Thread-safe. A reader that loads `head` with acquire
// may follow every link.
template <typename T>
void PushFront(std::atomic<const T*>* head,
               const std::type_identity_t<T>* newest, const T** next) {
  *next = head->load(std::memory_order_relaxed);
  while (!head->compare_exchange_weak(*next, newest, std::memory_order_release,
                                      std::memory_order_relaxed)) {
  }
}

}  // namespace headrace

#endif  // HEADRACE_BASE_PUSH_FRONT_H_
