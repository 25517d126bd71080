package main

import (
	"regexp"
	"slices"
	"strconv"
)

var number = regexp.MustCompile(`[0-9]+`)

// newer returns the tags of the same form as a tag that come after it, the newest last. The form is
// all but the numbers, so that v1.2.0-rc1 is not newer than v1.1.0. Hashes of commits are no
// numbers: a tag with one has no newer ones.
func newer(tag string, tags []string) []string {
	form, at := number.ReplaceAllString(tag, "#"), numbers(tag)
	var out []string
	for _, t := range tags {
		if number.ReplaceAllString(t, "#") == form && slices.Compare(numbers(t), at) > 0 {
			out = append(out, t)
		}
	}
	slices.SortFunc(out, func(a, b string) int { return slices.Compare(numbers(a), numbers(b)) })
	return out
}

func numbers(tag string) []uint64 {
	var out []uint64
	for _, digits := range number.FindAllString(tag, -1) {
		n, _ := strconv.ParseUint(digits, 10, 64) // the greatest, if it is greater
		out = append(out, n)
	}
	return out
}
