#!/usr/bin/env bash
# Fails if a generated file differs from the output of `make generate`. The script works on a
# copy, so that it does not change the source tree.
set -euo pipefail
cd "$(dirname "$0")/.."

copy=$(mktemp -d)
trap 'rm -rf "$copy"' EXIT

git ls-files -z --cached --others --exclude-standard | while IFS= read -r -d '' file; do
  [ ! -e "$file" ] || printf '%s\0' "$file"
done | tar --null -T - -cf - | tar -xf - -C "$copy"
"$copy/hack/generate.sh"

stale=$(git ls-files -z --cached --others --exclude-standard | while IFS= read -r -d '' file; do
  [ ! -e "$file" ] || cmp -s "$file" "$copy/$file" || echo "$file"
done)
if [ -n "$stale" ]; then
  echo "generated files are out of date; run 'make generate' and commit:" >&2
  echo "$stale" >&2
  exit 1
fi
