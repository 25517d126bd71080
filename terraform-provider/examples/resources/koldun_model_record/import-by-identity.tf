import {
  to = koldun_model_record.tiny
  identity = {
    namespace = "default"
    name      = "tiny"
  }
}
