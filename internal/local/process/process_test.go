package process

import (
	"context"
	"fmt"
	"io"
	"os"
	"os/signal"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/gorizond/koldun/test/waittest"
)

func TestMain(m *testing.M) {
	mode := os.Getenv("KOLDUN_TEST_CHILD")
	if mode == "" {
		os.Exit(m.Run())
	}
	ExitWithParent()
	switch mode {
	case "talk":
		say("out")
		fmt.Fprint(os.Stderr, "first\n\n\x1b[31mlast\x1b[0m")
		os.Exit(7)
	case "panic":
		panic("all is lost")
	case "polite":
		signals := make(chan os.Signal, 1)
		signal.Notify(signals, syscall.SIGTERM)
		say("ready")
		<-signals
		os.Exit(0)
	case "leaver": // exits, but its child keeps its output open
		p, err := os.StartProcess(os.Args[0], os.Args[:1], &os.ProcAttr{
			Env: []string{"KOLDUN_TEST_CHILD=hang"}, Files: []*os.File{nil, os.Stdout, os.Stderr},
		})
		if err != nil {
			panic(err)
		}
		say(p.Pid)
		os.Exit(0)
	case "hang":
		select {}
	}
}

func say(word any) { _, _ = fmt.Fprintln(os.Stdout, word) }

func child(t *testing.T, mode string) (Spec, string) {
	t.Helper()
	path := filepath.Join(t.TempDir(), "pod", "c.log")
	log, err := OpenLog(path)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(log.Close)
	exe, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	return Spec{
		Path: exe, Env: []string{"KOLDUN_TEST_CHILD=" + mode, "GORACE=atexit_sleep_ms=0"}, Dir: t.TempDir(),
		Grace: 10 * time.Second, Log: log,
	}, path
}

func tether(t *testing.T) *Tether {
	t.Helper()
	tt, err := NewTether()
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(tt.Close)
	return tt
}

func TestExitAndOutput(t *testing.T) {
	s, path := child(t, "talk")
	exit, err := tether(t).Run(waittest.Context(t), s)
	if err != nil {
		t.Fatal(err)
	}
	if want := (Exit{Code: 7, Words: "[31mlast[0m"}); exit != want {
		t.Errorf("exit = %+v, want %+v", exit, want)
	}
	raw, err := os.ReadFile(path)
	if err != nil || !strings.Contains(string(raw), "out\n") || !strings.Contains(string(raw), "first\n") {
		t.Errorf("log = %q, %v", raw, err)
	}
}

func TestPanicIsTheLastWord(t *testing.T) {
	s, _ := child(t, "panic")
	exit, err := tether(t).Run(waittest.Context(t), s)
	if err != nil {
		t.Fatal(err)
	}
	if got := exit.String(); !strings.HasPrefix(got, "exited with status 2: panic: all is lost") {
		t.Errorf("exit %s", got)
	}
}

func TestEndOfContextIsPolite(t *testing.T) {
	s, path := child(t, "polite")
	ctx, cancel := context.WithCancel(waittest.Context(t))
	defer cancel()
	type result struct {
		exit Exit
		err  error
	}
	done := make(chan result, 1)
	go func() {
		exit, err := tether(t).Run(ctx, s)
		done <- result{exit, err}
	}()
	awaitLog(t, path, "ready")
	cancel()
	if r := waittest.Receive(t, "the process ends", done); r.err != nil || !r.exit.OK() {
		t.Errorf("got %+v", r)
	}
}

func TestGroupEndsWithItsLeader(t *testing.T) {
	s, path := child(t, "leaver")
	exit, err := tether(t).Run(waittest.Context(t), s)
	if err != nil || !exit.OK() {
		t.Fatalf("%v %v", exit, err)
	}
	var pid int
	if _, err := fmt.Sscan(awaitLog(t, path, "\n"), &pid); err != nil {
		t.Fatal(err)
	}
	waittest.Until(t, "the grandchild ends", func() bool {
		stat, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
		return err != nil || strings.Contains(string(stat), ") Z")
	})
}

func TestEndOfTetherEndsProcess(t *testing.T) {
	s, path := child(t, "polite")
	tt := tether(t)
	done := make(chan Exit, 1)
	go func() {
		exit, _ := tt.Run(waittest.Context(t), s)
		done <- exit
	}()
	awaitLog(t, path, "ready")
	_ = tt.writer.Close()
	if exit := waittest.Receive(t, "the process ends", done); exit.Signal != syscall.SIGKILL {
		t.Errorf("exit = %v", exit)
	}
}

func TestCannotStart(t *testing.T) {
	s, _ := child(t, "talk")
	s.Path = filepath.Join(t.TempDir(), "none")
	if _, err := tether(t).Run(waittest.Context(t), s); err == nil || !strings.HasPrefix(err.Error(), `cannot start "`+s.Path+`"`) {
		t.Errorf("error = %v", err)
	}
	ctx, cancel := context.WithCancel(waittest.Context(t))
	cancel()
	if _, err := tether(t).Run(ctx, s); err == nil {
		t.Error("started although the context had ended")
	}
}

func TestLogIsBounded(t *testing.T) {
	path := filepath.Join(t.TempDir(), "c.log")
	log, err := OpenLog(path)
	if err != nil {
		t.Fatal(err)
	}
	chunk := []byte(strings.Repeat("x", 1<<20))
	for range 3 * maxLog / len(chunk) {
		if n, err := log.Write(chunk); n != len(chunk) || err != nil {
			t.Fatal(n, err)
		}
	}
	log.Close()
	if n, err := log.Write(chunk); n != len(chunk) || err != nil {
		t.Errorf("write after the end: %d, %v", n, err)
	}
	for _, name := range []string{path, path + ".1"} {
		if info, err := os.Stat(name); err != nil || info.Size() > maxLog {
			t.Errorf("%s: %v, %v", name, info, err)
		}
	}
	if again, err := OpenLog(path); err != nil {
		t.Error(err)
	} else {
		again.Close()
	}
	if info, err := os.Stat(path); err != nil || info.Size() != 0 {
		t.Errorf("the log is not begun anew: %v %v", info, err)
	}
}

func TestTail(t *testing.T) {
	cases := map[string]string{
		"":                       "",
		"one":                    "one",
		"one\ntwo\n\n":           "two",
		"panic: x\n\ngoroutine":  "panic: x",
		strings.Repeat("я", 500): strings.Repeat("я", 200) + "...",
		"\xff\x00bad":            "?bad",
	}
	for in, want := range cases {
		var last tail
		if _, err := io.Copy(&last, strings.NewReader(in)); err != nil {
			t.Fatal(err)
		}
		if got := last.line(); got != want {
			t.Errorf("tail of %q = %q, want %q", in, got, want)
		}
	}
}

func awaitLog(t *testing.T, path, word string) (text string) {
	t.Helper()
	waittest.Until(t, "the log holds "+word, func() bool {
		raw, _ := os.ReadFile(path)
		text = string(raw)
		return strings.Contains(text, word)
	})
	return text
}
