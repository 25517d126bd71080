import {
  to = koldun_root.chat
  identity = {
    namespace = "ai"
    name      = "chat"
  }
}
