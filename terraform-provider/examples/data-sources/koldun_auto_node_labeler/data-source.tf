data "koldun_auto_node_labeler" "gpu" {
  name = "gpu"
}
