package compose

import (
	"fmt"
	"math"

	"google.golang.org/protobuf/types/known/structpb"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
)

func decode(s *structpb.Struct, into any) error {
	return runtime.DefaultUnstructuredConverter.FromUnstructured(s.AsMap(), into)
}

// encode leaves out what a desired object does not have: status and creation
// time.
func encode(obj any) (*structpb.Struct, error) {
	fields, err := runtime.DefaultUnstructuredConverter.ToUnstructured(obj)
	if err != nil {
		return nil, err
	}
	delete(fields, "status")
	return structOf(fields)
}

// encodeStatus is the composite with nothing but its status. Conditions are
// set one by one.
func encodeStatus(composite *structpb.Struct, status any) (*structpb.Struct, error) {
	fields, err := runtime.DefaultUnstructuredConverter.ToUnstructured(status)
	if err != nil {
		return nil, err
	}
	delete(fields, "conditions")
	s, err := structOf(fields)
	if err != nil {
		return nil, err
	}
	return &structpb.Struct{Fields: map[string]*structpb.Value{
		"apiVersion": composite.GetFields()["apiVersion"],
		"kind":       composite.GetFields()["kind"],
		"status":     structpb.NewStructValue(s),
	}}, nil
}

// structOf is structpb.NewStruct for what Kubernetes types turn into. Null
// creation times, which Go's types write, are left out.
func structOf(fields map[string]any) (*structpb.Struct, error) {
	out := &structpb.Struct{Fields: make(map[string]*structpb.Value, len(fields))}
	for k, v := range fields {
		if v == nil && k == "creationTimestamp" {
			continue
		}
		value, err := valueOf(v)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", k, err)
		}
		out.Fields[k] = value
	}
	return out, nil
}

func valueOf(v any) (*structpb.Value, error) {
	switch v := v.(type) {
	case nil:
		return structpb.NewNullValue(), nil
	case string:
		return structpb.NewStringValue(v), nil
	case bool:
		return structpb.NewBoolValue(v), nil
	case int64:
		// A double holds every integer up to 2^53; no field of ours is larger.
		if v > 1<<53 || v < -1<<53 {
			return nil, fmt.Errorf("%d is too large", v)
		}
		return structpb.NewNumberValue(float64(v)), nil
	case float64:
		if math.IsNaN(v) || math.IsInf(v, 0) {
			return nil, fmt.Errorf("%v is no number", v)
		}
		return structpb.NewNumberValue(v), nil
	case map[string]any:
		s, err := structOf(v)
		if err != nil {
			return nil, err
		}
		return structpb.NewStructValue(s), nil
	case []any:
		list := &structpb.ListValue{Values: make([]*structpb.Value, len(v))}
		for i, e := range v {
			value, err := valueOf(e)
			if err != nil {
				return nil, fmt.Errorf("[%d]: %w", i, err)
			}
			list.Values[i] = value
		}
		return structpb.NewListValue(list), nil
	}
	return structpb.NewValue(v)
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
		}
	}
	return metav1.Condition{}
}
