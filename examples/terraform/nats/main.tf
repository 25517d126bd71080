# A namespace as a NATS account: its limits, and credentials for a gateway and a
# dispatcher that Koldun's claims do not compose.
#
# The keys of the operator come from the environment: NATS_OPERATOR_URL,
# NATS_OPERATOR_SIGNING_KEY, NATS_OPERATOR_SYSTEM_CREDS and NATS_OPERATOR_ACCOUNTS_KEY.
terraform {
  required_providers {
    koldun = {
      source = "gorizond/koldun"
    }
  }
}

variable "namespace" {
  type = string
}

variable "connections" {
  type    = number
  default = 100
}

variable "revoke_before" {
  type        = string
  default     = null
  description = "Revokes the credentials that were issued until then, such as leaked ones: the present time, as 2026-11-23T14:30:00Z."
}

# The cluster is that of KUBECONFIG.
provider "koldun" {}

resource "koldun_nats_account" "team" {
  namespace     = var.namespace
  connections   = var.connections
  streams       = 20
  revoke_before = var.revoke_before
  overlap       = "0s" # one apply ends credentials that have leaked
}

resource "koldun_nats_user" "serving" {
  namespace = koldun_nats_account.team.namespace
  name      = "serving"
  users = [
    { name = "gateway", role = "gateway" },
    { name = "dispatcher", role = "dispatcher" },
  ]
  lifetime        = "720h"                                 # an apply in the second half of it renews them
  revoke_before   = koldun_nats_account.team.revoke_before # the same apply replaces them
  write_secret_to = { name = "serving-nats" }
}
