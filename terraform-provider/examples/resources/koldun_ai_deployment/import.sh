terraform import koldun_ai_deployment.mistral 'ai/mistral'
