"""Checks that every functor that the kernels of GPUs launch has device code.

A functor F that is launched (kernels/gpu/launch_functor.h) leaves a variable
device_function<F> in the library; its device code is a kernel ForEachIndex<F>
or ForEachBlock<F>. A body B of a *.cu.cc (device/gpu/launch.h) leaves the
host's half of a kernel ElementsOnDevice<B> or BlocksOnDevice<B>; its device
code has the same name. cuobjdump lists the kernels of each architecture.

usage: check_gpu_symbols.py [--cuobjdump PROGRAM] libheadrace_cuda.so

Of several files, objects of .cu units for example, it takes all together.
Where CUDA comes without cuobjdump, PyPI's nvidia-cuda-cuobjdump has it, which
./run installs. Without it the status is 77: nothing was checked.
"""
import argparse
import re
import shutil
import subprocess
import sys

VARIABLE = re.compile(r"_ZN8headrace3gpu15device_functionI(.+)EE$")
KERNEL = re.compile(
    r"_ZN8headrace3gpu12ForEach(?:Index|Block)I(.+)EEvNS0_(?:8Elements|6Blocks)I")
BODY = re.compile(
    r"_ZN8headrace3gpu8internalL?(1[46](?:Elements|Blocks)OnDeviceI.+)"
    r"EEv(?:NS1_14ElementsParamsIT_EE|T_)$")
NOT_CHECKED = 77
ARCHITECTURES = ("sm_80", "sm_90")


def lines_of(*command):
    # cuobjdump fails on a file without device code, which has nothing to list.
    check = "cuobjdump" not in command[0]
    return subprocess.run(command, check=check, capture_output=True,
                          text=True).stdout.splitlines()


def functors(files):
    """The mangled functors and bodies that are launched."""
    found = set()
    for file in files:
        for line in lines_of("nm", file):
            word = line.split()[-1] if line else ""
            match = VARIABLE.match(word) or BODY.match(word)
            if match:
                found.add(match.group(1))
    return found


def kernels(files, cuobjdump, architecture):
    """The mangled functors and bodies with device code for the architecture."""
    found = set()
    for file in files:
        for line in lines_of(cuobjdump, "--dump-elf-symbols",
                             "--gpu-architecture", architecture, file):
            for word in line.split():
                match = KERNEL.match(word) or BODY.match(word)
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
        print("there is no cuobjdump: ./run build installs it where nvcc is")
        sys.exit(NOT_CHECKED)
    launched = functors(files)
    if not launched:
        sys.exit(f"{files}: no functor is launched")
    failed = False
    for architecture in ARCHITECTURES:
        there = kernels(files, cuobjdump, architecture)
        for name in sorted(launched - there):
            failed = True
            symbol = (f"_ZN8headrace3gpu8internal{name}EE" if "OnDeviceI" in name
                      else f"_ZN8headrace3gpu15device_functionI{name}EE")
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
