package engineapi

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"io"
	"net"
	"net/http"
	"net/url"
	"os"
	"strings"
	"syscall"
	"time"

	"github.com/gorizond/koldun/internal/engine"
	"github.com/gorizond/koldun/internal/fault"
	"github.com/gorizond/koldun/internal/openai"
)

// A ServerConfig describes an OpenAI-compatible server. It says
// what the server offers, because servers have no endpoint that does.
type ServerConfig struct {
	URL        string // with the path before /chat/completions: "http://127.0.0.1:8000/v1"
	Model      string // the name by which the server knows the model
	KeyFile    string // holds the bearer token; read for each request. "": no token
	Parameters []string
	Features   openai.Features
	Operations []openai.Operation
	Load       engine.LoadMetrics // empty if it does not say how busy it is
}

// A Server is the client of any OpenAI-compatible server. It answers as many
// requests at a time as its callers make; its methods may be called from any
// goroutine.
type Server struct {
	cfg  ServerConfig
	base string // of URLs, without a slash at its end
	http *http.Client
}

// NewServer returns a client. It does not connect. Errors: Invalid.
func NewServer(cfg ServerConfig) (*Server, error) {
	u, err := url.Parse(cfg.URL)
	if err != nil {
		return nil, fault.Errorf(fault.Invalid, "cannot use the URL of the server: it is not of the form http://host:port/path") // it may hold a password
	}
	if u.Scheme != "http" && u.Scheme != "https" || u.Hostname() == "" || u.User != nil || u.RawQuery != "" || u.Fragment != "" {
		return nil, fault.Errorf(fault.Invalid, "cannot use server URL %q: it is not of the form http://host:port/path", redacted(u))
	}
	if cfg.Model == "" {
		return nil, fault.Errorf(fault.Invalid, "cannot use server %q without the name by which it knows the model", cfg.URL)
	}
	if len(cfg.Operations) == 0 {
		cfg.Operations = openai.DefaultOperations()
	}
	transport := &http.Transport{
		Proxy:                 http.ProxyFromEnvironment,
		DialContext:           (&net.Dialer{Timeout: defaultConnect, KeepAlive: 15 * time.Second}).DialContext,
		ForceAttemptHTTP2:     true,
		TLSHandshakeTimeout:   defaultConnect,
		MaxIdleConnsPerHost:   engine.MaxSlots,
		IdleConnTimeout:       90 * time.Second,
		ExpectContinueTimeout: time.Second,
		DisableCompression:    true, // a compressed stream would come late
	}
	return &Server{cfg: cfg, base: strings.TrimSuffix(u.String(), "/"), http: &http.Client{
		Transport: transport,
		// A redirect would send the token elsewhere.
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
	}}, nil
}

// Close closes the connections that are not in use.
func (s *Server) Close() { s.http.CloseIdleConnections() }

// Do is Client.Do. It makes the server stop by closing the connection. Beside
// the errors of Client.Do there are ErrBusy, and ErrSchema for a whole answer.
func (s *Server) Do(ctx context.Context, r Request, o Options, onText func(Delta) error) (Result, error) {
	result := Result{Honours: s.cfg.Parameters, Operations: s.cfg.Operations, Features: s.cfg.Features}
	ask, err := r.ask(s)
	if err != nil {
		return result, err
	}
	if ask.listed {
		if err := s.checkListed(ctx); err != nil {
			return result, err
		}
	}
	within, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	a := answer{server: s, timeouts: o.Timeouts, onText: onText, result: result}
	if ask.check != nil {
		a.onText = func(d Delta) error {
			ask.check.add(d)
			return onText(d)
		}
	}
	a.silence = newSilence(o.Timeouts.First, func() { cancel(ErrTimeout) })
	defer a.silence.stop()
	err = s.exchange(within, ask, &a)
	switch {
	case err != nil:
		err = s.ended(ctx, within, err)
	case ask.check != nil:
		err = ask.check.verify(a.result.FinishReason)
	}
	return a.result, err
}

// ended returns why an exchange ended early: the cause of the caller's context, or
// the silence of the server, or else the error itself.
func (s *Server) ended(caller, within context.Context, err error) error {
	if cause := context.Cause(caller); cause != nil {
		return cause
	}
	if errors.Is(context.Cause(within), ErrTimeout) {
		return fault.Errorf(fault.Transient, "cannot read the answer of the server at %s: %w", s.base, ErrTimeout)
	}
	return err
}

func (s *Server) exchange(ctx context.Context, ask serverAsk, a *answer) error {
	resp, err := s.send(ctx, http.MethodPost, ask.path, ask.body)
	if err != nil {
		return err
	}
	defer func() { _ = resp.Body.Close() }()
	if resp.StatusCode != http.StatusOK {
		return s.refused(resp)
	}
	if kind := resp.Header.Get("Content-Type"); !strings.HasPrefix(kind, ask.contentType) {
		return fault.Errorf(fault.Internal, "cannot read the answer of the server at %s: it is %q, not %s", s.base, kind, ask.contentType)
	}
	if err := ask.read(a, resp.Body); err != nil {
		return err
	}
	drain(resp.Body)
	return nil
}

const (
	drainTimeout = 50 * time.Millisecond
	maxDrained   = 64 << 10 // bytes
)

// drain reads what little comes after an answer, so that its connection is used
// again.
func drain(body io.ReadCloser) {
	stop := time.AfterFunc(drainTimeout, func() { _ = body.Close() })
	defer stop.Stop()
	_, _ = io.CopyN(io.Discard, body, maxDrained)
}

// send sends a request to a path of the API.
func (s *Server) send(ctx context.Context, method, path string, body []byte) (*http.Response, error) {
	return s.sendTo(ctx, method, s.base+path, body)
}

// sendTo sends a request to a URL of the server. Errors: Transient, with ErrLoading if nothing
// listens, or Invalid.
func (s *Server) sendTo(ctx context.Context, method, target string, body []byte) (*http.Response, error) {
	req, err := http.NewRequestWithContext(ctx, method, target, bytes.NewReader(body))
	if err != nil {
		return nil, fault.Errorf(fault.Invalid, "cannot ask the server at %s: %w", s.base, err)
	}
	if body != nil {
		req.Header.Set("Content-Type", "application/json")
	}
	if s.cfg.KeyFile != "" {
		key, err := os.ReadFile(s.cfg.KeyFile)
		if err != nil {
			return nil, fault.Errorf(fault.Transient, "cannot read the API key of the server at %s: %w", s.base, err)
		}
		req.Header.Set("Authorization", "Bearer "+strings.TrimSpace(string(key)))
	}
	resp, err := s.http.Do(req)
	if err == nil {
		return resp, nil
	}
	var where *url.Error
	if errors.As(err, &where) { // which repeats method and URL
		err = where.Err
	}
	if errors.Is(err, syscall.ECONNREFUSED) {
		return nil, fault.Errorf(fault.Transient, "cannot connect to the server at %s: %w", s.base, ErrLoading)
	}
	return nil, fault.Errorf(fault.Transient, "cannot ask the server at %s: %w", s.base, err)
}

// Alive reports whether the server answers and still lists the model, without
// making it compute.
func (s *Server) Alive(ctx context.Context) error {
	return s.checkListed(ctx)
}

// checkListed returns an error unless the server lists the model. A server without
// a list passes: that it generates has to be proof enough. Errors: NotFound, which
// names the models that are listed, or those of send and refused.
func (s *Server) checkListed(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, aliveTimeout)
	defer cancel()
	resp, err := s.send(ctx, http.MethodGet, "/models", nil)
	if err != nil {
		return err
	}
	defer func() { _ = resp.Body.Close() }()
	switch resp.StatusCode {
	case http.StatusOK:
	case http.StatusNotFound, http.StatusMethodNotAllowed:
		return nil
	default:
		return s.refused(resp)
	}
	var list openai.ModelList
	if err := json.NewDecoder(io.LimitReader(resp.Body, maxEvent)).Decode(&list); err != nil {
		return fault.Errorf(fault.Transient, "cannot read the models of the server at %s: %w", s.base, err)
	}
	drain(resp.Body)
	if lists(list, s.cfg.Model) {
		return nil
	}
	return fault.Errorf(fault.NotFound, "cannot use the server at %s: it does not list the model %q, but %s; set the served name to one of them, or make the server serve the model under it",
		s.base, s.cfg.Model, listed(list))
}
