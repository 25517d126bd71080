package supervise

import (
	"github.com/gorizond/koldun/internal/engine"
	"github.com/gorizond/koldun/internal/engine/distributedllama"
)

// process describes the engine that the tests supervise.
func process() *engine.Process { return distributedllama.Engine().Process }
