resource "koldun_worker" "chat" {
  name      = "chat"
  namespace = "ai"
  image     = "ghcr.io/example/distributed-llama:v0.16"
  replicas  = 3
  labels    = { pool = "chat" }
}
