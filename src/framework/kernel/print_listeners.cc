#include "framework/kernel/print_listeners.h"

#include <atomic>

#include "base/push_front.h"

namespace headrace {
namespace {

struct Listener {
  PrintListener function;
  const Listener* next;
};
constinit std::atomic<const Listener*> g_listeners{nullptr};

}  // namespace

void AddPrintListener(PrintListener listener) {
  auto* const added = new Listener{listener, nullptr};
  PushFront(&g_listeners, added, &added->next);
}

bool PrintToListeners(const std::string& text) {
  const Listener* const first = g_listeners.load(std::memory_order_acquire);
  for (const Listener* l = first; l != nullptr; l = l->next) {
    l->function(text.c_str());
  }
  return first != nullptr;
}

}  // namespace headrace
