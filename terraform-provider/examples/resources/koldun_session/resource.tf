resource "koldun_session" "chat" {
  name      = "chat"
  namespace = "ai"
  model_ref = { name = "llama" }
  scaling   = { min_dllamas = 0, max_dllamas = 4 }
}
