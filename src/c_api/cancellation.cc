// HR_CancellationManager.
#include "c_api/internal.h"

namespace errors = headrace::errors;

HR_CancellationManager* HR_NewCancellationManager() {
  return new HR_CancellationManager;
}

void HR_DeleteCancellationManager(HR_CancellationManager* m) { delete m; }

void HR_CancellationManagerStartCancel(HR_CancellationManager* m) {
  if (m == nullptr) return;
  // When a run is cancelled, its caller may delete the handle.
  const auto manager = m->manager;
  manager->StartCancel(errors::Cancelled("Run was cancelled."));
}

TF_Bool HR_CancellationManagerIsCancelled(HR_CancellationManager* m) {
  return m != nullptr && m->manager->IsCancelled();
}
