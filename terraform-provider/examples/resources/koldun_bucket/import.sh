terraform import koldun_bucket.models 'models'
