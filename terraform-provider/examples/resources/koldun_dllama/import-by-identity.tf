import {
  to = koldun_dllama.chat
  identity = {
    namespace = "ai"
    name      = "chat"
  }
}
