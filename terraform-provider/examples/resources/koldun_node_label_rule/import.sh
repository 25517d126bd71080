terraform import koldun_node_label_rule.large 'large-gpu'
