// Which objects a client has and has not deleted, so that a second deletion is
// an error and no access to freed memory. It is noticed unless a new object has
// the address of the old one.
#ifndef HEADRACE_C_API_LIVE_OBJECTS_H_
#define HEADRACE_C_API_LIVE_OBJECTS_H_

#include <memory>

#include "absl/container/flat_hash_set.h"
#include "headrace/mutex.h"

namespace headrace::c_api {

// Of one class. Thread-safe.
template <typename T>
class LiveObjects {
 public:
  // May throw std::bad_alloc; then `object` is none of them.
  static void Add(const T* object) {
    State* const s = Get();
    MutexLock lock(&s->mu);
    s->objects.insert(object);
  }
  // Adds it and hands it to the client. May throw std::bad_alloc.
  static T* Release(std::unique_ptr<T> object) {
    Add(object.get());
    return object.release();
  }
  static bool Contains(const T* object) {
    State* const s = Get();
    MutexLock lock(&s->mu);
    return s->objects.contains(object);
  }
  // False if it is none of them. Who gets true deletes the object.
  static bool Remove(const T* object) {
    State* const s = Get();
    MutexLock lock(&s->mu);
    return s->objects.erase(object) > 0;
  }

 private:
  struct State {
    Mutex mu;
    absl::flat_hash_set<const T*> objects GUARDED_BY(mu);
  };
  // Never destroyed: clients delete objects when the program ends, too.
  static State* Get() {
    static auto* const state = new State;
    return state;
  }
};

}  // namespace headrace::c_api

#endif  // HEADRACE_C_API_LIVE_OBJECTS_H_
