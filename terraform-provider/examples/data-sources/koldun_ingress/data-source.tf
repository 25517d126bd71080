data "koldun_ingress" "api" {
  namespace = "ai"
  name      = "api"
}
