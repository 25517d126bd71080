// Package bytesize prints numbers of bytes for people.
package bytesize

import "fmt"

// Format returns n bytes with a binary unit, as df -h does: "512 B", "1.5 GiB".
func Format(n int64) string {
	const unit = 1 << 10
	if n < unit {
		return fmt.Sprintf("%d B", n)
	}
	value, i := float64(n)/unit, 0
	for value >= unit && i < len(units)-1 {
		value, i = value/unit, i+1
	}
	return fmt.Sprintf("%.1f %ciB", value, units[i])
}

const units = "KMGTPE"
