package modelrecord

import (
	"context"
	"maps"
	"time"

	"github.com/gorizond/koldun/internal/external"
	"github.com/gorizond/koldun/internal/fault"
	"github.com/gorizond/koldun/internal/names"
	"github.com/gorizond/koldun/internal/serving/queue"
	"github.com/gorizond/koldun/internal/serving/registry"
)

// maxAttempts limits the attempts to change an entry that others change too.
const maxAttempts = 16

// member returns the member that a spec with a group describes.
func (s Spec) member() queue.Member {
	m := queue.Member{Weight: queue.DefaultWeight, Fallback: s.Fallback}
	if s.Weight != nil {
		m.Weight = *s.Weight
	}
	return m
}

// observeMember compares a member with its entry. err is that of reading the entry.
func observeMember(s Spec, entry registry.Model, err error) (external.Observation[Status], error) {
	if fault.Is(err, fault.Corrupt) || fault.Is(err, fault.Invalid) { // Update and Delete overwrite it
		key := names.ModelKey(s.Namespace, s.Name)
		return external.Observation[Status]{Exists: true, Status: Status{Key: key}, Message: "the entry of the registry is unreadable"}, nil
	}
	if err != nil && !fault.Is(err, fault.NotFound) {
		return external.Observation[Status]{}, err
	}
	have, ok := entry.Members.Members[s.Group]
	if !ok {
		return external.Observation[Status]{Message: "the entry of the registry has no such member"}, nil
	}
	o := external.Observation[Status]{Exists: true, Status: Status{Key: entry.Key(), ManifestSHA256: entry.Digest}}
	if o.UpToDate = have == s.member(); !o.UpToDate {
		o.Message = "the member has another weight"
	}
	o.Ready = o.UpToDate
	return o, nil
}

// addMember returns the entry with the member.
func (s Spec) addMember(old *registry.Model) *registry.Model {
	if old == nil {
		alias := registry.NewAlias(s.Namespace, s.Name, time.Now().UTC().Truncate(time.Second))
		old = &alias
	}
	next := *old
	if next.Members.Members = maps.Clone(old.Members.Members); next.Members.Members == nil {
		next.Members.Members = map[string]queue.Member{}
	}
	next.Members.Members[s.Group] = s.member()
	return &next
}

// removeMember returns the entry without the member, or nil if nothing is left.
func (s Spec) removeMember(old *registry.Model) *registry.Model {
	if old == nil {
		return nil
	}
	next := *old
	next.Members.Members = maps.Clone(old.Members.Members)
	delete(next.Members.Members, s.Group)
	if next.Alias && len(next.Members.Members) == 0 {
		return nil
	}
	return &next
}

// edit replaces the entry by what change makes of it: of nil if there is none, and
// to nil to delete it. It writes nothing where change returns old, and calls change again if
// another process has changed the entry meanwhile. An entry that cannot be read is overwritten.
func (c *Client) edit(ctx context.Context, s Spec, change func(old *registry.Model) *registry.Model) error {
	key := names.ModelKey(s.Namespace, s.Name)
	var err error
	for range maxAttempts {
		var have registry.Record[registry.Model]
		have, err = c.models.Get(ctx, key)
		var old *registry.Model
		switch {
		case err == nil:
			old = &have.Value
		case fault.Is(err, fault.Corrupt), fault.Is(err, fault.Invalid):
			if err := c.models.Delete(ctx, key, 0); err != nil {
				return err
			}
		case !fault.Is(err, fault.NotFound):
			return err
		}
		next := change(old)
		if next == old {
			return nil
		}
		if next == nil {
			err = c.models.Delete(ctx, key, have.Revision)
		} else {
			_, err = c.models.Swap(ctx, key, *next, have.Revision)
		}
		if !fault.Is(err, fault.Conflict) {
			return err
		}
	}
	return err
}
