package table

import (
	"cmp"
	"regexp"
	"strconv"
	"strings"
)

var number = regexp.MustCompile(`^-?[0-9]+(\.[0-9]+)?$`)

func readNumber(value string) (float64, bool) {
	if !number.MatchString(value) {
		return 0, false
	}
	n, err := strconv.ParseFloat(value, 64)
	return n, err == nil
}

// Compare compares two values: two numbers as numbers, two other texts by their characters. A
// number comes before a text that is none.
func Compare(a, b string) int {
	m, isNumber := readNumber(a)
	n, isOther := readNumber(b)
	switch {
	case isNumber && isOther:
		return cmp.Compare(m, n)
	case isNumber:
		return -1
	case isOther:
		return 1
	}
	return strings.Compare(a, b)
}

// Key is a text that two values have in common where Compare says that they are equal.
func Key(value string) string {
	n, isNumber := readNumber(value)
	if !isNumber {
		return value
	}
	if n == 0 {
		n = 0 // and not -0
	}
	return strconv.FormatFloat(n, 'f', -1, 64)
}
