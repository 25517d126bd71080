import {
  to = koldun_model_artifact.tiny
  identity = {
    url = "s3://models/tiny/q40"
  }
}
