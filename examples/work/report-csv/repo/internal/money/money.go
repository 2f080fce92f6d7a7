// Package money counts in whole cents, so that sums never lose one.
package money

import (
	"fmt"
	"strconv"
	"strings"
)

// Format shows cents as 12.50.
func Format(cents int64) string {
	sign := ""
	if cents < 0 {
		sign, cents = "-", -cents
	}
	return fmt.Sprintf("%s%d.%02d", sign, cents/100, cents%100)
}

// Parse reads 12.50, 12.5 or 12 as cents.
func Parse(s string) (int64, error) {
	bad := fmt.Errorf("%q is not a price: write it like 12.50", s)
	whole, part, dotted := strings.Cut(s, ".")
	if whole == "" || dotted && (len(part) < 1 || len(part) > 2) {
		return 0, bad
	}
	for len(part) < 2 {
		part += "0"
	}
	cents, err := strconv.ParseUint(whole+part, 10, 53)
	if err != nil {
		return 0, bad
	}
	return int64(cents), nil
}

// Percent is so many percent of cents, rounded half up.
func Percent(cents, percent int64) int64 {
	return (cents*percent + 50) / 100
}
