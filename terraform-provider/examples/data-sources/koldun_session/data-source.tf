data "koldun_session" "chat" {
  namespace = "ai"
  name      = "chat"
}
