data "koldun_ai_deployment" "mistral" {
  namespace = "ai"
  name      = "mistral"
}
