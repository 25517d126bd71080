import {
  to = koldun_model_orchestra.stack
  identity = {
    namespace = "ai"
    name      = "stack"
  }
}
