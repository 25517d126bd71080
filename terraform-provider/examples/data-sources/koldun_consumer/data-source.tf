data "koldun_consumer" "workers" {
  stream = "requests"
  name   = "workers"
}
