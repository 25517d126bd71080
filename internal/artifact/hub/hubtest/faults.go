package hubtest

import (
	"net/http"
	"strconv"
)

// Status answers an error in the form of the hub. code is the X-Error-Code, header
// pairs of further names and values.
func Status(status int, code string, header ...string) Fault {
	return func(w http.ResponseWriter, _ *http.Request, _ http.Handler) {
		if code != "" {
			w.Header().Set("X-Error-Code", code)
		}
		for i := 0; i+1 < len(header); i += 2 {
			w.Header().Set(header[i], header[i+1])
		}
		w.Header().Set("X-Error-Message", "an injected fault")
		w.WriteHeader(status)
	}
}

// Gated refuses the request as for a repository whose licence is not accepted.
func Gated() Fault { return Status(http.StatusForbidden, "GatedRepo") }

// Header adds a header to the regular answer.
func Header(name, value string) Fault {
	return func(w http.ResponseWriter, r *http.Request, next http.Handler) {
		w.Header().Set(name, value)
		next.ServeHTTP(w, r)
	}
}

// Redirect redirects the request to another address.
func Redirect(status int, to string) Fault {
	return func(w http.ResponseWriter, _ *http.Request, _ http.Handler) {
		w.Header().Set("Location", to)
		w.WriteHeader(status)
	}
}

// Truncate breaks the connection after n bytes of the body.
func Truncate(n int64) Fault {
	return func(w http.ResponseWriter, r *http.Request, next http.Handler) {
		end := func() {
			_ = http.NewResponseController(w).Flush()
			panic(http.ErrAbortHandler)
		}
		next.ServeHTTP(&limited{ResponseWriter: w, left: n, end: end}, r)
	}
}

// EndEarly ends the answer cleanly after n bytes, as proxies do that lost their
// upstream: without a Content-Length nothing shows that bytes are missing.
func EndEarly(n int64) Fault {
	return func(w http.ResponseWriter, r *http.Request, next http.Handler) {
		next.ServeHTTP(&limited{ResponseWriter: w, left: n, hideLength: true, end: func() {}}, r)
	}
}

// Stall sends n bytes and then nothing until the client goes away.
func Stall(n int64) Fault {
	return func(w http.ResponseWriter, r *http.Request, next http.Handler) {
		end := func() {
			_ = http.NewResponseController(w).Flush()
			<-r.Context().Done()
			panic(http.ErrAbortHandler)
		}
		next.ServeHTTP(&limited{ResponseWriter: w, left: n, end: end}, r)
	}
}

// Silence never answers.
func Silence() Fault {
	return func(_ http.ResponseWriter, r *http.Request, _ http.Handler) {
		<-r.Context().Done()
		panic(http.ErrAbortHandler)
	}
}

// Reset breaks the connection before any answer.
func Reset() Fault {
	return func(http.ResponseWriter, *http.Request, http.Handler) { panic(http.ErrAbortHandler) }
}

// Corrupt changes the byte of the body at an offset.
func Corrupt(offset int64) Fault {
	return func(w http.ResponseWriter, r *http.Request, next http.Handler) {
		next.ServeHTTP(&corrupted{ResponseWriter: w, at: offset}, r)
	}
}

// NoRanges answers every range with the whole file.
func NoRanges() Fault {
	return func(w http.ResponseWriter, r *http.Request, next http.Handler) {
		r = r.Clone(r.Context())
		r.Header.Del("Range")
		next.ServeHTTP(w, r)
	}
}

// WrongRange answers another range than the requested one.
func WrongRange(bytes string) Fault {
	return func(w http.ResponseWriter, r *http.Request, next http.Handler) {
		r = r.Clone(r.Context())
		r.Header.Set("Range", bytes)
		next.ServeHTTP(w, r)
	}
}

// Body answers 200 with a body of its own.
func Body(body string) Fault {
	return func(w http.ResponseWriter, _ *http.Request, _ http.Handler) {
		w.Header().Set("Content-Length", strconv.Itoa(len(body)))
		_, _ = w.Write([]byte(body))
	}
}

// A limited writer passes left bytes and then calls end. It hides ReadFrom, because
// sendfile would bypass it.
type limited struct {
	http.ResponseWriter
	left       int64
	hideLength bool
	ended      bool
	end        func()
}

func (l *limited) WriteHeader(code int) {
	if l.hideLength {
		l.Header().Del("Content-Length")
	}
	l.ResponseWriter.WriteHeader(code)
}

func (l *limited) Write(p []byte) (int, error) {
	if l.ended {
		return len(p), nil
	}
	n := min(int64(len(p)), l.left)
	if _, err := l.ResponseWriter.Write(p[:n]); err != nil {
		return 0, err
	}
	l.left -= n
	if l.left == 0 {
		l.ended = true
		l.end()
	}
	return len(p), nil
}

// corrupted flips one byte.
type corrupted struct {
	http.ResponseWriter
	at, done int64
}

func (c *corrupted) Write(p []byte) (int, error) {
	if i := c.at - c.done; i >= 0 && i < int64(len(p)) {
		p = append([]byte{}, p...)
		p[i] ^= 0x55
	}
	n, err := c.ResponseWriter.Write(p)
	c.done += int64(n)
	return n, err
}
