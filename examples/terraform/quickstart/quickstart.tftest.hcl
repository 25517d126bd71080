# `tofu test` or `terraform test`, in a cluster with Koldun: one apply serves, a
# changed value is all that is planned, and nothing is left at the end.
run "serves" {
  assert {
    condition     = koldun_dllama.tiny.ready
    error_message = "It does not serve: ${koldun_dllama.tiny.reason}"
  }
  assert {
    condition     = endswith(output.url, ":8082/v1")
    error_message = "The URL is ${output.url}."
  }
}

run "plans_a_change" {
  command = plan

  variables {
    threads = 2
  }
  assert {
    condition     = koldun_dllama.tiny.engine.threads == 2
    error_message = "The plan has ${koldun_dllama.tiny.engine.threads} threads."
  }
}
