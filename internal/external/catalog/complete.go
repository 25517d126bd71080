package catalog

import (
	"cmp"
	"context"
	"strings"

	"github.com/gorizond/koldun/internal/external/bucket"
	"github.com/gorizond/koldun/internal/external/consumer"
	"github.com/gorizond/koldun/internal/external/demand"
	"github.com/gorizond/koldun/internal/external/hubrevision"
	"github.com/gorizond/koldun/internal/external/keyvalue"
	"github.com/gorizond/koldun/internal/external/modelartifact"
	"github.com/gorizond/koldun/internal/external/modelrecord"
	"github.com/gorizond/koldun/internal/external/natsuser"
	"github.com/gorizond/koldun/internal/external/nodes"
	"github.com/gorizond/koldun/internal/external/pool"
	"github.com/gorizond/koldun/internal/external/queue"
	"github.com/gorizond/koldun/internal/external/stream"
	"github.com/gorizond/koldun/internal/external/token"
	"github.com/gorizond/koldun/internal/external/tokenset"
	"github.com/gorizond/koldun/internal/external/workloadstatus"
	"github.com/gorizond/koldun/internal/fault"
)

// completeBucket adds the owner, and the connection that the Secret holds.
func completeBucket(ctx context.Context, r Resource, s *bucket.Spec) (err error) {
	if s.Owner = r.owner(); !r.Deleting {
		s.Stored, err = r.Secrets.Stored(ctx)
	}
	return err
}

// completeStream adds the owner.
func completeStream(_ context.Context, r Resource, s *stream.Spec) error {
	s.Owner = r.owner()
	return nil
}

// completeConsumer adds the owner.
func completeConsumer(_ context.Context, r Resource, s *consumer.Spec) error {
	s.Owner = r.owner()
	return nil
}

// completeKeyValue adds the owner.
func completeKeyValue(_ context.Context, r Resource, s *keyvalue.Spec) error {
	s.Owner = r.owner()
	return nil
}

// completeQueue adds the owner of all parts.
func completeQueue(_ context.Context, r Resource, s *queue.Spec) error {
	for i := range s.Streams {
		s.Streams[i].Owner = r.owner()
	}
	for i := range s.KeyValues {
		s.KeyValues[i].Owner = r.owner()
	}
	return nil
}

// completeDemand adds the sessions that were listed before.
func completeDemand(_ context.Context, r Resource, s *demand.Spec) error {
	var before demand.Status
	err := r.previous(&before)
	s.Known = before.Sessions
	return err
}

// completePool adds the members that were observed before.
func completePool(_ context.Context, r Resource, s *pool.Spec) error {
	s.ID = r.ID
	return r.previous(&s.Known)
}

// completeRevision adds the token of the hub, and the commit that the same
// revision was resolved to before.
func completeRevision(ctx context.Context, r Resource, s *hubrevision.Spec) error {
	var before hubrevision.Status
	if err := r.previous(&before); err != nil {
		return err
	}
	if before.Source == s.Source && before.Revision == s.Revision {
		s.Commit = before.Commit
	}
	if s.TokenSecretRef == nil || r.Deleting {
		return nil
	}
	secret, err := r.Secrets.Secret(ctx, s.TokenSecretRef.Name)
	if err != nil {
		return err
	}
	key := cmp.Or(s.TokenSecretKey, "token")
	if s.Token = strings.TrimSpace(string(secret.Data[key])); s.Token == "" {
		return fault.Errorf(fault.Invalid, "cannot use Secret %q: it has no key %q", secret.Name, key)
	}
	return nil
}

// completeArtifact adds the owner, and the value for which the files were verified before.
func completeArtifact(_ context.Context, r Resource, s *modelartifact.Spec) error {
	var before modelartifact.Status
	err := r.previous(&before)
	s.Verified, s.Owner = before.Verified, r.owner()
	return err
}

// completeRecord checks the namespace of the entry, and adds what the last observation said
// of it. The deletion of a resource that describes an entry of another namespace leaves that
// entry as it is.
func completeRecord(_ context.Context, r Resource, s *modelrecord.Spec) error {
	var before modelrecord.Status
	if err := r.previous(&before); err != nil {
		return err
	}
	s.Described = before.Files
	if r.Deleting {
		s.Foreign = !r.owns(s.Namespace)
		return nil
	}
	return r.checkNamespace(s.Namespace)
}

// owns reports whether entries of a namespace belong to the resource. A resource
// without a namespace is one of Terraform, which says the namespace in the field.
func (r Resource) owns(namespace string) bool {
	return r.Namespace == "" || namespace == r.Namespace
}

// checkNamespace refuses a spec.forProvider.namespace that is not the namespace of
// the resource. Otherwise a user with access to one namespace could write tokens
// and models that the gateways of another accept.
func (r Resource) checkNamespace(given string) error {
	if given == "" || r.owns(given) {
		return nil
	}
	return fault.Errorf(fault.Invalid, "cannot use spec.forProvider.namespace %q: the resource is in namespace %q and can write entries of that namespace only. "+
		"Set the field to %q, or create the resource in namespace %q", given, r.Namespace, r.Namespace, given)
}

// completeRule adds the owner of the labels.
func completeRule(_ context.Context, r Resource, s *nodes.Spec) error {
	s.Owner, s.Ending = r.Owner, r.Creating
	return nil
}

// completeUser adds the namespace, which is always that of the resource, the credentials
// that the Secret holds, and the users that were observed before. A resource of the same
// name as an earlier one has other users.
func completeUser(ctx context.Context, r Resource, s *natsuser.Spec) (err error) {
	s.Namespace, s.Owner = r.Namespace, r.Owner+"/"+r.ID
	if err := r.previous(&s.Known); err != nil || r.Deleting {
		return err
	}
	s.Stored, err = r.Secrets.Stored(ctx)
	return err
}

// completeToken adds the Secret that holds the token, or the generated token
// that the connection Secret holds.
func completeToken(ctx context.Context, r Resource, s *token.Spec) error {
	s.Owner, s.Namespace = r.Owner, cmp.Or(s.Namespace, r.Namespace)
	if r.Deleting {
		return nil // the entries are found by the owner
	}
	if err := r.checkNamespace(s.Namespace); err != nil {
		return err
	}
	if s.SecretRef != nil {
		secret, err := r.Secrets.Secret(ctx, s.SecretRef.Name)
		if fault.Is(err, fault.NotFound) {
			return nil // the client revokes the token
		}
		if err != nil {
			return err
		}
		held := token.Secret(secret)
		s.Secret = &held
		return nil
	}
	if s.SHA256 != "" {
		return nil
	}
	stored, err := r.Secrets.Stored(ctx)
	s.Stored = string(stored[token.ConnectionKey])
	return err
}

// completeTokens adds the Secrets that hold the tokens.
func completeTokens(ctx context.Context, r Resource, s *tokenset.Spec) error {
	s.Owner, s.Namespace = r.Owner, cmp.Or(s.Namespace, r.Namespace)
	if r.Deleting {
		return nil
	}
	if err := r.checkNamespace(s.Namespace); err != nil {
		return err
	}
	secrets, err := r.Secrets.Labelled(ctx)
	for _, secret := range secrets {
		if token.Truthy(secret.Labels[token.LabelSecret]) {
			s.Secrets = append(s.Secrets, token.Secret(secret))
		}
	}
	return err
}

// completeWorkloadStatus adds the namespace, which is always that of the resource, and
// the problem that was observed before.
func completeWorkloadStatus(_ context.Context, r Resource, s *workloadstatus.Spec) error {
	s.Owner, s.Namespace = r.Owner, r.Namespace
	return r.previous(&s.Known)
}
