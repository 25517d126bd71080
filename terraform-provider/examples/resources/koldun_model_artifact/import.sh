terraform import koldun_model_artifact.tiny 's3://models/tiny/q40'
