"""Checks that libheadrace.so neither needs CUDA's libraries nor has names of theirs.

usage: check_core.py libheadrace.so
"""
import re
import subprocess
import sys

# cudaMalloc, cuInit, cudnnCreate, cublasLtMatmul, __cudaRegisterFatBinary.
NAME = re.compile(r"(__)?(cuda|cudnn|cublas|nvrtc|cu)[A-Z]")
LIBRARY = re.compile(r"lib(cuda|cudart|cudnn|cublas|cublasLt|nvrtc)\b")


def output(*command):
    return subprocess.run(command, check=True, capture_output=True, text=True).stdout.splitlines()


def main(library):
    names = [line.split()[-1] for line in output("nm", "-D", library)]
    if not names:
        sys.exit(f"{library}: no dynamic symbols")
    found = [name for name in names if NAME.match(name) or "headrace3gpu" in name]
    needed = re.findall(r"\(NEEDED\).*\[(.*)\]", "\n".join(output("readelf", "-d", library)))
    found += [name for name in needed if LIBRARY.match(name)]
    if found:
        sys.exit(f"{library} has {len(found)} names of CUDA: {' '.join(found[:10])}")
    print(f"{len(names)} names and {len(needed)} libraries, none of CUDA")


if __name__ == "__main__":
    main(sys.argv[1])
