# Nodes with a GPU of at least 24 GiB get a label that Dllamas can select.
resource "koldun_node_label_rule" "large" {
  name = "large-gpu"
  match_expressions = [
    { key = "nvidia.com/gpu.memory", operator = "Gt", values = ["24000"] },
    { key = "example.org/drained", operator = "DoesNotExist" },
  ]
  labels = {
    "koldun.gorizond.io/pool" = "large"
  }
}
