"""Checks that every functor that the kernels of GPUs launch has device code.

A functor F that is launched (kernels/gpu/launch_functor.h) leaves a variable
device_function<F> in the library; its device code is a kernel ForEachIndex<F>
or ForEachBlock<F>. cuobjdump lists the kernels of each architecture.

usage: check_gpu_symbols.py [--cuobjdump PROGRAM] libheadrace_cuda.so

Of several files, objects of .cu units for example, it takes all together.
Where CUDA comes without cuobjdump, PyPI's nvidia-cuda-cuobjdump has it.
"""
import argparse
import re
import shutil
import subprocess
import sys

VARIABLE = re.compile(r"_ZN8headrace3gpu15device_functionI(.+)EE$")
KERNEL = re.compile(
    r"_ZN8headrace3gpu12ForEach(?:Index|Block)I(.+)EEvNS0_(?:8Elements|6Blocks)I")
ARCHITECTURES = ("sm_80", "sm_90")


def lines_of(*command):
    # cuobjdump fails on a file without device code, which has nothing to list.
    check = "cuobjdump" not in command[0]
    return subprocess.run(command, check=check, capture_output=True,
                          text=True).stdout.splitlines()


def functors(files):
    """The mangled functors that are launched."""
    found = set()
    for file in files:
        for line in lines_of("nm", file):
            match = VARIABLE.match(line.split()[-1]) if line else None
            if match:
                found.add(match.group(1))
    return found


def kernels(files, cuobjdump, architecture):
    """The mangled functors with device code for the architecture."""
    found = set()
    for file in files:
        for line in lines_of(cuobjdump, "--dump-elf-symbols",
                             "--gpu-architecture", architecture, file):
            for word in line.split():
                match = KERNEL.match(word)
                if match:
                    found.add(match.group(1))
    return found


def main(arguments):
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--cuobjdump", default=shutil.which("cuobjdump"))
    parser.add_argument("files", nargs="+")
    options = parser.parse_args(arguments)
    files, cuobjdump = options.files, options.cuobjdump
    if cuobjdump is None:
        sys.exit("cuobjdump is not on the PATH")
    launched = functors(files)
    if not launched:
        sys.exit(f"{files}: no functor is launched")
    failed = False
    for architecture in ARCHITECTURES:
        there = kernels(files, cuobjdump, architecture)
        for name in sorted(launched - there):
            failed = True
            symbol = f"_ZN8headrace3gpu15device_functionI{name}EE"
            plain = lines_of("c++filt", symbol)[0]
            print(f"{architecture}: no kernel for {plain}")
    if not any(lines_of(cuobjdump, "--list-ptx", file) for file in files):
        failed = True
        print("no PTX for later GPUs")
    if failed:
        sys.exit(1)
    print(f"{len(launched)} functors, each with kernels for "
          f"{', '.join(ARCHITECTURES)} and PTX")


if __name__ == "__main__":
    main(sys.argv[1:])
