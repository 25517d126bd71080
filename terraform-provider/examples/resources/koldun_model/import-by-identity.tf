import {
  to = koldun_model.llama
  identity = {
    namespace = "ai"
    name      = "llama"
  }
}
