// Gradients and loops built in place: the functions exist, so that programs
// that name them link and load, and say what they cannot do yet.
#include "c_api/internal.h"

using headrace::c_api::Set;
namespace errors = headrace::errors;

void TF_AddGradientsWithPrefix(TF_Graph*, const char*, TF_Output*, int,
                               TF_Output*, int nx, TF_Output*,
                               TF_Status* status, TF_Output* dy) {
  for (int i = 0; dy != nullptr && i < nx; ++i) dy[i] = {nullptr, 0};
  Set(status, errors::Unimplemented(
                  "TF_AddGradients: building gradients is not supported yet; "
                  "import a graph that has them"));
}

void TF_AddGradients(TF_Graph* g, TF_Output* y, int ny, TF_Output* x, int nx,
                     TF_Output* dx, TF_Status* status, TF_Output* dy) {
  TF_AddGradientsWithPrefix(g, nullptr, y, ny, x, nx, dx, status, dy);
}

TF_WhileParams TF_NewWhile(TF_Graph*, TF_Output*, int, TF_Status* status) {
  Set(status, errors::Unimplemented(
                  "TF_NewWhile: building a loop is not supported yet; import a "
                  "graph that has it"));
  return {0,       nullptr, nullptr, {nullptr, 0},
          nullptr, nullptr, nullptr, nullptr};
}

void TF_FinishWhile(const TF_WhileParams*, TF_Status* status, TF_Output*) {
  Set(status, errors::Unimplemented(
                  "TF_FinishWhile: building a loop is not supported yet"));
}

void TF_AbortWhile(const TF_WhileParams*) {}
