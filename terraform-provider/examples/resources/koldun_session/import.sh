terraform import koldun_session.chat 'ai/chat'
