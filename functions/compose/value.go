package compose

import (
	"cmp"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"math"
	"reflect"
	"slices"
	"strings"
	"sync"

	"google.golang.org/protobuf/types/known/structpb"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/intstr"
)

// valueOf returns what encoding/json would write as a protobuf value, without
// writing it. It leaves out the null creation times of Go's Kubernetes types.
//
// Most of the time of a composition is spent here. An unstructured object in
// between, as Kubernetes' own converter makes, would cost half of an Ingress's
// allocations and bytes once more.
func valueOf(obj any) (*structpb.Value, error) { return value(reflect.ValueOf(obj)) }

func value(v reflect.Value) (*structpb.Value, error) {
	if !v.IsValid() {
		return structpb.NewNullValue(), nil
	}
	switch v.Kind() {
	case reflect.Pointer, reflect.Interface:
		if v.IsNil() {
			return structpb.NewNullValue(), nil
		}
		return value(v.Elem())
	}
	if special, ok, err := marshaled(v); ok || err != nil {
		return special, err
	}
	switch v.Kind() {
	case reflect.Struct:
		return object(v)
	case reflect.Map:
		return mapping(v)
	case reflect.Slice, reflect.Array:
		return list(v)
	case reflect.String:
		return structpb.NewStringValue(strings.ToValidUTF8(v.String(), "\uFFFD")), nil
	case reflect.Bool:
		return structpb.NewBoolValue(v.Bool()), nil
	case reflect.Int, reflect.Int8, reflect.Int16, reflect.Int32, reflect.Int64:
		// A double holds every integer up to 2^53; no field of ours is larger.
		if n := v.Int(); n <= 1<<53 && n >= -1<<53 {
			return structpb.NewNumberValue(float64(n)), nil
		}
		return nil, fmt.Errorf("%d is too large", v.Int())
	case reflect.Float32, reflect.Float64:
		if f := v.Float(); !math.IsNaN(f) && !math.IsInf(f, 0) {
			return structpb.NewNumberValue(f), nil
		}
		return nil, fmt.Errorf("%v is no number", v.Float())
	}
	return nil, fmt.Errorf("a %s cannot be encoded", v.Type())
}

// marshaled encodes types that implement json.Marshaler, the usual ones directly.
func marshaled(v reflect.Value) (*structpb.Value, bool, error) {
	if !typeInfoOf(v.Type()).marshals {
		return nil, false, nil
	}
	switch t := v.Interface().(type) {
	case resource.Quantity:
		return structpb.NewStringValue(t.String()), true, nil
	case metav1.Duration:
		return structpb.NewStringValue(t.Duration.String()), true, nil
	case metav1.Time:
		if t.IsZero() {
			return structpb.NewNullValue(), true, nil
		}
		return structpb.NewStringValue(t.UTC().Format("2006-01-02T15:04:05Z07:00")), true, nil
	case intstr.IntOrString:
		if t.Type == intstr.Int {
			return structpb.NewNumberValue(float64(t.IntVal)), true, nil
		}
		return structpb.NewStringValue(t.StrVal), true, nil
	}
	raw, err := json.Marshal(v.Interface())
	if err != nil {
		return nil, false, err
	}
	out := &structpb.Value{}
	return out, true, out.UnmarshalJSON(raw)
}

func object(v reflect.Value) (*structpb.Value, error) {
	p := typeInfoOf(v.Type())
	s := &structpb.Struct{Fields: make(map[string]*structpb.Value, len(p.fields))}
	for _, f := range p.fields {
		field, ok := fieldAt(v, f.index)
		if !ok || f.omitEmpty && empty(field) || f.omitZero && zero(field) {
			continue
		}
		out, err := value(field)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", f.name, err)
		}
		if _, null := out.GetKind().(*structpb.Value_NullValue); null && f.name == "creationTimestamp" {
			continue
		}
		s.Fields[f.name] = out
	}
	return structpb.NewStructValue(s), nil
}

// fieldAt returns false if the field is in an embedded pointer that is nil.
func fieldAt(v reflect.Value, index []int) (reflect.Value, bool) {
	for _, x := range index {
		if v.Kind() == reflect.Pointer {
			if v.IsNil() {
				return v, false
			}
			v = v.Elem()
		}
		v = v.Field(x)
	}
	return v, true
}

func mapping(v reflect.Value) (*structpb.Value, error) {
	if v.IsNil() {
		return structpb.NewNullValue(), nil
	}
	s := &structpb.Struct{Fields: make(map[string]*structpb.Value, v.Len())}
	for it := v.MapRange(); it.Next(); {
		out, err := value(it.Value())
		if err != nil {
			return nil, fmt.Errorf("%s: %w", it.Key(), err)
		}
		s.Fields[it.Key().String()] = out
	}
	return structpb.NewStructValue(s), nil
}

func list(v reflect.Value) (*structpb.Value, error) {
	if v.Kind() == reflect.Slice && v.IsNil() {
		return structpb.NewNullValue(), nil
	}
	if v.Kind() == reflect.Slice && v.Type().Elem().Kind() == reflect.Uint8 {
		return structpb.NewStringValue(base64.StdEncoding.EncodeToString(v.Bytes())), nil
	}
	out := &structpb.ListValue{Values: make([]*structpb.Value, v.Len())}
	for i := range out.Values {
		var err error
		if out.Values[i], err = value(v.Index(i)); err != nil {
			return nil, fmt.Errorf("[%d]: %w", i, err)
		}
	}
	return structpb.NewListValue(out), nil
}

// A typeInfo is what reflection finds out about a type.
type typeInfo struct {
	marshals bool // it implements json.Marshaler
	fields   []fieldInfo
}

type fieldInfo struct {
	name                string
	index               []int
	omitEmpty, omitZero bool
}

// typeInfos caches, because types do not change.
var typeInfos sync.Map // reflect.Type -> *typeInfo

var marshaler = reflect.TypeFor[json.Marshaler]()

func typeInfoOf(t reflect.Type) *typeInfo {
	if p, ok := typeInfos.Load(t); ok {
		return p.(*typeInfo)
	}
	p := &typeInfo{marshals: t.Implements(marshaler) || reflect.PointerTo(t).Implements(marshaler)}
	if t.Kind() == reflect.Struct && !p.marshals {
		p.fields = fieldsOf(t)
	}
	actual, _ := typeInfos.LoadOrStore(t, p)
	return actual.(*typeInfo)
}

// fieldsOf lists the fields of a struct as encoding/json sees them. A field of
// the struct itself hides one of the same name that it embeds.
func fieldsOf(t reflect.Type) []fieldInfo {
	var out []fieldInfo
	walk(t, nil, func(f fieldInfo) {
		at := slices.IndexFunc(out, func(other fieldInfo) bool { return other.name == f.name })
		if at < 0 {
			out = append(out, f)
		} else if len(f.index) < len(out[at].index) {
			out[at] = f
		}
	})
	return out
}

// walk visits the fields of a struct and of those that it embeds.
func walk(t reflect.Type, index []int, visit func(fieldInfo)) {
	for i := range t.NumField() {
		f := t.Field(i)
		name, options, _ := strings.Cut(f.Tag.Get("json"), ",")
		path := append(slices.Clone(index), i)
		embedded := f.Type
		if embedded.Kind() == reflect.Pointer {
			embedded = embedded.Elem()
		}
		if f.Anonymous && name == "" && embedded.Kind() == reflect.Struct {
			walk(embedded, path, visit)
			continue
		}
		if !f.IsExported() || name == "-" {
			continue
		}
		words := strings.Split(options, ",")
		visit(fieldInfo{
			name: cmp.Or(name, f.Name), index: path,
			omitEmpty: slices.Contains(words, "omitempty"), omitZero: slices.Contains(words, "omitzero"),
		})
	}
}

// empty reports whether omitempty leaves v out.
func empty(v reflect.Value) bool {
	switch v.Kind() {
	case reflect.Array, reflect.Map, reflect.Slice, reflect.String:
		return v.Len() == 0
	case reflect.Struct:
		return false
	}
	return v.IsZero()
}

// zero reports whether omitzero leaves v out.
func zero(v reflect.Value) bool {
	if z, ok := v.Interface().(interface{ IsZero() bool }); ok && (v.Kind() != reflect.Pointer || !v.IsNil()) {
		return z.IsZero()
	}
	if v.CanAddr() {
		if z, ok := v.Addr().Interface().(interface{ IsZero() bool }); ok {
			return z.IsZero()
		}
	}
	return v.IsZero()
}
