#!/usr/bin/env bash
# Formats all C++ in place; with --check, names what is not formatted.
set -euo pipefail
cd "$(dirname "$0")/.."
format=$(command -v clang-format-14 || command -v clang-format)
mode=(-i)
if [[ "${1:-}" == --check ]]; then
  mode=(--dry-run -Werror)
fi
for folder in src python/ext include bench examples tests; do
  if [[ -d $folder ]]; then
    find "$folder" -name '*.cc' -o -name '*.h' -o -name '*.cu' -o -name '*.c'
  fi
done | sort | xargs -r -n 16 -P "$(nproc)" "$format" "${mode[@]}"
