terraform import koldun_key_value.demand 'demand'
