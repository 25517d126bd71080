data "koldun_ai_model_map" "mistral" {
  namespace = "ai"
  name      = "mistral"
}
