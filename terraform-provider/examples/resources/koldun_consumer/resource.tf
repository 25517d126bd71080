resource "koldun_consumer" "workers" {
  stream          = "requests"
  name            = "workers"
  filter_subjects = ["requests.high.>"]
  max_deliver     = 5
  backoff         = ["1s", "10s", "1m"]
}
