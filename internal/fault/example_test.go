package fault_test

import (
	"fmt"

	"github.com/gorizond/koldun/internal/fault"
)

// The kind of an error survives wrapping, and decides about retries and exit
// statuses.
func ExampleErrorf() {
	cause := fault.Errorf(fault.NotFound, "bucket %q does not exist", "models")
	err := fmt.Errorf("cannot fetch model: %w", cause)
	fmt.Println(err)
	fmt.Println(fault.KindOf(err), fault.Final(err), fault.ExitCode(err))
	// Output:
	// cannot fetch model: bucket "models" does not exist
	// NotFound true 12
}
