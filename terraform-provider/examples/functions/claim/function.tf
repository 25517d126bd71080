# A manifest for Argo CD or kubectl, checked by the API server's own code.
output "manifest" {
  value = yamlencode(provider::koldun::claim(
    "Dllama",
    { name = "chat", namespace = "ai" },
    { modelRef = { name = "llama" }, nodes = 1 },
  ))
}
