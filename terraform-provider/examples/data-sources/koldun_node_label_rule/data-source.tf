data "koldun_node_label_rule" "large" {
  name = "large-gpu"
}
