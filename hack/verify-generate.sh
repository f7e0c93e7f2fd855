#!/usr/bin/env bash
# Fails when a generated file is not what `make generate` would write. Works on
# a copy, so that it never changes the tree it checks.
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
  echo "generated files are not current; run 'make generate' and commit:" >&2
  echo "$stale" >&2
  exit 1
fi
