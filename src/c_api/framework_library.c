/* libtensorflow_framework.so.1 and .so.2 have no functions of their own; they
   need libtensorflow.so.1 or .so.2, which have all. A library has to have some
   source. */
typedef int TF_Nothing;
