terraform import koldun_ingress.api 'ai/api'
