resource "koldun_model_record" "tiny" {
  namespace    = "default"
  name         = "tiny"
  artifact_url = "s3://models/tiny/q40"
}
