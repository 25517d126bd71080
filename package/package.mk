# What belongs to packages. The Makefile includes it.

.PHONY: generate-package
generate-package: ## Write XRDs, Compositions and docs/reasons.md from the generated CRDs
	rm -rf package/configuration/*/definition.yaml package/configuration-claims/*/definition.yaml
	$(GO) run ./package/generate
