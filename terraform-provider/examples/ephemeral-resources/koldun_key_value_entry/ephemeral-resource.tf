ephemeral "koldun_key_value_entry" "password" {
  bucket = "settings"
  key    = "password"
}
