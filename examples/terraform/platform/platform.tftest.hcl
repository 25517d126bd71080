# `tofu test` or `terraform test`: what a platform team shares is there, from
# nothing, in one run.
variables {
  tokens = { search = "a-token-of-the-search-team", support = "a-token-of-the-support-team" }
}

run "shares" {
  assert {
    condition     = koldun_model.tiny.ready && koldun_session.tiny.ready && koldun_ingress.api.ready
    error_message = "It is not ready: ${join(", ", [koldun_model.tiny.reason, koldun_session.tiny.reason, koldun_ingress.api.reason])}"
  }
  assert {
    condition     = output.url == "http://${var.host}/v1"
    error_message = "The URL is ${output.url}."
  }
  assert {
    condition     = alltrue([for t in koldun_token.team : t.ready])
    error_message = "The tokens are not known."
  }
}
