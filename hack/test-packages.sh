#!/usr/bin/env bash
# Prints the packages to test:
#
#   hack/test-packages.sh unit         packages whose tests need only Go
#   hack/test-packages.sh integration  packages whose tests need PostgreSQL, a control plane or a browser
#
# A package belongs to the second list if its tests import a package that starts one of
# these. With a second argument, "norace", prints only the packages with tests that are
# excluded from the race detector, and "norace-pattern" a pattern for go test -run that
# matches only these tests. The end-to-end tests are in neither list.
#
# Packages are listed from the end of the alphabet: controllers/instance takes longest, and
# go test starts the packages in this order.
set -euo pipefail
export LC_ALL=C
cd "$(dirname "$0")/.."

module=$(go list -m)
servers="
$module/apiserver/storage/postgres/postgrestest
$module/apiserver/http/page/browser
$module/apiserver/http/page/browser/programs
$module/controllers/controlplanetest
sigs.k8s.io/controller-runtime/pkg/envtest
"

# Prints each package with tests and its list.
classify() {
  go list -test -f '{{.ImportPath}} {{join .Deps " "}}' ./... | awk -v servers="$servers" -v e2e="$module/test/e2e" '
    BEGIN { split(servers, names); for (i in names) server[names[i]] = 1 }
    $1 ~ /\.test$/ {
      package = substr($1, 1, length($1) - 5)
      if (package == e2e || index(package, e2e "/") == 1) next
      list = "unit"
      if (package in server) list = "integration"
      for (i = 2; i <= NF; i++) if ($i in server) list = "integration"
      print package, list
    }'
}

# Prints the test files that the race detector must not run.
norace_files() { git grep -l '^//go:build !race' -- '*_test.go'; }

# Prints the packages of these files.
norace() { norace_files | xargs -n1 dirname | sort -u | sed "s|^|$module/|"; }

if [ "${2:-}" = norace-pattern ]; then
  names=$(norace_files | xargs sed -nE 's/^func ((Test|Fuzz|Example)[A-Za-z0-9_]*)\(.*/\1/p' | grep -vx TestMain | sort -u)
  echo "^($(echo "$names" | paste -sd '|'))\$"
  exit
fi

selected=$(classify | awk -v list="$1" '$2 == list { print $1 }' | sort)
[ "${2:-}" != norace ] || selected=$(comm -12 <(echo "$selected") <(norace))
[ -n "$selected" ] || { echo "hack/test-packages.sh: no packages in the list \"$1\"" >&2; exit 1; }
echo "$selected" | sort -r
