package autonodelabeler_test

import (
	"strings"
	"testing"

	v1 "github.com/gorizond/koldun/apis/composite/v1"
	"github.com/gorizond/koldun/apis/validation"
	"github.com/gorizond/koldun/functions/autonodelabeler"
	"github.com/gorizond/koldun/functions/composetest"
	"github.com/gorizond/koldun/functions/reason"
)

const meta = "apiVersion: koldun.gorizond.io/v1\nkind: AutoNodeLabeler\nmetadata: {name: gpu, generation: 3}\n"

func TestAutoNodeLabeler(t *testing.T) {
	composetest.Table(t, autonodelabeler.Compose, map[string]composetest.Case{
		"One": {Composite: meta + "spec: {matchExpression: {key: gpu, operator: Exists}, labels: {tier: fast}}", Reason: reason.Labelling, Says: `"gpu-nodes"`},
		"All": {
			Composite: meta + `spec: {matchExpressions: [{key: zone, operator: NotIn, values: [b]}, {key: tpu, operator: DoesNotExist}, {key: cards, operator: Gt, values: ["1"]}],
  matchLabels: {pool: a}, capacity: {nvidia.com/gpu: "2"}, nodeInfo: {architecture: arm64}, labels: {tier: fast}, priority: 7}`,
			Observed: map[string]string{"rule": "status: {conditions: [{type: Ready, status: 'True'}], atProvider: {matched: 3, labelled: 3}}"},
			Reason:   reason.Available, Says: "3 of 3 matching nodes",
		},
		"Conflicts": {
			Composite: meta + "spec: {labels: {tier: fast}}",
			Observed:  map[string]string{"rule": "status: {conditions: [{type: Ready, status: 'True'}], atProvider: {matched: 3, labelled: 2, conflicts: [n1]}}"},
			Reason:    reason.LabelsConflict, Says: "status.conflicts",
		},
		"Denied": {
			Composite: meta + "spec: {labels: {tier: fast}}",
			Observed:  map[string]string{"rule": "status: {conditions: [{type: Synced, status: 'False', message: nodes is forbidden}]}"},
			Reason:    reason.RuleFailed, Says: "nodes is forbidden",
		},
	})
}

func TestNamespacedAutoNodeLabelerIsRefused(t *testing.T) {
	composetest.Refuses(t, autonodelabeler.Compose, "apiVersion: koldun.gorizond.io/v1\nkind: AutoNodeLabeler\nmetadata: {name: l, namespace: ns}\nspec: {labels: {a: b}}")
}

// TestRuleComposesNoNode: the older system could not delete nodes, and a composite
// deletes what it composes, so a Node must not be among it. A rule named like a node
// has another name in the cluster.
func TestRuleComposesNoNode(t *testing.T) {
	rsp := composetest.Run(t, autonodelabeler.Compose, composetest.Case{Composite: meta + "spec: {labels: {tier: fast}}"})
	if got := composetest.Names(rsp); len(got) != 1 || got[0] != "rule" {
		t.Fatalf("it composes %q", got)
	}
	fields := rsp.GetDesired().GetResources()["rule"].GetResource().GetFields()
	name := fields["metadata"].GetStructValue().GetFields()["name"].GetStringValue()
	if kind := fields["kind"].GetStringValue(); kind != "NodeLabelRule" || name == "gpu" {
		t.Errorf("it composes %s %q", kind, name)
	}
}

// TestExpressionsWithoutSenseAreRefused: a missing key or operator ended the older
// system's process, and operators other than Exists and In did nothing.
func TestExpressionsWithoutSenseAreRefused(t *testing.T) {
	schemas, err := validation.Load()
	if err != nil {
		t.Fatal(err)
	}
	cases := map[string]struct{ spec, says string }{
		"NoKey":      {"{matchExpression: {operator: Exists}, labels: {a: b}}", "matchExpression.key"},
		"NoOperator": {"{matchExpression: {key: a}, labels: {a: b}}", "matchExpression.operator"},
		"Operator":   {"{matchExpression: {key: a, operator: Like}, labels: {a: b}}", "Unsupported value"},
		"NoValues":   {"{matchExpression: {key: a, operator: NotIn}, labels: {a: b}}", "need values"},
		"Values":     {"{matchExpressions: [{key: a, operator: DoesNotExist, values: [b]}], labels: {a: b}}", "have none"},
		"NoNumber":   {"{matchExpressions: [{key: a, operator: Lt, values: [b]}], labels: {a: b}}", "whole number"},
		"Both":       {"{matchExpression: {key: a, operator: Exists}, matchExpressions: [{key: a, operator: Exists}], labels: {a: b}}", "not both"},
		"NoLabels":   {"{matchLabels: {a: b}}", "spec.labels"},
		"Kubernetes": {"{labels: {node-role.kubernetes.io/x: ''}}", "belong to Kubernetes"},
		"NodeInfo":   {"{nodeInfo: {machineID: x}, labels: {a: b}}", "fields are"},
		"NotIn":      {"{matchExpression: {key: a, operator: NotIn, values: [b]}, labels: {a: b}}", ""},
		"Absent":     {"{matchExpression: {key: a, operator: DoesNotExist}, labels: {a: b}}", ""},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			obj := composetest.Object(t, "apiVersion: "+v1.APIVersion+"\nkind: AutoNodeLabeler\nmetadata: {name: l}\nspec: "+c.spec).GetResource().AsMap()
			err := schemas.Check(t.Context(), obj)
			if (err == nil) != (c.says == "") || err != nil && !strings.Contains(err.Error(), c.says) {
				t.Errorf("got %v, want %q", err, c.says)
			}
		})
	}
}
