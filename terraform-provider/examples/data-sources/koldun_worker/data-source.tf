data "koldun_worker" "chat" {
  namespace = "ai"
  name      = "chat"
}
