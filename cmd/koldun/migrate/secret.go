package migrate

import (
	"crypto/sha256"
	"fmt"
	"net/url"
	"regexp"
	"slices"
	"strings"
)

// A secretKey is a key of a Secret that the user makes; no key is the whole Secret. Sum
// is a hash of its value, which is written nowhere.
type secretKey struct {
	namespace, secret, key string
	sum                    [sha256.Size]byte
}

// refer notes that the claim refers to a key of a Secret that the user makes.
func (c *conversion) refer(secret, key, value string) {
	c.keys = append(c.keys, secretKey{c.namespace(), secret, key, sha256.Sum256([]byte(value))})
}

// secretRef moves a secret out of the object: the claim refers to a Secret, which
// the user makes. No secret is ever copied into the output.
func (c *conversion) secretRef(path, to, secret, key string) {
	v, ok := c.take(path)
	value, _ := v.(string)
	if !ok || value == "" {
		return
	}
	c.put(to, path, map[string]any{"name": secret, "key": key})
	c.refer(secret, key, value)
	c.todo(path, fmt.Sprintf("the secret is not copied: the claim refers to key %q of Secret %q", key, secret),
		fmt.Sprintf("make it with the value of %s on standard input: kubectl create secret generic %s%s --from-file=%s=/dev/stdin", c.doc.where(path), word(secret), c.flag(), word(key)))
}

// natsCredentials moves the credentials out of a URL of NATS.
func (c *conversion) natsCredentials(path string) {
	servers := c.text(path + ".url")
	if !strings.Contains(servers, "@") {
		return
	}
	var clean, logins []string
	keys := "user=USER and password=PASSWORD"
	for _, s := range strings.Split(servers, ",") {
		u, err := url.Parse(strings.TrimSpace(s))
		if err != nil {
			c.drop(path+".url", "it is not nats://HOST:PORT, several separated by commas", "")
			return
		}
		if _, has := u.User.Password(); u.User != nil && !has {
			keys = "token=TOKEN"
		}
		if u.User != nil {
			logins = append(logins, u.User.String())
		}
		u.User = nil
		clean = append(clean, u.String())
	}
	set(c.in, path+".url", strings.Join(clean, ","))
	if c.given(path + ".credentialsSecret") {
		c.info(path+".url", "its credentials are left out: credentialsSecret is given")
		return
	}
	secret := c.name() + "-nats"
	c.put(path+".credentialsSecret", path+".url", map[string]any{"name": secret})
	slices.Sort(logins)
	c.refer(secret, "", strings.Join(slices.Compact(logins), "\n"))
	c.todo(path+".url", fmt.Sprintf("its credentials are not copied: the claim refers to Secret %q", secret),
		fmt.Sprintf("make it with the lines %s of %s on standard input: kubectl create secret generic %s%s --from-env-file=/dev/stdin", keys, c.doc.where(path+".url"), word(secret), c.flag()))
}

// secretHere drops the namespace of a reference to a Secret: claims refer to
// Secrets of their own namespace.
func (c *conversion) secretHere(path string) {
	ns := c.text(path + ".namespace")
	if ns == "" || ns == c.namespace() || c.namespace() == "" && ns == "default" {
		return
	}
	c.take(path + ".namespace")
	c.todo(path+".namespace", "claims refer to Secrets of their own namespace",
		fmt.Sprintf("copy it: kubectl get secret %s -n %s -o json | jq '.metadata={name: .metadata.name}' | kubectl apply%s -f -", word(c.text(path+".name")), word(ns), c.flag()))
}

// secretName matches names of settings and variables that hold a secret.
var secretName = regexp.MustCompile(`(?i)((^|_)(token|secret|pass|pwd|auth)|passw(or)?d|passphrase|_?key|credentials?|licen[sc]e)$`)

// secretEnv moves the values of variables whose names are those of secrets, and URLs
// with credentials. The variables refer to a Secret instead.
func (c *conversion) secretEnv(path, secret string) {
	v, _ := get(c.in, path)
	list, _ := v.([]any)
	for i := range list {
		at := indexed(path, i)
		name, value := c.text(at+".name"), c.text(at+".value")
		if value == "" || isReference(value) || !secretName.MatchString(name) && !userInfo.MatchString(value) {
			continue
		}
		env, ok := list[i].(map[string]any)
		if !ok {
			continue
		}
		of, option := secret, fmt.Sprintf("make it with NAME=VALUE of all such variables on standard input, as at %s: kubectl create secret generic %s%s --from-env-file=/dev/stdin", c.doc.where(at+".value"), word(secret), c.flag())
		if strings.ContainsAny(value, "\r\n") {
			// A file of NAME=VALUE has one line for each.
			of = secret + "-" + strings.ToLower(strings.ReplaceAll(name, "_", "-"))
			option = fmt.Sprintf("make it with the value of %s on standard input: kubectl create secret generic %s%s --from-file=%s=/dev/stdin", c.doc.where(at+".value"), word(of), c.flag(), word(name))
		}
		delete(env, "value")
		env["valueFrom"] = map[string]any{"secretKeyRef": map[string]any{"name": of, "key": name}}
		c.from[at+".valueFrom"] = at + ".value"
		c.refer(of, name, value)
		c.todo(at+".value", fmt.Sprintf("the secret is not copied: the variable refers to key %q of Secret %q", name, of), option)
	}
}
