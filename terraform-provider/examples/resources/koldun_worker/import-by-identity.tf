import {
  to = koldun_worker.chat
  identity = {
    namespace = "ai"
    name      = "chat"
  }
}
