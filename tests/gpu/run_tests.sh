#!/usr/bin/env bash
# Everything that is tested of GPUs: on the host platform, which needs none, then
# on the GPU of this machine. ./run gpu-test and the folder that ./run gpu-pack
# makes both run it.
#
#   run_tests.sh LIB TESTS PYTHON FILES [gtest argument...]
#
# LIB and TESTS are folders with libraries and test programs, PYTHON has NumPy,
# FILES is the repository's root or a folder with its tests/ and tools/. Status:
# 0, nothing failed, and what is not listed as NOT RUN passed on a GPU;
# 1, something failed; 3, nothing failed, but nothing ran on a GPU.
set -uo pipefail
lib=$(realpath "$1") tests=$(realpath "$2") python=$3 files=$(realpath "$4")
shift 4
failed=() skipped=() passed=()

say() { printf '\n== %s  [%d s]\n' "$*" "$SECONDS"; }

# part NAME command...: runs it and notes how it ended; 77 means that it cannot
# run here.
part() {
  local name=$1 status=0
  shift
  say "$name"
  "$@" || status=$?
  case $status in
    0) passed+=("$name") ;;
    77) skipped+=("$name") ;;
    *)
      echo "ended with $status"
      failed+=("$name")
      ;;
  esac
}

# How many GPUs the driver sees.
count_gpus() {
  "$python" - <<'END'
import ctypes
count = ctypes.c_int()
try:
    cuda = ctypes.CDLL("libcuda.so.1")
except OSError as error:
    print(0, error)
else:
    failure = cuda.cuInit(0) or cuda.cuDeviceGetCount(ctypes.byref(count))
    print(count.value, f"cuInit or cuDeviceGetCount: {failure}" if failure else "")
END
}

# CUDA's libraries may be those of Python packages: nvidia-cublas, and
# nvidia-cudnn-cu13 for cuDNN.
find_cuda_libraries() {
  local folders
  folders=$("$python" - <<'END'
import glob, importlib.util
spec = importlib.util.find_spec("nvidia")
for place in spec.submodule_search_locations if spec else []:
    print(*glob.glob(place + "/*/lib"), sep="\n")
END
  ) || folders=
  folders=$(tr '\n' ':' <<<"$folders")
  export LD_LIBRARY_PATH=${LD_LIBRARY_PATH:+$LD_LIBRARY_PATH:}${folders%%:}
  LD_LIBRARY_PATH=${LD_LIBRARY_PATH%:}
  local missing
  missing=$(ldd "$lib/libheadrace_cuda.so" | sed -n 's/^[[:space:]]*\(.*\) => not found/\1/p')
  [[ -z $missing ]] && return
  echo "libheadrace_cuda.so cannot be loaded, these are missing:" $missing
  return 1
}

has_package() { "$python" -c 'import headrace' 2>/dev/null; }

# With the package headrace; without it, as where PYTHON is another version than
# the one it was made for, nothing is run, which is said.
with_package() {
  if ! has_package; then
    "$python" -c 'import headrace' 2>&1 | tail -n 1
    echo "not run: $python has no package headrace"
    return 77
  fi
  "$python" "$@"
}

conformance() {  # conformance PLATFORM
  HEADRACE_GPU_PLATFORM=$1 "$python" "$files/tests/conformance/gpu_cases.py" "$lib/libtensorflow.so.2" ops graphs
}

networks() {  # networks PLATFORM
  HEADRACE_GPU_PLATFORM=$1 with_package "$files/tests/python/gpu_networks.py" --check
}

sanitizer() {
  local program
  program=$(command -v compute-sanitizer || ls /usr/local/cuda/bin/compute-sanitizer 2>/dev/null) || {
    echo "compute-sanitizer is not found"
    return 77
  }
  HEADRACE_GPU_PLATFORM=cuda "$program" --tool "$1" --error-exitcode 9 --print-limit 20 \
    "$tests/cuda_ops_test" --gtest_filter="$2"
}

part "The GPU's code on the host platform" "$tests/gpu_test" "$@"
part "Conformance cases on the host platform" conformance host
part "Networks on the host platform" networks host
part "Device code of every kernel" "$python" "$files/tools/check_gpu_symbols.py" "$lib/libheadrace_cuda.so"

say "This machine's GPUs"
found=$(count_gpus) || found="0 $python did not run"
gpus=${found%% *}
echo "$found"
if [[ $gpus -gt 0 ]]; then
  command -v nvidia-smi >/dev/null && nvidia-smi --query-gpu=name,driver_version,memory.total --format=csv
  if find_cuda_libraries; then
    part "CUDA against the host platform" "$tests/cuda_test" --gtest_brief=1
    part "Each op on the GPU against the CPU" env HEADRACE_GPU_PLATFORM=cuda "$tests/cuda_ops_test" --gtest_brief=1
    part "Graphs on the GPU against the CPU" with_package "$files/tests/gpu/compare.py" --need-gpu
    part "Networks on the GPU against the CPU" networks cuda
    part "Conformance cases on the GPU" conformance cuda
    part "compute-sanitizer: memcheck" sanitizer memcheck '*'
    part "compute-sanitizer: racecheck" sanitizer racecheck '*Reduc*:*Softmax*:*Norm*:*Transpose*'
  else
    failed+=("CUDA's libraries")
  fi
fi

say "GPU tests"
for name in "${passed[@]}"; do echo "ok       $name"; done
for name in "${skipped[@]}"; do echo "NOT RUN  $name"; done
for name in "${failed[@]}"; do echo "FAILED   $name"; done
if [[ ${#failed[@]} -gt 0 ]]; then
  echo "GPU tests failed"
  exit 1
elif [[ $gpus == 0 ]]; then
  echo "There is no GPU: CUDA's part was not run"
  exit 3
elif [[ ${#skipped[@]} -gt 0 ]]; then
  echo "What ran on the GPU did not fail; not everything ran"
else
  echo "GPU tests passed"
fi
