#include "base/stoppable_loops.h"

namespace headrace {
namespace {

thread_local const StoppableLoops* current_loops = nullptr;

}  // namespace

StoppableLoops::StoppableLoops(Stopped stopped, const void* arg)
    : stopped_(stopped), arg_(arg), outer_(SetCurrent(this)) {}
StoppableLoops::~StoppableLoops() { SetCurrent(outer_); }

const StoppableLoops* StoppableLoops::Current() { return current_loops; }
const StoppableLoops* StoppableLoops::SetCurrent(const StoppableLoops* loops) {
  const StoppableLoops* const before = current_loops;
  current_loops = loops;
  return before;
}

}  // namespace headrace
