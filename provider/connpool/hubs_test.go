package connpool

import (
	"strings"
	"testing"

	"k8s.io/apimachinery/pkg/types"

	"github.com/gorizond/koldun/apis/managed/v1alpha1"
	"github.com/gorizond/koldun/internal/model/modelref"
	"github.com/gorizond/koldun/provider/requeue"
)

// TestAllowedHubs attacks lists of hubs with names that look like those of others.
func TestAllowedHubs(t *testing.T) {
	config := Config{Key: requeue.Key{Kind: v1alpha1.KindClusterProviderConfig, NamespacedName: types.NamespacedName{Name: "default"}}}
	mirror := "https://Mirror.acme:443/"
	for name, c := range map[string]struct {
		of      v1alpha1.HubConfig
		sources map[string]bool
	}{
		"Default": {v1alpha1.HubConfig{}, map[string]bool{
			"hf://org/repo": true, "https://huggingface.co/org/repo": true, "https://huggingface.co.evil/org/repo": false, "https://evil/org/repo": false,
			"https://evil/huggingface.co": false, "http://127.0.0.1/org/repo": false, "https://huggingface.co:8443/org/repo": false,
		}},
		"Mirror": {v1alpha1.HubConfig{Endpoint: mirror}, map[string]bool{
			"hf://org/repo": true, "https://mirror.acme/org/repo": true, "https://MIRROR.acme:443/org/repo": true, "https://mirror.acme:8443/org/repo": false, "https://evil/org/repo": false,
		}},
		"Hosts": {v1alpha1.HubConfig{Allowed: []string{"*.acme", "hub.example:8443"}}, map[string]bool{
			"https://a.acme/o/r": true, "https://acme/o/r": false, "https://a.acme.evil/o/r": false, "https://hub.example:8443/o/r": true, "https://hub.example/o/r": false, "hf://o/r": false,
		}},
		"Repositories": {v1alpha1.HubConfig{Allowed: []string{"huggingface.co/meta-llama", "huggingface.co/Qwen/Qwen3-*", "huggingface.co/google/*"}}, map[string]bool{
			"hf://meta-llama/Llama-3": true, "hf://meta-llama-evil/Llama-3": false, "hf://evil/meta-llama": false, "hf://Qwen/Qwen3-8B": true, "hf://Qwen/Qwen2": false,
			"hf://google/gemma": true, "hf://gpt2": false, "https://evil/meta-llama/Llama-3": false, "https://huggingface.co/meta-llama/Llama-3": true,
		}},
		"All": {v1alpha1.HubConfig{Allowed: []string{"*"}}, map[string]bool{"https://evil/o/r": true, "http://10.0.0.1:80/o/r": true, "hf://gpt2": true}},
	} {
		for source, want := range c.sources {
			at, err := modelref.Parse(source)
			if err != nil {
				t.Fatal(err)
			}
			said := permitHub(config, c.of, at)
			if (said == "") != want || said != "" && !strings.Contains(said, `is not in spec.hub.allowed of ClusterProviderConfig "default", which is [`) {
				t.Errorf("%s: %s: %q, want it allowed: %v", name, source, said, want)
			}
		}
	}
}
