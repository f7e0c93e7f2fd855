#!/usr/bin/env bash
# Runs extended versions of tests that CI runs briefly, and stops at the first failure:
#
#   - fuzz tests for SECONDS each
#   - property tests with ten times as many draws
#   - kill, drain and overload tests of the server, once for every ten seconds
#   - storage, survey and webhook tests that kill processes, a hundred times on each storage
#   - the operator, killed before each of its writes and without an API server for SECONDS
set -euo pipefail
cd "$(dirname "$0")/.."
seconds=${1:?usage: soak.sh SECONDS}

echo "== kills, drains and overload, $((seconds / 10 + 1)) times"
CGO_ENABLED=1 go test -race -timeout 0 -count=$((seconds / 10 + 1)) -run 'TestServerSurvivesOverload|TestDrain|TestAlarms|Kill' \
  ./apiserver/server/... ./apiserver/platform/usage/... ./apiserver/content/...

echo "== storage killed during writes, a hundred times each"
go run ./hack/setup postgres -- env ANAMNESIS_SOAK="$seconds" go test -timeout 0 -count=1 -run 'TestConformance/Crash' \
  ./apiserver/storage/sqlite ./apiserver/storage/postgres

echo "== survey servers killed under load, a hundred times on each storage"
go run ./hack/setup postgres -- env ANAMNESIS_SOAK="$seconds" go test -timeout 0 -count=1 -run 'TestAnswersSurviveProcessKill' ./apiserver/survey/service

echo "== webhook dispatchers killed under load, a hundred times on each storage"
go run ./hack/setup postgres -- env ANAMNESIS_SOAK="$seconds" go test -timeout 0 -count=1 -run 'TestCrashLosesNoEvents' ./apiserver/webhook/dispatch

echo "== the operator killed before each write, and without an API server for $seconds seconds"
ANAMNESIS_SOAK=$seconds go test -timeout 0 -count=1 -run 'TestKill|TestAPIServerOutage' ./controllers/instance

echo "== properties, 1000 draws each"
go list -f '{{if or .TestGoFiles .XTestGoFiles}}{{.Dir}}{{end}}' ./... | while read -r folder; do
  if grep -qs 'pgregory.net/rapid' "$folder"/*_test.go; then
    case $folder in
    */storage/*) continue ;; # requires a server; make test-integration runs these tests
    */http/guidance)
      go run ./hack/setup postgres -- env ANAMNESIS_SOAK="$seconds" go test -timeout 0 "$folder" -rapid.checks=1000
      continue
      ;;
    */http/page)
      go run ./hack/setup browser -- go test -timeout 0 "$folder" -rapid.checks=1000
      continue
      ;;
    esac
    go test -timeout 0 "$folder" -rapid.checks=1000
  fi
done

echo "== fuzz tests, $seconds seconds each"
git grep -hoE '^func Fuzz\w+' -- '*_test.go' | sort -u | sed 's/^func //' | while read -r name; do
  for file in $(git grep -lE "^func $name\\(" -- '*_test.go'); do
    go test -timeout 0 -run '^$' -fuzz "^$name\$" -fuzztime "${seconds}s" "./$(dirname "$file")"
  done
done
