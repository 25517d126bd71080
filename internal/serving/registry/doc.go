// Package registry has the shared records of all parts of Koldun: models, API
// tokens, demand and the progress of Jobs. Records are JSON in JetStream
// key-value buckets.
//
// Writers use a Table. Readers with a lookup per request use a Cache, which
// follows its bucket and keeps its content while the connection is lost.
package registry

import (
	"github.com/gorizond/koldun/internal/model/progress"
	"github.com/gorizond/koldun/internal/names"
	"github.com/gorizond/koldun/internal/nats/bus"
)

// Models returns the table of models, by names.ModelKey.
func Models(b *bus.Bus) *Table[Model] {
	return &Table[Model]{bus: b, bucket: names.ModelsBucket, check: Model.check}
}

// Tokens returns the table of API tokens, by names.TokenKey.
func Tokens(b *bus.Bus) *Table[Token] {
	return &Table[Token]{bus: b, bucket: names.TokensBucket, check: Token.check}
}

// Progress returns the table of progress reports, by names.ProgressKey.
func Progress(b *bus.Bus) *Table[progress.Report] {
	return &Table[progress.Report]{
		bus: b, bucket: names.ProgressBucket,
		check: func(progress.Report, string) error { return nil },
	}
}
