terraform import koldun_worker.chat 'ai/chat'
