package wait

import (
	"fmt"
	"time"

	"github.com/hashicorp/terraform-plugin-framework/diag"
)

// Report says that a resource is not ready: as a warning or an error, as the
// policy has it. What cannot become ready is an error always.
func Report(d *diag.Diagnostics, p Policy, name string, limit time.Duration, s State) {
	why := s.Text()
	if why == "" {
		why = "nothing was heard of it"
	}
	if s.Final {
		d.AddError(name+" cannot become ready", why)
		return
	}
	summary := fmt.Sprintf("%s is not ready after %s", name, limit.Round(time.Second))
	if p.Fail {
		d.AddError(summary, why)
		return
	}
	d.AddWarning(summary, why+"\n\nIt exists and goes on by itself. The next apply waits for it again; timeouts says how long.")
}
