data "koldun_root" "chat" {
  namespace = "ai"
  name      = "chat"
}
