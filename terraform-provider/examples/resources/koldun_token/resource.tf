variable "token" {
  type      = string
  ephemeral = true
}

# Only the SHA-256 of the token reaches the state. A new token is noticed by it,
# and the old one stays valid for the overlap.
resource "koldun_token" "ci" {
  name                = "ci"
  secret_wo           = var.token
  models              = ["default/*"]
  requests_per_minute = 60
  overlap             = "10m"
}

# A token that is made here, and given to workloads: the first apply after a
# month replaces it, and the one before stays valid for a day.
resource "koldun_token" "app" {
  name = "app"
  write_secret_to = {
    namespace = "apps"
    name      = "koldun-token"
  }
  rotate_after = "720h"
  overlap      = "24h"
}
