# What belongs to packages. The Makefile includes it.

PACKAGES := _output/packages
STAGE    := _output/stage
ARCHS    ?= amd64 arm64
# Channel of the Compositions. Those of another channel than stable use a Function of
# their own: docs/versions.md.
CHANNEL  ?= stable

.PHONY: generate-package
generate-package: ## Write XRDs, Compositions and docs/reasons.md and tables of docs from the generated CRDs
	rm -rf package/configuration/*/definition.yaml package/configuration-claims/*/definition.yaml
	$(GO) run ./package/generate

.PHONY: generate-engines
generate-engines: ## Write the type of the names of engines, which the CRDs need
	$(GO) run ./package/generate engines

.PHONY: package
package: ## Build all packages and images into _output/packages, for ARCHS (default amd64 and arm64)
	rm -rf $(STAGE) $(PACKAGES) && mkdir -p $(STAGE)/bin $(PACKAGES)
	$(GO) build -o $(STAGE)/build ./package/build
	cp -r package/configuration $(STAGE)/configuration && cp crossplane.yaml $(STAGE)/configuration/
	cp -r package/configuration-claims package/function package/provider $(STAGE)/
	cp apis/crds/koldun.m.gorizond.io_*.yaml $(STAGE)/provider/
	test $(CHANNEL) = stable || sed -i -e 's|gorizond.io/channel: stable|gorizond.io/channel: $(CHANNEL)|' \
	  -e 's|name: gorizond-koldun-function$$|name: gorizond-koldun-function-$(CHANNEL)|' $(STAGE)/configuration*/*/definition.yaml $(STAGE)/configuration*/*/composition.yaml
	$(STAGE)/build package --stage $(STAGE)/configuration --out $(PACKAGES)/koldun-configuration.xpkg
	$(STAGE)/build package --stage $(STAGE)/configuration-claims --out $(PACKAGES)/koldun-configuration-claims.xpkg
	set -e; for arch in $(ARCHS); do \
	  GOARCH=$$arch $(GO) build -trimpath -ldflags '$(LDFLAGS)' -o $(STAGE)/bin/koldun-$$arch ./cmd/koldun; \
	  GOARCH=$$arch $(GO) build -trimpath -ldflags '$(LDFLAGS)' -o $(STAGE)/bin/koldun-function-$$arch ./functions; \
	  GOARCH=$$arch $(GO) build -trimpath -ldflags '$(LDFLAGS)' -o $(STAGE)/bin/koldun-provider-$$arch ./provider; \
	  $(STAGE)/build image --arch $$arch --binary $(STAGE)/bin/koldun-$$arch --tag ghcr.io/gorizond/koldun:$(VERSION) --out $(PACKAGES)/koldun-$$arch.tar; \
	  $(STAGE)/build package --arch $$arch --stage $(STAGE)/function --binary $(STAGE)/bin/koldun-function-$$arch --out $(PACKAGES)/koldun-function-$$arch.xpkg; \
	  $(STAGE)/build package --arch $$arch --stage $(STAGE)/provider --binary $(STAGE)/bin/koldun-provider-$$arch --out $(PACKAGES)/koldun-provider-$$arch.xpkg; \
	done
	cp package/install.yaml package/single-team.yaml package/rbac-claims.yaml package/monitoring/*.yaml $(PACKAGES)/
	sed -s '1i---' $(foreach part,namespace bootstrap config servers network,package/nats/$(part).yaml) > $(PACKAGES)/nats.yaml

.PHONY: catalog
catalog: ## Add the version VERSION, whose Function has DIGEST in the registry, to package/catalog
	$(GO) run ./package/generate release "$(VERSION)" "$(DIGEST)"

# A file is compared with what it was when it first came to the branch, by a commit or by a
# merge: what was wrong in a pull request or has been put back does no harm.
.PHONY: catalog-check
catalog-check: ## Fail if a version in package/catalog is not as it was first committed
	@added=$$(git log --first-parent -m --reverse --no-renames --diff-filter=A --format='commit %H' --name-only -- 'package/catalog/v*') || exit 1; \
	  changed=$$(printf '%s\n' "$$added" | awk '$$1 == "commit" { c = $$2; next } NF && !seen[$$0]++ { print c, $$0 }' | while read -r commit file; do \
	    [ -f "$$file" ] && [ "$$(git hash-object -- "$$file")" = "$$(git rev-parse "$$commit:$$file")" ] || echo "$$file: git checkout $$commit -- $$file"; \
	  done); \
	  [ -z "$$changed" ] || { printf 'Published versions never change, but these have. Put them back:\n%s\n' "$$changed"; exit 1; }
	@[ "$$(git rev-parse --is-shallow-repository)" = false ] || echo "This clone is shallow: only its commits were checked for changes of package/catalog."

.PHONY: test-argocd
test-argocd: ## Run Argo CD's health scripts on their fixtures, in a Lua interpreter
	cd package/argocd/test && $(GO) test -count=1 ./...
