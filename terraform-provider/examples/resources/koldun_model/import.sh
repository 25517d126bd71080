terraform import koldun_model.llama 'ai/llama'
