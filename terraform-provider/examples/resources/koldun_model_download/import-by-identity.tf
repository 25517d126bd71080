import {
  to = koldun_model_download.shared
  identity = {
    namespace = "ai"
    name      = "shared"
  }
}
