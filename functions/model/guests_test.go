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
	"github.com/gorizond/koldun/internal/names"
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
		"Guests": {Composite: spec, Observed: at(nil), Required: map[string][]string{"guests-shop": {asking("shop", "chat", key)}, "guests-lab": {asking("lab", "chat", key)}}, Reason: reason.Downloading},
	})
	var many []string
	for i := range 9 {
		many = append(many, asking("shop", fmt.Sprintf("t%d", i), key))
	}
	for name, c := range map[string]struct {
		composite string
		found     map[string][]string
		want      int
	}{
		"None":       {spec, nil, 0},
		"Denied":     {spec, map[string][]string{"guests": {asking("evil", "chat", key)}, "guests-evil": {asking("evil", "chat", key)}, "guests-shop": {asking("evil", "chat", key), asking("sho", "chat", key), asking("ns", "chat", key)}}, 0},
		"All":        {strings.Replace(spec, "[shop, lab]", "['*', shop]", 1), map[string][]string{"guests": {asking("shop", "chat", key), asking("any", "chat", key), asking("ns", "chat", key)}, "guests-shop": {asking("shop", "chat", key)}}, 2},
		"NoKey":      {spec, map[string][]string{"guests-shop": {"metadata: {name: chat, namespace: shop}"}}, 0},
		"UsualToken": {spec, map[string][]string{"guests-shop": {asking("shop", "chat", "token/"+strings.Repeat("0a", 32))}}, 0},
		"ForgedKey":  {spec, map[string][]string{"guests-shop": {asking("shop", "chat", key+"/x"), asking("shop", "b", grant.TokenPrefix), asking("shop", "c", strings.ToUpper(key))}}, 0},
		"Many":       {spec, map[string][]string{"guests-shop": many, "guests-lab": {asking("lab", "chat", key)}}, 5},
		"NotAllowed": {meta + "spec: {" + tiny + "}", map[string][]string{"guests": {asking("shop", "chat", key)}}, 0},
		"InVolume":   {meta + "spec: {preConverted: true, preConvertedPVCName: c, preConvertedSizeBytes: 7, allowedNamespaces: [shop]}", map[string][]string{"guests-shop": {asking("shop", "chat", key)}}, 1},
		"Unreadable": {spec, map[string][]string{"guests-shop": {"metadata: {name: chat, namespace: shop}\nstatus: 7"}}, 0},
	} {
		t.Run(name, func(t *testing.T) {
			rsp := composetest.Run(t, model.Compose, composetest.Case{Composite: c.composite, Observed: at(nil), Required: c.found})
			if got := guests(composetest.Names(rsp)); len(got) != c.want {
				t.Errorf("%d tokens are registered, want %d: %v", len(got), c.want, got)
			}
		})
	}
}

// TestWithdrawnGuestsGo withdraws the grant of one of two namespaces from a Model that is
// refused, or whose guests Crossplane has not looked for.
func TestWithdrawnGuestsGo(t *testing.T) {
	admitted := func(namespace string) (name, manifest string) {
		return "guest-" + names.Hash(32, "m", namespace, "chat"), "spec: {forProvider: {sha256: x, metadata: {namespace: " + namespace + "}}}"
	}
	stays, staying := admitted("lab")
	goes, going := admitted("shop")
	const elsewhere = "localPath: other/place"
	denied := "status: {conditions: [{type: Ready, status: 'True'}], atProvider: {namespaceFolder: ns/}}"
	for name, c := range map[string]struct {
		spec     string
		observed map[string]string
		required map[string][]string
	}{
		"Usual":   {tiny, nil, map[string][]string{"guests-lab": {asking("lab", "chat", grant.TokenPrefix+strings.Repeat("0a", 32))}}},
		"Unread":  {tiny, nil, nil},
		"Refused": {tiny + ", " + elsewhere, map[string]string{"bucket": denied}, map[string][]string{"ingresses": {}, "guests-lab": {}, "platform": {}}},
	} {
		t.Run(name, func(t *testing.T) {
			observed := at(c.observed)
			observed[stays], observed[goes] = staying, going
			rsp := composetest.Run(t, model.Compose, composetest.Case{Composite: meta + "spec: {" + c.spec + ", allowedNamespaces: [lab]}", Observed: observed, Required: c.required})
			if why := rsp.GetConditions()[0].GetReason(); (why == string(reason.NotAllowed)) != (name == "Refused") {
				t.Errorf("the reason is %q", why)
			}
			if got := guests(composetest.Names(rsp)); !slices.Equal(got, []string{stays}) {
				t.Errorf("the guests are %v, want %v", got, stays)
			}
		})
	}
}

// guests are the composed resources that are tokens of guests.
func guests(all []string) []string {
	return slices.DeleteFunc(all, func(name string) bool { return !strings.HasPrefix(name, "guest-") })
}
