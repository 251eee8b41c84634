// TF_CancellationManager.
#include "c_api/internal.h"

namespace errors = headrace::errors;

TF_CancellationManager* TF_NewCancellationManager() {
  return new TF_CancellationManager;
}

void TF_DeleteCancellationManager(TF_CancellationManager* m) { delete m; }

void TF_CancellationManagerStartCancel(TF_CancellationManager* m) {
  if (m == nullptr) return;
  // A run that has been told may let its caller delete the handle.
  const auto manager = m->manager;
  manager->StartCancel(errors::Cancelled("Run was cancelled."));
}

TF_Bool TF_CancellationManagerIsCancelled(TF_CancellationManager* m) {
  return m != nullptr && m->manager->IsCancelled();
}
