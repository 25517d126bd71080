resource "koldun_model_orchestra" "stack" {
  name      = "stack"
  namespace = "ai"
  applications = {
    hello-world = {
      node_selector = { "nvidia.com/gpu.product" = "NVIDIA-GeForce-RTX-3060" }
      reader_config = {
        model_name = "unsloth/Llama-3.2-1B-Instruct"
        device     = "cuda"
      }
    }
  }
  image_pull_secrets = [{ name = "regcred" }]
}
