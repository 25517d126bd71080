terraform import koldun_consumer.workers 'requests/workers'
