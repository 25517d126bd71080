import {
  to = koldun_token.ci
  identity = {
    name = "ci"
  }
}
