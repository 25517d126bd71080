data "koldun_model_artifact" "tiny" {
  url = "s3://models/tiny/q40"
}
