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
# claims need kubernetes, buckets s3, streams and tokens nats, NATS accounts and
# users nats_operator. The keys of the operator come from NATS_OPERATOR_SIGNING_KEY,
# NATS_OPERATOR_SYSTEM_CREDS and NATS_OPERATOR_ACCOUNTS_KEY here.
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
  nats_operator = {
    url     = "nats://nats.example.org:4222"
    servers = 3
  }
  s3 = {
    endpoint = "https://s3.example.org"
  }
}
