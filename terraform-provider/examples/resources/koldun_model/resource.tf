resource "koldun_model" "llama" {
  name       = "llama"
  namespace  = "ai"
  source_url = "hf://meta-llama/Llama-3.1-8B-Instruct@main"
  conversion = { weights_float_type = "q40" }
  download   = { hugging_face_token_secret_ref = { name = "hugging-face" } }
  timeouts   = { create = "6h" }

  lifecycle {
    postcondition {
      condition     = self.ready
      error_message = self.reason
    }
  }
}
