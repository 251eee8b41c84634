#!/usr/bin/env bash
# Formats the C++ that has changed since it did so last, in place; with --check,
# names what is not formatted of all of it.
set -euo pipefail
cd "$(dirname "$0")/.."
format=$(command -v clang-format-14 || command -v clang-format)
stamp=build/formatted
mode=(-i)
changed=()
[[ -f $stamp ]] && changed=(-newer "$stamp")
if [[ "${1:-}" == --check ]]; then
  mode=(--dry-run -Werror)
  changed=()
fi
for folder in src python/ext include bench examples tests; do
  if [[ -d $folder ]]; then
    find "$folder" \( -name '*.cc' -o -name '*.h' -o -name '*.cu' -o -name '*.c' \) "${changed[@]}"
  fi
done | sort | xargs -r -n 16 -P "$(nproc)" "$format" "${mode[@]}"
if [[ "${1:-}" != --check && -d build ]]; then touch "$stamp"; fi
