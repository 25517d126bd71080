package pod

import (
	"errors"
	"testing"

	"github.com/gorizond/koldun/internal/fault"
)

func TestRunnable(t *testing.T) {
	const only = `; only koldun itself (image "own"), distributed-llama and Ollama run here: for a server that runs already, name its URL in spec.engine.server.url`
	own := Container{Name: "a", Image: "own", Command: []string{"/koldun"}}
	supervised := func(args ...string) Container {
		return Container{Name: "e", Image: "x", Command: []string{"$(KOLDUN_DIR_BIN)/koldun"}, Args: args}
	}
	cases := map[string]struct {
		spec Spec
		want string
	}{
		"Own":          {Spec{Containers: []Container{own, {Name: "b", Image: "own:v2"}}}, ""},
		"Release":      {Spec{Containers: []Container{{Name: "b", Image: "ghcr.io/gorizond/koldun:v1"}}}, ""},
		"None":         {Spec{InitContainers: []Container{own}}, "it has no containers"},
		"Foreign":      {Spec{Containers: []Container{own, {Name: "b", Image: "x"}}}, `container "b" has image "x"` + only},
		"Supervised":   {Spec{InitContainers: []Container{own}, Containers: []Container{supervised("supervise", "--wait-for=a:1", "--", "dllama", "worker")}}, ""},
		"Unknown":      {Spec{Containers: []Container{supervised("supervise", "--", "other")}}, `container "e": other is missing`},
		"NoProgram":    {Spec{Containers: []Container{supervised("supervise", "--")}}, `container "e" has image "x"` + only},
		"NoSupervisor": {Spec{Containers: []Container{supervised("engine", "--", "dllama")}}, `container "e" has image "x"` + only},
		"Server":       {Spec{InitContainers: []Container{{Name: "p", Image: "o", Command: []string{"/bin/sh", "-c", "x"}}}, Containers: []Container{{Name: "s", Image: "o", Command: []string{"ollama", "serve"}}, own}}, ""},
		"Gone":         {Spec{Containers: []Container{{Name: "s", Image: "o", Command: []string{"gone"}}}}, `container "s": gone is missing`},
		"OtherShell": {
			Spec{InitContainers: []Container{{Name: "p", Image: "x", Command: []string{"/bin/sh"}}}, Containers: []Container{{Name: "s", Image: "o", Command: []string{"ollama"}}}},
			`container "p" has image "x"` + only,
		},
		"OnlyShell":    {Spec{Containers: []Container{{Name: "p", Image: "o", Command: []string{"/bin/sh"}}}}, `container "p" has image "o"` + only},
		"OtherProgram": {Spec{Containers: []Container{{Name: "p", Image: "o", Command: []string{"ollama"}}, {Name: "q", Image: "o", Command: []string{"curl"}}}}, `container "p" has image "o", container "q" has image "o"` + only},
		"Init": {
			Spec{InitContainers: []Container{{Name: "i", Image: "own", Command: []string{"sh", "-c"}}}, Containers: []Container{own}},
			`container "i" has command "sh -c"`,
		},
	}
	host := Host{Image: "own", Servers: map[string]error{"ollama": nil, "gone": errors.New("gone is missing")}, Program: func(name string) error {
		if name != "dllama" {
			return errors.New(name + " is missing")
		}
		return nil
	}}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			err := host.Runnable(c.spec)
			got := ""
			if err != nil {
				got = err.Error()
			}
			if got != c.want || err != nil && !fault.Is(err, fault.Unsupported) {
				t.Errorf("got %q, want %q", got, c.want)
			}
		})
	}
	none := Host{Image: "own"}.Runnable(Spec{Containers: []Container{supervised("supervise", "--", "dllama")}})
	if none == nil || none.Error() != `container "e" has image "x"`+only {
		t.Errorf("a machine without programs runs the engine: %v", none)
	}
}
