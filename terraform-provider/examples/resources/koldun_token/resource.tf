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
