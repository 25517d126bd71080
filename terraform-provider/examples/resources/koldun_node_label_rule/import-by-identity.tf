import {
  to = koldun_node_label_rule.large
  identity = {
    name = "large-gpu"
  }
}
