terraform import koldun_root.chat 'ai/chat'
