package constrain

// Expressions of parts of formats.
const (
	fullTime = `(?:[01][0-9]|2[0-3]):[0-5][0-9]:[0-5][0-9](?:\.[0-9]{1,9})?(?:Z|[+-](?:[01][0-9]|2[0-3]):[0-5][0-9])`
	leapYear = `(?:[0-9]{2}(?:0[48]|[2468][048]|[13579][26])|(?:[02468][048]|[13579][26])00)`
	fullDate = `(?:[0-9]{4}-(?:(?:0[13578]|1[02])-(?:0[1-9]|[12][0-9]|3[01])|(?:0[469]|11)-(?:0[1-9]|[12][0-9]|30)|02-(?:0[1-9]|1[0-9]|2[0-8]))|` + leapYear + `-02-29)`
	// An RFC 3339 duration has no gaps between its units.
	daysOf   = `(?:[0-9]{1,4}Y(?:[0-9]{1,2}M(?:[0-9]{1,2}D)?)?|[0-9]{1,4}M(?:[0-9]{1,2}D)?|[0-9]{1,4}D)`
	hoursOf  = `T(?:[0-9]{1,4}H(?:[0-9]{1,2}M(?:[0-9]{1,2}S)?)?|[0-9]{1,4}M(?:[0-9]{1,2}S)?|[0-9]{1,4}S)`
	label    = `[A-Za-z0-9](?:[A-Za-z0-9-]{0,30}[A-Za-z0-9])?`
	octet    = `(?:25[0-5]|2[0-4][0-9]|1[0-9]{2}|[1-9]?[0-9])`
	hexGroup = `[0-9A-Fa-f]{1,4}`
	mailWord = `[A-Za-z0-9_%+-]{1,24}`
)

// formats has the expression of each format: all that it matches has the format,
// but not all texts of the format match. Lengths are limited to what hosts and
// mailboxes may have.
var formats = map[string]string{
	"date":      fullDate,
	"time":      fullTime,
	"date-time": fullDate + "T" + fullTime,
	"duration":  `P(?:` + daysOf + `(?:` + hoursOf + `)?|` + hoursOf + `|[0-9]{1,4}W)`,
	"hostname":  label + `(?:\.` + label + `){0,5}`,
	"email":     mailWord + `(?:\.` + mailWord + `)?@` + label + `(?:\.` + label + `){1,4}`,
	"ipv4":      octet + `(?:\.` + octet + `){3}`,
	"ipv6": `(?:` + hexGroup + `(?::` + hexGroup + `){7}|(?:` + hexGroup + `:){1,7}:|(?:` + hexGroup + `:){1,6}:` + hexGroup +
		`|(?:` + hexGroup + `:){1,5}(?::` + hexGroup + `){1,2}|(?:` + hexGroup + `:){1,4}(?::` + hexGroup + `){1,3}|(?:` + hexGroup + `:){1,3}(?::` + hexGroup +
		`){1,4}|(?:` + hexGroup + `:){1,2}(?::` + hexGroup + `){1,5}|` + hexGroup + `:(?::` + hexGroup + `){1,6}|:(?:(?::` + hexGroup + `){1,7}|:))`,
	"uuid": `[0-9A-Fa-f]{8}-(?:[0-9A-Fa-f]{4}-){3}[0-9A-Fa-f]{12}`,
}
