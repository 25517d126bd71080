// Package localai is the profile of LocalAI.
package localai

import (
	"path"
	"strconv"

	"github.com/gorizond/koldun/internal/engine/images"
	"github.com/gorizond/koldun/internal/engine/openai/profile"
	"github.com/gorizond/koldun/internal/openai"
)

// Profile returns the profile.
func Profile() profile.Profile {
	return profile.Profile{
		Name:       "localai",
		Image:      images.LocalAI,
		Slots:      1,
		Operations: profile.Operations(),
		Parameters: profile.Sampling(),
		Features:   profile.Features(openai.FeatureTools, openai.FeatureToolChoice, openai.FeatureJSONSchema),
		Threads:    true,
		Unfit:      profile.NeedsGGUF("LocalAI serves a .gguf file of a folder by its name"),
		ServedName: func(_ bool, model, _ string) string { return path.Base(model) },
		Context:    true,
		Start:      start,
		Alone:      profile.Alone{Port: 8080, Models: profile.ManyModels, Ready: "/readyz", Live: "/healthz", Start: alone, ServedNames: servedNames},
	}
}

// start leaves the watchdogs off, which end a model that is idle for 15 minutes,
// or busy for 5. LocalAI knows a model by the name of its file or its entry in the
// gallery.
func start(l profile.Launch) profile.Start {
	s := profile.Start{Command: []string{"/local-ai", "run"}, Env: profile.Base()}
	if l.Downloads {
		s.Args = append(s.Args, l.Model, "--models-path="+profile.Home+"/models")
	} else {
		s.Args = append(s.Args, "--models-path="+path.Dir(l.Model))
	}
	s.Args = append(s.Args, "--address="+l.Listen()+":"+l.Port, "--backends-path="+profile.Home+"/backends",
		"--enable-watchdog-idle=false", "--enable-watchdog-busy=false")
	if l.SeqLen > 0 {
		s.Args = append(s.Args, "--context-size="+strconv.Itoa(l.SeqLen))
	}
	if l.Threads > 0 {
		s.Args = append(s.Args, "--threads="+strconv.Itoa(l.Threads))
	}
	return s
}
