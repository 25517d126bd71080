package router_test

import (
	"maps"
	"slices"
	"strings"
	"testing"
)

// TestHubsHaveFoldersOfTheirOwn has a hub that the claim names give the commit of a public
// repository: its files must not lie where those of the public one are looked for.
func TestHubsHaveFoldersOfTheirOwn(t *testing.T) {
	folders := func(source string) []string {
		rsp := run(t, model+"spec: {sourceUrl: '"+source+"'}", modelWith(nil), nil)
		var out []string
		for name, r := range rsp.GetDesired().GetResources() {
			if strings.HasPrefix(name, "source-") || strings.HasPrefix(name, "converted-") {
				params := at(r.GetResource(), "spec", "forProvider").GetStructValue().AsMap()
				url, _ := params["url"].(string)
				if params["source"] != strings.Replace(source, "https://huggingface.co/", "hf://", 1) || params["commit"] != commit {
					t.Errorf("%s accepts %v at commit %v, want %s at %s", name, params["source"], params["commit"], source, commit)
				}
				out = append(out, url)
			}
		}
		slices.Sort(out)
		return out
	}
	seen := map[string]string{}
	for _, source := range []string{"https://huggingface.co/meta/x", "https://evil.example/meta/x", "http://evil.example/meta/x", "https://evil.example:8443/meta/x", "https://evil-example/meta/x"} {
		urls := folders(source)
		if len(urls) != 2 {
			t.Fatalf("%s: folders are %v", source, urls)
		}
		for _, url := range urls {
			if other, ok := seen[url]; ok {
				t.Errorf("%s and %s share %s", source, other, url)
			}
			seen[url] = source
		}
	}
	if _, ok := seen["s3://koldun-models/source/meta/x/"+commit]; !ok {
		t.Errorf("the public repository is none of %v", slices.Sorted(maps.Keys(seen)))
	}
}
