data "koldun_model" "llama" {
  namespace = "ai"
  name      = "llama"
}
