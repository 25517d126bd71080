package model_test

import (
	"testing"

	"github.com/gorizond/koldun/functions/composetest"
	"github.com/gorizond/koldun/functions/model"
)

// TestEditsKeepWhatServes holds that no edit, right or wrong, takes the files and the entry of
// the registry from what serves before there are others.
func TestEditsKeepWhatServes(t *testing.T) {
	object := func(kind, name string) string {
		return "apiVersion: koldun.m.gorizond.io/v1alpha1\nkind: " + kind + "\nmetadata: {name: " + name + ", namespace: ns}\nspec: {forProvider: {url: old}}\nstatus: {conditions: [{type: Ready, status: 'True'}]}"
	}
	served := map[string]string{
		"queue": composetest.Ready, "bucket": composetest.Ready,
		"record": object("ModelRecord", "m-record"), "source-01234567": object("ModelArtifact", "m-source-01234567"),
		"converted-01234567": object("ModelArtifact", "m-converted-01234567"), "volume-01234567": object("Volume", "v"),
		"fetch-01234567": "{}", "revision-01234567": object("HubRevision", "m-revision-01234567"),
	}
	for name, spec := range map[string]string{
		"Typo":           "{sourceUrl: 'htps://huggingface.co/org/tiny'}",
		"NoSource":       "{sourceUrl: ''}",
		"OtherModel":     "{sourceUrl: hf://org/other}",
		"OtherRevision":  "{sourceUrl: hf://org/tiny@v9}",
		"OtherFolder":    "{" + tiny + ", localPath: elsewhere}",
		"WrongPath":      "{" + tiny + ", localPath: 's3://'}",
		"WrongOutput":    "{" + tiny + ", conversion: {outputPath: a#b}}",
		"WrongNATS":      "{" + tiny + ", nats: {url: 'http://h'}}",
		"WrongStore":     "{" + tiny + ", objectStorage: {endpoint: http://h, secretRef: {name: s, namespace: other}}}",
		"SmallVolume":    "{" + tiny + ", pv: {pvcCapacity: 1}}",
		"WithoutWeights": "{" + tiny + ", conversion: {type: None}}",
	} {
		t.Run(name, func(t *testing.T) {
			rsp := composetest.Run(t, model.Compose, composetest.Case{Composite: meta + "spec: " + spec, Observed: served, Required: map[string][]string{"ingresses": {}}})
			for _, res := range []string{"record", "source-01234567", "converted-01234567", "volume-01234567"} {
				if rsp.GetDesired().GetResources()[res] == nil {
					t.Errorf("%s is not desired", res)
				}
			}
			for _, res := range []string{"fetch-01234567", "revision-01234567"} {
				if rsp.GetDesired().GetResources()[res] != nil {
					t.Errorf("%s is desired", res)
				}
			}
			for _, c := range rsp.GetConditions() {
				if c.GetType() == "Serving" && c.GetStatus().String() != "STATUS_CONDITION_FALSE" {
					t.Errorf("Serving is %s", c.GetStatus())
				}
			}
		})
	}
}
