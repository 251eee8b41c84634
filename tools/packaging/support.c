// What our libraries are linked with for other machines, beside their own
// objects: functions that glibc 2.28 lacks. All of it is hidden.
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <link.h>
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#pragma GCC visibility push(hidden)

// Debian's archives of libpng, libjpeg and RE2 read stderr as programs do, which
// a shared library cannot. In the copies that are linked in it has this name.
FILE* hr_err;

__attribute__((constructor(101))) static void SetStandardError(void) {
  hr_err = stderr;
}

// glibc 2.32. Without it libstdc++ counts references atomically.
char __libc_single_threaded = 0;

// glibc 2.30.
pid_t gettid(void) { return (pid_t)syscall(SYS_gettid); }

// glibc 2.33 has these as functions.
int stat(const char* path, struct stat* out) {
  return (int)syscall(SYS_stat, path, out);
}
int fstat(int file, struct stat* out) {
  return (int)syscall(SYS_fstat, file, out);
}
int lstat(const char* path, struct stat* out) {
  return (int)syscall(SYS_lstat, path, out);
}
int stat64(const char* path, struct stat64* out) {
  return (int)syscall(SYS_stat, path, out);
}
int fstat64(int file, struct stat64* out) {
  return (int)syscall(SYS_fstat, file, out);
}
int fstatat(int folder, const char* path, struct stat* out, int flags) {
  return (int)syscall(SYS_newfstatat, folder, path, out, flags);
}

// glibc 2.36.
uint32_t arc4random(void) {
  uint32_t value = 0;
  while (getrandom(&value, sizeof(value), 0) != sizeof(value)) {
  }
  return value;
}

// glibc 2.30: waits until a time of `clock`. Where it is absent, until the same
// moment of the clock that the other functions use.
static void ToRealTime(clockid_t clock, const struct timespec* when,
                       struct timespec* out) {
  struct timespec now, real;
  clock_gettime(clock, &now);
  clock_gettime(CLOCK_REALTIME, &real);
  out->tv_sec = real.tv_sec + (when->tv_sec - now.tv_sec);
  out->tv_nsec = real.tv_nsec + (when->tv_nsec - now.tv_nsec);
  if (out->tv_nsec < 0) {
    out->tv_nsec += 1000000000;
    --out->tv_sec;
  } else if (out->tv_nsec >= 1000000000) {
    out->tv_nsec -= 1000000000;
    ++out->tv_sec;
  }
}

static void* Find(_Atomic(void*)* kept, const char* name) {
  void* found = *kept;
  if (found == NULL) {
    found = dlsym(RTLD_DEFAULT, name);
    *kept = found != NULL ? found : (void*)-1;
  }
  return found == (void*)-1 ? NULL : found;
}

int pthread_cond_clockwait(pthread_cond_t* condition, pthread_mutex_t* mutex,
                           clockid_t clock, const struct timespec* when) {
  static _Atomic(void*) kept;
  int (*wait)(pthread_cond_t*, pthread_mutex_t*, clockid_t,
              const struct timespec*) = Find(&kept, "pthread_cond_clockwait");
  if (wait != NULL) return wait(condition, mutex, clock, when);
  struct timespec real;
  ToRealTime(clock, when, &real);
  return pthread_cond_timedwait(condition, mutex, &real);
}

int pthread_mutex_clocklock(pthread_mutex_t* mutex, clockid_t clock,
                            const struct timespec* when) {
  static _Atomic(void*) kept;
  int (*lock)(pthread_mutex_t*, clockid_t, const struct timespec*) =
      Find(&kept, "pthread_mutex_clocklock");
  if (lock != NULL) return lock(mutex, clock, when);
  struct timespec real;
  ToRealTime(clock, when, &real);
  return pthread_mutex_timedlock(mutex, &real);
}

// glibc 2.35: finds the unwinding table of the code at `address`. libgcc calls
// it for each frame that an exception passes.
typedef struct {
  uintptr_t address;
  struct dl_find_object* out;
} Search;

static int LookInto(struct dl_phdr_info* info, size_t size, void* argument) {
  (void)size;
  Search* const search = argument;
  uintptr_t begin = UINTPTR_MAX, end = 0;
  const ElfW(Phdr)* table = NULL;
  int inside = 0;
  for (int i = 0; i < info->dlpi_phnum; ++i) {
    const ElfW(Phdr)* const part = &info->dlpi_phdr[i];
    const uintptr_t from = info->dlpi_addr + part->p_vaddr;
    const uintptr_t to = from + part->p_memsz;
    if (part->p_type == PT_GNU_EH_FRAME) {
      table = part;
    } else if (part->p_type == PT_LOAD) {
      inside |= search->address >= from && search->address < to;
      if (from < begin) begin = from;
      if (to > end) end = to;
    }
  }
  if (!inside || table == NULL) return 0;
  *search->out = (struct dl_find_object){
      .dlfo_map_start = (void*)begin,
      .dlfo_map_end = (void*)end,
      .dlfo_eh_frame = (void*)(info->dlpi_addr + table->p_vaddr)};
  return 1;
}

int _dl_find_object(void* address, struct dl_find_object* out) {
  Search search = {(uintptr_t)address, out};
  return dl_iterate_phdr(LookInto, &search) == 1 ? 0 : -1;
}

#pragma GCC visibility pop
