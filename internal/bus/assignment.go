package bus

import (
	"strconv"

	"github.com/gorizond/koldun/internal/fault"
)

// EncodeAssignment is the JSON of an assignment of a request as it lies in the
// stream, which is passed on as it is: prompts may be long. a.Request counts for
// nothing. Errors: Invalid (the instance can be none).
func EncodeAssignment(request []byte, a Assignment) ([]byte, error) {
	if a.Instance != "" && !IsToken(a.Instance) {
		return nil, fault.Errorf(fault.Invalid, "cannot encode an assignment: %q can be no instance of a runner", a.Instance)
	}
	b := make([]byte, 0, len(request)+len(a.Instance)+120)
	b = append(b, `{"attempt":`...)
	b = strconv.AppendInt(b, int64(a.Attempt), 10)
	b = append(b, `,"epoch":`...)
	b = strconv.AppendUint(b, a.Epoch, 10)
	b = append(b, `,"seq":`...)
	b = strconv.AppendUint(b, a.Seq, 10)
	if a.Instance != "" {
		b = append(b, `,"instance":"`...)
		b = append(b, a.Instance...)
		b = append(b, '"')
	}
	b = append(b, `,"request":`...)
	b = append(b, request...)
	return append(b, '}'), nil
}
