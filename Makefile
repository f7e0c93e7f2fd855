# Development commands. `make help` lists them.

SHELL := bash
.SHELLFLAGS := -euo pipefail -c
.DEFAULT_GOAL := help

# All builds use the same flags, so that they share the build cache. Only tests with the race
# detector need cgo.
export CGO_ENABLED := 0
export GOFLAGS := $(GOFLAGS) -trimpath
RACE := CGO_ENABLED=1 go test -race

# The directory of the compiled content, for package apiserver/content/compiled.
MODELS := ANAMNESIS_COMPILED=$(CURDIR)/bin/models

# Tools are in separate modules, so that go.mod does not contain their dependencies.
TOOL := go tool -modfile=hack/tools/go.mod
LINT := go tool -modfile=hack/tools/lint/go.mod golangci-lint
VALE := env CGO_ENABLED=1 go tool -modfile=hack/tools/vale/go.mod vale

# The program for the local cluster, which also provides kube-apiserver, etcd and kubectl for
# envtest.
LOCAL_CLUSTER := bin/cluster

# Disables garbage collection in compilers if there is enough memory for one compiler per
# processor. Use this prefix only for compilation; programs and tests must not inherit it.
ifeq ($(GOGC)$(GOMEMLIMIT),)
COMPILE := $(shell [ ! -r /proc/meminfo ] || awk -v processors=$$(nproc) '/^MemAvailable:/ && $$2 > 3145728 * processors {print "GOGC=off GOMEMLIMIT=3GiB"}' /proc/meminfo)
endif

.PHONY: help
help: ## Show this help.
	@awk 'BEGIN {FS = ":.*## "} /^[a-z0-9-]+:.*## / {printf "  %-16s %s\n", $$1, $$2}' $(MAKEFILE_LIST)

##@ Run

# CLUSTER selects the cluster of make run: auto, download, build, kind or current.
.PHONY: run
ifeq ($(CLUSTER),current)
run: deploy
else
run: $(LOCAL_CLUSTER) ## Start a local Kubernetes, the operator and a sample Instance.
	@echo "This starts a local Kubernetes, the operator and an Instance, and requests a diagnosis. The first run downloads or"
	@echo "builds Kubernetes. To use only the API meanwhile, run 'make dev' in another terminal."
	@$(COMPILE) go list -deps -export ./apiserver ./controllers >/dev/null
	@$(COMPILE) go list -modfile=hack/tools/go.mod -deps -export helm.sh/helm/v3/cmd/helm >/dev/null
	@go run ./hack/setup --only-ask node -- go run ./hack/run
endif

.PHONY: stop
stop: $(LOCAL_CLUSTER) ## Remove everything that `make run` started.
	@$(LOCAL_CLUSTER) down

.PHONY: deploy
deploy: ## Install the chart and the sample Instance in the current kubectl context.
	@hack/deploy.sh

.PHONY: dev
dev: ## Serve only the API on http://127.0.0.1:8080.
	@go run ./apiserver serve --dev

##@ Check

.PHONY: test
test: $(LOCAL_CLUSTER) ## Run all tests and print a summary.
	@go run ./hack/setup --only-ask node postgres browser -- go run ./hack/parts test-unit test-integration test-cluster test-e2e

.PHONY: test-unit
test-unit: models ## Run tests that need only Go: no root, cluster, database or browser.
	@$(call test_packages,unit)
	@echo "== tests of hack/cluster"
	@cd hack/cluster && $(RACE) ./...

.PHONY: test-integration
test-integration: $(LOCAL_CLUSTER) models ## Run tests with PostgreSQL, a Kubernetes control plane and Chromium.
	@$(LOCAL_CLUSTER) build assets
	@eval "$$($(LOCAL_CLUSTER) env)"; unset KUBECONFIG; $(call test_packages,integration,go run ./hack/setup postgres browser --)

# $(call test_packages,LIST,COMMAND) tests a list of packages with the race detector, and
# then tests that evaluate the content or navigate pages without it. COMMAND sets up the
# dependencies of the tests.
define test_packages
packages=$$(hack/test-packages.sh $(1)); export $(MODELS); \
  norace=$$(hack/test-packages.sh $(1) norace); pattern=$$(hack/test-packages.sh $(1) norace-pattern); \
  echo "== compile for the race detector"; \
  CGO_ENABLED=1 $(COMPILE) go list -race -test -deps -export $$packages >/dev/null; \
  echo "== tests with the race detector"; $(2) env $(RACE) -timeout 20m $$packages; \
  echo "== tests without the race detector: content and pages"; \
  $(2) go test -timeout 20m -run "$$pattern" $$norace
endef

.PHONY: models
models: # Compile the content once, for all tests that need it.
	@rm -rf bin/models && go run ./apiserver model build --out bin/models >/dev/null

.PHONY: test-cluster
test-cluster: $(LOCAL_CLUSTER) ## Test that the local cluster works and cleans up after itself.
	@$(LOCAL_CLUSTER) build
	@go run ./hack/setup --only-ask node -- go -C hack/cluster test -tags proof -count=1 ./proof

.PHONY: test-e2e
test-e2e: $(LOCAL_CLUSTER) ## Run end-to-end tests on a local cluster.
	@$(LOCAL_CLUSTER) build
	@go run ./hack/setup node browser -- go test -timeout 30m -count=1 -parallel 8 -v ./test/e2e

.PHONY: soak
soak: $(LOCAL_CLUSTER) models ## Run extended kill, property and fuzz tests, SOAK=60 seconds each.
	@$(LOCAL_CLUSTER) build assets
	@eval "$$($(LOCAL_CLUSTER) env)"; unset KUBECONFIG; $(MODELS) hack/soak.sh $(or $(SOAK),60)

.PHONY: eval
eval: ## Measure accuracy on our own vignettes and on simulated patients.
	@go run ./hack/eval/cases
	@go run ./hack/eval/simulated

.PHONY: verify
verify: verify-generate verify-tidy verify-content lint ## Check generated files, modules, content and lint.

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
verify-content: ## Check the medical content and report gaps.
	@echo "== medical content"
	@go run ./apiserver model check --brief

.PHONY: lint
lint: lint-prose ## Run gofmt, vet and the linters.
	@echo "== gofmt, vet, linters"
	@unformatted=$$(gofmt -l .); [ -z "$$unformatted" ] || echo "$$unformatted" >&2; [ -z "$$unformatted" ] || { echo "gofmt would change the files above: run 'make fmt'"; exit 1; }
	@go vet ./...
	@$(LINT) run ./...
	@cd hack/cluster && go vet ./... && go tool -modfile=../tools/lint/go.mod golangci-lint run ./...

# Excludes generated files, whose sources are checked, and texts for patients, which follow
# other rules.
PROSE := '*.go' '*.md' '*.yaml' '*.sql' '*.sh' ':!*.gen.go' ':!*/zz_generated.*' ':!*/testdata/*' \
  ':!config/crd/bases' ':!charts/anamnesis/crds' ':!apiserver/content/core' ':!apiserver/content/lang'

.PHONY: lint-prose
lint-prose: ## Check comments, strings and documents against the word list in .vale/.
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
	@$(COMPILE) go build -o bin/ ./apiserver
	@$(COMPILE) go build -o bin/operator ./controllers

.PHONY: $(LOCAL_CLUSTER)
$(LOCAL_CLUSTER):
	@[ "$$(uname -s)" = Linux ] || { echo "the local cluster requires Linux; to install on the current kubectl context, run 'make deploy'" >&2; exit 1; }
	@$(COMPILE) go -C hack/cluster build -ldflags "-X 'github.com/anamnesis-dev/anamnesis/hack/cluster/tools.source=$(CURDIR)/hack/cluster'" -o ../../$(LOCAL_CLUSTER) .

.PHONY: bench
bench: $(LOCAL_CLUSTER) ## Run the benchmarks.
	@$(LOCAL_CLUSTER) build assets
	@eval "$$($(LOCAL_CLUSTER) env)"; unset KUBECONFIG; go run ./hack/setup postgres -- go run ./hack/bench

.PHONY: clean
clean: ## Remove build output.
	@rm -rf bin dist
