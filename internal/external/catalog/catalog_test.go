package catalog

import (
	"context"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	composite "github.com/gorizond/koldun/apis/composite/v1"
	"github.com/gorizond/koldun/internal/external"
	"github.com/gorizond/koldun/internal/external/hubrevision"
	"github.com/gorizond/koldun/internal/external/modelartifact"
	"github.com/gorizond/koldun/internal/external/modelrecord"
	"github.com/gorizond/koldun/internal/external/token"
	"github.com/gorizond/koldun/internal/external/tokenset"
	"github.com/gorizond/koldun/internal/fault"
)

// A spec as another version of the CRD may have it, or with a field that is
// misspelt, must not lose what its author asks for.
func TestUnknownFieldsAreRefused(t *testing.T) {
	for _, e := range Entries() {
		t.Run(e.Kind, func(t *testing.T) {
			_, err := e.Pending(map[string]any{"mispelt": 1}, nil)
			if e.Kind != "ModelArtifact" {
				_, _, err = e.DependentsOf(map[string]any{"mispelt": 1})
			}
			if !e.Dependents && e.Kind != "ModelArtifact" {
				var name string
				if name, err = e.ExternalName(map[string]any{"mispelt": 1}); name == "" && err == nil {
					t.Skip("nothing reads a spec without a client")
				}
			}
			if want := `unknown field "mispelt"`; !fault.Is(err, fault.Invalid) || !strings.Contains(err.Error(), want) {
				t.Errorf("error %v of kind %s, want Invalid and %q", err, fault.KindOf(err), want)
			}
		})
	}
}

func TestDecode(t *testing.T) {
	type spec struct {
		Name string `json:"name"`
		Max  int64  `json:"max,omitempty"`
		Part []struct {
			Tag string `json:"tag"`
		} `json:"part,omitempty"`
	}
	cases := map[string]struct {
		from any
		err  string
	}{
		"Same":          {from: map[string]any{"name": "a", "max": int64(9007199254740993)}},
		"Unknown":       {from: map[string]any{"name": "a", "nam": "b"}, err: `unknown field "nam"`},
		"UnknownInside": {from: map[string]any{"part": []any{map[string]any{"tags": "x"}}}, err: `unknown field "tags"`},
		"OtherType":     {from: map[string]any{"max": "many"}, err: "max"},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			var got spec
			err := Decode(c.from, &got)
			if c.err == "" {
				if err != nil || got.Name != "a" || got.Max != 9007199254740993 {
					t.Errorf("got %+v, %v", got, err)
				}
				return
			}
			if !fault.Is(err, fault.Invalid) || !strings.Contains(err.Error(), c.err) {
				t.Errorf("error %v of kind %s, want Invalid and %q", err, fault.KindOf(err), c.err)
			}
		})
	}
}

// kept are the Secrets of a namespace by name.
type kept map[string]external.Secret

func (k kept) Secret(_ context.Context, name string) (external.Secret, error) {
	s, ok := k[name]
	if !ok {
		return s, fault.Errorf(fault.NotFound, "Secret %q does not exist", name)
	}
	return s, nil
}

func (k kept) Labelled(context.Context) (out []external.Secret, err error) {
	for _, s := range k {
		if _, ok := s.Labels[token.LabelSecret]; ok {
			out = append(out, s)
		}
	}
	return out, nil
}

func (k kept) Stored(context.Context) (map[string][]byte, error) { return k["stored"].Data, nil }

func secretOf(name, word string) external.Secret {
	return external.Secret{
		Name: name, Labels: map[string]string{token.LabelSecret: "true"},
		Annotations: map[string]string{token.AnnotationDisabled: "true"}, Data: map[string][]byte{"token": []byte(word)},
	}
}

// Annotations of a Secret count: one disables its token.
func TestTokenIsCompletedByItsWholeSecret(t *testing.T) {
	secret, stored := secretOf("given", "a-secret-word-of-the-test"), secretOf("stored", "generated")
	in := token.Secret(secret)
	cases := map[string]struct {
		spec token.Spec
		r    Resource
		want token.Spec
	}{
		"Given": {
			spec: token.Spec{SecretRef: &external.SecretRef{Name: "given"}}, r: Resource{Namespace: "ns"},
			want: token.Spec{SecretRef: &external.SecretRef{Name: "given"}, Namespace: "ns", Secret: &in},
		},
		"Lost": {
			spec: token.Spec{SecretRef: &external.SecretRef{Name: "gone"}, Namespace: "other"}, // as of Terraform
			want: token.Spec{SecretRef: &external.SecretRef{Name: "gone"}, Namespace: "other"},
		},
		"Generated": {want: token.Spec{Stored: "generated"}},
		"Hash":      {spec: token.Spec{SHA256: "ab"}, want: token.Spec{SHA256: "ab"}},
		"Deleting":  {spec: token.Spec{SecretRef: &external.SecretRef{Name: "given"}}, r: Resource{Deleting: true}, want: token.Spec{SecretRef: &external.SecretRef{Name: "given"}}},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			c.r.Owner, c.want.Owner = "Token/ns/it", "Token/ns/it"
			c.r.Secrets = kept{"given": secret, "stored": stored}
			got := c.spec
			if err := completeToken(t.Context(), c.r, &got); err != nil {
				t.Fatal(err)
			}
			if d := cmp.Diff(c.want, got); d != "" {
				t.Error(d)
			}
		})
	}
}

// The namespace of an entry decides whose gateways accept it, so a resource
// writes only those of its own namespace, and deletes no other's.
func TestResourcesKeepToTheirNamespace(t *testing.T) {
	kinds := map[string]func(r Resource, namespace string) (got string, foreign bool, err error){
		"Token": func(r Resource, namespace string) (string, bool, error) {
			s := token.Spec{Namespace: namespace, SHA256: "ab"}
			err := completeToken(t.Context(), r, &s)
			return s.Namespace, false, err
		},
		"TokenSet": func(r Resource, namespace string) (string, bool, error) {
			s := tokenset.Spec{Namespace: namespace}
			err := completeTokens(t.Context(), r, &s)
			return s.Namespace, false, err
		},
		"ModelRecord": func(r Resource, namespace string) (string, bool, error) {
			s := modelrecord.Spec{Namespace: namespace, Name: "m"}
			err := completeRecord(t.Context(), r, &s)
			return s.Namespace, s.Foreign, err
		},
	}
	for kind, complete := range kinds {
		t.Run(kind, func(t *testing.T) {
			own := Resource{Namespace: "ns", Secrets: kept{}}
			if got, foreign, err := complete(own, "ns"); got != "ns" || foreign || err != nil {
				t.Errorf("its own namespace: %q, %t, %v", got, foreign, err)
			}
			if got, foreign, err := complete(Resource{Secrets: kept{}}, "other"); got != "other" || foreign || err != nil {
				t.Errorf("of a resource without a namespace: %q, %t, %v", got, foreign, err)
			}
			for _, victim := range []string{"victim", "NS", "ns ", "*"} {
				_, _, err := complete(own, victim)
				if !fault.Is(err, fault.Invalid) {
					t.Fatalf("namespace %q: error %v, want Invalid", victim, err)
				}
				for _, want := range []string{"spec.forProvider.namespace", victim, `Set the field to "ns"`} {
					if !strings.Contains(err.Error(), want) {
						t.Errorf("the error does not say %s: %v", want, err)
					}
				}
			}
			own.Deleting = true
			if _, foreign, err := complete(own, "victim"); err != nil || foreign != (kind == "ModelRecord") {
				t.Errorf("on deletion: %t, %v", foreign, err)
			}
		})
	}
}

func TestTokenSetTakesLabelledSecrets(t *testing.T) {
	no := secretOf("no", "b")
	no.Labels = map[string]string{token.LabelSecret: "false"}
	var got tokenset.Spec
	err := completeTokens(t.Context(), Resource{Owner: "me", Namespace: "ns", Secrets: kept{"a": secretOf("a", "a"), "no": no, "other": {Name: "other"}}}, &got)
	if err != nil || len(got.Secrets) != 1 || got.Secrets[0].Name != "a" || got.Namespace != "ns" || got.Secrets[0].Annotations[token.AnnotationDisabled] == "" {
		t.Errorf("got %+v, %v", got, err)
	}
	if token.LabelSecret != composite.LabelToken {
		t.Errorf("the label is %q, and %q in the API", token.LabelSecret, composite.LabelToken)
	}
}

// What was verified before is not verified again.
func TestArtifactRemembersWhatWasVerified(t *testing.T) {
	s := modelartifact.Spec{Verify: "once"}
	if err := completeArtifact(t.Context(), Resource{Status: map[string]any{"verified": "once"}}, &s); err != nil || s.Verified != "once" {
		t.Errorf("got %+v, %v", s, err)
	}
}

func TestRevisionKeepsItsCommit(t *testing.T) {
	before := map[string]any{"source": "hf://a/b", "revision": "main", "commit": "c0"}
	for name, c := range map[string]struct {
		spec hubrevision.Spec
		want string
	}{
		"Same":  {hubrevision.Spec{Source: "hf://a/b", Revision: "main"}, "c0"},
		"Other": {hubrevision.Spec{Source: "hf://a/b", Revision: "next"}, ""},
	} {
		t.Run(name, func(t *testing.T) {
			if err := completeRevision(t.Context(), Resource{Status: before}, &c.spec); err != nil || c.spec.Commit != c.want {
				t.Errorf("commit %q, %v, want %q", c.spec.Commit, err, c.want)
			}
		})
	}
	s := hubrevision.Spec{TokenSecretRef: &external.SecretRef{Name: "t"}}
	if err := completeRevision(t.Context(), Resource{Secrets: kept{"t": {Name: "t"}}}, &s); !fault.Is(err, fault.Invalid) {
		t.Errorf("a Secret without a token: %v", err)
	}
}
