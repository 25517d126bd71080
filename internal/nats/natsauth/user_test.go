package natsauth_test

import (
	"strings"
	"testing"

	"github.com/gorizond/koldun/internal/fault"
	"github.com/gorizond/koldun/internal/nats/natsauth"
)

// TestTagsCannotWidenRights tries values that the server would take as wildcards, drop
// or change.
func TestTagsCannotWidenRights(t *testing.T) {
	account, err := natsauth.NewAccount()
	if err != nil {
		t.Fatal(err)
	}
	for name, change := range map[string]func(map[natsauth.Tag]string){
		"Star":      func(m map[natsauth.Tag]string) { m[natsauth.Session] = "*" },
		"Rest":      func(m map[natsauth.Tag]string) { m[natsauth.Session] = ">" },
		"Part":      func(m map[natsauth.Tag]string) { m[natsauth.Model] = "model/a.*" },
		"UpperCase": func(m map[natsauth.Tag]string) { m[natsauth.Session] = "Team_tiny" },
		"Template":  func(m map[natsauth.Tag]string) { m[natsauth.Session] = "{{name()}}" },
		"Empty":     func(m map[natsauth.Tag]string) { m[natsauth.Session] = "" },
		"EmptyPart": func(m map[natsauth.Tag]string) { m[natsauth.Model] = "model/a..b" },
		"Missing":   func(m map[natsauth.Tag]string) { delete(m, natsauth.RunnerName) },
		"Unknown":   func(m map[natsauth.Tag]string) { m["tenant"] = "x" },
	} {
		t.Run(name, func(t *testing.T) {
			all := tags(natsauth.Runner)
			change(all)
			if _, err := account.User(natsauth.Runner, all, 0); !fault.Is(err, fault.Invalid) {
				t.Errorf("the error is %v, want one of kind Invalid", err)
			}
		})
	}
	all := tags(natsauth.Runner)
	all[natsauth.Model] = "model/team/qwen2.5"
	if _, err := account.User(natsauth.Runner, all, 0); err != nil {
		t.Error(err)
	}
}

// TestErrorsKeepSeeds signs with a key that is none.
func TestErrorsKeepSeeds(t *testing.T) {
	account, err := natsauth.NewAccount()
	if err != nil {
		t.Fatal(err)
	}
	const bad = "SAAbutnoseed"
	account.Roles[natsauth.Job] = bad
	_, err = account.User(natsauth.Job, tags(natsauth.Job), 0)
	if !fault.Is(err, fault.Invalid) || strings.Contains(err.Error(), bad) {
		t.Errorf("the error is %v, want one of kind Invalid without the seed", err)
	}
}
