data "koldun_key_value" "demand" {
  bucket = "demand"
}
