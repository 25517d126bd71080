# What a platform team shares: a model, a pool that scales to zero, a gateway in
# front of it, and the tokens that may ask.
terraform {
  required_providers {
    koldun = {
      source = "gorizond/koldun"
    }
  }
}

variable "namespace" {
  type    = string
  default = "ai"
}

variable "host" {
  type    = string
  default = "llm.example.org"
}

variable "tokens" {
  type        = map(string)
  ephemeral   = true
  description = "API tokens by the team that holds them. Only their SHA-256 is kept."
}

variable "teams" {
  type    = set(string)
  default = ["search", "support"]
}

# Connections come from KUBECONFIG and the NATS_ variables.
provider "koldun" {
  kubernetes = { namespace = var.namespace }
}

locals {
  # Koldun's packages may be installed by the same pipeline, a moment ago.
  wait = { for_api = "5m" }
}

resource "koldun_model" "tiny" {
  name       = "tiny"
  source_url = "https://huggingface.co/gorizond/koldun-tiny"
  conversion = { weights_float_type = "q40" }
  wait       = local.wait
}

resource "koldun_session" "tiny" {
  name      = "tiny"
  model_ref = { name = koldun_model.tiny.name }
  scaling   = { min_dllamas = 0, max_dllamas = 4 }
  wait      = local.wait
}

resource "koldun_ingress" "api" {
  name  = "api"
  route = { host = var.host }
  wait  = local.wait
}

resource "koldun_token" "team" {
  for_each = var.teams

  name                = each.key
  secret_wo           = var.tokens[each.key]
  models              = ["${var.namespace}/*"]
  requests_per_minute = 60
}

output "url" {
  value = koldun_ingress.api.status.url
}
