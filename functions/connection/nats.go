package connection

import (
	"fmt"
	"net/url"
	"slices"
	"strings"

	v1 "github.com/gorizond/koldun/apis/composite/v1"
	"github.com/gorizond/koldun/apis/managed/v1alpha1"
	"github.com/gorizond/koldun/functions/compose"
	"github.com/gorizond/koldun/functions/reason"
)

// requirement is the key under which the Ingresses of the namespace are asked
// for.
const requirement = "ingresses"

// NATS is the connection that the owner names, else that of the only Ingress
// of its namespace, else the default one.
func NATS(call *compose.Call, o Owner, field string, n *v1.NATSConnection) (Connection, Problem) {
	if n != nil {
		return Named(o, field, *n)
	}
	return inherited(call, o.Namespace)
}

// Named is the connection that the owner names.
func Named(o Owner, field string, n v1.NATSConnection) (Connection, Problem) {
	if n.ProviderConfigRef != nil {
		ref := *n.ProviderConfigRef
		if ref.Kind == "" {
			ref.Kind = v1alpha1.KindProviderConfig
		}
		return Connection{Ref: &ref}, Problem{}
	}
	if n.URL == "" && n.CredentialsSecret == nil {
		return Connection{}, Problem{}
	}
	servers, credentials, err := split(n.URL)
	if err != nil {
		return Connection{}, Problem{reason.ConnectionInvalid, fmt.Sprintf("%s.url: %v", field, err)}
	}
	out := Connection{NATS: &v1alpha1.NATSConfig{URL: servers}}
	switch s := n.CredentialsSecret; {
	case s != nil && s.Namespace != "" && s.Namespace != o.Namespace:
		return Connection{}, Problem{reason.ConnectionInvalid, fmt.Sprintf("%s.credentialsSecret: Secret %q is in namespace %q: only those of namespace %q can be used", field, s.Name, s.Namespace, o.Namespace)}
	case s != nil:
		out.NATS.SecretRef = &v1alpha1.CredentialsReference{Name: s.Name}
	case len(credentials) > 0:
		out.credentials = credentials
		out.NATS.SecretRef = &v1alpha1.CredentialsReference{Name: o.secret("nats-credentials")}
	}
	return out, Problem{}
}

// split parts the URLs of servers from the credentials in them.
func split(urls string) (servers string, credentials map[string][]byte, err error) {
	if urls == "" {
		return "", nil, nil
	}
	var out []string
	for _, s := range strings.Split(urls, ",") {
		u, err := url.Parse(strings.TrimSpace(s))
		// The URL itself stays out of messages: it may hold a password.
		if err != nil || u.Host == "" {
			return "", nil, fmt.Errorf("it is not nats://HOST:PORT, several separated by commas")
		}
		switch u.Scheme {
		case "nats", "tls", "ws", "wss":
		default:
			return "", nil, fmt.Errorf("scheme %q is not one of nats, tls, ws, wss", u.Scheme)
		}
		if u.User != nil && credentials == nil {
			credentials = map[string][]byte{}
			if password, ok := u.User.Password(); ok {
				credentials["user"], credentials["password"] = []byte(u.User.Username()), []byte(password)
			} else {
				credentials["token"] = []byte(u.User.Username())
			}
		}
		u.User = nil
		out = append(out, u.String())
	}
	return strings.Join(out, ","), credentials, nil
}

// inherited is the connection of the only Ingress of the namespace. Several
// are as good as one if they name the same servers.
func inherited(call *compose.Call, namespace string) (Connection, Problem) {
	var found []*v1.Ingress
	call.RequireAll(requirement, v1.APIVersion, v1.KindIngress, namespace, nil, func() any {
		i := &v1.Ingress{}
		found = append(found, i)
		return i
	})
	slices.SortFunc(found, func(a, b *v1.Ingress) int { return strings.Compare(a.Name, b.Name) })
	var first *v1.Ingress
	for _, i := range found {
		if first == nil {
			first = i
			continue
		}
		if identity(first) != identity(i) {
			return Connection{}, Problem{reason.ConnectionAmbiguous, fmt.Sprintf("Ingresses %q and %q of namespace %q name different NATS servers: say in spec.nats which are meant", first.Name, i.Name, namespace)}
		}
	}
	if first == nil {
		return Connection{}, Problem{}
	}
	out, problem := OfIngress(first)
	// The Secret is the Ingress's to compose.
	out.credentials = nil
	return out, problem
}

// OfIngress is the connection of an Ingress.
func OfIngress(i *v1.Ingress) (Connection, Problem) {
	n := i.Spec.Backend.NATS
	if n == nil {
		return Connection{}, Problem{}
	}
	o := Owner{"ingress", i.Namespace, i.Name}
	return Named(o, "spec.backend.nats", v1.NATSConnection{URL: n.URL, CredentialsSecret: n.CredentialsSecret, ProviderConfigRef: n.ProviderConfigRef})
}

func identity(i *v1.Ingress) string {
	n := i.Spec.Backend.NATS
	if n == nil {
		return ""
	}
	parts := []string{n.URL, "", ""}
	if s := n.CredentialsSecret; s != nil {
		parts[1] = s.Name
	}
	if r := n.ProviderConfigRef; r != nil {
		parts[2] = r.Kind + "/" + r.Name
	}
	return strings.Join(parts, "\x00")
}
