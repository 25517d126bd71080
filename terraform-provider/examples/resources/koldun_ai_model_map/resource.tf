resource "koldun_ai_model_map" "mistral" {
  name      = "mistral"
  namespace = "ai"

  vllm = [
    { variant = "base", uri = "mistralai/Mistral-7B-Instruct-v0.3", revision = "main", data_type = "bfloat16" },
    { variant = "awq", uri = "solidrust/Mistral-7B-Instruct-v0.3-AWQ", quantization = "awq_marlin" },
  ]
  ollama = [{ variant = "q4", uri = "mistral:7b" }]
  access = { namespaces = ["research"] }
}
