package token

import (
	"cmp"
	"context"
	"reflect"
	"strings"
	"time"

	"github.com/gorizond/koldun/internal/fault"
	"github.com/gorizond/koldun/internal/names"
	"github.com/gorizond/koldun/internal/nats/bus"
	"github.com/gorizond/koldun/internal/serving/registry"
)

// usualPrefix is the default prefix of the keys of tokens.
var usualPrefix = registry.Token{}.Key()

// Records manages the tokens of one owner in a bucket.
type Records struct {
	Owner  string
	Bucket string // empty: the default one
	Prefix string // of keys; empty: "token/"
}

func (r Records) table(b *bus.Bus) *registry.Table[registry.Token] {
	return registry.TokensIn(b, r.Bucket, r.Prefix)
}

func (r Records) bucket() string { return cmp.Or(r.Bucket, names.TokensBucket) }

func (r Records) key(sha256 string) string { return cmp.Or(r.Prefix, usualPrefix) + sha256 }

// List reads the records of the owner, and the owners of all other records, by
// hash.
func (r Records) List(ctx context.Context, b *bus.Bus) (mine map[string]registry.Token, others map[string]string, err error) {
	records, err := r.table(b).List(ctx, ">")
	if err != nil {
		return nil, nil, err
	}
	mine, others = map[string]registry.Token{}, map[string]string{}
	for _, rec := range records {
		if t := rec.Value; t.Owner == r.Owner {
			mine[t.SHA256] = t
		} else {
			others[t.SHA256] = t.Owner
		}
	}
	return mine, others, nil
}

// Write writes a record. It is an error of kind Conflict if another owner has it. A
// record without an owner is adopted.
func (r Records) Write(ctx context.Context, b *bus.Bus, t registry.Token) error {
	t.Version, t.Owner = 1, r.Owner
	table, key := r.table(b), r.key(t.SHA256)
	have, err := table.Get(ctx, key)
	switch {
	case fault.Is(err, fault.NotFound):
		_, err = table.Swap(ctx, key, t, 0)
		return err
	case fault.Is(err, fault.Corrupt), fault.Is(err, fault.Invalid):
		_, err = table.Put(ctx, key, t)
		return err
	case err != nil:
		return err
	case have.Value.Owner != "" && have.Value.Owner != r.Owner:
		return fault.Errorf(fault.Conflict, "the same token is kept by %s already", have.Value.Owner)
	}
	_, err = table.Swap(ctx, key, t, have.Revision)
	return err
}

// Remove deletes a record of the owner.
func (r Records) Remove(ctx context.Context, b *bus.Bus, sha256 string) error {
	return r.table(b).Delete(ctx, r.key(sha256), 0)
}

// Watch calls changed after each change or deletion of a record of the owner, and
// after each loss of the connection, until ctx ends.
func (r Records) Watch(ctx context.Context, b *bus.Bus, changed func()) {
	mine := map[string]bool{}
	prefix := cmp.Or(r.Prefix, usualPrefix)
	listed := false
	bus.Watch(ctx, b, r.bucket(), ">", func(e bus.Event[registry.Token]) {
		switch {
		case e.Kind == bus.Synced:
			listed = true
			changed()
		case !strings.HasPrefix(e.Key, prefix):
		case e.Kind == bus.Changed && e.Value.Owner == r.Owner:
			mine[e.Key] = true
			if listed {
				changed()
			}
		case mine[e.Key]: // it was
			delete(mine, e.Key)
			changed()
		}
	})
}

// Same reports whether two records are equal except for their times of writing.
func Same(a, b registry.Token) bool {
	for _, t := range []*registry.Token{&a, &b} {
		t.Created, t.Version, t.Owner = time.Time{}, 0, ""
		t.Expires = t.Expires.UTC()
		if len(t.Metadata) == 0 {
			t.Metadata = nil
		}
		if len(t.Models) == 0 {
			t.Models = nil
		}
	}
	return reflect.DeepEqual(a, b)
}
