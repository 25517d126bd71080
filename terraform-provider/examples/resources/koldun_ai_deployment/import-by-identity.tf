import {
  to = koldun_ai_deployment.mistral
  identity = {
    namespace = "ai"
    name      = "mistral"
  }
}
