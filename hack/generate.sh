#!/usr/bin/env bash
# Regenerates every generated file: deep copies, CRDs and RBAC from api/ and
# controllers/, server and client code from the OpenAPI contracts, queries from
# SQL.
set -euo pipefail
cd "$(dirname "$0")/.."

tool() { go tool -modfile=hack/tools/go.mod "$@"; }

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
