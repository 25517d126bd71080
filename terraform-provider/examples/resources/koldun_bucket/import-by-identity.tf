import {
  to = koldun_bucket.models
  identity = {
    bucket_name = "models"
  }
}
