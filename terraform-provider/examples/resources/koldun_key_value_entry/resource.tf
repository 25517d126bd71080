variable "password" {
  type      = string
  ephemeral = true
}

resource "koldun_key_value_entry" "motd" {
  bucket = "settings"
  key    = "motd"
  value  = "Be kind."
}

resource "koldun_key_value_entry" "password" {
  bucket           = "settings"
  key              = "password"
  value_wo         = var.password
  value_wo_version = 1
}
