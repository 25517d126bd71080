resource "koldun_auto_node_labeler" "gpu" {
  name        = "gpu"
  capacity    = { "nvidia.com/gpu" = "1" }
  node_labels = { "example.org/accelerator" = "gpu" }
}
