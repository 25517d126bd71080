data "koldun_stream" "requests" {
  name = "requests"
}
