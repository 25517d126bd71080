terraform import koldun_auto_node_labeler.gpu 'gpu'
