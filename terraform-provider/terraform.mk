# Targets of the Terraform provider. The Makefile includes it.

# The generator gets the schemas as a file, so that it needs no Terraform.
.PHONY: generate-terraform
generate-terraform: $(BIN)/tfplugindocs ## Write the documentation of the Terraform provider from its schemas
	mkdir -p _output
	$(GO) run ./terraform-provider/schema > _output/schema.json
	$(BIN)/tfplugindocs generate --provider-dir terraform-provider --provider-name koldun --providers-schema $(CURDIR)/_output/schema.json

$(BIN)/terraform-provider-koldun: $(SOURCES) $(shell find terraform-provider -name '*.go' -not -name '*_test.go')
	$(GO) build -ldflags '$(LDFLAGS)' -o $@ ./terraform-provider

.PHONY: control-plane
control-plane: cluster-binaries $(BIN)/terraform-provider-koldun ## Run a cluster with Koldun to play with, until Ctrl-C; BARE=1 leaves Koldun's packages to you
	$(GO) build -o $(BIN)/control-plane ./test/cluster/up
	$(BIN)/control-plane $(if $(BARE),--bare)
