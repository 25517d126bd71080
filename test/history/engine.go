package history

import (
	"encoding/json"
	"fmt"
	"io"
	"os"
	"sync/atomic"
	"time"

	"github.com/gorizond/koldun/internal/engine/engineapi/enginetest"
)

// A Prompt asks the test engine for N pieces, with the interval Every between them.
type Prompt struct {
	ID    string        `json:"id"`
	N     int           `json:"n"`
	Every time.Duration `json:"every"`
	// Padding makes the request larger.
	Padding string `json:"padding,omitempty"`
	// Question is what a real engine is asked instead, and Want its answer, of N
	// bytes.
	Question string `json:"-"`
	Want     string `json:"-"`
}

// A Generation is the line that an engine logs after each generation.
type Generation struct {
	ID     string
	Nonce  string
	Pieces int
	Whole  bool // whether all requested pieces were generated
	Began  time.Time
	Ended  time.Time
}

// piece returns piece i of a generation. No other piece has the same text.
func piece(id, nonce string, i int) string { return fmt.Sprintf("%s/%s/%d ", id, nonce, i) }

// NewEngine returns an engine that answers prompts and logs its generations to out.
func NewEngine(listen string, out io.Writer) *enginetest.Engine {
	var count atomic.Int64
	log := json.NewEncoder(out)
	return enginetest.New(listen, func(r enginetest.Request) enginetest.Reply {
		var w Prompt
		if json.Unmarshal([]byte(r.Last()), &w) != nil {
			return enginetest.Echo(r)
		}
		began := time.Now()
		nonce := fmt.Sprintf("%d-%d", os.Getpid(), count.Add(1))
		pieces := make([]string, w.N)
		for i := range pieces {
			pieces[i] = piece(w.ID, nonce, i)
		}
		return enginetest.Reply{Pieces: pieces, Every: w.Every, Done: func(n int) {
			_ = log.Encode(Generation{ID: w.ID, Nonce: nonce, Pieces: n, Whole: n == w.N, Began: began, Ended: time.Now()})
		}}
	})
}
