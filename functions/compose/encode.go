package compose

import (
	"fmt"

	"google.golang.org/protobuf/types/known/structpb"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
)

func decode(s *structpb.Struct, into any) error {
	return runtime.DefaultUnstructuredConverter.FromUnstructured(s.AsMap(), into)
}

// encode leaves out what a desired object does not have: status and creation
// time.
func encode(obj any) (*structpb.Struct, error) {
	if u, ok := obj.(*unstructured.Unstructured); ok {
		return structpb.NewStruct(u.Object)
	}
	s, err := structOf(obj)
	if err != nil {
		return nil, err
	}
	delete(s.Fields, "status")
	return s, nil
}

// encodeStatus is the composite with nothing but its status. Conditions are
// set one by one.
func encodeStatus(composite *structpb.Struct, status any) (*structpb.Struct, error) {
	s, err := structOf(status)
	if err != nil {
		return nil, err
	}
	delete(s.Fields, "conditions")
	return &structpb.Struct{Fields: map[string]*structpb.Value{
		"apiVersion": composite.GetFields()["apiVersion"],
		"kind":       composite.GetFields()["kind"],
		"status":     structpb.NewStructValue(s),
	}}, nil
}

func structOf(obj any) (*structpb.Struct, error) {
	v, err := valueOf(obj)
	if err != nil {
		return nil, err
	}
	s := v.GetStructValue()
	if s == nil {
		return nil, fmt.Errorf("%T is no object", obj)
	}
	return s, nil
}

// conditionOf reads one condition without decoding the object.
func conditionOf(s *structpb.Struct, condition string) metav1.Condition {
	for _, v := range s.GetFields()["status"].GetStructValue().GetFields()["conditions"].GetListValue().GetValues() {
		fields := v.GetStructValue().GetFields()
		if fields["type"].GetStringValue() != condition {
			continue
		}
		return metav1.Condition{
			Type:    condition,
			Status:  metav1.ConditionStatus(fields["status"].GetStringValue()),
			Reason:  fields["reason"].GetStringValue(),
			Message: fields["message"].GetStringValue(),

			ObservedGeneration: int64(fields["observedGeneration"].GetNumberValue()),
		}
	}
	return metav1.Condition{}
}
