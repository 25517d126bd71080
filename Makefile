# The targets for contributors. `make help` lists them.
SHELL       := /bin/bash
.DEFAULT_GOAL := help

GO          ?= go
BIN         := bin
# The version of everything that is built: the tag of the commit, v1.2.3-4-gCOMMIT for
# later ones, and v0.0.0-gCOMMIT without a tag.
VERSION     ?= $(or $(shell git describe --tags --match 'v[0-9]*' --dirty 2>/dev/null || git describe --always --exclude '*' --dirty 2>/dev/null | sed 's/^/v0.0.0-g/'),v0.0.0)
LDFLAGS     := -s -w -X main.version=$(VERSION)
CLAIM       ?= examples/quickstart/dllama.yaml
HUB_DIR     ?= examples/models
DATA        ?= .koldun
# vet is part of make lint. The time limit ends a test that hangs without a wait: waits have
# limits of their own, which are longer on a slow machine. More tests run in parallel than
# there are CPUs, as they wait for processes.
TESTFLAGS   ?= -vet=off -timeout 60m -parallel 4
# A program with the race detector sleeps before it exits, by default for a second.
RACE_ENV    := CGO_ENABLED=1 GORACE=atexit_sleep_ms=100
# $(call TESTED,FLAGS) lists packages by what their tests need: test/packages has the rule.
TESTED       = $(shell $(GO) run ./test/packages $(1))
# These start first, as they take longest, and wait while others compile.
LONGEST     := ./test/serving ./internal/serving/sidecar ./internal/artifact/fetch ./internal/artifact/convert
# The tests of PROGRAMS run programs that are built without the race detector. Only these of
# ./cmd/koldun/up are repeated with it.
PROGRAMS    := ./cmd/koldun ./cmd/koldun/up
RACED_UP    := TestUpRestartsAKilledChildAndLeavesNothing|TestUpFollowsDemand
# These tests do the same with many values, of which some are tried with the race detector.
MANY_VALUES := ./internal/artifact/fetch ./functions/router
MANY        := TestMemory|TestEveryFieldCounts|TestEveryPermutation
# The same of suites with a control plane.
CLUSTER_PROGRAMS    := ./test/e2e ./terraform-provider/acceptance
CLUSTER_LONGEST     := ./test/cluster ./provider/manager ./terraform-provider/parity
CLUSTER_MANY_VALUES := ./terraform-provider/internal/claim
# Some tests of these are skipped by make test where foreign programs are not built.
FOREIGN       := ./cmd/koldun/up ./internal/engine/openai/profile/ollama ./package/build
FOREIGN_RACED := ./test/servers
# $(call WITHOUT,FOLDERS,PACKAGES) leaves packages out.
WITHOUT      = $(filter-out $(patsubst ./%,github.com/gorizond/koldun/%,$(1)),$(2))
# TEST_TOOLS are the foreign programs that tests run.
TEST_TOOLS   = $(CLUSTER_BINARIES) $(addprefix $(BIN)/,kubectl crossplane-cli helm tofu ollama)
# Everything but race tests is built without cgo, and so from the same packages.
export CGO_ENABLED := 0

include test/tools/tools.mk package/package.mk package/engines/distributed-llama/engine.mk terraform-provider/terraform.mk

SOURCES     := $(shell find apis cmd functions internal provider -name '*.go' -not -name '*_test.go' 2>/dev/null) $(wildcard apis/crds/*.yaml) go.mod go.sum

##@ Use

.PHONY: run
run: $(BIN)/koldun ## Run the quickstart claim on this machine and ask it a question; ONCE=1 ends after the answer
	$(BIN)/koldun up -f $(CLAIM) --hub-dir $(HUB_DIR) --data $(DATA) $(if $(ONCE),--once)

.PHONY: version
version: # prints the version that a build of this commit has
	@echo "$(VERSION)"

.PHONY: build
build: $(BIN)/koldun $(BIN)/koldun-function $(BIN)/koldun-provider ## Build the binaries into bin/

.PHONY: render
render: $(BIN)/koldun ## Print what the functions compose from CLAIM
	$(BIN)/koldun render -f $(CLAIM)

##@ Develop

.PHONY: check
check: ## Run the tests of packages without goroutines: decisions, formats, what is composed, the import law
	$(GO) test $(TESTFLAGS) -p 4 $(call TESTED,-raced=false -cluster=false)

.PHONY: test
test: check test-argocd ## Run all tests that need nothing but Go, make and gcc
	@$(MAKE) --no-print-directory -k -j2 test-raced test-programs

# Both at a time, and more packages than there are CPUs, as some wait much of their time.
.PHONY: test-raced test-programs
test-raced:
	$(RACE_ENV) $(GO) test $(TESTFLAGS) -race -p 3 $(LONGEST) $(call WITHOUT,$(PROGRAMS),$(call TESTED,-raced -cluster=false))

test-programs:
	$(GO) test $(TESTFLAGS) $(PROGRAMS)
	$(RACE_ENV) $(GO) test $(TESTFLAGS) -race -run '^($(RACED_UP))$$' ./cmd/koldun/up
	$(GO) test $(TESTFLAGS) -run '$(MANY)' $(MANY_VALUES)

.PHONY: test-all
test-all: test-tools test ## Run also the tests that need a control plane, Terraform or foreign servers; the first run builds those from source
	@KOLDUN_REQUIRE_CLUSTER=1 $(MAKE) --no-print-directory -k -j2 test-cluster-raced test-cluster-programs

.PHONY: test-cluster-raced test-cluster-programs
test-cluster-raced:
	$(RACE_ENV) $(GO) test $(TESTFLAGS) -race -p 3 $(CLUSTER_LONGEST) $(FOREIGN_RACED) $(call WITHOUT,$(CLUSTER_PROGRAMS),$(call TESTED,-raced -cluster))

test-cluster-programs:
	$(GO) test $(TESTFLAGS) -p 2 $(CLUSTER_PROGRAMS) $(call TESTED,-raced=false -cluster)
	$(GO) test $(TESTFLAGS) -run '$(MANY)' $(CLUSTER_MANY_VALUES)
	$(GO) test $(TESTFLAGS) $(FOREIGN)

# Without cached results. The table goes to standard output, what the suites print to standard error.
SUITES := check test-raced test-programs test-cluster-raced test-cluster-programs
.PHONY: test-profile
test-profile: test-tools ## Print where the time of each of SUITES goes, by program, as docs/development/testing.md has it
	@KOLDUN_REQUIRE_CLUSTER=1 $(GO) run ./test/profile $(foreach s,$(SUITES),"$(s)=$(MAKE) --no-print-directory $(s) TESTFLAGS='$(TESTFLAGS) -count=1'")

QEMU_ARM64 ?= qemu-aarch64-static
.PHONY: test-arm64
test-arm64: ## Run the tests of the embedded engine for arm64 in an emulator (Debian: apt-get install qemu-user-static)
	@command -v $(QEMU_ARM64) >/dev/null || { echo "$(QEMU_ARM64) is missing: apt-get install qemu-user-static"; exit 1; }
	@# The emulator does not report the address of a fault, as those tests need.
	GOARCH=arm64 $(GO) test -exec $(QEMU_ARM64) -timeout 20m -skip TestModelCutOff ./internal/engine/llama/kernel ./internal/engine/llama

.PHONY: e2e-argocd
e2e-argocd: $(BIN)/argocd cluster-binaries ## Install Koldun's packages by Argo CD with examples/argocd, on a control plane; make e2e runs the rest of its story (Debian: apt-get install git redis-server)
	KOLDUN_ARGOCD=1 KOLDUN_REQUIRE_CLUSTER=1 $(GO) test $(TESTFLAGS) -count=1 -v ./test/argocd

# Programs that a node runs, besides those of Debian: apt-get install containerd runc
# containernetworking-plugins iptables, and for Argo CD git redis-server. The programs of pods
# are in images.
NODE_TOOLS = $(CLUSTER_BINARIES) $(addprefix $(BIN)/,kube-scheduler kubelet kube-proxy kube-network-policies kubectl coredns helm tofu nats-server skipper argocd)
# The node has a network and mounts of its own. Whatever it started ends with it.
NAMESPACE  = unshare --net --mount --pid --fork --kill-child --mount-proc
# $(call E2E,FLAVOUR,PATTERN,FLAGS). Tests that run in parallel wait for the cluster most of their time.
E2E        = cd test/node && KOLDUN_E2E=1 KOLDUN_REQUIRE_CLUSTER=1 CLUSTER=$(CLUSTER) FLAVOUR=$(1) $(if $(CLUSTER),,$(NAMESPACE)) \
	$(CURDIR)/$(BIN)/node.test -test.v -test.failfast -test.parallel 8 -test.timeout 40m -test.run '$(2)' $(3)
.PHONY: e2e
e2e: $(NODE_TOOLS) $(DLLAMA_IMAGE)/usr ## Install Koldun on a real node and use it, as root; CLUSTER=current uses that of the kubeconfig, which pulls from REGISTRY; RUN=PATTERN chooses tests
	@for version in v0.1.0 v0.1.1; do $(MAKE) --no-print-directory release-dry PLATFORMS=linux/$$($(GO) env GOARCH) VERSION=$$version BUILD_FLAGS=--no-trimpath || exit 1; done
	$(GO) build ./test/node/... # the node has no way to the modules of its programs
	$(GO) test -vet=off -c -o $(BIN)/node.test ./test/node
	@$(call E2E,namespaced,$(RUN),$(if $(RUN),,-test.skip '^TestRemove$$'))
	@$(if $(RUN)$(CLUSTER),,$(call E2E,claims,^Test(Embedded|Ring|Volume|Remove)$$))

.PHONY: tools
tools: build $(TEST_TOOLS) $(addprefix $(BIN)/,controller-gen tfplugindocs golangci-lint) ## Build our programs and all tools

.PHONY: test-tools
test-tools: # two at a time: one links or downloads while another compiles
	@$(MAKE) --no-print-directory -j2 build $(TEST_TOOLS)

.PHONY: cluster-binaries
cluster-binaries: $(CLUSTER_BINARIES) ## Build the control plane that tests run, from source, once

.PHONY: arch
arch: ## Check the import law, transitively
	$(GO) test -count=1 ./test/archtest

.PHONY: openai-node
openai-node: ## Ask the quickstart and a gateway through npm clients of OpenAI, Anthropic, LangChain, AI SDK; needs node 18 and npm
	cd test/openai-node && npm ci
	$(GO) test -count=1 -run 'TestUpServesTheNodeClients|TestOfficialNodeClient|TestNodeClients' ./cmd/koldun/up ./internal/serving/gateway

.PHONY: faults
faults: ## Kill and cut things for longer than make test does; KILLS=100, ROUNDS=10 and FAULTS=42 by default
	$(GO) test -timeout 40m -count=1 -run TestKilled ./internal/artifact/convert -args -kills $(or $(KILLS),100)
	KOLDUN_KILL_ROUNDS=$(or $(KILLS),100) $(GO) test -timeout 40m -count=1 -run Kill ./internal/artifact/fetch
	$(GO) test -timeout 40m -count=$(or $(ROUNDS),10) -run TestFaultsAtRandom ./internal/serving/sidecar
	$(GO) test -timeout 40m -count=1 -v -run 'TestFaults$$|TestCluster|TestFlood|TestModels' ./test/serving \
	  -args -rounds $(or $(FAULTS),42) -modelkills $(or $(KILLS),100)

.PHONY: bench
bench: ## Run all benchmarks
	$(GO) test -run '^$$' -bench . -benchmem ./...

# Both commits are measured in turns, so that a change of the machine's load counts for both.
.PHONY: bench-serving
bench-serving: ## Measure first byte and CPU time of the whole chain, beside the commit BEFORE
	@set -e; before=$$(mktemp -d); trap 'git worktree remove --force "$$before"' EXIT; \
	git worktree add --detach "$$before" "$(BEFORE)"; \
	for turn in 1 2 3; do for at in "$$before" "$(CURDIR)"; do \
	  echo "== $$(git -C "$$at" log -1 --format='%h %s')"; \
	  (cd "$$at" && $(GO) test -run '^$$' -bench 'FirstByte|ChunkCPU|Throughput' -benchtime 5s -timeout 30m ./test/serving); \
	done; done

.PHONY: bench-engine
bench-engine: ## Measure the embedded engine beside distributed-llama, and four clients beside one: q40 and f32, 1 and 2 threads (after make engine)
	DLLAMA_BIN=$(or $(DLLAMA_BIN),$(CURDIR)/$(BIN)/distributed-llama) $(GO) test -run '^$$' -bench 'BesideDllama|Clients' -benchtime 1x -timeout 40m ./internal/engine/llama

.PHONY: bench-provider
bench-provider: $(BIN)/koldun-provider cluster-binaries ## Measure the provider with 1,000 managed resources: memory, idleness, latency
	KOLDUN_REQUIRE_CLUSTER=1 $(GO) test -run '^$$' -bench Provider -benchtime 1x -timeout 40m ./provider/manager

.PHONY: flood
flood: ## Flood a gateway in a cgroup with the memory of its pod for SECONDS (default 60); as root
	KOLDUN_FLOOD=$(or $(SECONDS),60) $(GO) test -count=1 -timeout 30m -run '^TestFloodsEndNoGateway$$' -v ./test/serving

.PHONY: fuzz
fuzz: ## Fuzz every parser of foreign bytes, FUZZTIME each (default 10s)
	@for pkg in $$($(GO) list ./...); do \
	  for f in $$($(GO) test -list '^Fuzz' $$pkg 2>/dev/null | grep '^Fuzz'); do \
	    echo "== $$pkg $$f"; $(GO) test -run '^$$' -fuzz "^$$f\$$" -fuzztime $${FUZZTIME:-10s} $$pkg || exit 1; \
	  done; done

# gremlins copies the whole module for each of its workers: it is given a copy
# without what is built.
MUTATED ?= internal/serving/dispatch/policy internal/names internal/openai internal/model/topology internal/external/pool/autoscaler functions
.PHONY: mutation
mutation: $(BIN)/gremlins ## Change the code of pure packages, and fail if tests miss more than 10% of the changes or run less than 95%; MUTATED=FOLDERS
	rm -rf _output/mutation && mkdir -p _output/mutation
	git ls-files -z --cached --others --exclude-standard | tar -c --null -T - --ignore-failed-read | tar -x -C _output/mutation
	failed=; cd _output/mutation; for folder in $(MUTATED); do \
	  echo "== $$folder"; $(CURDIR)/$(BIN)/gremlins unleash --threshold-efficacy 90 --threshold-mcover 95 ./$$folder || failed="$$failed $$folder"; \
	done; [ -z "$$failed" ] || { echo "Tests miss too much in:$$failed"; exit 1; }

.PHONY: generate
generate: generate-engines $(BIN)/controller-gen $(BIN)/tfplugindocs ## Write kernels, deep copies, CRDs, XRDs, Compositions, pages and tables of docs/reference, and the Terraform docs
	$(GO) generate ./internal/engine/llama/kernel
	$(BIN)/controller-gen object paths=./apis/...
	$(BIN)/controller-gen crd paths=./apis/... output:crd:dir=apis/crds
	$(MAKE) --no-print-directory generate-package generate-terraform

.PHONY: generate-check
generate-check: generate ## Fail if generated files are not what is committed
	@git add --intent-to-add terraform-provider/docs && git diff --exit-code -- apis internal/engine/llama/kernel package docs examples/argocd terraform-provider/docs || { echo "Generated files differ: run 'make generate' and commit the result."; exit 1; }

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
	$(GO) build -ldflags '$(LDFLAGS)' -o $@ ./cmd/koldun

$(BIN)/koldun-function: $(SOURCES)
	$(GO) build -ldflags '$(LDFLAGS)' -o $@ ./functions

$(BIN)/koldun-provider: $(SOURCES)
	$(GO) build -ldflags '$(LDFLAGS)' -o $@ ./provider

# Tools have modules of their own, so that what they depend on never reaches us.
$(BIN)/controller-gen: $(TOOLS)/controller-gen/go.mod
	$(call build_tool,controller-gen,sigs.k8s.io/controller-tools/cmd/controller-gen)

$(BIN)/golangci-lint: $(TOOLS)/golangci-lint/go.mod
	$(call build_tool,golangci-lint,github.com/golangci/golangci-lint/v2/cmd/golangci-lint)
