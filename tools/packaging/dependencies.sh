#!/usr/bin/env bash
# dependencies.sh FOLDER: builds, once, archives of Abseil, protobuf and a part of
# RE2 under FOLDER, from the sources of the Debian packages that are installed.
# Debian's own archives are made for programs: they hold thread-local variables
# that a shared library cannot reach. FOLDER/archives names what is to be linked.
set -euo pipefail
mkdir -p "$1"
cd "$1"

packages=()
for package in libabsl-dev libprotobuf-dev libre2-dev; do
  packages+=("$(dpkg-query -W -f '${source:Package}=${source:Version}' "$package")")
done
wanted="${packages[*]}"
if [[ "$(cat built 2>/dev/null)" != "$wanted" ]]; then
  rm -rf built source build lists
  mkdir -p source lists/partial
  # shellcheck disable=SC1091
  . /etc/os-release
  [[ $ID == debian ]] || { echo "packages are made on Debian, whose sources this builds" >&2; exit 1; }
  {
    for suite in "debian $VERSION_CODENAME" "debian $VERSION_CODENAME-updates" "debian-security $VERSION_CODENAME-security"; do
      echo "deb-src [signed-by=/usr/share/keyrings/debian-archive-keyring.gpg] http://deb.debian.org/$suite main"
    done
  } >sources.list
  # Lists of its own: those of the system stay as they are.
  options=(-qq -o "Dir::Etc::sourcelist=$PWD/sources.list" -o Dir::Etc::sourceparts=/dev/null
    -o "Dir::State::lists=$PWD/lists" -o APT::Sandbox::User=)
  apt-get "${options[@]}" update
  (cd source && apt-get "${options[@]}" --download-only source "${packages[@]}" >/dev/null)
  for package in "${packages[@]}"; do
    name=${package%%=*}
    dpkg-source --no-check -x source/"$name"_*.dsc "source/$name" >/dev/null
  done
  flags="-O2 -fPIC -ffunction-sections -fdata-sections -fvisibility-inlines-hidden -w"
  options=(-G Ninja -DCMAKE_BUILD_TYPE=None -DCMAKE_CXX_STANDARD=17 -DBUILD_SHARED_LIBS=OFF
    -DCMAKE_CXX_FLAGS="$flags" -Wno-dev --log-level=ERROR)
  command -v ccache >/dev/null && options+=(-DCMAKE_CXX_COMPILER_LAUNCHER=ccache)
  cmake "${options[@]}" -S source/abseil -B build/abseil -DABSL_BUILD_TESTING=OFF \
    -DBUILD_TESTING=OFF >/dev/null
  cmake --build build/abseil >build/abseil.log
  cmake "${options[@]}" -S source/protobuf -B build/protobuf -Dprotobuf_BUILD_TESTS=OFF \
    -Dprotobuf_BUILD_PROTOC_BINARIES=OFF >/dev/null
  cmake --build build/protobuf --target libprotobuf >build/protobuf.log
  # The rest of RE2 is generated from data that its source package lacks.
  # shellcheck disable=SC2086
  c++ $flags -std=c++17 -Isource/re2 -c source/re2/re2/re2.cc -o build/re2.o
  echo "$wanted" >built
fi
{
  echo "$PWD/build/re2.o"
  echo "$PWD/build/protobuf/libprotobuf.a"
  find "$PWD/build/abseil" -name 'libabsl_*.a' | sort
  for name in png z jpeg gif snappy re2; do
    echo "/usr/lib/$(gcc -print-multiarch)/lib$name.a"
  done
} >archives
