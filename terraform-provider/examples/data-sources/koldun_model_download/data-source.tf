data "koldun_model_download" "shared" {
  namespace = "ai"
  name      = "shared"
}
