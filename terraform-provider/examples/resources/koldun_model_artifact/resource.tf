# Waits until the files of a model are whole, and tells what they are.
resource "koldun_model_artifact" "tiny" {
  url      = "s3://models/tiny/q40"
  timeouts = { create = "2h" }

  lifecycle {
    postcondition {
      condition     = self.ready
      error_message = "The files are not whole yet: apply again to go on waiting."
    }
  }
}
