/* What the machine can do at best, for the other figures to be read against:
 *
 *   cc -O3 -march=native -ffast-math -pthread limits.c -o limits; limits
 * THREADS
 *
 * prints "fma_gflops" (float32, two operations a multiply-add) and "read_gbs"
 * (GB/s out of memory), each the best of several tries over all threads. */
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

/* Chains of one register each, of which AVX2 and SSE have 16. */
#if defined(__AVX512F__)
enum { LANES = 16 };
#elif defined(__AVX__)
enum { LANES = 8 };
#else
enum { LANES = 4 };
#endif
enum { CHAINS = 12, MAX_THREADS = 256, TRIES = 9 };
typedef float Vector __attribute__((vector_size(4 * LANES)));

static const size_t kFloats = (size_t)32 << 20; /* a thread reads 128 MB */
static const long kTurns = 4000000;
static pthread_barrier_t barrier;
static float sink[MAX_THREADS];

static double Now(void) {
  struct timespec t;
  clock_gettime(CLOCK_MONOTONIC, &t);
  return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

static void MultiplyAdd(int thread, const float* data) {
  Vector x[CHAINS]; /* from memory: chains that were equal would be one */
  for (int j = 0; j < CHAINS; ++j) x[j] = data[j] - (Vector){0};
  const Vector a = data[CHAINS] - (Vector){0},
               b = data[CHAINS + 1] - (Vector){0};
  for (long i = 0; i < kTurns; ++i) {
#pragma GCC unroll 12
    for (int j = 0; j < CHAINS; ++j) x[j] = x[j] * a + b;
  }
  for (int j = 0; j < CHAINS; ++j) sink[thread] += x[j][0];
}

static void Read(int thread, const float* data) {
  Vector sum[4] = {{0}};
  for (size_t i = 0; i < kFloats / LANES; i += 4) {
    for (int j = 0; j < 4; ++j) sum[j] += ((const Vector*)data)[i + (size_t)j];
  }
  sink[thread] += (sum[0] + sum[1] + sum[2] + sum[3])[0];
}

static double best[2]; /* seconds */

static void* Work(void* argument) {
  const int thread = (int)(long)argument;
  float* data = aligned_alloc(64, kFloats * sizeof(float));
  if (data == NULL) exit(1);
  for (size_t i = 0; i < kFloats; ++i) data[i] = 0.5f;
  for (int i = 0; i < 2 * TRIES; ++i) {
    pthread_barrier_wait(&barrier);
    const double begin = Now();
    (i % 2 ? Read : MultiplyAdd)(thread, data);
    pthread_barrier_wait(&barrier);
    const double seconds = Now() - begin;
    if (thread == 0 && (i < 2 || seconds < best[i % 2])) best[i % 2] = seconds;
  }
  free(data);
  return NULL;
}

int main(int argc, char** argv) {
  const int threads = argc > 1 ? atoi(argv[1]) : 1;
  if (threads < 1 || threads > MAX_THREADS) {
    fprintf(stderr, "usage: limits THREADS\n");
    return 2;
  }
  pthread_t others[MAX_THREADS];
  pthread_barrier_init(&barrier, NULL, (unsigned)threads);
  for (long i = 1; i < threads; ++i) {
    if (pthread_create(&others[i], NULL, Work, (void*)i) != 0) return 1;
  }
  Work((void*)0);
  for (int i = 1; i < threads; ++i) pthread_join(others[i], NULL);
  printf("fma_gflops %.1f\n",
         2e-9 * CHAINS * LANES * (double)kTurns * threads / best[0]);
  printf("read_gbs %.2f\n",
         1e-9 * (double)(kFloats * sizeof(float)) * threads / best[1]);
  return sink[0] == 0;
}
