resource "koldun_root" "chat" {
  name            = "chat"
  namespace       = "ai"
  model_ref       = "llama"
  worker_selector = { pool = "chat" }
}
