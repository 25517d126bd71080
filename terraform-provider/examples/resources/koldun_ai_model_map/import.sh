terraform import koldun_ai_model_map.mistral 'ai/mistral'
