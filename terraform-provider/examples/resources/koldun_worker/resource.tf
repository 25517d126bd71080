resource "koldun_worker" "chat" {
  name      = "chat"
  namespace = "ai"
  image     = "ghcr.io/gorizond/distributed-llama:v0.16.4-1-g8d624a7"
  replicas  = 3
  labels    = { pool = "chat" }
}
