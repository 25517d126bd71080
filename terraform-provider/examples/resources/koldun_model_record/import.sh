terraform import koldun_model_record.tiny 'default/tiny'
