import {
  to = koldun_session.chat
  identity = {
    namespace = "ai"
    name      = "chat"
  }
}
