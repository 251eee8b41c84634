/* Compiles if today's headers still declare what functions_0_1.h declares:
   two declarations of a function must have one type. */
#include "tensorflow/c/kernels.h"
#include "tensorflow/c/ops.h"
#include "tensorflow/c/tf_tstring.h"
/* After today's. */
#include "functions_0_1.h"

_Static_assert(sizeof(TF_Buffer) == 24 && sizeof(TF_StringView) == 16 &&
                   sizeof(TF_TString) == 24 && sizeof(TF_RendezvousThunk) == 32,
               "structs that are passed by value or made by the client");
_Static_assert(offsetof(TF_InputRange_Args, start) == 16 &&
                   offsetof(TF_InputRange_Args, status) == 24 &&
                   offsetof(TF_AllocatorAttributes, on_host) == 8,
               "structs with a struct_size only grow");
_Static_assert(TF_OK == 0 && TF_INVALID_ARGUMENT == 3 && TF_FLOAT == 1 &&
                   TF_STRING == 7 && TF_INT64 == 9 && TF_TSTR_SMALL == 0,
               "values of enums stay");
