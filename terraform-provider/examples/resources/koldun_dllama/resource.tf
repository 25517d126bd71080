resource "koldun_dllama" "chat" {
  name      = "chat"
  namespace = "ai"
  model_ref = { name = "llama" }
  nodes     = 4

  root_image   = "ghcr.io/gorizond/distributed-llama:v0.16.4-1-g8d624a7"
  worker_image = "ghcr.io/gorizond/distributed-llama:v0.16.4-1-g8d624a7"

  # With it, a plan refuses numbers of nodes that the model cannot have.
  model_config = file("${path.module}/config.json")

  lifecycle {
    postcondition {
      condition     = self.ready
      error_message = self.reason
    }
  }
}

output "chat_url" {
  value = koldun_dllama.chat.status.url
}
