// Package test runs the health scripts as Argo CD does: with the object in the
// global variable obj, in an interpreter without libraries for I/O.
package test

import (
	"bytes"
	"os"
	"path/filepath"
	"testing"

	lua "github.com/yuin/gopher-lua"
	"gopkg.in/yaml.v3"
)

// A list is a health_test.yaml in the layout of Argo CD.
type list struct {
	Tests []struct {
		HealthStatus struct {
			Status  string `yaml:"status"`
			Message string `yaml:"message"`
		} `yaml:"healthStatus"`
		InputPath string `yaml:"inputPath"`
	} `yaml:"tests"`
}

func TestHealth(t *testing.T) {
	lists, err := filepath.Glob("../*.io/*/health_test.yaml")
	if err != nil || len(lists) == 0 {
		t.Fatalf("there are no tests: %v", err)
	}
	for _, path := range lists {
		var l list
		read(t, path, &l)
		folder := filepath.Dir(path)
		for _, c := range l.Tests {
			t.Run(filepath.Base(folder)+"/"+filepath.Base(c.InputPath), func(t *testing.T) {
				status, message := run(t, filepath.Join(folder, "health.lua"), filepath.Join(folder, c.InputPath))
				if status != c.HealthStatus.Status || message != c.HealthStatus.Message {
					t.Errorf("health is %s (%s), want %s (%s)", status, message, c.HealthStatus.Status, c.HealthStatus.Message)
				}
			})
		}
	}
}

// TestEachScriptIsTested holds that each kind has tests of its own, and that the scripts
// of managed kinds are the one that is tested.
func TestEachScriptIsTested(t *testing.T) {
	scripts, err := filepath.Glob("../*.io/*/health.lua")
	if err != nil || len(scripts) < 20 {
		t.Fatalf("there are %d scripts: %v", len(scripts), err)
	}
	managed, err := os.ReadFile("../koldun.m.gorizond.io/Bucket/health.lua")
	if err != nil {
		t.Fatal(err)
	}
	for _, script := range scripts {
		if _, err := os.Stat(filepath.Join(filepath.Dir(script), "health_test.yaml")); err == nil {
			continue
		}
		raw, err := os.ReadFile(script)
		if err != nil {
			t.Fatal(err)
		}
		if !bytes.Equal(raw, managed) {
			t.Errorf("%s has no health_test.yaml beside it", script)
		}
	}
}

func run(t *testing.T, script, input string) (status, message string) {
	t.Helper()
	state := lua.NewState(lua.Options{SkipOpenLibs: true})
	defer state.Close()
	for _, lib := range []struct {
		name string
		open lua.LGFunction
	}{{lua.BaseLibName, lua.OpenBase}, {lua.TabLibName, lua.OpenTable}, {lua.StringLibName, lua.OpenString}} {
		state.Push(state.NewFunction(lib.open))
		state.Push(lua.LString(lib.name))
		state.Call(1, 0)
	}
	var obj map[string]any
	read(t, input, &obj)
	state.SetGlobal("obj", value(state, obj))
	if err := state.DoFile(script); err != nil {
		t.Fatal(err)
	}
	out, ok := state.Get(-1).(*lua.LTable)
	if !ok {
		t.Fatalf("the script returns %s, want a table", state.Get(-1))
	}
	return out.RawGetString("status").String(), out.RawGetString("message").String()
}

func value(state *lua.LState, v any) lua.LValue {
	switch v := v.(type) {
	case map[string]any:
		out := state.NewTable()
		for k, child := range v {
			out.RawSetString(k, value(state, child))
		}
		return out
	case []any:
		out := state.NewTable()
		for _, child := range v {
			out.Append(value(state, child))
		}
		return out
	case string:
		return lua.LString(v)
	case bool:
		return lua.LBool(v)
	case int:
		return lua.LNumber(v)
	case float64:
		return lua.LNumber(v)
	}
	return lua.LNil
}

func read(t *testing.T, path string, into any) {
	t.Helper()
	raw, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if err := yaml.Unmarshal(raw, into); err != nil {
		t.Fatalf("cannot read %q: %v", path, err)
	}
}
