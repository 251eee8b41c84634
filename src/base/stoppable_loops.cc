#include "base/stoppable_loops.h"

namespace headrace {
namespace {

thread_local const StoppableLoops* current = nullptr;

}  // namespace

StoppableLoops::StoppableLoops(Stopped stopped, const void* arg)
    : stopped_(stopped), arg_(arg), outer_(SetCurrent(this)) {}
StoppableLoops::~StoppableLoops() { SetCurrent(outer_); }

const StoppableLoops* StoppableLoops::Current() { return current; }
const StoppableLoops* StoppableLoops::SetCurrent(const StoppableLoops* loops) {
  const StoppableLoops* const before = current;
  current = loops;
  return before;
}

}  // namespace headrace
