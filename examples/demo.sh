#!/usr/bin/env bash
# What Headrace does, in four steps; ./run demo builds it first and calls this.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
model=examples/models/resnet8_cifar10.pb
labels=examples/models/cifar10_labels.txt

printf '\n-- 1. Where is tf.nn.conv2d actually executed? (examples/conv2d.py)\n\n'
.venv/bin/python examples/conv2d.py

printf '\n-- 2. A trained network on pictures, from the command line\n'
for photo in examples/photos/*.png; do
  printf '\n$ headrace run %s --feed input_1:0=%s --top 3 --labels %s\n' "$model" "$photo" "$labels"
  build/bin/headrace run "$model" --feed "input_1:0=$photo" --top 3 --labels "$labels" \
    --save "input_1:0=$work/pixels.npy" --save "output_0:0=$work/probabilities.npy"
done

printf '\n-- 3. The same network and the last picture, from C through the TF C API (examples/c/classify.c)\n\n'
cc -O2 -Iinclude examples/c/classify.c -o "$work/classify" -Lbuild/lib -l:libtensorflow.so.2 -lm -Wl,-rpath,"$PWD/build/lib"
"$work/classify" "$model" "$work/pixels.npy" "$work/probabilities.npy"

printf '\n-- 4. A LeNet learns Fashion-MNIST, is saved, and restored in other processes (examples/python/lenet.py, examples/c/restore.c)\n\n'
data=${FASHION_MNIST:-/usr/share/datasets/fashion-mnist}
if [[ ! -d $data ]]; then
  printf 'LEFT OUT: there is no %s. Install dataset-fashion-mnist, or set FASHION_MNIST to the folder of its four files.\n' "$data"
  exit 0
fi
.venv/bin/python examples/python/lenet.py --data "$data" --save "$work/lenet"
sheet=build/clothes.png
.venv/bin/python examples/python/classify_clothes.py "$work/lenet" --data "$data" --sheet "$sheet"
cc -O2 -Iinclude examples/c/restore.c -o "$work/restore" -Lbuild/lib -l:libtensorflow.so.2 -Wl,-rpath,"$PWD/build/lib"
printf '\nfrom C:\n'
"$work/restore" "$work/lenet/model" "$work/lenet/lenet-200" "$work/lenet/pixels" "$work/lenet/classes"
printf '\nThe ten pictures and their predictions: %s\n' "$sheet"
