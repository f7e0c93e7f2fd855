#!/usr/bin/env bash
# Regenerates all generated files: deep copies, CRDs and RBAC from api/ and
# controllers/, server and client code from the OpenAPI contracts, queries from
# SQL, and the reference pages of docs/reference.
set -euo pipefail
cd "$(dirname "$0")/.."

tool() { go tool -modfile=hack/tools/go.mod "$@"; }
document() { go tool -modfile=hack/tools/docs/go.mod "$@"; }

tool controller-gen object:headerFile=hack/boilerplate.go.txt paths=./api/...
tool controller-gen crd paths=./api/... output:crd:dir=config/crd/bases
tool controller-gen rbac:roleName=anamnesis-operator paths=./controllers/... output:rbac:dir=config/rbac
cp config/crd/bases/*.yaml charts/anamnesis/crds/
cp config/rbac/role.yaml charts/anamnesis/files/

for spec in engine-v3 guidance; do
  tool oapi-codegen -config "apiserver/openapi/$spec.cfg.yaml" "apiserver/openapi/$spec.yaml"
  tool oapi-codegen -config "client/generate/$spec.cfg.yaml" "apiserver/openapi/$spec.yaml"
done

tool sqlc generate

resources=docs/reference/custom-resources.md
document crd-ref-docs --source-path=api/v1alpha1 --config=hack/reference/crd.yaml \
  --templates-dir=hack/reference/templates/crd --renderer=markdown --max-depth=16 \
  --log-level=ERROR --output-path="$resources"
# The generator keeps line breaks of comments, does not escape placeholders, escapes braces
# even in code, and prints markers without a value with empty braces.
sed -i -E 's#(<br />)+# #g; s#<([a-z]+)>#\\<\1>#g; s#\\([{}])#\1#g; s#Optional: \{\}#Optional#g; s# +\|# |#g' "$resources"
document helm-docs --chart-search-root=charts --output-file=../../docs/reference/chart-values.md \
  --template-files=hack/reference/templates/values.gotmpl --sort-values-order=file \
  --log-level=warning
go run ./hack/reference
