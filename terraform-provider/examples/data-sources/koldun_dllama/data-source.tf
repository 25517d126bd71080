data "koldun_dllama" "chat" {
  namespace = "ai"
  name      = "chat"
}
