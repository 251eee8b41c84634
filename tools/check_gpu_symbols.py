"""Checks that every functor that the kernels of GPUs launch has device code.

A functor F that is launched (kernels/gpu/launch_functor.h) leaves a variable
device_function<F> in the library; its device code is a kernel ForEachIndex<F>
or ForEachBlock<F>. cuobjdump lists the kernels of each architecture.

usage: check_gpu_symbols.py libheadrace_cuda.so [CUOBJDUMP]
"""
import re
import shutil
import subprocess
import sys

VARIABLE = re.compile(r"_ZN8headrace3gpu15device_functionI(.+)EE$")
KERNEL = re.compile(
    r"_ZN8headrace3gpu12ForEach(?:Index|Block)I(.+)EEvNS0_(?:8Elements|6Blocks)I")
ARCHITECTURES = ("sm_80", "sm_90")


def lines_of(*command):
    return subprocess.run(command, check=True, capture_output=True,
                          text=True).stdout.splitlines()


def functors(library):
    """The mangled functors that are launched."""
    found = set()
    for line in lines_of("nm", library):
        match = VARIABLE.match(line.split()[-1]) if line else None
        if match:
            found.add(match.group(1))
    return found


def kernels(library, cuobjdump, architecture):
    """The mangled functors with device code for the architecture."""
    found = set()
    for line in lines_of(cuobjdump, "--dump-elf-symbols",
                         "--gpu-architecture", architecture, library):
        for word in line.split():
            match = KERNEL.match(word)
            if match:
                found.add(match.group(1))
    return found


def main(library, cuobjdump=None):
    cuobjdump = (cuobjdump or shutil.which("cuobjdump") or
                 "/usr/local/cuda/bin/cuobjdump")
    launched = functors(library)
    if not launched:
        sys.exit(f"{library}: no functor is launched")
    failed = False
    for architecture in ARCHITECTURES:
        there = kernels(library, cuobjdump, architecture)
        for name in sorted(launched - there):
            failed = True
            symbol = f"_ZN8headrace3gpu15device_functionI{name}EE"
            plain = lines_of("c++filt", symbol)[0]
            print(f"{architecture}: no kernel for {plain}")
    if not lines_of(cuobjdump, "--list-ptx", library):
        failed = True
        print("no PTX for later GPUs")
    if failed:
        sys.exit(1)
    print(f"{len(launched)} functors, each with kernels for "
          f"{', '.join(ARCHITECTURES)} and PTX")


if __name__ == "__main__":
    main(*sys.argv[1:])
