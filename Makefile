# Everything a contributor types. `make help` lists it.
SHELL       := /bin/bash
.DEFAULT_GOAL := help

GO          ?= go
BIN         := bin
VERSION     ?= $(shell git describe --tags --always --dirty 2>/dev/null || echo dev)
LDFLAGS     := -s -w -X main.version=$(VERSION)
CLAIM       ?= examples/quickstart/dllama.yaml
HUB_DIR     ?= examples/models
DATA        ?= .koldun
TESTFLAGS   ?= -race -timeout 20m
RERUNS      := $(if $(RERUN),$(BIN)/reruns.txt)
RERUNNER     = $(BIN)/gotestsum --format pkgname --format-hide-empty-pkg --rerun-fails=1 --rerun-fails-max-failures=3 --rerun-fails-run-root-test \
	--rerun-fails-abort-on-data-race --rerun-fails-report $(RERUNS) --packages ./... --
include test/tools/tools.mk package/package.mk terraform-provider/terraform.mk

SOURCES     := $(shell find apis cmd functions internal provider -name '*.go' -not -name '*_test.go' 2>/dev/null) $(wildcard apis/crds/*.yaml) go.mod go.sum

##@ Use

.PHONY: run
run: $(BIN)/koldun ## Run the quickstart claim on this machine and ask it a question; ONCE=1 ends after the answer
	$(BIN)/koldun up -f $(CLAIM) --hub-dir $(HUB_DIR) --data $(DATA) $(if $(ONCE),--once)

.PHONY: build
build: $(BIN)/koldun $(BIN)/koldun-function $(BIN)/koldun-provider ## Build the binaries into bin/

.PHONY: render
render: $(BIN)/koldun ## Print what the functions compose from CLAIM
	$(BIN)/koldun render -f $(CLAIM)

##@ Develop

.PHONY: test
test: build cluster-binaries $(BIN)/tofu $(BIN)/kubectl $(if $(RERUN),$(BIN)/gotestsum) arch test-argocd ## Run all tests with the race detector, and one of memory without; RERUN=1 tries up to 3 failed ones once more and lists them
	KOLDUN_REQUIRE_CLUSTER=1 $(if $(RERUN),$(RERUNNER),$(GO) test) $(TESTFLAGS) $(if $(RERUN),,./...)
	$(GO) test -run TestMemory ./internal/fetch
	$(if $(RERUN),@if [ -s $(RERUNS) ]; then echo "These passed only at the second go; each is a bug:"; cat $(RERUNS); fi)

.PHONY: cluster-binaries
cluster-binaries: $(CLUSTER_BINARIES) ## Build the control plane that tests run, from source, once

.PHONY: arch
arch: ## Check the import law, transitively
	$(GO) test -count=1 ./internal/archtest

.PHONY: openai-node
openai-node: ## Ask the quickstart and a gateway through OpenAI's client for Node; needs node and npm
	cd test/openai-node && npm ci
	$(GO) test -count=1 -run 'TestUpServesTheNodeClient|TestOfficialNodeClient' ./cmd/koldun ./internal/gateway

.PHONY: faults
faults: ## Kill and cut things for longer than make test does; KILLS=100, ROUNDS=10 and FAULTS=42 by default
	$(GO) test -timeout 30m -count=1 -run TestKilled ./internal/convert -args -kills $(or $(KILLS),100)
	KOLDUN_KILL_ROUNDS=$(or $(KILLS),100) $(GO) test -timeout 30m -count=1 -run Kill ./internal/fetch
	$(GO) test -timeout 30m -count=$(or $(ROUNDS),10) -run TestFaultsAtRandom ./internal/sidecar
	$(GO) test -timeout 30m -count=1 -v -run 'TestFaults$$|TestCluster|TestFlood|TestModels' ./test/serving \
	  -args -rounds $(or $(FAULTS),42) -modelkills $(or $(KILLS),100)

.PHONY: bench
bench: ## Run all benchmarks
	$(GO) test -run '^$$' -bench . -benchmem ./...

.PHONY: bench-provider
bench-provider: $(BIN)/koldun-provider cluster-binaries ## Measure the provider with 1,000 managed resources: memory, idleness, latency
	KOLDUN_REQUIRE_CLUSTER=1 $(GO) test -run '^$$' -bench Provider -benchtime 1x -timeout 30m ./provider/manager

.PHONY: fuzz
fuzz: ## Fuzz every parser of foreign bytes, FUZZTIME each (default 10s)
	@for pkg in $$($(GO) list ./...); do \
	  for f in $$($(GO) test -list '^Fuzz' $$pkg 2>/dev/null | grep '^Fuzz'); do \
	    echo "== $$pkg $$f"; $(GO) test -run '^$$' -fuzz "^$$f\$$" -fuzztime $${FUZZTIME:-10s} $$pkg || exit 1; \
	  done; done

.PHONY: generate
generate: $(BIN)/controller-gen $(BIN)/tfplugindocs ## Write deep copies, CRDs, XRDs, Compositions, docs/reasons.md and the Terraform docs
	$(BIN)/controller-gen object paths=./apis/...
	$(BIN)/controller-gen crd paths=./apis/... output:crd:dir=apis/crds
	$(MAKE) --no-print-directory generate-package generate-terraform

.PHONY: generate-check
generate-check: generate ## Fail if generated files are not what is committed
	@git add --intent-to-add terraform-provider/docs && git diff --exit-code -- apis package docs terraform-provider/docs || { echo "Generated files differ: run 'make generate' and commit the result."; exit 1; }

.PHONY: lint
lint: $(BIN)/golangci-lint ## Check style and the import law
	$(BIN)/golangci-lint run ./...

.PHONY: tidy-check
tidy-check: ## Fail if go.mod is not tidy
	$(GO) mod tidy -diff

.PHONY: clean
clean: ## Remove what was built, and the data of the quickstart
	rm -rf $(BIN) $(DATA) _output

.PHONY: help
help: ## Show this help
	@awk 'BEGIN {FS = ":.*## "} /^##@/ {printf "\n%s\n", substr($$0, 5)} /^[a-zA-Z_-]+:.*## / {printf "  make %-16s %s\n", $$1, $$2}' $(MAKEFILE_LIST)

# The binaries are static: images hold nothing else.
$(BIN)/koldun: $(SOURCES)
	CGO_ENABLED=0 $(GO) build -ldflags '$(LDFLAGS)' -o $@ ./cmd/koldun

$(BIN)/koldun-function: $(SOURCES)
	CGO_ENABLED=0 $(GO) build -ldflags '$(LDFLAGS)' -o $@ ./functions

$(BIN)/koldun-provider: $(SOURCES)
	CGO_ENABLED=0 $(GO) build -ldflags '$(LDFLAGS)' -o $@ ./provider

# Tools are built once from modules of their own, so that what they depend on
# never reaches us.
$(BIN)/controller-gen: test/tools/controller-gen/go.mod
	cd test/tools/controller-gen && CGO_ENABLED=0 $(GO) build -o $(CURDIR)/$@ sigs.k8s.io/controller-tools/cmd/controller-gen

$(BIN)/golangci-lint: test/tools/golangci-lint/go.mod
	cd test/tools/golangci-lint && CGO_ENABLED=0 $(GO) build -o $(CURDIR)/$@ github.com/golangci/golangci-lint/v2/cmd/golangci-lint
