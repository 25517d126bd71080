resource "koldun_ingress" "api" {
  name      = "api"
  namespace = "ai"
  route     = { host = "llm.example.org" }
}

output "api_url" {
  value = koldun_ingress.api.status.url
}
