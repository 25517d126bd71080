// Package registry keeps what all parts of Koldun know together: the models
// that can be asked, the API tokens that may ask, and how far long work is.
// The records are JSON in JetStream key-value buckets.
//
// Writers use a Table. Readers that look things up for every request use a
// Cache, which follows its bucket and survives the loss of the connection.
package registry

import (
	"github.com/gorizond/koldun/internal/bus"
	"github.com/gorizond/koldun/internal/names"
	"github.com/gorizond/koldun/internal/progress"
)

// Models is the table of models, by names.ModelKey.
func Models(b *bus.Bus) *Table[Model] {
	return &Table[Model]{bus: b, bucket: names.ModelsBucket, check: Model.check}
}

// Tokens is the table of API tokens, by names.TokenKey.
func Tokens(b *bus.Bus) *Table[Token] {
	return &Table[Token]{bus: b, bucket: names.TokensBucket, check: Token.check}
}

// Progress is the table of reports, by names.ProgressKey. Whoever reports
// decides how often.
func Progress(b *bus.Bus) *Table[progress.Report] {
	return &Table[progress.Report]{
		bus: b, bucket: names.ProgressBucket,
		check: func(progress.Report, string) error { return nil },
	}
}
