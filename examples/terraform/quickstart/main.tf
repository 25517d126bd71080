# One resource: a model, and an OpenAI-compatible endpoint that serves it.
terraform {
  required_providers {
    koldun = {
      source = "gorizond/koldun"
    }
  }
}

variable "namespace" {
  type    = string
  default = "default"
}

variable "threads" {
  type        = number
  default     = 1
  description = "Threads of the engine."
}

# The cluster is that of KUBECONFIG.
provider "koldun" {}

resource "koldun_dllama" "tiny" {
  name      = "koldun-tiny"
  namespace = var.namespace

  model = {
    source_url = "https://huggingface.co/gorizond/koldun-tiny"
    conversion = { weights_float_type = "q40" }
  }
  engine = { threads = var.threads }
  expose = {
    allow_anonymous = true
    service         = { port = 8082 }
  }

  # A timeout is no failure: the next apply goes on waiting. With this, the
  # command still ends with an error that says why.
  lifecycle {
    postcondition {
      condition     = self.ready
      error_message = self.reason
    }
  }
}

output "url" {
  value = koldun_dllama.tiny.status.url
}
