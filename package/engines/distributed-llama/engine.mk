# distributed-llama for this machine. The Makefile includes it.

DLLAMA_RECIPE := package/engines/distributed-llama
DLLAMA_BINARY := $(BIN)/distributed-llama

.PHONY: engine
engine: $(DLLAMA_BINARY)/dllama-api ## Build distributed-llama for this machine into bin/distributed-llama; DLLAMA_SRC=FILE is an archive of its source

$(DLLAMA_BINARY)/dllama-api: $(addprefix $(DLLAMA_RECIPE)/,pins.env source.sh build.sh)
	@work=$$(mktemp -d) && trap 'rm -rf "$$work"' EXIT && $(DLLAMA_RECIPE)/source.sh "$$work/source" && \
	  $(DLLAMA_RECIPE)/build.sh "$$work/source" $(DLLAMA_BINARY) && touch $@ && echo "Built dllama and dllama-api into $(DLLAMA_BINARY)."

# The files of its image for this machine, of static programs.
DLLAMA_IMAGE := _output/distributed-llama
$(DLLAMA_IMAGE)/usr: $(addprefix $(DLLAMA_RECIPE)/,pins.env source.sh build.sh image.sh)
	rm -rf $(DLLAMA_IMAGE) && $(DLLAMA_RECIPE)/image.sh "$$($(GO) env GOARCH)" "$(CURDIR)/$(DLLAMA_IMAGE)"
