data "koldun_bucket" "models" {
  bucket_name = "models"
}
