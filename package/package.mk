# What belongs to packages. The Makefile includes it.

PACKAGES := _output/packages
RELEASE  := _output/release/$(VERSION)
PLATFORMS ?= linux/amd64 linux/arm64 darwin/amd64 darwin/arm64
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

SOURCE_DATE_EPOCH ?= $(or $(shell git log -1 --format=%ct 2>/dev/null),0)
empty :=
comma := ,
# $(call BUILD,COMMAND,FOLDER)
BUILD = SOURCE_DATE_EPOCH=$(SOURCE_DATE_EPOCH) $(GO) run ./package/build $(1) --out $(2) --version '$(VERSION)' \
	--commit '$(shell git rev-parse HEAD 2>/dev/null)' --platforms $(subst $(empty) ,$(comma),$(strip $(PLATFORMS))) --channel $(CHANNEL)

.PHONY: package
package: ## Build all images, packages and manifests into _output/packages, for those of PLATFORMS that are Linux
	$(call BUILD,packages,$(PACKAGES))

.PHONY: release-dry
release-dry: ## Build all that a release publishes into _output/release/VERSION, for PLATFORMS
	$(call BUILD,release,$(RELEASE))
	@echo "Built $(RELEASE)."

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
