import {
  to = koldun_auto_node_labeler.gpu
  identity = {
    name = "gpu"
  }
}
