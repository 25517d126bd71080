data "koldun_model_orchestra" "stack" {
  namespace = "ai"
  name      = "stack"
}
