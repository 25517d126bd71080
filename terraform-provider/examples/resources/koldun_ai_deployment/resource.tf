resource "koldun_ai_deployment" "mistral" {
  name      = "mistral"
  namespace = "ai"

  engine   = { name = "vllm" }
  models   = [{ model_map_ref = { name = "mistral", variant = "awq" } }]
  endpoint = [{ domain = "mistral.example.com" }]

  deployment = {
    accelerator = { interface = "CUDA", min_version = { major = 7, minor = 5 } }
    template = {
      spec = jsonencode({ tolerations = [{ key = "nvidia.com/gpu", operator = "Exists" }] })
    }
  }

  lifecycle {
    postcondition {
      condition     = self.ready
      error_message = self.reason
    }
  }
}
