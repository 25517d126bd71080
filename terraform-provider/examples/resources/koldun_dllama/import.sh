terraform import koldun_dllama.chat 'ai/chat'
