terraform import koldun_key_value_entry.motd 'settings/motd'
