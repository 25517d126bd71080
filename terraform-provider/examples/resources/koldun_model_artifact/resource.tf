# Waits until the files of a model are complete, and exposes their properties as status.
resource "koldun_model_artifact" "tiny" {
  url      = "s3://models/tiny/q40"
  timeouts = { create = "2h" }

  lifecycle {
    postcondition {
      condition     = self.ready
      error_message = "The files are not complete yet: apply again to continue waiting."
    }
  }
}
