# A token for the time of this run, for instance to ask what was just made.
ephemeral "koldun_token" "smoke" {
  models = ["ai/llama"]
}
