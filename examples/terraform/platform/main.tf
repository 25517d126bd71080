# What a platform team shares, from nothing in one run: Crossplane, Koldun's
# packages, a model, a pool that scales to zero, a gateway in front of it, and
# the tokens that may ask. It runs helm and kubectl.
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

variable "crossplane" {
  type        = string
  default     = "2.4.0"
  description = "Version of Crossplane to install. Empty in a cluster that has it."
}

variable "charts" {
  type        = string
  default     = "https://charts.crossplane.io/stable"
  description = "Where crossplane-VERSION.tgz is: Crossplane's repository of Helm charts, or a mirror."
}

variable "install" {
  type        = string
  default     = ""
  description = "Koldun's install.yaml, of a release. Left out, it is that of this repository."
}

# Connections come from KUBECONFIG and the NATS_ variables, or for NATS in operator mode
# the NATS_OPERATOR_ variables.
provider "koldun" {
  kubernetes = { namespace = var.namespace }
}

locals {
  install = coalesce(var.install, abspath("${path.module}/../../../package/install.yaml"))
  # Koldun's packages were installed a moment ago.
  wait = { for_api = "5m" }
}

resource "terraform_data" "crossplane" {
  count            = var.crossplane == "" ? 0 : 1
  triggers_replace = var.crossplane

  provisioner "local-exec" {
    # By its URL: a name alone would also mean a folder that is called so.
    command = <<-EOT
      helm upgrade --install crossplane '${var.charts}/crossplane-${var.crossplane}.tgz' \
        --namespace crossplane-system --create-namespace --wait
    EOT
  }
}

# Others may use the packages: destroy leaves them, and kubectl delete removes
# them.
resource "terraform_data" "koldun" {
  depends_on       = [terraform_data.crossplane]
  triggers_replace = filesha256(local.install)

  provisioner "local-exec" {
    command = "kubectl apply --server-side -f '${local.install}'"
  }
}

resource "terraform_data" "namespace" {
  input = var.namespace

  provisioner "local-exec" {
    command = "kubectl create namespace '${self.input}'"
  }
  provisioner "local-exec" {
    when    = destroy
    command = "kubectl delete namespace '${self.input}'"
  }
}

resource "koldun_model" "tiny" {
  depends_on = [terraform_data.koldun, terraform_data.namespace]

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
  depends_on = [terraform_data.koldun, terraform_data.namespace]

  name  = "api"
  route = { host = var.host }
  wait  = local.wait
}

resource "koldun_token" "team" {
  for_each   = var.teams
  depends_on = [koldun_ingress.api] # its queue has the registry

  name                = each.key
  secret_wo           = var.tokens[each.key]
  models              = ["${var.namespace}/*"]
  requests_per_minute = 60
}

output "url" {
  value = koldun_ingress.api.status.url
}
