import {
  to = koldun_consumer.workers
  identity = {
    stream = "requests"
    name   = "workers"
  }
}
