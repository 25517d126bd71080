output "conversation" {
  value = provider::koldun::conversation_hash(substr(sha256("an API token"), 0, 16), "ticket-42", [], "")
}
