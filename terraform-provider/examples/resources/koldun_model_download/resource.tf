resource "koldun_model_download" "shared" {
  name        = "shared"
  namespace   = "ai"
  storage_pvc = "models"

  models = [
    { name = "meta-llama/Llama-3.1-8B-Instruct", sha = "0e9e39f249a16976918f6564b8830bc894c89659" },
    { name = "microsoft/Phi-3.5-mini-instruct", exclude = ["*.bin"] },
  ]
  hf_token_ref = { name = "hugging-face", key = "token" }
  settings     = { enable_hf_transfer = true, cpu = "2", memory = "1Gi" }
  timeouts     = { create = "6h" }

  lifecycle {
    postcondition {
      condition     = self.ready
      error_message = self.reason
    }
  }
}
