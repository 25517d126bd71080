import {
  to = koldun_ingress.api
  identity = {
    namespace = "ai"
    name      = "api"
  }
}
