data "koldun_token" "ci" {
  name = "ci"
}
