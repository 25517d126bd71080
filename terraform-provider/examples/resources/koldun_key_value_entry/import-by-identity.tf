import {
  to = koldun_key_value_entry.motd
  identity = {
    bucket = "settings"
    key    = "motd"
  }
}
