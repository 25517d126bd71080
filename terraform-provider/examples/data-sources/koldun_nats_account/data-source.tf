data "koldun_nats_account" "team" {
  namespace = "team"
}
