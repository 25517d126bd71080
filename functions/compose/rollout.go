package compose

import (
	"encoding/json"

	"google.golang.org/protobuf/types/known/structpb"

	v1 "github.com/gorizond/koldun/apis/composite/v1"
	"github.com/gorizond/koldun/internal/names"
)

// ReadyReplicas returns how many pods of the composed workload of that name are
// ready; 0 until its controller has observed its newest generation.
func (o observed) ReadyReplicas(name string) int32 {
	if o.lags(name) {
		return 0
	}
	return o.ReadyPods(name)
}

// ReadyPods returns how many pods of the composed workload of that name are ready, those
// of an earlier revision included: a Deployment that scales or rolls out serves on.
func (o observed) ReadyPods(name string) int32 {
	return int32(number(o.part(name, "status"), "readyReplicas"))
}

// mark annotates a Deployment or StatefulSet with a hash of its template, by which
// the next call sees whether what is observed is what was desired. Another object has no
// template hash.
func mark(s *structpb.Struct) (hash string, err error) {
	switch s.GetFields()["kind"].GetStringValue() {
	case "Deployment", "StatefulSet":
	default:
		return "", nil
	}
	raw, err := json.Marshal(s.GetFields()["spec"].GetStructValue().GetFields()["template"].AsInterface())
	if err != nil {
		return "", err
	}
	meta := s.GetFields()["metadata"].GetStructValue()
	if meta == nil {
		return "", nil
	}
	if meta.GetFields()["annotations"] == nil {
		meta.Fields["annotations"] = structpb.NewStructValue(&structpb.Struct{Fields: map[string]*structpb.Value{}})
	}
	hash = names.Hash(16, string(raw))
	meta.GetFields()["annotations"].GetStructValue().Fields[v1.AnnotationTemplate] = structpb.NewStringValue(hash)
	return hash, nil
}

// rolledOut reports whether all pods of an observed workload have the template with
// that hash. What an earlier version composed has no hash: its pods count.
func (o observed) rolledOut(name, hash string) bool {
	meta, status := o.part(name, "metadata"), o.part(name, "status")
	before := meta["annotations"].GetStructValue().GetFields()[v1.AnnotationTemplate].GetStringValue()
	if before != "" && before != hash || o.lags(name) {
		return false
	}
	if status["currentRevision"].GetStringValue() != status["updateRevision"].GetStringValue() || status["updateRevision"] == nil {
		return number(status, "updatedReplicas") >= number(status, "replicas")
	}
	return true
}

// lags reports whether the controller of a workload has not observed its newest
// generation.
func (o observed) lags(name string) bool {
	return number(o.part(name, "status"), observedGeneration) < number(o.part(name, "metadata"), "generation")
}

func number(fields map[string]*structpb.Value, name string) float64 {
	return fields[name].GetNumberValue()
}
