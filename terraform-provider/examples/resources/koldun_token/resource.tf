variable "token" {
  type      = string
  ephemeral = true
}

# Only the SHA-256 of the token reaches the state, and shows that the token
# changed. The previous token stays valid for the overlap.
resource "koldun_token" "ci" {
  name                = "ci"
  secret_wo           = var.token
  models              = ["default/*"]
  requests_per_minute = 60
  overlap             = "10m"
}

# A generated token for workloads: the first apply after a month replaces it,
# and the previous token stays valid for a day.
resource "koldun_token" "app" {
  name = "app"
  write_secret_to = {
    namespace = "apps"
    name      = "koldun-token"
  }
  rotate_after = "720h"
  overlap      = "24h"
}
