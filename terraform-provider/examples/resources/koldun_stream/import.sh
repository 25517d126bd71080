terraform import koldun_stream.requests 'requests'
