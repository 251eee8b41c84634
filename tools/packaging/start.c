// Where a program begins. The start file of glibc 2.34 leaves the constructors
// to libc.so.6, that of older ones names a function which calls them. With this
// one a program runs on both.
typedef int Main(int, char**, char**);
typedef void Constructor(int, char**, char**);

extern Constructor* __init_array_start[] __attribute__((visibility("hidden")));
extern Constructor* __init_array_end[] __attribute__((visibility("hidden")));

static int Construct(int argc, char** argv, char** env) {
  for (Constructor** next = __init_array_start; next != __init_array_end;
       ++next) {
    (*next)(argc, argv, env);
  }
  return 0;
}

int __real___libc_start_main(Main* program, int argc, char** argv, Main* begin,
                             void (*end)(void), void (*loader_end)(void),
                             void* stack);

int __wrap___libc_start_main(Main* program, int argc, char** argv, Main* begin,
                             void (*end)(void), void (*loader_end)(void),
                             void* stack) {
  (void)begin;
  return __real___libc_start_main(program, argc, argv, Construct, end,
                                  loader_end, stack);
}
