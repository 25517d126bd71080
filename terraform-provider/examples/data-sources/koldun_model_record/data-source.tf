data "koldun_model_record" "tiny" {
  namespace = "default"
  name      = "tiny"
}
