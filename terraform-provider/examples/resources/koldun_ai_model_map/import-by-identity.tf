import {
  to = koldun_ai_model_map.mistral
  identity = {
    namespace = "ai"
    name      = "mistral"
  }
}
