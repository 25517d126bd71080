package queue_test

import (
	"encoding/json"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/gorizond/koldun/internal/fault"
	"github.com/gorizond/koldun/internal/serving/queue"
)

func TestEncodeAssignment(t *testing.T) {
	r := queue.Request{ID: "req_1", Session: "s", Tenant: "t", Model: "ns/m", Created: time.Now().UTC().Round(0), Body: []byte(`{"messages":[]}`)}
	raw, err := json.Marshal(r)
	if err != nil {
		t.Fatal(err)
	}
	want := queue.Assignment{Request: r, Attempt: 2, Epoch: 1795259777000000, Seq: 17, Instance: "ABC"}
	data, err := queue.EncodeAssignment(raw, want)
	if err != nil {
		t.Fatal(err)
	}
	var got queue.Assignment
	if err := json.Unmarshal(data, &got); err != nil {
		t.Fatalf("%v: %s", err, data)
	}
	if d := cmp.Diff(want, got); d != "" {
		t.Error(d)
	}
	if _, err := queue.EncodeAssignment(raw, queue.Assignment{Instance: `"`}); !fault.Is(err, fault.Invalid) {
		t.Errorf("an instance that JSON would have to escape: %v, want Invalid", err)
	}
}
