import {
  to = koldun_key_value.demand
  identity = {
    bucket = "demand"
  }
}
