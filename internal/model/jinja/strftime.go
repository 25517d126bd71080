package jinja

import (
	"fmt"
	"strings"
	"time"
)

// strftime formats a time as C does in its own locale. A conversion that is not
// known stays as it is written.
func strftime(t time.Time, format string) string {
	var b strings.Builder
	for i := 0; i < len(format); i++ {
		if format[i] != '%' || i+1 == len(format) {
			b.WriteByte(format[i])
			continue
		}
		i++
		unpadded := format[i] == '-' && i+1 < len(format)
		if unpadded {
			i++
		}
		s, ok := conversionOf(t, format[i])
		switch {
		case !ok && unpadded:
			s = "%-" + format[i:i+1]
		case !ok:
			s = "%" + format[i:i+1]
		case unpadded && len(s) > 1:
			s = strings.TrimLeft(s[:len(s)-1], "0 ") + s[len(s)-1:]
		}
		b.WriteString(s)
	}
	return b.String()
}

// layouts are the conversions that Go has a layout for.
var layouts = map[byte]string{
	'Y': "2006", 'm': "01", 'd': "02", 'B': "January", 'b': "Jan", 'h': "Jan", 'A': "Monday", 'a': "Mon", 'e': "_2", 'y': "06", 'H': "15",
	'I': "03", 'M': "04", 'S': "05", 'p': "PM", 'j': "002", 'F': "2006-01-02", 'T': "15:04:05", 'R': "15:04",
	'D': "01/02/06", 'c': "Mon Jan _2 15:04:05 2006", 'x': "01/02/06", 'X': "15:04:05", 'r': "03:04:05 PM",
}

func conversionOf(t time.Time, c byte) (string, bool) {
	if layout, ok := layouts[c]; ok {
		return t.Format(layout), true
	}
	_, week := t.ISOWeek()
	isoYear, _ := t.ISOWeek()
	weekday := int(t.Weekday())
	switch c {
	case 'Z', 'z': // the time has no zone
		return "", true
	case '%':
		return "%", true
	case 'n':
		return "\n", true
	case 't':
		return "\t", true
	case 'f':
		return fmt.Sprintf("%06d", t.Nanosecond()/1000), true
	case 'w':
		return fmt.Sprint(weekday), true
	case 'u':
		return fmt.Sprint((weekday+6)%7 + 1), true
	case 'C':
		return fmt.Sprintf("%02d", t.Year()/100), true
	case 'G':
		return fmt.Sprint(isoYear), true
	case 'V':
		return fmt.Sprintf("%02d", week), true
	case 'U':
		return fmt.Sprintf("%02d", (t.YearDay()+6-weekday)/7), true
	case 'W':
		return fmt.Sprintf("%02d", (t.YearDay()+6-(weekday+6)%7)/7), true
	case 'k':
		return fmt.Sprintf("%2d", t.Hour()), true
	case 'l':
		return fmt.Sprintf("%2d", (t.Hour()+11)%12+1), true
	case 's':
		return fmt.Sprint(t.Unix()), true
	}
	return "", false
}
