// Package images is the one file of versions of the images that engines run. make
// image-digests compares it with the registries, and writes digests into it.
package images

// Images by version, and by digest where that is known: without a digest a registry decides what a
// tag is.
const (
	DistributedLlama = "ghcr.io/gorizond/distributed-llama:v0.16.4-1-g8d624a7"
	LlamaCpp         = "ghcr.io/ggml-org/llama.cpp:server-b10731"
	LocalAI          = "localai/localai:v3.11.0"
	Ollama           = "ollama/ollama:0.32.6"
	SGLang           = "lmsysorg/sglang:v0.5.18"
	TensorRTLLM      = "nvcr.io/nvidia/tensorrt-llm/release:1.2.0"
	TGI              = "ghcr.io/huggingface/text-generation-inference:3.3.7"
	Triton           = "nvcr.io/nvidia/tritonserver:25.12-py3"
	TritonVLLM       = "nvcr.io/nvidia/tritonserver:25.12-vllm-python-py3"
	VLLM             = "vllm/vllm-openai:v0.18.0"
)

// DeepSpeedMII is a repository that has no version: a claim names one.
const DeepSpeedMII = "premai/deepspeed-mii"
