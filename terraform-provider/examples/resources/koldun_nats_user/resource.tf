# The Secret has gateway.creds, dispatcher.creds and NATS_URL.
resource "koldun_nats_user" "serving" {
  namespace = koldun_nats_account.team.namespace
  name      = "serving"
  users = [
    { name = "gateway", role = "gateway" },
    { name = "dispatcher", role = "dispatcher" },
  ]
  lifetime        = "720h" # an apply in the second half of it renews them
  write_secret_to = { name = "serving-nats" }
}
