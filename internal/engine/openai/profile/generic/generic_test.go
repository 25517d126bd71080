package generic_test

import (
	"testing"

	"github.com/gorizond/koldun/internal/engine/openai/profile"
	"github.com/gorizond/koldun/internal/engine/openai/profile/generic"
)

func TestStart(t *testing.T) {
	got := generic.Profile().Start(profile.Launch{Model: "/model", ServedName: "ns/m"})
	if got.Env["KOLDUN_MODEL"] != "/model" || got.Env["KOLDUN_SERVED_NAME"] != "ns/m" || got.Env["HOME"] != "$(KOLDUN_DIR_CACHE)" || got.Command != nil || got.Args != nil {
		t.Errorf("the start is %+v", got)
	}
}
