/* An op with the name of examples/custom_op_c's, and another signature. */
#include "tensorflow/c/ops.h"

void TF_InitKernel(void);
void TF_InitKernel(void) {
  TF_Status* s = TF_NewStatus();
  TF_OpDefinitionBuilder* op = TF_NewOpDefinitionBuilder("Saturate");
  TF_OpDefinitionBuilderAddInput(op, "other: float");
  TF_RegisterOpDefinition(op, s);
  TF_DeleteStatus(s);
}
