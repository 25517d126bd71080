# What the model needs on four nodes with 8 GiB each, or an error that says why
# it cannot run there and what would do.
output "plan" {
  value = provider::koldun::topology(file("config.json"), "q40", 4, 0, 8 * 1024 * 1024 * 1024)
}
