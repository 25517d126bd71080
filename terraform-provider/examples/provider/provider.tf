terraform {
  required_providers {
    koldun = {
      source = "gorizond/koldun"
    }
  }
}

variable "nats_password" {
  type      = string
  ephemeral = true
}

# Each setting may come from the environment instead. Configure what is needed:
# claims need kubernetes, buckets s3, streams and tokens nats.
provider "koldun" {
  kubernetes = {
    config_path = "~/.kube/config"
    namespace   = "ai"
  }
  nats = {
    url      = "nats://nats.example.org:4222"
    user     = "koldun"
    password = var.nats_password
  }
  s3 = {
    endpoint = "https://s3.example.org"
  }
}
