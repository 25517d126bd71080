package safetensors_test

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"os"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/gorizond/koldun/internal/fault"
	"github.com/gorizond/koldun/internal/model/formats/safetensors"
)

// file returns a file of a JSON header and the given number of value bytes.
func file(header string, values int) []byte {
	b := binary.LittleEndian.AppendUint64(nil, uint64(len(header)))
	b = append(b, header...)
	return append(b, make([]byte, values)...)
}

func TestReadHeader(t *testing.T) {
	h := `{"__metadata__":{"format":"pt"},"b":{"dtype":"BF16","shape":[2,3],"data_offsets":[4,16]},"a":{"dtype":"F32","shape":[1],"data_offsets":[0,4]},"e":{"dtype":"F32","shape":[0],"data_offsets":[16,16]}}   `
	raw := file(h, 16)
	got, err := safetensors.ReadHeader(bytes.NewReader(raw), int64(len(raw)))
	if err != nil {
		t.Fatal(err)
	}
	base := int64(8 + len(h))
	want := []safetensors.Tensor{
		{Name: "a", DType: safetensors.F32, Shape: []int64{1}, Offset: base, Size: 4},
		{Name: "b", DType: safetensors.BF16, Shape: []int64{2, 3}, Offset: base + 4, Size: 12},
		{Name: "e", DType: safetensors.F32, Shape: []int64{0}, Offset: base + 16, Size: 0},
	}
	if d := cmp.Diff(want, got); d != "" {
		t.Errorf("tensors (-want +got):\n%s", d)
	}
}

func TestReadRealFile(t *testing.T) {
	f, err := os.Open("../../../../examples/models/koldun-tiny/model-00001-of-00002.safetensors")
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = f.Close() }()
	st, err := f.Stat()
	if err != nil {
		t.Fatal(err)
	}
	tensors, err := safetensors.ReadHeader(f, st.Size())
	if err != nil {
		t.Fatal(err)
	}
	for _, x := range tensors {
		if x.DType != safetensors.BF16 || x.Elements()*2 != x.Size {
			t.Errorf("tensor %q is %s with %d values in %d bytes", x.Name, x.DType, x.Elements(), x.Size)
		}
	}
	if len(tensors) == 0 {
		t.Error("there are no tensors")
	}
}

func TestHostileHeaders(t *testing.T) {
	one := func(format string, args ...any) []byte { return file(fmt.Sprintf(format, args...), 8) }
	huge := file("{}", 0)
	binary.LittleEndian.PutUint64(huge, 1<<63)
	beyond := file("{}", 0)
	binary.LittleEndian.PutUint64(beyond, 3)
	cases := map[string]struct {
		raw  []byte
		want string
	}{
		"Empty":          {nil, "ends at byte 0"},
		"Short":          {[]byte{1, 2, 3}, "ends at byte 3"},
		"HugeLength":     {huge, "claims 9223372036854775808 bytes"},
		"LengthTooLong":  {beyond, "claims 3 bytes, the file has 10"},
		"NotJSON":        {one(`hello`), "not a JSON object"},
		"Array":          {one(`[]`), "not a JSON object"},
		"Cut":            {one(`{"a":`), "does not end"},
		"Trailing":       {one(`{} x`), "bytes follow"},
		"Nested":         {one(`%s`, strings.Repeat("[", 20000)), "not a JSON object"},
		"Twice":          {one(`{"a":{"dtype":"F32","shape":[2],"data_offsets":[0,8]},"a":{"dtype":"F32","shape":[2],"data_offsets":[0,8]}}`), "is listed twice"},
		"NoDType":        {one(`{"a":{"shape":[2],"data_offsets":[0,8]}}`), "dtype is missing"},
		"NoOffsets":      {one(`{"a":{"dtype":"F32","shape":[2]}}`), "data_offsets are []"},
		"Backwards":      {one(`{"a":{"dtype":"F32","shape":[2],"data_offsets":[8,0]}}`), "data_offsets are [8 0]"},
		"Negative":       {one(`{"a":{"dtype":"F32","shape":[2],"data_offsets":[-8,0]}}`), "data_offsets are [-8 0]"},
		"OffsetOverflow": {one(`{"a":{"dtype":"F32","shape":[2],"data_offsets":[0,9223372036854775807]}}`), "data_offsets are"},
		"NegativeShape":  {one(`{"a":{"dtype":"F32","shape":[-2],"data_offsets":[0,8]}}`), "negative or too large"},
		"ShapeOverflow":  {one(`{"a":{"dtype":"F32","shape":[4294967296,4294967296],"data_offsets":[0,8]}}`), "negative or too large"},
		"SizeOverflow":   {one(`{"a":{"dtype":"F32","shape":[4611686018427387906],"data_offsets":[0,8]}}`), "need"},
		"ManyDims":       {one(`{"a":{"dtype":"F32","shape":[1,1,1,1,1,1,1,1,2],"data_offsets":[0,8]}}`), "at most 8"},
		"WrongSize":      {one(`{"a":{"dtype":"F32","shape":[3],"data_offsets":[0,8]}}`), "span 8 bytes, but dtype F32 and shape [3] need 12"},
		"Truncated":      {file(`{"a":{"dtype":"F32","shape":[4],"data_offsets":[0,16]}}`, 8), "truncated"},
		"Overlap":        {file(`{"a":{"dtype":"F32","shape":[2],"data_offsets":[0,8]},"b":{"dtype":"F32","shape":[2],"data_offsets":[4,12]}}`, 12), `"b" begins at byte`},
		"Gap":            {file(`{"a":{"dtype":"F32","shape":[1],"data_offsets":[0,4]},"b":{"dtype":"F32","shape":[1],"data_offsets":[8,12]}}`, 12), "4 bytes after tensor \"a\""},
		"TooLong":        {file(`{"a":{"dtype":"F32","shape":[2],"data_offsets":[0,8]}}`, 9), "tensors end at"},
		"BadMetadata":    {one(`{"__metadata__":}`), "invalid character"},
		"NumberKey":      {one(`{1:2}`), "invalid character"},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			_, err := safetensors.ReadHeader(bytes.NewReader(c.raw), int64(len(c.raw)))
			if !fault.Is(err, fault.Corrupt) || !strings.Contains(err.Error(), c.want) {
				t.Errorf("error is %v, want a Corrupt one with %q", err, c.want)
			}
		})
	}
}

func FuzzReadHeader(f *testing.F) {
	f.Add(file(`{"a":{"dtype":"F32","shape":[2],"data_offsets":[0,8]}}`, 8))
	f.Add(file(`{"__metadata__":{"format":"pt"},"b":{"dtype":"F4","shape":[2,3],"data_offsets":[0,3]}}`, 3))
	f.Add(file(`{}`, 0))
	f.Fuzz(func(t *testing.T, raw []byte) {
		tensors, err := safetensors.ReadHeader(bytes.NewReader(raw), int64(len(raw)))
		if err != nil {
			return
		}
		var sum int64
		for _, x := range tensors {
			if x.Offset < 8 || x.Size < 0 || x.Offset+x.Size > int64(len(raw)) {
				t.Fatalf("tensor %+v lies outside of %d bytes", x, len(raw))
			}
			sum += x.Size
		}
		if len(tensors) > 0 && tensors[0].Offset+sum != int64(len(raw)) {
			t.Fatal("the tensors do not fill the file")
		}
	})
}
