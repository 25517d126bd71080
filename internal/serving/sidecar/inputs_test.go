package sidecar

import (
	"context"
	"testing"

	"github.com/gorizond/koldun/internal/engine/engineapi"
)

// A loaded engine does something while it is asked.
type loaded func()

func (l loaded) Load(context.Context) (engineapi.Load, error) {
	l()
	return engineapi.Load{Running: 256, Waiting: 244}, nil
}

// A server counts each input of a request for embeddings. None of them is from
// elsewhere, also if the attempt sends them, or ends, while the load is read.
func TestOwnInputs(t *testing.T) {
	for name, meanwhile := range map[string]func(r *runner, a *attempt){
		"Before":    nil,
		"Meanwhile": func(r *runner, a *attempt) { r.slots.sends(a, 500) },
		"Ended": func(r *runner, a *attempt) {
			r.slots.sends(a, 500)
			r.slots.running = r.slots.running[:1]
		},
	} {
		t.Run(name, func(t *testing.T) {
			chat, embedding := &attempt{inputs: 1}, &attempt{inputs: 1}
			r := &runner{slots: slots{running: []*attempt{chat, embedding}, inputs: 2}}
			r.slots.sends(chat, 0)
			r.cfg.Loaded = loaded(func() {})
			if meanwhile == nil {
				r.slots.sends(embedding, 500)
			} else {
				r.cfg.Loaded = loaded(func() { meanwhile(r, embedding) })
			}
			load, own, err := loadWatcher{r}.readLoad(t.Context())
			if err != nil || own != 501 {
				t.Fatalf("own requests = %d, %v, want 501", own, err)
			}
			if s := (share{slots: 8, offered: 8}).next(load, own).next(load, own); s.taken() != 0 {
				t.Errorf("%d slots are taken", s.taken())
			}
		})
	}
}
