terraform import koldun_model_orchestra.stack 'ai/stack'
