package model_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/gorizond/koldun/functions/composetest"
	"github.com/gorizond/koldun/functions/grant"
	"github.com/gorizond/koldun/functions/model"
	"github.com/gorizond/koldun/functions/reason"
)

// asking is a Token of a namespace, whose entry in the registry has the key.
func asking(namespace, name, key string) string {
	return fmt.Sprintf("metadata: {name: %s, namespace: %s}\nstatus: {atProvider: {key: %s}}", name, namespace, key)
}

// TestGuests registers the tokens of other namespaces.
func TestGuests(t *testing.T) {
	key := grant.TokenPrefix + strings.Repeat("0a", 32)
	spec := meta + "spec: {" + tiny + ", allowedNamespaces: [shop, lab]}"
	composetest.Table(t, model.Compose, map[string]composetest.Case{
		"Guests": {Composite: spec, Observed: at(nil), Required: map[string][]string{"guests": {asking("shop", "chat", key), asking("lab", "chat", key)}}, Reason: reason.Downloading},
	})
	many := []string{}
	for i := range 9 {
		many = append(many, asking("shop", fmt.Sprintf("t%d", i), key))
	}
	for name, c := range map[string]struct {
		composite string
		found     []string
		want      int
	}{
		"None":          {spec, nil, 0},
		"Denied":        {spec, []string{asking("evil", "chat", key), asking("sho", "chat", key), asking("ns", "chat", key)}, 0},
		"All":           {strings.Replace(spec, "[shop, lab]", "['*']", 1), []string{asking("evil", "chat", key), asking("ns", "chat", key)}, 1},
		"NoKey":         {spec, []string{"metadata: {name: chat, namespace: shop}"}, 0},
		"UsualToken":    {spec, []string{asking("shop", "chat", "token/"+strings.Repeat("0a", 32))}, 0},
		"ForgedKey":     {spec, []string{asking("shop", "chat", key+"/x"), asking("shop", "b", grant.TokenPrefix), asking("shop", "c", strings.ToUpper(key))}, 0},
		"Many":          {spec, append(many, asking("lab", "chat", key)), 5},
		"NotAllowed":    {meta + "spec: {" + tiny + "}", []string{asking("shop", "chat", key)}, 0},
		"InVolume":      {meta + "spec: {preConverted: true, preConvertedPVCName: c, preConvertedSizeBytes: 7, allowedNamespaces: [shop]}", []string{asking("shop", "chat", key)}, 1},
		"Unconvertible": {spec, []string{"metadata: {name: chat, namespace: shop}\nstatus: 7"}, 0},
	} {
		t.Run(name, func(t *testing.T) {
			rsp := composetest.Run(t, model.Compose, composetest.Case{Composite: c.composite, Observed: at(nil), Required: map[string][]string{"guests": c.found}})
			got := slices.DeleteFunc(composetest.Names(rsp), func(name string) bool { return name != "guest" })
			if len(got) != c.want {
				t.Errorf("%d tokens are registered, want %d: %v", len(got), c.want, got)
			}
		})
	}
}
