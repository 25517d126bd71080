resource "koldun_nats_account" "team" {
  namespace   = "team"
  connections = 100
  disk_bytes  = 10737418240
  streams     = 20
}
