resource "koldun_bucket" "models" {
  bucket_name              = "models"
  abort_uploads_after_days = 7
  tags                     = { team = "ai" }
}
