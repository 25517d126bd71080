# `tofu test -var namespace=NAMESPACE` or `terraform test ...`: one apply makes the account
# and the users, and other limits are changed in place.
run "makes_users" {
  assert {
    condition     = koldun_nats_user.serving.ready && koldun_nats_account.team.ready
    error_message = "The account or the users are not ready."
  }
  assert {
    condition     = length(koldun_nats_user.serving.status.users) == 2
    error_message = "There are ${length(koldun_nats_user.serving.status.users)} users."
  }
}

run "changes_limits" {
  variables {
    connections = 200
  }
  assert {
    condition     = koldun_nats_account.team.connections == 200 && koldun_nats_account.team.ready
    error_message = "The account has ${koldun_nats_account.team.connections} connections."
  }
}
