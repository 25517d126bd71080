// Program probe tests from within a pod which addresses it may connect to, listens at ports,
// and fills a disk. What it found is the termination message of its pod.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"net"
	"os"
	"os/signal"
	"path/filepath"
	"strings"
	"syscall"
	"time"

	"github.com/gorizond/koldun/test/waittest"
)

const (
	// within is the time until what is enforced has to be as wanted: an agent learns the
	// address of a pod after the pod has started.
	within = 30 * time.Second
	// patience is the time for a connection. A packet that a policy drops has no answer.
	patience = 2 * time.Second
	between  = 500 * time.Millisecond
)

func main() {
	open := flag.String("open", "", "addresses (HOST:PORT, separated by commas) that must be reached")
	closed := flag.String("closed", "", "addresses from which no answer may come")
	listen := flag.String("listen", "", "addresses at which to listen until the end")
	fill := flag.String("fill", "", "folder in which to write 4 MiB, and then wait for the end")
	flag.Parse()
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	if err := run(ctx, *fill, split(*listen), split(*open), split(*closed)); err != nil {
		_ = os.WriteFile("/dev/termination-log", []byte(err.Error()), 0o600)
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

func run(ctx context.Context, fill string, listen, open, closed []string) error {
	if fill != "" {
		if err := os.WriteFile(filepath.Join(fill, "filled"), make([]byte, 4<<20), 0o600); err != nil {
			return err
		}
		<-ctx.Done()
		return nil
	}
	if len(listen) > 0 {
		return serve(ctx, listen)
	}
	ctx, cancel := context.WithTimeout(ctx, waittest.Limit(within))
	defer cancel()
	for {
		err := check(ctx, open, closed)
		if err == nil {
			return nil
		}
		select {
		case <-ctx.Done():
			return err
		case <-time.After(between):
		}
	}
}

// check returns an error unless all of open and none of closed answer.
func check(ctx context.Context, open, closed []string) error {
	var errs []error
	for _, address := range open {
		if err := dial(ctx, address); err != nil {
			errs = append(errs, fmt.Errorf("cannot reach %s: %w", address, err))
		}
	}
	for _, address := range closed {
		if err := dial(ctx, address); !timedOut(err) {
			errs = append(errs, fmt.Errorf("%s answers: %w", address, err))
		}
	}
	return errors.Join(errs...)
}

// timedOut reports whether there was no answer. One that refuses is an answer, as is that of
// a name server.
func timedOut(err error) bool {
	var dns *net.DNSError
	var timeout net.Error
	return !errors.As(err, &dns) && errors.As(err, &timeout) && timeout.Timeout()
}

func dial(ctx context.Context, address string) error {
	conn, err := (&net.Dialer{Timeout: patience}).DialContext(ctx, "tcp", address)
	if err != nil {
		return err
	}
	return conn.Close()
}

// serve accepts connections and closes them.
func serve(ctx context.Context, addresses []string) error {
	for _, address := range addresses {
		l, err := (&net.ListenConfig{}).Listen(ctx, "tcp", address)
		if err != nil {
			return err
		}
		go func() { // ends with the process
			for {
				conn, err := l.Accept()
				if err != nil {
					return
				}
				_ = conn.Close()
			}
		}()
	}
	<-ctx.Done()
	return nil
}

func split(list string) []string {
	return strings.FieldsFunc(list, func(r rune) bool { return r == ',' })
}
