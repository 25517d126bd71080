import {
  to = koldun_nats_user.serving
  identity = {
    namespace = "team"
    name      = "serving"
  }
}
