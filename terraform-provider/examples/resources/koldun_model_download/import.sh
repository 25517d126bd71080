terraform import koldun_model_download.shared 'ai/shared'
