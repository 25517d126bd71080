output "pinned" {
  value = provider::koldun::parse_model_ref("hf://org/model@0123456789abcdef0123456789abcdef01234567").pinned
}
