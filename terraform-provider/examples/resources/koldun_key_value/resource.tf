resource "koldun_key_value" "demand" {
  bucket           = "demand"
  limit_marker_ttl = "1m"
}
