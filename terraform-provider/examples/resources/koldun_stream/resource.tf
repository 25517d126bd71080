resource "koldun_stream" "requests" {
  name      = "requests"
  subjects  = ["requests.>"]
  max_age   = "24h"
  max_bytes = 1073741824
}
