import {
  to = koldun_nats_account.team
  identity = {
    namespace = "team"
  }
}
