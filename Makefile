# The commands of the house. `make help` lists them.

SHELL := bash
.SHELLFLAGS := -euo pipefail -c
.DEFAULT_GOAL := help

# What is compiled for one command serves the next: every build has the same
# flags, but for those under the race detector, which needs cgo.
export CGO_ENABLED := 0
export GOFLAGS := $(GOFLAGS) -trimpath
RACE := CGO_ENABLED=1 go test -race

# The content, compiled (package apiserver/content/compiled), and the packages
# with tests that the race detector would make last minutes and tell nothing of.
COMPILED := ANAMNESIS_COMPILED=$(CURDIR)/bin/models
JUDGES = $(sort $(dir $(addprefix ./,$(shell git grep -l '^//go:build !race' -- '*_test.go'))))

# Tools live in modules of their own, so that none of them reaches go.mod.
TOOL := go tool -modfile=hack/tools/go.mod
LINT := go tool -modfile=hack/tools/lint/go.mod golangci-lint
VALE := env CGO_ENABLED=1 go tool -modfile=hack/tools/vale/go.mod vale

# kube-apiserver, etcd and kubectl for envtest, built by hack/cluster once.
CLUSTER := bin/cluster

.PHONY: help
help: ## Show this help.
	@awk 'BEGIN {FS = ":.*## "} /^[a-z0-9-]+:.*## / {printf "  %-16s %s\n", $$1, $$2}' $(MAKEFILE_LIST)

##@ Run

.PHONY: run
run: announcement $(CLUSTER) ## Start a real Kubernetes here, the operator and a sample Instance in it.
	@go run ./hack/run

.PHONY: announcement
announcement:
	@echo "This starts a real Kubernetes here, the operator, an Instance, and asks it for a diagnosis. The first time"
	@echo "it builds Kubernetes from source, about 20 minutes of processor time; later runs take a minute."
	@echo "Meanwhile the API alone is a minute away, in another terminal: go run ./apiserver serve --dev"

.PHONY: stop
stop: $(CLUSTER) ## Remove all that `make run` started.
	@$(CLUSTER) down

.PHONY: deploy
deploy: ## Install the chart and the sample on the cluster kubectl points to.
	@hack/deploy.sh

.PHONY: dev
dev: ## Serve the API alone on http://127.0.0.1:8080.
	@go run ./apiserver serve --dev

##@ Check

.PHONY: test
test: test-unit test-cluster test-e2e ## Run everything that a change must pass.

.PHONY: test-unit
test-unit: $(CLUSTER) models ## Unit tests, storage on real PostgreSQL, envtest; with -race but for what judges the content.
	@echo "== tests, with the race detector"
	@$(CLUSTER) build assets
	@eval "$$($(CLUSTER) env)"; unset KUBECONFIG; export $(COMPILED); \
	  go run ./hack/setup postgres browser -- env $(RACE) -timeout 20m $$(go list ./... | grep -v /test/e2e)
	@echo "== tests that judge the content and walk through the pages, without the race detector"
	@export $(COMPILED); go run ./hack/setup browser -- go test -timeout 20m $(JUDGES)

.PHONY: models
models: # Compile the content once, for all tests that need it.
	@rm -rf bin/models && go run ./apiserver model build --out bin/models >/dev/null

.PHONY: test-cluster
test-cluster: ## Tests of the local cluster: its code, and that it leaves nothing behind.
	@echo "== tests of hack/cluster"
	@cd hack/cluster && $(RACE) ./...
	@go -C hack/cluster test -tags proof -count=1 ./proof

.PHONY: test-e2e
test-e2e: $(CLUSTER) ## The end-to-end test on the real cluster.
	@echo "== end to end, on a real cluster"
	@go run ./hack/setup browser -- go test -timeout 30m -count=1 -parallel 8 -v ./test/e2e

.PHONY: soak
soak: $(CLUSTER) models ## Run kill and fuzz tests for long: SOAK=60 seconds each, and ten times as many properties.
	@$(CLUSTER) build assets
	@eval "$$($(CLUSTER) env)"; unset KUBECONFIG; $(COMPILED) hack/soak.sh $(or $(SOAK),60)

.PHONY: eval
eval: ## Measure how good the advice is, on vignettes of our own and on simulated patients.
	@go run ./hack/eval/cases
	@go run ./hack/eval/simulated

.PHONY: verify
verify: verify-generate verify-tidy verify-content lint ## Check that generated files and modules are current, the content, and lint.

.PHONY: verify-generate
verify-generate: ## Check that generated files are current.
	@echo "== generated files are current"
	@hack/verify-generate.sh

.PHONY: verify-tidy
verify-tidy: ## Check that the modules are tidy.
	@echo "== modules are tidy"
	@go mod tidy -diff
	@go -C hack/cluster mod tidy -diff

.PHONY: verify-content
verify-content: ## Check the medical content, and say where it is thin.
	@echo "== medical content"
	@go run ./apiserver model check --brief

.PHONY: lint
lint: lint-prose ## Run gofmt, vet and the linters.
	@echo "== gofmt, vet, linters"
	@unformatted=$$(gofmt -l .); [ -z "$$unformatted" ] || echo "$$unformatted" >&2; [ -z "$$unformatted" ] || { echo "gofmt would change the files above: run 'make fmt'"; exit 1; }
	@go vet ./...
	@$(LINT) run ./...
	@cd hack/cluster && go vet ./... && go tool -modfile=../tools/lint/go.mod golangci-lint run ./...

# Generated files are covered by their sources, and texts for patients have rules of
# their own.
PROSE := '*.go' '*.md' '*.yaml' '*.sql' '*.sh' ':!*.gen.go' ':!*/zz_generated.*' ':!*/testdata/*' \
  ':!config/crd/bases' ':!charts/anamnesis/crds' ':!apiserver/content/core' ':!apiserver/content/lang'

.PHONY: lint-prose
lint-prose: ## Check comments, descriptions and documents against the word list in .vale/.
	@echo "== prose"
	@$(VALE) test .vale/tests >/dev/null || $(VALE) test .vale/tests
	@git grep -lz --untracked '' -- $(PROSE) | xargs -0 $(VALE) --output=line

.PHONY: fmt
fmt: ## Format the code.
	@gofmt -w .

##@ Build

.PHONY: generate
generate: ## Regenerate the generated files.
	@hack/generate.sh

.PHONY: build
build: ## Build both binaries into bin/.
	@go build -o bin/ ./apiserver
	@go build -o bin/operator ./controllers

.PHONY: $(CLUSTER)
$(CLUSTER):
	@[ "$$(uname -s)" = Linux ] || { echo "the local cluster needs Linux; on any cluster that kubectl points to, 'make deploy' installs the same" >&2; exit 1; }
	@go -C hack/cluster build -ldflags "-X 'github.com/anamnesis-dev/anamnesis/hack/cluster/tools.source=$(CURDIR)/hack/cluster'" -o ../../$(CLUSTER) .

.PHONY: bench
bench: $(CLUSTER) ## Measure: ranking, loading, memory, requests per second, people, the operator.
	@$(CLUSTER) build assets
	@eval "$$($(CLUSTER) env)"; unset KUBECONFIG; go run ./hack/setup postgres -- go run ./hack/bench

.PHONY: clean
clean: ## Remove what was built.
	@rm -rf bin dist
