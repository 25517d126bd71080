import {
  to = koldun_stream.requests
  identity = {
    name = "requests"
  }
}
