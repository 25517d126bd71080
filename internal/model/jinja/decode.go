package jinja

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"math/big"
	"strconv"
	"strings"
)

// maxNesting is the depth of values and expressions.
const maxNesting = 200

// Decode returns the value of a JSON text. Dicts keep the order of keys, and
// all texts, keys too, count as foreign.
func Decode(raw []byte) (Value, error) {
	d := json.NewDecoder(bytes.NewReader(raw))
	d.UseNumber()
	v, err := decode(d, 0)
	if err == nil {
		if _, end := d.Token(); end != io.EOF {
			err = fmt.Errorf("there is more than one value")
		}
	}
	if err != nil {
		return nil, fmt.Errorf("cannot decode value: %w", err)
	}
	return v, nil
}

func decode(d *json.Decoder, depth int) (Value, error) {
	t, err := d.Token()
	if err != nil {
		return nil, err
	}
	if depth > maxNesting {
		return nil, fmt.Errorf("it is nested more than %d levels deep", maxNesting)
	}
	switch t := t.(type) {
	case bool:
		return boolean(t), nil
	case string:
		return foreign(t), nil
	case json.Number:
		return number(t.String())
	case json.Delim:
		if t == '[' {
			return decodeList(d, depth)
		}
		return decodeDict(d, depth)
	}
	return none{}, nil
}

func decodeList(d *json.Decoder, depth int) (Value, error) {
	l := &list{}
	for d.More() {
		v, err := decode(d, depth+1)
		if err != nil {
			return nil, err
		}
		l.items = append(l.items, v)
	}
	_, err := d.Token()
	return l, err
}

func decodeDict(d *json.Decoder, depth int) (Value, error) {
	m := &dict{}
	for d.More() {
		key, err := d.Token()
		if err != nil {
			return nil, err
		}
		v, err := decode(d, depth+1)
		if err != nil {
			return nil, err
		}
		m.put(key.(string), foreign(key.(string)), v)
	}
	_, err := d.Token()
	return m, err
}

func number(s string) (Value, error) {
	if strings.ContainsAny(s, ".eE") {
		f, err := strconv.ParseFloat(s, 64)
		if err != nil && f == 0 {
			return nil, err
		}
		return float(f), nil // a number that is too large is infinite, as in Python
	}
	if len(s) > maxIntegerBits/4 {
		return nil, fmt.Errorf("a number has %d digits", len(s))
	}
	i, _ := new(big.Int).SetString(s, 10)
	return normalized(i), nil
}
